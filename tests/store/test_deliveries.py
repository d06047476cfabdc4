from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from sqlalchemy import insert
from sqlalchemy.exc import DBAPIError, IntegrityError

from bot.store import deliveries
from bot.store.deliveries import NewDelivery
from bot.store.engine import StoreUnavailable
from bot.store.schema import repositories

if TYPE_CHECKING:
    from bot.store.engine import Store
    from tests.store.databases import Clock


def new(guid: str, lane: str = "7:1") -> NewDelivery:
    return NewDelivery(guid, "github", "issues.labeled", lane, '{"a":"\\u0000ü"}', 3)


def add(store: Store, *news: NewDelivery) -> list[bool]:
    with store.write() as tx:
        return [deliveries.add(tx, one) for one in news]


def next_guid(store: Store) -> str | None:
    with store.write() as tx:
        found = deliveries.next_open(tx)
        if found is not None:
            deliveries.finish(tx, found, "done")
        return None if found is None else found.guid


def test_a_guid_is_taken_once(store: Store) -> None:
    assert add(store, new("a"), new("b")) == [True, True]
    assert add(store, new("a", lane="other")) == [False]
    assert next_guid(store) == "a"
    assert add(store, new("a")) == [False]


def test_a_statement_that_fails_tells_no_value(store: Store) -> None:
    row = {"id": 1, "owner": "octo", "name": "private words", "installation_id": 3}
    with pytest.raises(IntegrityError) as fault, store.write() as tx:
        tx.execute(insert(repositories).values([row, row]))
    assert "private" not in str(fault.value)


def test_what_is_taken_is_what_was_added(store: Store, clock: Clock) -> None:
    add(store, new("a"))
    with store.write() as tx:
        found = deliveries.next_open(tx)
    assert found is not None
    assert replace(new("a")) == NewDelivery(
        found.guid, found.source, found.event, found.lane, found.body, found.installation_id
    )
    assert (found.received_at, found.attempts) == (clock.at, 0)


def test_a_lane_waits_for_its_oldest_and_other_lanes_do_not(store: Store, clock: Clock) -> None:
    add(store, new("a1", "a"), new("a2", "a"), new("b1", "b"))
    with store.write() as tx:
        first = deliveries.next_open(tx)
        assert first is not None
        deliveries.retry(tx, first, clock() + 10, "away")
    assert [next_guid(store), next_guid(store)] == ["b1", None]
    clock.forward(10)
    assert [next_guid(store), next_guid(store), next_guid(store)] == ["a1", "a2", None]


def test_a_try_counts_unless_it_is_given_back(store: Store) -> None:
    add(store, new("a"))
    for give_back, attempts in ((False, 1), (True, 1), (False, 2)):
        with store.write() as tx:
            found = deliveries.next_open(tx)
            assert found is not None
            deliveries.retry(tx, found, tx.now, "again", give_back=give_back)
        with store.write() as tx:
            found = deliveries.next_open(tx)
            assert found is not None
            assert found.attempts == attempts


def test_a_parked_delivery_is_seen_and_blocks_nothing(store: Store) -> None:
    add(store, new("a1", "a"), new("a2", "a"))
    with store.write() as tx:
        first = deliveries.next_open(tx)
        assert first is not None
        deliveries.park(tx, first, "bad\0" + "x" * 10_000)
    with store.read() as tx:
        (parked,) = deliveries.parked(tx)
    assert parked.guid == "a1"
    assert parked.error.startswith("bad\N{REPLACEMENT CHARACTER}x")
    assert len(parked.error) < 3_000
    assert next_guid(store) == "a2"
    with store.write() as tx:
        assert deliveries.unpark(tx, parked.id)
        assert not deliveries.unpark(tx, parked.id)
    assert next_guid(store) == "a1"


def test_a_read_transaction_can_look_but_not_change(store: Store) -> None:
    add(store, new("a"))
    with store.read() as tx:
        assert deliveries.ready(tx)
    with pytest.raises((StoreUnavailable, DBAPIError), match=r"readonly|read-only"), store.read() as tx:
        deliveries.add(tx, new("b"))


def test_a_write_transaction_that_raises_leaves_nothing(store: Store) -> None:
    def fail() -> None:
        with store.write() as tx:
            deliveries.add(tx, new("a"))
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert next_guid(store) is None
