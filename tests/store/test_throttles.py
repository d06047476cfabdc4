from __future__ import annotations

import random
from typing import TYPE_CHECKING

import pytest

from bot.store import throttles
from bot.store.engine import open_store
from bot.store.throttles import WRITE_LIMITS

if TYPE_CHECKING:
    from bot.store.engine import Store
    from tests.store.databases import Clock


def reserve(store: Store, installation: int = 3, patience: float = 0.0) -> float:
    with store.write() as tx:
        return throttles.reserve_write(tx, installation, patience=patience)


def test_a_gate_is_closed_until_its_time_and_never_opened_early(store: Store, clock: Clock) -> None:
    with store.write() as tx:
        assert throttles.is_open(tx, "installation:3")
        throttles.close(tx, "installation:3", clock() + 60, "limit")
        throttles.close(tx, "installation:3", clock() + 10, "a shorter one")
        (closed,) = throttles.closed(tx)
        assert closed.until == clock() + 60
    clock.forward(59)
    with store.read() as tx:
        assert not throttles.is_open(tx, "installation:3")
        assert throttles.is_open(tx, "installation:33")
    clock.forward(1)
    with store.read() as tx:
        assert throttles.is_open(tx, "installation:3")
        assert throttles.closed(tx) == []


def test_one_write_a_second_for_each_installation(store: Store, clock: Clock) -> None:
    start = clock()
    assert reserve(store) == start
    assert reserve(store, 33) == start
    assert reserve(store) == start + 1
    clock.forward(0.5)
    assert reserve(store) == start + 1
    assert reserve(store, patience=0.5) == start + 1
    assert reserve(store, patience=0.5) == start + 2
    clock.forward(1.5)
    assert reserve(store) == start + 2


def test_what_was_not_reserved_takes_no_place(store: Store, clock: Clock) -> None:
    reserve(store)
    assert [reserve(store) for _ in range(5)] == [clock() + 1] * 5


def test_the_limits_hold_in_every_stretch_of_time(sqlite_url: str, clock: Clock) -> None:
    """Whoever writes as soon as it is allowed, with pauses as they come, stays within each limit, and reaches it."""
    rng = random.Random(1)
    written = []
    store = open_store(sqlite_url, now=clock)
    with store.write() as tx:
        for _ in range(620):
            tx.__dict__["now"] = clock()
            at = throttles.reserve_write(tx, 3)
            if at > clock():
                clock.at = at
                tx.__dict__["now"] = at
                assert throttles.reserve_write(tx, 3) == at
            written.append(at)
            clock.forward(rng.choice([0.0, 0.3, 1.0, 2.0]))
    store.dispose()
    for count, seconds in WRITE_LIMITS:
        spans = [later - first for first, later in zip(written, written[count:], strict=False)]
        assert min(spans) >= seconds - 1e-6
    assert written[500] - written[0] == pytest.approx(3_600)


def test_writes_older_than_the_longest_window_are_forgotten(store: Store, clock: Clock) -> None:
    from sqlalchemy import func, select

    from bot.store.schema import writes

    for _ in range(3):
        reserve(store)
        clock.forward(1)
    clock.forward(3_600)
    reserve(store)
    with store.read() as tx:
        assert tx.execute(select(func.count()).select_from(writes)).scalar_one() == 1


def test_a_turn_is_taken_by_one(store: Store, clock: Clock) -> None:
    def take() -> bool:
        with store.write() as tx:
            return throttles.take_turn(tx, "reconcile", 10)

    assert [take(), take()] == [True, False]
    clock.forward(10)
    assert [take(), take()] == [True, False]
    with store.read() as tx:
        assert throttles.closed(tx) == []
