"""The traps that were met while the engine was found, each kept as a test.

Traps 4, 5 and 7 are about the database alone and stand in ``tests/store/test_locks.py``.
"""

from __future__ import annotations

import threading
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest
from sqlalchemy import insert, select, text

from bot.errors import MAX_ATTEMPTS
from bot.lifecycle.effects import Acknowledge
from bot.store import deliveries, outbox, timers
from bot.store.deliveries import Delivery, NewDelivery
from bot.store.engine import Store, StoreUnavailable, Tx, open_store
from bot.store.postgresql import SETTLE_SECONDS
from bot.store.schema import deliveries as deliveries_table
from bot.store.schema import outbox as outbox_table
from bot.store.sqlite import CHANGE_LOOK_SECONDS
from bot.worker import claims
from bot.worker.claims import Claims
from bot.worker.inbox import advance_one
from bot.worker.loop import Worker
from bot.worker.schedule import LEASE, POLL_NET, STORE_PAUSE

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bot.store.outbox import Claimed
    from tests.store.databases import Clock

KINDS = ["acknowledge"]


class Flaky(Store):
    """A store whose write transactions fail while ``away``, and that counts the read ones."""

    away = False
    reads = 0

    @contextmanager
    def write(self) -> Iterator[Tx]:
        if self.away:
            raise StoreUnavailable("away")
        with super().write() as tx:
            yield tx

    @contextmanager
    def read(self) -> Iterator[Tx]:
        self.reads += 1
        with super().read() as tx:
            yield tx


class Carrier:
    """Carries effects out by remembering them."""

    def __init__(self) -> None:
        self.done: list[tuple[str, bool]] = []

    def __call__(self, claimed: Claimed) -> list[NewDelivery]:
        self.done.append((claimed.key, claimed.first))
        return []


def an_effect(store: Store, key: str = "a") -> None:
    with store.write() as tx:
        outbox.add(tx, [Acknowledge(key=key)], lane="7:1", installation_id=3)


