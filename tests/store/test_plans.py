from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import pytest

from bot.lifecycle.states import State, WaitingOn
from bot.store import plans
from bot.store.plans import Conflict
from tests.store.databases import Clock, some_plan

if TYPE_CHECKING:
    from bot.store.engine import Store


def save(store: Store, *new: object, version: int | None = None) -> None:
    with store.write() as tx:
        for plan in new:
            plans.save(tx, plan, version)  # type: ignore[arg-type]


def test_a_plan_comes_back_whole_by_every_key(store: Store) -> None:
    plan = some_plan(pull_request=99, title="x")
    save(store, plan)
    with store.read() as tx:
        assert plans.get(tx, plan.uid) == plan
        assert plans.latest(tx, plan.lane) == plan
        assert plans.by_pull_request(tx, 7, 99) == plan
        assert plans.by_pull_request(tx, 8, 99) is None
        assert plans.get(tx, "none") is None


def test_the_newest_try_counts(store: Store) -> None:
    save(store, some_plan(), some_plan("cafe0002", try_number=2))
    with store.read() as tx:
        latest = plans.latest(tx, "7:12")
        assert latest is not None
        assert latest.uid == "cafe0002"


def test_saving_compares_the_version(store: Store) -> None:
    save(store, some_plan())
    changed = some_plan(version=1, state=State.APPROVED)
    save(store, changed, version=0)
    with pytest.raises(Conflict, match="no longer at version 0"):
        save(store, some_plan(version=1, state=State.REJECTED), version=0)
    with store.read() as tx:
        assert plans.get(tx, "cafe0001") == changed


def test_a_try_exists_once(store: Store) -> None:
    save(store, some_plan())
    with store.write() as tx:
        with pytest.raises(Conflict, match="Try 1 of issue 7:12 exists"):
            plans.save(tx, some_plan("cafe0002"), None)
        plans.save(tx, some_plan("cafe0003", issue=13), None)
    with store.read() as tx:
        assert {plan.uid for plan in plans.open_plans(tx)} == {"cafe0001", "cafe0003"}


def test_of_many_who_change_a_plan_at_once_none_is_lost(store: Store) -> None:
    save(store, some_plan())

    def bump() -> None:
        for _ in range(10):
            with store.write() as tx:
                plan = plans.get(tx, "cafe0001")
                assert plan is not None
                plans.save(tx, plan.model_copy(update={"version": plan.version + 1}), plan.version)

    threads = [threading.Thread(target=bump) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    with store.read() as tx:
        plan = plans.get(tx, "cafe0001")
    assert plan is not None
    assert plan.version == 40


def test_plans_are_found_by_what_they_are_and_wait_for(store: Store, clock: Clock) -> None:
    save(store, some_plan())
    clock.forward(1)
    save(store, some_plan("cafe0002", issue=13, state=State.APPROVED, waiting_on=WaitingOn.SLOT))
    save(store, some_plan("cafe0003", issue=14, state=State.MERGED, waiting_on=None))
    with store.read() as tx:

        def uids(found: list[object]) -> list[str]:
            return [plan.uid for plan in found]  # type: ignore[attr-defined]

        assert uids([*plans.in_repository(tx, 7, [State.DRAFT, State.APPROVED])]) == ["cafe0001", "cafe0002"]
        assert uids([*plans.in_installation(tx, 3)]) == ["cafe0001", "cafe0002"]
        assert uids([*plans.recent(tx)]) == ["cafe0002", "cafe0003", "cafe0001"]
        assert plans.ended_uids(tx, 7, clock()) == ["cafe0003"]
        assert plans.ended_uids(tx, 7, clock() + 1) == []


def test_reactions_are_polled_while_a_decision_is_awaited(store: Store, clock: Clock) -> None:
    plan = some_plan(waiting_on=WaitingOn.PLAN_DECISION)
    save(store, plan, some_plan("cafe0002", issue=13))
    with store.write() as tx:
        assert plans.poll_due(tx, 10) == [plan]
        plans.poll_again(tx, plan, clock() + 5)
        assert plans.poll_due(tx, 10) == []
    clock.forward(5)
    with store.write() as tx:
        assert plans.poll_due(tx, 10) == [plan]
        plans.save(tx, plan.model_copy(update={"version": 1, "waiting_on": WaitingOn.RUNNER}), 0)
        plans.poll_again(tx, plan, clock())
        assert plans.poll_due(tx, 10) == []
