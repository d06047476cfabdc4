"""What the queue takes to look at a thousand waiting plans, and what stars cost where patterns are intersected.

The baseline of the first is putting the same plans in order, which no queue can do without; that of the second is a
pair of patterns as long with one star each.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from bench.measure import Measure, best_of
from bot.lifecycle import globs
from bot.lifecycle.plan import Approval, IssueSnapshot, Person, Plan, Repo, Revision
from bot.lifecycle.policy import Policy
from bot.lifecycle.queue import Queue, turn
from bot.lifecycle.states import Gate, State, Via
from runner.results import PlanDocument, Verdict

if TYPE_CHECKING:
    from collections.abc import Callable

WAITING, AT_WORK = 1_000, 8
"""Plans in the queue, and plans whose files each of them is compared with."""
LONG = 512
"""Characters of a pattern."""
ROUNDS = 5
"""Turns of each; the best counts."""
ANN = Person(id=1, login="ann")


def measure() -> list[Measure]:
    """Measure both."""
    return [_queue(), _stars()]


def _queue() -> Measure:
    working = tuple(_plan(n, State.EXECUTING) for n in range(AT_WORK))
    waiting = tuple(_plan(n, State.APPROVED) for n in range(AT_WORK, AT_WORK + WAITING))
    queue = Queue(repository_id=1, policy=Policy(max_parallel=AT_WORK), plans=(*working, *waiting))
    ours, theirs = best_of(ROUNDS, queue.verdicts), best_of(ROUNDS, lambda: sorted(waiting, key=turn))
    return Measure(f"queue of {WAITING:,} waiting plans", ours, "ms", theirs, "sorting them")


def _stars() -> Measure:
    one_star, half_stars = ("ab" * (LONG // 2 - 1) + "a*",) * 2, ("*a" * (LONG // 2), "*b" * (LONG // 2))

    def pair(one: str, other: str) -> Callable[[], bool]:
        return lambda: bool(globs.forget()) or globs.meet(one, other)

    ours, theirs = best_of(ROUNDS, pair(*half_stars)), best_of(ROUNDS, pair(*one_star))
    return Measure(f"two patterns of {LONG} characters, half stars", ours, "ms", theirs, "with one star each")


def _plan(number: int, state: State) -> Plan:
    files = tuple(f"src/part{number}/file{n}.py" for n in range(10))
    document = PlanDocument(verdict=Verdict.PLAN, title="Do it", summary="It is done.", steps=("Do it.",), files=files)
    return Plan(
        uid=f"{number:08x}",
        repo=Repo(id=1, owner="acme", name="shop", installation_id=1),
        issue_number=number + 1,
        issue=IssueSnapshot(title="Do it", body="", author=ANN),
        requester=ANN,
        requested_at=0.0,
        state=state,
        revisions=(Revision(number=1, document=document),),
        plan_approval=Approval(gate=Gate.PLAN, by=ANN, via=Via.COMMAND, at=float(-number * 7 % 1_000), binds_to="x"),
    )
