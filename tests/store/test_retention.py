from __future__ import annotations

from typing import TYPE_CHECKING

from bot.lifecycle.effects import Acknowledge
from bot.store import deliveries, health, journal, outbox, retention
from bot.store.deliveries import NewDelivery
from bot.store.journal import Entry

if TYPE_CHECKING:
    import pytest

    from bot.store.engine import Store
    from tests.store.databases import Clock

DAY = 86_400.0


def fill(store: Store, name: str) -> None:
    """One finished, one parked and one open row of each queue, and a line of the journal."""
    with store.write() as tx:
        for kind in ("done", "parked", "open"):
            lane = f"{name}-{kind}"
            deliveries.add(tx, NewDelivery(lane, "github", "e", lane, "{}"))
            outbox.add(tx, [Acknowledge(key=lane)], lane=lane, installation_id=3)
        for kind in ("done", "parked"):
            delivery, claimed = deliveries.next_open(tx), outbox.claim(tx, "me", 60, ["acknowledge"])
            assert delivery is not None
            assert claimed is not None
            assert delivery.lane == claimed.lane == f"{name}-{kind}"
            if kind == "done":
                deliveries.finish(tx, delivery, "ok")
                outbox.finish(tx, claimed, "ok")
            else:
                deliveries.park(tx, delivery, "bad")
                outbox.park(tx, claimed, "bad")
        journal.append(tx, Entry(name, name, tx.now, "e", "s"))
        left = deliveries.next_open(tx)
        assert left is not None
        deliveries.retry(tx, left, tx.now + 1_000 * DAY, "later")
        claimed = outbox.claim(tx, "me", 60, ["acknowledge"])
        assert claimed is not None
        outbox.retry(tx, claimed, tx.now + 1_000 * DAY, "later")


def counts(store: Store) -> tuple[int, int, int, int]:
    with store.read() as tx:
        found = health.look(tx)
    return found.deliveries.waiting, found.deliveries.parked, found.effects.waiting, found.effects.parked


def forget(store: Store) -> int:
    with store.write() as tx:
        return retention.forget(tx)


def test_finished_rows_go_first_parked_ones_later_open_ones_and_the_journal_never(store: Store, clock: Clock) -> None:
    fill(store, "a")
    clock.forward(retention.KEEP_DONE_DAYS * DAY)
    assert forget(store) == 0
    clock.forward(1)
    assert [forget(store), forget(store)] == [2, 0]
    assert counts(store) == (1, 1, 1, 1)
    clock.forward((retention.KEEP_PARKED_DAYS - retention.KEEP_DONE_DAYS) * DAY)
    assert [forget(store), forget(store)] == [2, 0]
    assert counts(store) == (1, 0, 1, 0)
    with store.read() as tx:
        assert len(journal.of_lane(tx, "a")) == 1


def test_a_reaction_is_never_forgotten_since_it_would_be_judged_again(store: Store, clock: Clock) -> None:
    reaction = NewDelivery("reaction:7", "poll", "request", "7:12", "{}")
    with store.write() as tx:
        deliveries.add(tx, reaction)
        found = deliveries.next_open(tx)
        assert found is not None
        deliveries.finish(tx, found, "refused")
    clock.forward(1_000 * DAY)
    assert forget(store) == 0
    with store.write() as tx:
        assert not deliveries.add(tx, reaction)


def test_of_a_report_the_mark_stays_and_what_it_said_goes(store: Store, clock: Clock) -> None:
    with store.write() as tx:
        for name in ("done", "parked"):
            deliveries.add(tx, NewDelivery(f"hook:7:{name}", "hook", "jam", f"7:{name}", "{}"))
            found = deliveries.next_open(tx)
            assert found is not None
            (deliveries.finish if name == "done" else deliveries.park)(tx, found, "so")
    clock.forward(retention.KEEP_PARKED_DAYS * DAY + 1)
    assert [forget(store), forget(store)] == [2, 0]
    with store.write() as tx:
        for name in ("done", "parked"):
            kept = deliveries.kept(tx, source="hook", guid=f"hook:7:{name}")
            assert kept is not None
            assert (kept.body, kept.parked_at) == ("", None)
            assert not deliveries.add(tx, NewDelivery(f"hook:7:{name}", "hook", "jam", "7", "{}"))
        assert deliveries.parked(tx) == []


def test_a_batch_is_bounded(store: Store, clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(retention, "BATCH", 3)
    fill(store, "a")
    fill(store, "b")
    clock.forward(retention.KEEP_DONE_DAYS * DAY + 1)
    assert [forget(store), forget(store)] == [3, 1]


def test_health_tells_how_long_the_oldest_has_waited(store: Store, clock: Clock) -> None:
    with store.read() as tx:
        assert health.look(tx).deliveries == health.Queue(0, 0.0, 0)
    fill(store, "a")
    clock.forward(5)
    with store.read() as tx:
        assert health.look(tx) == health.Health(health.Queue(1, 5.0, 1), health.Queue(1, 5.0, 1))
