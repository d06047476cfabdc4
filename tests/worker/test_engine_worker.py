"""How deliveries and effects end, step by step and in threads."""

from __future__ import annotations

import json
import threading
from typing import TYPE_CHECKING, Any

import pytest

from bot.errors import MAX_ATTEMPTS, Permanent, RetryAt, Transient, UserError, backoff
from bot.lifecycle.effects import Acknowledge, Dispatch
from bot.store import deliveries, journal, outbox, throttles
from bot.store.deliveries import Delivery, NewDelivery
from bot.store.engine import Store, Tx, open_store
from bot.store.journal import Entry
from bot.worker.loop import Worker
from bot.worker.periodic import Periodic
from bot.worker.schedule import LONGEST_PUT_OFF
from tests.worker.engine_rig import settled, until

if TYPE_CHECKING:
    from collections.abc import Callable

    from bot.store.outbox import Claimed
    from tests.store.databases import Clock

KINDS = ["acknowledge", "dispatch"]


class Script:
    """Plays ``advance`` and ``deliver``: raises what it is told to, else notes what it saw."""

    def __init__(self) -> None:
        self.seen: list[Delivery] = []
        self.done: list[Claimed] = []
        self.trouble: dict[str, Exception] = {}

    def advance(self, tx: Tx, delivery: Delivery) -> str:
        journal.append(tx, Entry(f"{delivery.guid}:{len(self.seen)}", delivery.lane, tx.now, "e", "s"))
        self.seen.append(delivery)
        if delivery.guid in self.trouble:
            raise self.trouble[delivery.guid]
        return "seen"

    def deliver(self, claimed: Claimed) -> list[NewDelivery]:
        self.done.append(claimed)
        if claimed.key in self.trouble:
            raise self.trouble[claimed.key]
        return [NewDelivery(f"done:{claimed.key}", "effect", "done", claimed.lane, "{}")]

    @property
    def guids(self) -> list[str]:
        return [delivery.guid for delivery in self.seen]

    @property
    def keys(self) -> list[str]:
        return [claimed.key for claimed in self.done]


@pytest.fixture
def script() -> Script:
    return Script()


@pytest.fixture
def worker(store: Store, script: Script) -> Worker:
    return Worker(store, script.advance, script.deliver, kinds=KINDS)


def happen(store: Store, *guids: str, lane: str = "7:1") -> None:
    with store.write() as tx:
        deliveries.add_all(tx, [NewDelivery(guid, "github", "e", lane, "{}", 3) for guid in guids])


def want(store: Store, *effects: Any, lane: str = "7:1", installation: int = 3) -> None:
    with store.write() as tx:
        outbox.add(tx, effects, lane=lane, installation_id=installation)


def test_an_effect_that_is_done_is_followed_by_its_deliveries(store: Store, script: Script, worker: Worker) -> None:
    want(store, Acknowledge(key="a"), Acknowledge(key="b"))
    assert worker.run_until_idle() == 4
    assert (script.keys, script.guids) == (["a", "b"], ["done:a", "done:b"])
    assert settled(store)


@pytest.mark.parametrize("trouble", [ValueError("ours"), Transient("away")])
def test_a_delivery_that_fails_leaves_nothing_waits_longer_each_time_and_is_parked(
    store: Store, clock: Clock, script: Script, worker: Worker, trouble: Exception
) -> None:
    happen(store, "bad", "next")
    happen(store, "other", lane="7:2")
    script.trouble["bad"] = trouble
    worker.run_until_idle()
    assert script.guids == ["bad", "other"]
    for attempt in range(1, MAX_ATTEMPTS):
        clock.forward(backoff(attempt) - 0.01)
        assert worker.run_until_idle() == 0
        clock.forward(0.01)
        worker.run_until_idle()
    assert script.guids == ["bad", "other", *["bad"] * (MAX_ATTEMPTS - 1), "next"]
    with store.read() as tx:
        assert [parked.guid for parked in deliveries.parked(tx)] == ["bad"]
        assert len(journal.of_lane(tx, "7:1")) == 1


@pytest.mark.parametrize("trouble", [Permanent("no"), UserError("no")])
def test_a_delivery_that_can_never_work_is_parked_at_once(
    store: Store, script: Script, worker: Worker, trouble: Exception
) -> None:
    happen(store, "bad", "next")
    script.trouble["bad"] = trouble
    worker.run_until_idle()
    assert script.guids == ["bad", "next"]


