"""Processes that die, freeze, or lose their database in the middle of the work: nothing is lost, nothing done twice."""

from __future__ import annotations

import os
import random
import signal
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest

from bot.store import deliveries, journal, plans
from bot.store.deliveries import NewDelivery
from bot.store.engine import open_store
from bot.store.migrate import migrate
from tests.store.databases import postgresql_server
from tests.worker.engine_rig import (
    EFFECTS,
    NOTHING,
    World,
    happen,
    served,
    settled,
    start_process,
    until,
    verdict,
    waits,
)

if TYPE_CHECKING:
    from collections.abc import Iterator
    from multiprocessing.context import ForkServerProcess

    from bot.store.engine import Store

KILLS = 8
"""In the quick suite; the drills have a hundred."""


@contextmanager
def processes(url: str, world: World, count: int = 2) -> Iterator[list[ForkServerProcess]]:
    """Run worker processes; the list may be changed."""
    running = [start_process(url, world.address) for _ in range(count)]
    try:
        yield running
    finally:
        for process in running:
            process.kill()
            process.join(10)


def kill_along(url: str, world: World, running: list[ForkServerProcess], kills: int, writes: int, seed: int) -> None:
    """Kill a random worker each time another share of the writes is done, and start one in its place."""
    rng = random.Random(seed)
    for number in range(kills):
        goal = rng.uniform(number, number + 1) * writes / (kills + 1)
        until(lambda goal=goal: len(world.log) >= goal, f"write {goal:.0f}")  # type: ignore[misc]
        place = rng.randrange(len(running))
        running[place].kill()
        running[place].join(10)
        running[place] = start_process(url, world.address)


def check_books(store: Store, lanes: int, each: int) -> None:
    """Compare the database with what must have happened: every version once, every effect noted once."""
    with store.read() as tx:
        for issue in range(1, lanes + 1):
            plan = plans.latest(tx, f"7:{issue}")
            assert plan is not None
            assert plan.version == each
            assert len(journal.of_lane(tx, f"7:{issue}")) == each * EFFECTS


def test_kills_lose_nothing_and_do_nothing_twice(url: str) -> None:
    lanes, each = 10, 2
    store = open_store(url)
    with served(World(seed=7)) as world, processes(url, world) as running:
        expected = happen(store, lanes, each)
        kill_along(url, world, running, KILLS, len(expected), seed=7)
        until(lambda: settled(store), "the queues are empty")
    assert verdict(world.log, expected) == NOTHING
    check_books(store, lanes, each)
    store.dispose()


def test_a_worker_that_dies_and_does_not_come_back_is_replaced_by_another(url: str) -> None:
    store = open_store(url)
    with served(World(failing=0)) as world:
        expected = happen(store, 6, 2)
        waiting, go_on = world.hold_next("7:1/0")
        with processes(url, world, 1):
            assert waiting.wait(30)
        with processes(url, world, 1):
            until(lambda: settled(store), "the queues are empty")
        go_on.set()
    assert verdict(world.log, expected) == NOTHING
    check_books(store, 6, 2)
    store.dispose()


def test_a_frozen_worker_that_wakes_up_changes_nothing_any_more(url: str) -> None:
    """Frozen in the middle of a call for longer than its lease: another takes over, and its own ending is void."""
    store = open_store(url)
    with served(World(failing=0)) as world:
        expected = happen(store, 3, 2)
        waiting, go_on = world.hold_next("7:2/1")
        with processes(url, world, 1) as (frozen,):
            assert waiting.wait(30)
            assert frozen.pid is not None
            until(lambda: waits(store) == (0, 3), "all but what is held and the rest of its lane")
            with store.write():  # so that it is not frozen with the database in hand
                os.kill(frozen.pid, signal.SIGSTOP)
            with processes(url, world, 1):
                until(lambda: settled(store), "the queues are empty")
                go_on.set()
                os.kill(frozen.pid, signal.SIGCONT)
                expected_more = happen_again(store)
                until(lambda: settled(store), "the queues are empty again")
    assert verdict(world.log, [*expected, *expected_more]) == NOTHING
    store.dispose()


def happen_again(store: Store) -> list[str]:
    """One more delivery for each of the three lanes, so that the woken worker has a part in it."""
    with store.write() as tx:
        for issue in (1, 2, 3):
            deliveries.add(tx, NewDelivery(f"more{issue}", "github", "e", f"7:{issue}", "{}"))
    return [f"7:{issue}/{4 + n}" for issue in (1, 2, 3) for n in range(EFFECTS)]


@pytest.mark.drill
@pytest.mark.parametrize("seed", range(5))
def test_a_hundred_kills(url: str, seed: int) -> None:
    lanes, each = 40, 10
    store = open_store(url)
    with served(World(seed=seed)) as world, processes(url, world, 3) as running:
        expected = happen(store, lanes, each)
        kill_along(url, world, running, 100, len(expected), seed)
        until(lambda: settled(store), "the queues are empty", 120)
    assert verdict(world.log, expected) == NOTHING
    check_books(store, lanes, each)
    store.dispose()


@pytest.mark.drill
def test_a_database_server_that_crashes_loses_nothing() -> None:
    lanes, each = 30, 5
    with postgresql_server() as server, served(World(seed=3)) as world:
        url = server.create()
        migrate(url)
        store = open_store(url)
        with processes(url, world):
            expected = happen(store, lanes, each)
            for crash in (1, 2, 3):
                until(lambda crash=crash: len(world.log) >= crash * len(expected) // 4, f"crash {crash}")  # type: ignore[misc]
                server.restart()
            until(lambda: settled(store), "the queues are empty", 120)
        assert verdict(world.log, expected) == NOTHING
        check_books(store, lanes, each)
        store.dispose()
