"""Which approved plans of a repository may start now, and what the others wait for.

By priority, then first come, first served by the time of approval. A plan under way takes a slot until its work is
verified or has failed; one that is held has stopped and takes none. With ``overlap: wait`` a plan waits for every plan
whose unmerged work may touch the same files, and lets later ones pass meanwhile: waiting for people can take long.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from bot.lifecycle.choices import PlanPriority
from bot.lifecycle.globs import overlapping
from bot.lifecycle.states import UNDER_WAY, Frozen, State, WaitingOn

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bot.lifecycle.plan import Plan
    from bot.lifecycle.policy import Policy

UNMERGED = UNDER_WAY | {State.IN_REVIEW, State.PR_OPEN}
"""Where a plan has, or is making, work that is not on the default branch."""
IN_THE_QUEUES_SIGHT = UNMERGED | {State.APPROVED}
"""States whose plans the queue looks at: those that wait, and those that others wait for."""

ORDER = tuple(PlanPriority)
"""Priorities, the first served first."""


class Verdict(Frozen):
    """What the queue says of one approved plan."""

    uid: str
    on: WaitingOn | None
    """What it waits for; None: it may start now."""
    waits_for: tuple[str, ...] = ()
    """The issues of the plans it waits for, as ``#12``."""
    overlaps: tuple[str, ...] = ()
    """Of a plan that starts all the same (``overlap: warn``, ``/start``): the issues of plans that touch its files."""
    position: int | None = None
    """Its place among those that wait, counted from 1."""

    @property
    def starts(self) -> bool:
        """Whether the plan may start now."""
        return self.on is None


def next_starts(plans: Sequence[Plan], policy: Policy) -> tuple[Verdict, ...]:
    """Return a verdict for each approved plan that is not held, in the order of the queue.

    ``plans`` are those of one repository, in any state and order. Plans that this call lets start count for those
    behind them.
    """
    unmerged = sorted((p for p in plans if p.state in UNMERGED), key=lambda p: (p.issue_number, p.try_number))
    running = [p for p in unmerged if p.state in UNDER_WAY and p.hold is None]
    verdicts: list[Verdict] = []
    waiting = 0
    for plan in sorted((p for p in plans if p.state is State.APPROVED and p.hold is None), key=_turn):
        touching = [p for p in unmerged if policy.overlap != "off" and _overlap(plan, p)]
        if touching and policy.overlap == "wait" and not plan.choices.past_overlap:
            on, waits_for = WaitingOn.OVERLAP, _issues(touching)
        elif len(running) >= policy.max_parallel:
            on, waits_for = WaitingOn.SLOT, _issues(running)
        else:
            verdicts.append(Verdict(uid=plan.uid, on=None, overlaps=_issues(touching)))
            running.append(plan)
            unmerged.append(plan)
            continue
        waiting += 1
        verdicts.append(Verdict(uid=plan.uid, on=on, waits_for=waits_for, position=waiting))
    return tuple(verdicts)


def _turn(plan: Plan) -> tuple[int, float, int, int]:
    approved_at = plan.plan_approval.at if plan.plan_approval else plan.requested_at
    return (ORDER.index(plan.choices.priority), approved_at, plan.issue_number, plan.try_number)


def _overlap(one: Plan, other: Plan) -> bool:
    return overlapping(_files(one), _files(other))


def _files(plan: Plan) -> tuple[str, ...]:
    return plan.revision.document.files if plan.revision else ()


def _issues(plans: Sequence[Plan]) -> tuple[str, ...]:
    return tuple(f"#{p.issue_number}" for p in plans)