def test_a_delivery_that_is_put_off_comes_back_and_no_try_is_counted(
    store: Store, clock: Clock, script: Script, worker: Worker
) -> None:
    happen(store, "a")
    script.trouble["a"] = RetryAt(clock() + 9, "later")
    worker.run_until_idle()
    clock.forward(9)
    del script.trouble["a"]
    worker.run_until_idle()
    assert [delivery.attempts for delivery in script.seen] == [0, 0]


def failures(script: Script) -> list[dict[str, Any]]:
    """What was told of given-up effects; the effect itself, which is told as well, is the one that the key names."""
    told = [json.loads(delivery.body) for delivery in script.seen if delivery.event == "effect_failed"]
    assert [outbox.read_effect(one.pop("payload")).key for one in told] == [one["key"] for one in told]
    return told


@pytest.mark.parametrize(
    ("trouble", "sentence"),
    [
        (Transient("GitHub is away."), f"Given up after {MAX_ATTEMPTS} tries. GitHub is away."),
        (
            KeyError("x"),
            f"Given up after {MAX_ATTEMPTS} tries. An unexpected fault of the bot (KeyError); see its log.",
        ),
    ],
)
def test_an_effect_that_fails_waits_longer_each_time_and_its_end_is_told(
    store: Store, clock: Clock, script: Script, worker: Worker, trouble: Exception, sentence: str
) -> None:
    want(store, Dispatch(key="bad", job="cafe0001-1"), Acknowledge(key="next"))
    script.trouble["bad"] = trouble
    worker.run_until_idle()
    for attempt in range(1, MAX_ATTEMPTS):
        assert script.keys == ["bad"] * attempt
        clock.forward(backoff(attempt))
        worker.run_until_idle()
    assert script.keys == [*["bad"] * MAX_ATTEMPTS, "next"]
    assert [claimed.first for claimed in script.done[:3]] == [True, False, False]
    assert failures(script) == [{"effect": "dispatch", "key": "bad", "job": "cafe0001-1", "sentence": sentence}]


@pytest.mark.parametrize("refusal", [Permanent("Not allowed."), UserError("Not allowed.")])
def test_an_effect_that_is_refused_is_told_at_once(
    store: Store, script: Script, worker: Worker, refusal: Exception
) -> None:
    want(store, Acknowledge(key="bad"), Acknowledge(key="next"))
    script.trouble["bad"] = refusal
    worker.run_until_idle()
    assert script.keys == ["bad", "next"]
    assert failures(script) == [{"effect": "acknowledge", "key": "bad", "job": None, "sentence": "Not allowed."}]
    with store.read() as tx:
        assert [parked.key for parked in outbox.parked(tx)] == ["bad"]


def test_a_rate_limit_closes_the_gate_for_the_installation_and_costs_no_try(
    store: Store, clock: Clock, script: Script, worker: Worker
) -> None:
    for lane in ("7:1", "7:2", "7:3"):
        want(store, Acknowledge(key=lane), lane=lane)
    want(store, Acknowledge(key="8:1"), lane="8:1", installation=33)
    script.trouble["7:1"] = RetryAt(clock() + 60, "Limit.", gate=throttles.installation_gate(3))
    worker.run_until_idle()
    assert script.keys == ["7:1", "8:1"]
    clock.forward(60)
    script.trouble.clear()
    worker.run_until_idle()
    assert script.keys == ["7:1", "8:1", "7:2", "7:3", "7:1"] or sorted(script.keys[2:]) == ["7:1", "7:2", "7:3"]
    assert {claimed.attempt for claimed in script.done} == {1}


def test_nothing_is_put_off_for_longer_than_the_longest(
    store: Store, clock: Clock, script: Script, worker: Worker
) -> None:
    want(store, Acknowledge(key="a"))
    script.trouble["a"] = RetryAt(clock() + 10**9, "In thirty years.", gate=throttles.installation_gate(3))
    worker.run_until_idle()
    script.trouble.clear()
    clock.forward(LONGEST_PUT_OFF)
    worker.run_until_idle()
    assert script.keys == ["a", "a"]


