"""A store that several processes share: who reads first, who writes, and who waits. The traps are numbered as in the
design of the engine; the others are in ``tests/worker/test_engine_traps.py``."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from sqlalchemy import text

from bot.lifecycle.effects import Acknowledge
from bot.store import deliveries, outbox, plans
from bot.store.deliveries import NewDelivery
from bot.store.engine import Store, StoreUnavailable, open_store
from bot.store.sqlite import SQLite
from tests.store.databases import some_plan

if TYPE_CHECKING:
    from collections.abc import Callable

ADDER = """
import sys
from bot.store.engine import open_store
from bot.store import deliveries
from bot.store.deliveries import NewDelivery
from sqlalchemy import text
url, name, count = sys.argv[1:]
store = open_store(url)
sys.stdin.readline()
for n in range(int(count)):
    with store.write() as tx:
        seen = tx.execute(text("SELECT count(*) FROM deliveries")).scalar_one()
        deliveries.add(tx, NewDelivery(f"{name}:{n}", "poll", "e", name, str(seen)))
"""


def in_thread(run: Callable[[], None]) -> threading.Thread:
    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    return thread


def test_trap_5_processes_that_read_and_then_write_never_fail_and_never_lose(sqlite_url: str) -> None:
    """In a deferred transaction of SQLite, all but one of them would fail at once."""
    count = 40
    started = [
        subprocess.Popen(
            [sys.executable, "-c", ADDER, sqlite_url, f"p{n}", str(count)],
            stdin=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for n in range(3)
    ]
    for process in started:
        assert process.stdin is not None
        process.stdin.write("go\n")
        process.stdin.flush()
    for process in started:
        assert process.communicate(timeout=60)[1] == ""
    store = open_store(sqlite_url)
    with store.read() as tx:
        bodies = tx.execute(text("SELECT CAST(body AS INTEGER) FROM deliveries ORDER BY id")).scalars().all()
    store.dispose()
    assert list(bodies) == list(range(3 * count))


def test_trap_4_a_look_at_the_queues_waits_for_no_writer(sqlite_url: str) -> None:
    """The look before the work is a read transaction."""
    store = open_store(sqlite_url)
    with store.write() as writing:
        deliveries.add(writing, NewDelivery("g", "poll", "e", "l", "{}"))
        with store.read() as tx:
            assert not deliveries.ready(tx)
            assert not outbox.ready(tx, ["acknowledge"])
    with store.read() as tx:
        assert deliveries.ready(tx)
    store.dispose()


def test_a_writer_that_waits_too_long_says_so(sqlite_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bot.store.sqlite.LOCK_DEADLINE_SECONDS", 0.05)
    one, other = open_store(sqlite_url), open_store(sqlite_url)
    with one.write(), pytest.raises(StoreUnavailable, match=r"another process has held .*\.lock"), other.write():
        pass
    with other.write():
        pass
    one.dispose()
    other.dispose()


def test_the_lock_of_a_killed_process_is_free(sqlite_url: str) -> None:
    code = (
        "import sys\nfrom bot.store.engine import open_store\n"
        "with open_store(sys.argv[1]).write() as tx:\n print('locked', flush=True)\n sys.stdin.read()"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", code, sqlite_url], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "locked\n"
    process.kill()
    process.communicate(timeout=10)
    store = open_store(sqlite_url)
    with store.write() as tx:
        assert deliveries.add(tx, NewDelivery("g", "poll", "e", "l", "{}"))
    store.dispose()


def test_sqlite_is_opened_as_durable_as_promised(sqlite_url: str) -> None:
    store = open_store(sqlite_url)
    with store.write() as tx:
        pragmas = {
            name: tx.execute(text(f"PRAGMA {name}")).scalar_one()
            for name in ("journal_mode", "synchronous", "foreign_keys")
        }
    store.dispose()
    assert pragmas == {"journal_mode": "wal", "synchronous": 2, "foreign_keys": 1}
    assert isinstance(store.backend, SQLite)
    assert Path(store.backend.path).exists()


def test_trap_7_who_changes_a_plan_keeps_others_from_writing_its_effects(store: Store) -> None:
    """Without the lock on the plan's row, effects of one lane could commit out of order."""
    with store.write() as tx:
        plans.save(tx, some_plan(), None)
    order: list[str] = []
    reading, read = threading.Event(), threading.Event()

    def second() -> None:
        reading.set()
        with store.write() as tx:
            assert plans.latest(tx, "7:12") is not None
            read.set()
            outbox.add(tx, [Acknowledge(key="second")], lane="7:12", installation_id=3)
            order.append("second")

    with store.write() as tx:
        assert plans.latest(tx, "7:12") is not None
        thread = in_thread(second)
        assert reading.wait(10)
        assert not read.wait(0.2)
        outbox.add(tx, [Acknowledge(key="first")], lane="7:12", installation_id=3)
        order.append("first")
    thread.join(10)
    assert order == ["first", "second"]
    with store.write() as tx:
        claimed = outbox.claim(tx, "me", 60, ["acknowledge"])
    assert claimed is not None
    assert claimed.key == "first"


def test_a_change_is_heard_of_by_others_soon(url: str) -> None:
    store, other = open_store(url), open_store(url)
    stop, heard, listening = threading.Event(), threading.Event(), threading.Event()

    def listen() -> None:
        for _ in store.changes(stop):
            heard.set()
            listening.set()

    thread = in_thread(listen)
    assert listening.wait(10)
    heard.clear()
    start = time.monotonic()
    with other.write() as tx:
        deliveries.add(tx, NewDelivery("g", "poll", "e", "l", "{}"))
    assert heard.wait(5)
    assert time.monotonic() - start < 2
    stop.set()
    thread.join(10)
    assert not thread.is_alive()
    store.dispose()
    other.dispose()
