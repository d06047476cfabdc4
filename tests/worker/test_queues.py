"""Queues of several repositories that share a host, each look one transaction on a real database."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bot.lifecycle import events as ev
from bot.lifecycle.plan import Approval, Plan, Revision, lane
from bot.lifecycle.states import Gate, Limit, State, Via, WaitingOn
from bot.store import deliveries, plans
from bot.store.deliveries import Delivery
from bot.worker.apply import QUEUE, apply, ask_queue
from bot.worker.queues import look_again
from tests.lifecycle.makers import ALICE, ISSUE, REPO, document

if TYPE_CHECKING:
    from bot.store.engine import Store

HERE, THERE = 1, 2


def keep(store: Store, repository: int, issue: int, at: float, state: State = State.APPROVED) -> str:
    """Store a plan that was approved at that time."""
    uid = f"{repository:06x}{issue:06x}"
    approval = Approval(gate=Gate.PLAN, by=ALICE, via=Via.COMMAND, at=at, binds_to="x")
    plan = Plan(
        uid=uid,
        repo=REPO.model_copy(update={"id": repository}),
        issue_number=issue,
        version=1,
        issue=ISSUE,
        requester=ALICE,
        requested_at=0.0,
        state=state,
        waiting_on=WaitingOn.SLOT if state is State.APPROVED else WaitingOn.BOT,
        revisions=(Revision(number=1, document=document(files=(f"{issue}/**",))),),
        plan_approval=approval,
    )
    with store.write() as tx:
        plans.save(tx, plan, None)
    return uid


def look(store: Store, repository: int, slots: int | None) -> str:
    """Let a repository's queue look."""
    with store.write() as tx:
        asked = Delivery(
            f"q:{repository}:{tx.now!r}", "effect", QUEUE, lane(repository, 0), "{}", 7, id=1, received_at=tx.now
        )
        return look_again(tx, asked, slots)


def stands(store: Store, uid: str) -> tuple[State, Limit | None]:
    with store.read() as tx:
        plan = plans.get(tx, uid)
    assert plan is not None
    return plan.state, plan.limit


def end(store: Store, uid: str) -> None:
    """Cancel a plan at work."""
    with store.write() as tx:
        plan = plans.get(tx, uid)
        assert plan is not None
        apply(tx, plan, ev.CancelRequested(at=tx.now, source=f"c:{uid}", by=ALICE, via=Via.COMMAND))


def test_without_a_limit_of_the_host_a_look_is_at_one_repository(store: Store) -> None:
    mine, other = keep(store, HERE, 1, 10), keep(store, THERE, 1, 5)
    assert look(store, HERE, None) == "#1: a slot is free: executing"
    assert (stands(store, mine)[0], stands(store, other)[0]) == (State.EXECUTING, State.APPROVED)


def test_a_slot_that_is_freed_here_starts_what_waits_there(store: Store) -> None:
    busy, next_, other = keep(store, HERE, 1, 1), keep(store, HERE, 2, 20), keep(store, THERE, 1, 10)
    assert look(store, HERE, 1) == "#1: a slot is free: executing; #2: waits for slot; #1: waits for slot"
    assert stands(store, next_) == stands(store, other) == (State.APPROVED, Limit.HOST)
    assert look(store, THERE, 1) == "nothing changed"
    end(store, busy)
    look(store, HERE, 1)
    assert (stands(store, other), stands(store, next_)) == (
        (State.EXECUTING, None),
        (State.APPROVED, Limit.HOST),
    )


def test_the_repository_with_the_fewest_at_work_comes_first_and_none_starves(store: Store) -> None:
    running = [keep(store, HERE, n, n, State.VERIFYING) for n in (1, 2)]
    eager = [keep(store, HERE, n, n) for n in (3, 4, 5)]
    patient = keep(store, THERE, 1, 900)
    look(store, HERE, 2)
    assert {stands(store, uid)[0] for uid in (*eager, patient)} == {State.APPROVED}
    end(store, running[0])
    look(store, HERE, 2)
    assert stands(store, patient)[0] is State.EXECUTING
    assert {stands(store, uid)[0] for uid in eager} == {State.APPROVED}


def test_a_look_writes_only_what_is_news(store: Store) -> None:
    keep(store, HERE, 1, 1)
    waiting = keep(store, HERE, 2, 2)
    look(store, HERE, 1)
    with store.read() as tx:
        before = plans.get(tx, waiting)
    assert look(store, HERE, 1) == "nothing changed"
    assert look(store, 99, 1) == "nothing changed"
    with store.read() as tx:
        assert plans.get(tx, waiting) == before


def test_a_queue_is_asked_once_for_each_reason(store: Store) -> None:
    with store.write() as tx:
        ask_queue(tx, HERE, 7, "x:1")
        ask_queue(tx, HERE, 7, "x:1")
        assert deliveries.is_known(tx, "queue:x:1")
        first = deliveries.next_open(tx)
        assert first is not None
        deliveries.finish(tx, first, "done")
        assert deliveries.next_open(tx) is None