def test_an_effect_that_never_comes_to_an_end_is_given_up(
    store: Store, clock: Clock, script: Script, worker: Worker
) -> None:
    """As one that kills its process each time."""
    want(store, Acknowledge(key="a"), Acknowledge(key="next"))
    for _ in range(MAX_ATTEMPTS):
        with store.write() as tx:
            assert outbox.claim(tx, "dies", 60, KINDS) is not None
        clock.forward(61)
    worker.run_until_idle()
    assert script.keys == ["next"]
    assert "never came to an end" in failures(script)[0]["sentence"]


def test_work_without_end_is_noticed(store: Store) -> None:
    def advance(tx: Tx, delivery: Delivery) -> str:
        deliveries.add(tx, NewDelivery(delivery.guid + "x", "poll", "e", "l", "{}"))
        return "more"

    happen(store, "x")
    with pytest.raises(RuntimeError, match="not idle after 20 steps"):
        Worker(store, advance, lambda _: [], kinds=KINDS).run_until_idle(20)


def test_threads_work_until_they_are_stopped_and_finish_what_is_in_hand(url: str) -> None:
    store, script = open_store(url), Script()
    begun, go_on = threading.Event(), threading.Event()

    def deliver(claimed: Claimed) -> list[NewDelivery]:
        if claimed.key == "slow":
            begun.set()
            assert go_on.wait(20)
        return script.deliver(claimed)

    worker = Worker(store, script.advance, deliver, kinds=KINDS)
    worker.start()
    want(store, Acknowledge(key="quick"), lane="7:2")
    until(lambda: script.guids == ["done:quick"], "the quick one is done")
    want(store, Acknowledge(key="slow"), Acknowledge(key="never"))
    assert begun.wait(20)
    stopping = threading.Thread(target=worker.stop, args=(20.0,))
    stopping.start()
    until(lambda: not any(thread.name == "dispatcher" for thread in threading.enumerate()), "nothing new is taken")
    happen(store, "late")
    go_on.set()
    stopping.join(20)
    assert not stopping.is_alive()
    assert script.keys == ["quick", "slow"]
    with store.read() as tx:
        assert deliveries.ready(tx)
    with store.write() as tx:
        left = outbox.claim(tx, "next process", 60, KINDS)
    assert left is not None
    assert (left.key, left.first) == ("never", True)
    store.dispose()


def test_a_stop_ends_in_time_even_if_the_work_does_not(sqlite_url: str) -> None:
    store, begun, go_on = open_store(sqlite_url), threading.Event(), threading.Event()

    def deliver(claimed: Claimed) -> list[NewDelivery]:
        begun.set()
        go_on.wait(20)
        return []

    worker = Worker(store, Script().advance, deliver, kinds=KINDS)
    want(store, Acknowledge(key="a"))
    worker.start()
    assert begun.wait(20)
    assert not worker.stop(0.05)
    go_on.set()
    assert worker.stop(20)
    store.dispose()


def periodic(name: str, run: Callable[[], None], **how: Any) -> Periodic:
    return Periodic(name, how.pop("every", 60.0), run, **how)


def test_of_several_workers_one_runs_a_task_in_its_turn(store: Store, clock: Clock) -> None:
    from bot.worker.periodic import run_once

    runs: list[str] = []
    tasks = [periodic("poll", lambda name=name: runs.append(name)) for name in "ab"]  # type: ignore[misc]
    assert [run_once(store, task) for task in tasks] == [True, False]
    clock.forward(60)
    assert [run_once(store, task) for task in reversed(tasks)] == [True, False]
    assert runs == ["a", "b"]


def test_a_task_that_fails_is_run_again_and_one_for_the_start_runs_at_the_start(url: str) -> None:
    store = open_store(url)
    ran, failed = threading.Semaphore(0), threading.Semaphore(0)

    def fail() -> None:
        failed.release()
        raise ValueError

    with store.write() as tx:
        throttles.take_turn(tx, "start", 600)
    worker = Worker(
        store,
        Script().advance,
        Script().deliver,
        kinds=KINDS,
        periodic=[periodic("fails", fail, every=0.05), periodic("start", ran.release, every=600, at_start=True)],
    )
    worker.start()
    assert failed.acquire(timeout=20)
    assert failed.acquire(timeout=20)
    assert ran.acquire(timeout=20)
    assert worker.stop(20)
    assert worker.run_periodic("start")
    assert not worker.run_periodic("fails")
    assert worker.run_periodic("retention")
    store.dispose()