def test_trap_1_an_effect_that_a_thread_lost_is_not_kept_alive(
    url: str, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A heartbeat by owner would renew it for ever."""
    monkeypatch.setattr(claims, "RECORD_PATIENCE", 0.0)
    store, carrier = Flaky(open_store(url).backend, clock), Carrier()
    an_effect(store)
    mine, other = (Claims(store, name, carrier, KINDS, ()) for name in ("me", "other"))
    claimed = mine.take()
    assert claimed is not None
    store.away = True
    mine.carry_out(claimed)
    store.away = False
    for _ in range(3):
        clock.forward(LEASE / 3)
        mine.renew()
    taken = other.take()
    assert taken is not None
    other.carry_out(taken)
    assert carrier.done == [("a", True), ("a", False)]
    store.dispose()


def test_trap_1_what_is_in_hand_is_kept_for_as_long_as_it_takes(store: Store, clock: Clock) -> None:
    an_effect(store)
    mine, other = (Claims(store, name, Carrier(), KINDS, ()) for name in ("me", "other"))
    assert mine.take() is not None
    for _ in range(9):
        clock.forward(LEASE / 3)
        mine.renew()
        assert other.take() is None


def test_trap_2_a_claim_older_than_half_a_lease_is_dropped_before_the_call(store: Store, clock: Clock) -> None:
    """This process may have been suspended. Nothing was called, so the next claim is a first one again."""
    an_effect(store)
    carrier = Carrier()
    mine = Claims(store, "me", carrier, KINDS, ())
    claimed = mine.take()
    assert claimed is not None
    clock.forward(LEASE / 2 + 0.1)
    mine.carry_out(claimed)
    assert carrier.done == []
    again = mine.take()
    assert again is not None
    mine.carry_out(again)
    assert carrier.done == [("a", True)]


def test_trap_2_a_claim_that_another_took_over_is_not_carried_out(store: Store, clock: Clock) -> None:
    an_effect(store)
    carrier = Carrier()
    mine, other = (Claims(store, name, carrier, KINDS, ()) for name in ("me", "other"))
    claimed = mine.take()
    assert claimed is not None
    clock.forward(LEASE + 1)
    taken = other.take()
    assert taken is not None
    mine.renew()
    mine.carry_out(claimed)
    assert carrier.done == []
    other.carry_out(taken)
    assert carrier.done == [("a", False)]


def test_trap_3_finished_rows_are_not_walked(url: str, clock: Clock) -> None:
    """Looks at the queues use the indexes of open rows, with thousands of finished ones beside them."""
    store = open_store(url, now=clock)
    row = {"lane": "x", "not_before": 1.0, "attempts": 0, "done_at": 2.0}
    delivered = {"source": "poll", "event": "e", "body": "{}", "received_at": 1.0}
    sent = {
        "kind": "acknowledge",
        "installation_id": 3,
        "priority": 1,
        "payload": "{}",
        "created_at": 1.0,
        "tried": True,
    }
    with store.write() as tx:
        tx.connection.execute(insert(deliveries_table), [row | delivered | {"guid": f"g{n}"} for n in range(5_000)])
        tx.connection.execute(insert(outbox_table), [row | sent | {"key": f"k{n}"} for n in range(5_000)])
        for n in range(3):
            deliveries.add(tx, NewDelivery(f"open{n}", "poll", "e", f"{n}", "{}"))
            outbox.add(tx, [Acknowledge(key=f"open{n}")], lane=f"{n}", installation_id=3)
    with store.write() as tx:
        tx.execute(text("ANALYZE"))
    with store.read() as tx:
        for statement in (deliveries._DUE, outbox._CLAIMABLE):
            query = statement.params(now=clock(), kinds=list(KINDS), paced=list(KINDS))
            compiled = query.compile(tx.connection, compile_kwargs={"literal_binds": True})
            prefix = "EXPLAIN QUERY PLAN " if url.startswith("sqlite") else "EXPLAIN "
            plan = "\n".join(
                str(row) for row in tx.connection.exec_driver_sql(prefix + str(compiled).replace("%", "%%"))
            )
            assert "_open_due" in plan, plan
            assert "_open_lane" in plan or "_open_due" in plan.replace("_open_due", "", 1), plan
            for line in plan.splitlines():
                assert "Seq Scan on outbox" not in line, plan
                assert "Seq Scan on deliveries" not in line, plan
                if "SCAN" in line and ("deliveries" in line or "outbox" in line):
                    assert "USING" in line, plan
    store.dispose()


def test_trap_6_a_timer_for_days_ahead_does_not_block_its_lane(store: Store, clock: Clock) -> None:
    seen: list[str] = []

    def advance(tx: Tx, delivery: Delivery) -> str:
        seen.append(delivery.event)
        return "seen"

    with store.write() as tx:
        timers.set_timer(tx, "remind", due_at=clock() + 3 * 86_400, lane="7:1", event="remind")
        deliveries.add(tx, NewDelivery("g", "github", "now", "7:1", "{}"))
    worker = Worker(store, advance, Carrier(), kinds=KINDS)
    worker.run_until_idle()
    assert seen == ["now"]
    clock.forward(3 * 86_400)
    worker.run_until_idle()
    assert seen == ["now", "remind"]


def test_trap_8_many_commits_wake_a_worker_few_times(url: str) -> None:
    store, other = Flaky(open_store(url).backend, None), open_store(url)
    idle = threading.Event()

    def advance(tx: Tx, delivery: Delivery) -> str:
        idle.set()
        return "seen"

    worker = Worker(store, advance, Carrier(), kinds=KINDS, threads=1)
    with other.write() as tx:
        deliveries.add(tx, NewDelivery("g", "poll", "e", "l", "{}"))
    worker.start()
    assert idle.wait(10)
    start, before = time.monotonic(), store.reads
    for _ in range(300):
        with other.write() as tx:
            tx.execute(select(1))
            tx.wake()
            tx.execute(text("UPDATE deliveries SET outcome = 'x'"))
    seconds = time.monotonic() - start
    looks = (store.reads - before) / 3
    assert worker.stop(10)
    assert looks <= seconds / min(CHANGE_LOOK_SECONDS, SETTLE_SECONDS) + seconds / POLL_NET + 5
    assert looks < 150
    store.dispose()
    other.dispose()


def on_a_full_disk(tx: Tx) -> None:
    """Write what the disk has no room for."""
    ask = tx.connection.exec_driver_sql
    if tx.connection.dialect.name == "postgresql":
        ask("DO $$ BEGIN RAISE 'the disk is full' USING ERRCODE = 'disk_full'; END $$")
    ask("PRAGMA max_page_count = 1")  # as many as there are
    try:
        deliveries.add(tx, NewDelivery("large", "github", "e", "7:1", "x" * 1_000_000))
    finally:
        ask("PRAGMA max_page_count = 4294967294")


def test_a_full_disk_costs_neither_a_delivery_nor_an_effect_its_tries(store: Store, clock: Clock) -> None:
    tries: list[int] = []

    def advance(tx: Tx, delivery: Delivery) -> str:
        tries.append(delivery.attempts)
        if len(tries) <= MAX_ATTEMPTS:
            on_a_full_disk(tx)
        return "done"

    def deliver(claimed: Claimed) -> list[NewDelivery]:
        tries.append(claimed.attempt)
        if len(tries) <= MAX_ATTEMPTS:
            with store.write() as tx:
                on_a_full_disk(tx)
        return []

    with store.write() as tx:
        deliveries.add(tx, NewDelivery("g", "github", "e", "7:1", "{}"))
    for _ in range(MAX_ATTEMPTS):
        with pytest.raises(StoreUnavailable, match="full"):
            advance_one(store, advance)
    assert advance_one(store, advance)
    assert tries == [0] * (MAX_ATTEMPTS + 1)
    tries.clear()
    an_effect(store)
    mine = Claims(store, "me", deliver, KINDS, ())
    while claimed := mine.take():
        mine.carry_out(claimed)
        clock.forward(STORE_PAUSE)
    assert tries == [1] * (MAX_ATTEMPTS + 1)
