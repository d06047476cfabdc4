"""A small product on the engine, and a server that stands for GitHub, is never killed, and remembers all that was done.

Each delivery changes the plan of its lane and causes two effects. The server's log is the truth about what was lost, done
twice, or done out of order.
"""

from __future__ import annotations

import json
import multiprocessing
import random
import threading
import time
from collections import Counter
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any

import httpx

from bot.errors import Transient
from bot.lifecycle.effects import Acknowledge
from bot.store import deliveries, health, journal, outbox, plans
from bot.store.deliveries import Delivery, NewDelivery
from bot.store.engine import Store, Tx, open_store
from bot.store.journal import Entry
from bot.worker.loop import Worker
from tests.store.databases import some_plan

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from multiprocessing.context import ForkServerProcess

    from bot.store.outbox import Claimed

LEASE = 1.0
EFFECTS = 2
"""Effects that each delivery causes."""


def advance(tx: Tx, delivery: Delivery) -> str:
    """Change the plan, write the journal, and cause effects; or note that an effect is done."""
    if delivery.source == "effect":
        journal.append(tx, Entry(delivery.guid, delivery.lane, tx.now, delivery.event, delivery.guid))
        return "noted"
    issue = int(delivery.lane.partition(":")[2])
    plan = plans.latest(tx, delivery.lane)
    version = None if plan is None else plan.version
    changed = (plan or some_plan(f"cafe{issue:04}", issue)).model_copy(update={"version": (version or 0) + 1})
    plans.save(tx, changed, version)
    first = EFFECTS * (changed.version - 1)
    effects = [Acknowledge(key=f"{delivery.lane}/{first + n}") for n in range(EFFECTS)]
    outbox.add(tx, effects, lane=delivery.lane, installation_id=3, plan_uid=changed.uid)
    return "changed"


@dataclass
class Courier:
    """Carries an effect to the server, and looks first where it may have been carried before."""

    address: str
    client: httpx.Client = field(init=False)

    def __post_init__(self) -> None:
        self.client = httpx.Client(base_url=self.address, timeout=5, trust_env=False, verify=False)

    def __call__(self, claimed: Claimed) -> list[NewDelivery]:
        try:
            if claimed.first or self.client.get(f"/{claimed.key}").status_code == 404:
                self.client.post(f"/{claimed.key}").raise_for_status()
        except httpx.HTTPError as error:
            raise Transient(str(error)) from error
        return [NewDelivery(f"done:{claimed.key}", "effect", "done", claimed.lane, "{}")]


def work(url: str, address: str) -> None:
    """Be a worker process."""
    worker = Worker(open_store(url), advance, Courier(address), kinds=["acknowledge"], lease=LEASE)
    worker.start()
    threading.Event().wait()


def start_process(url: str, address: str) -> ForkServerProcess:
    """Start a worker process, forked from a server that has the imports done."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([__name__, "sqlalchemy.dialects.postgresql.psycopg", "psycopg"])
    process = context.Process(target=work, args=(url, address), daemon=True)
    process.start()
    return process


class World:
    """What was written, in order. Fails now and then, half of the time after the write was applied."""

    def __init__(self, seed: int = 1, failing: float = 0.04) -> None:
        self.log: list[str] = []
        self.hold: dict[str, threading.Event] = {}
        self.held: dict[str, threading.Event] = {}
        self._rng = random.Random(seed)
        self._failing = failing
        self._lock = threading.Lock()
        self.address = ""

    def has(self, key: str) -> bool:
        with self._lock:
            return key in self.log

    def write(self, key: str) -> int:
        with self._lock:
            fate = self._rng.random()
            if fate > self._failing / 2:
                self.log.append(key)
        if key in self.hold:
            self.held[key].set()
            self.hold.pop(key).wait(30)
        return 502 if fate < self._failing else 201

    def hold_next(self, key: str) -> tuple[threading.Event, threading.Event]:
        """Make the next write of ``key`` apply and then wait: (it is waiting, let it go)."""
        self.held[key], self.hold[key] = threading.Event(), threading.Event()
        return self.held[key], self.hold[key]


@contextmanager
def served(world: World) -> Iterator[World]:
    """Serve a world on loopback."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            self._answer(200 if world.has(self.path[1:]) else 404)

        def do_POST(self) -> None:
            self._answer(world.write(self.path[1:]))

        def _answer(self, status: int) -> None:
            self.send_response(status)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def handle(self) -> None:
            try:
                super().handle()
            except ConnectionError:
                self.close_connection = True

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    world.address = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield world
    finally:
        server.shutdown()
        server.server_close()
        thread.join(10)


def happen(store: Store, lanes: int, each: int) -> list[str]:
    """Put deliveries into the inbox and return the keys that must come of them, lane by lane in order."""
    with store.write() as tx:
        for n in range(each):
            for issue in range(1, lanes + 1):
                deliveries.add(tx, NewDelivery(f"g{issue}-{n}", "github", "e", f"7:{issue}", json.dumps({"n": n})))
    return [f"7:{issue}/{n}" for issue in range(1, lanes + 1) for n in range(each * EFFECTS)]


def waits(store: Store) -> tuple[int, int]:
    """Return how many deliveries and effects wait."""
    with store.read() as tx:
        found = health.look(tx)
    return found.deliveries.waiting, found.effects.waiting


def settled(store: Store) -> bool:
    """Tell whether nothing waits in either queue."""
    return waits(store) == (0, 0)


def until(condition: Callable[[], bool], what: str, seconds: float = 60) -> None:
    """Wait for a condition, with a deadline."""
    end = time.monotonic() + seconds
    tick = threading.Event()
    while not condition():
        assert time.monotonic() < end, f"not in {seconds} s: {what}"
        tick.wait(0.02)


def verdict(log: list[str], expected: list[str]) -> dict[str, list[str]]:
    """Return what was lost, done twice, and done out of order."""
    counts = Counter(log)
    last: dict[str, int] = {}
    out_of_order = []
    for key in dict.fromkeys(log):
        lane, _, number = key.partition("/")
        if int(number) != last.get(lane, -1) + 1:
            out_of_order.append(key)
        last[lane] = int(number)
    return {
        "lost": sorted(set(expected) - set(log)),
        "twice": sorted(key for key, count in counts.items() if count > 1),
        "out of order": out_of_order,
        "unknown": sorted(set(log) - set(expected)),
    }


NOTHING: dict[str, list[str]] = {"lost": [], "twice": [], "out of order": [], "unknown": []}
