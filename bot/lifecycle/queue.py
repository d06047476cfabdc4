"""Which approved plans may start now, and what the others wait for.

By priority, then first come, first served by the time of approval. A plan waits, in this order, for

* the plans that a person said it depends on, until they are merged;
* with ``overlap: wait``, every plan whose unmerged work may touch the same files;
* room in review: reviewing is where throughput ends, so nothing is begun that would only wait there;
* a slot of its repository, then one of the host, which all repositories share.

A plan under way takes a slot until its work is verified or has failed; one that is held has stopped and takes none.
Whoever waits for other plans or people lets later ones pass meanwhile: that can take long.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from bot.lifecycle.choices import PlanPriority
from bot.lifecycle.globs import overlapping
from bot.lifecycle.states import ENDED, UNDER_WAY, Frozen, Limit, State, WaitingOn

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from bot.lifecycle.plan import Plan
    from bot.lifecycle.policy import Policy

UNMERGED = UNDER_WAY | {State.IN_REVIEW, State.PR_OPEN}
"""Where a plan has, or is making, work that is not on the default branch."""
IN_THE_QUEUES_SIGHT = UNMERGED | {State.APPROVED}
"""States whose plans the queue looks at: those that wait, and those that others wait for."""
NAMED_PLACES = 10
"""Places that are told by their number. Who stands behind them is told that alone, so that a start edits few texts."""

ORDER = tuple(PlanPriority)
"""Priorities, the first served first."""


class Verdict(Frozen):
    """What the queue says of one approved plan."""

    uid: str
    on: WaitingOn | None
    """What it waits for; None: it may start now."""
    waits_for: tuple[str, ...] = ()
    """The issues of the plans it waits for, as ``#12``; behind the named places, no longer those of any plan's slot."""
    in_vain: tuple[str, ...] = ()
    """Those of them that have ended unmerged."""
    overlaps: tuple[str, ...] = ()
    """Of a plan that starts all the same (``overlap: warn``, ``/start``): the issues of plans that touch its files."""
    place: int | None = None
    """Its place among those that wait, counted from 1; one more than the named places where it stands behind them."""
    limit: Limit | None = None
    """Whose slots are taken."""
    most: int | None = None
    """How many the policy allows, of slots or of diffs in review."""

    @property
    def starts(self) -> bool:
        """Whether the plan may start now."""
        return self.on is None


@dataclass(frozen=True)
class Queue:
    """One repository's queue."""

    repository_id: int
    policy: Policy
    plans: tuple[Plan, ...]
    """Those that the queue looks at, in any order; of other states they do not matter."""
    newest: Mapping[int, State] = field(default_factory=dict)
    """The states of the newest plans of the issues that others depend on; an issue without a plan is not in it."""

    def verdicts(self, host_slots: int | None = None) -> tuple[Verdict, ...]:
        """Return a verdict for each approved plan that is not held, in the order of the queue.

        Plans that this lets start count for those behind them. ``host_slots`` are the host's slots that are left to
        this repository; None: there is no limit.
        """
        walk = _Walk(self, host_slots)
        return tuple(walk.judge(plan) for plan in self.waiting)

    @property
    def waiting(self) -> tuple[Plan, ...]:
        """The plans that have a turn, in its order."""
        return tuple(sorted((p for p in self.plans if p.state is State.APPROVED and p.hold is None), key=turn))

    @property
    def at_work(self) -> tuple[Plan, ...]:
        """The plans that take a slot."""
        return tuple(plan for plan in self.plans if takes_slot(plan))


def takes_slot(plan: Plan) -> bool:
    """Whether the plan is under way, and not stopped; what waits for checks on GitHub alone has no runner at work."""
    if plan.state not in UNDER_WAY or plan.waiting_on is WaitingOn.CI:
        return False
    return plan.hold is None or plan.job is not None


def _in_review(plan: Plan) -> bool:
    shown = plan.state is State.IN_REVIEW or plan.waiting_on is WaitingOn.CI
    return shown and plan.diff_approval is None and not plan.frozen


class _Walk:
    """One way along a queue: what is under way grows with every plan that starts."""

    def __init__(self, queue: Queue, host_slots: int | None) -> None:
        self._policy, self._newest, self._host_slots = queue.policy, queue.newest, host_slots
        by_issue = sorted(queue.plans, key=lambda p: (p.issue_number, p.try_number))
        self._unmerged = [p for p in by_issue if p.state in UNMERGED]
        self._at_work = [p for p in by_issue if takes_slot(p)]
        self._in_review = [p for p in by_issue if _in_review(p)]
        self._place = 0

    def judge(self, plan: Plan) -> Verdict:
        """Return the verdict for the next plan."""
        touching = [p for p in self._unmerged if self._policy.overlap != "off" and _overlap(plan, p)]
        waits = self._depends(plan) or self._overlaps(plan, touching) or self._lacks_room(plan)
        if waits is not None:
            return waits
        self._at_work.append(plan)
        self._unmerged.append(plan)
        if self._host_slots is not None:
            self._host_slots -= 1
        return Verdict(uid=plan.uid, on=None, overlaps=_issues(touching))

    def _depends(self, plan: Plan) -> Verdict | None:
        states = {issue: self._newest.get(issue) for issue in plan.choices.depends_on}
        unmet = tuple(f"#{issue}" for issue, state in states.items() if state is not State.MERGED)
        in_vain = tuple(f"#{i}" for i, state in states.items() if state is None or state in ENDED - {State.MERGED})
        return self._wait(plan, WaitingOn.DEPENDENCY, unmet, in_vain=in_vain) if unmet else None

    def _overlaps(self, plan: Plan, touching: list[Plan]) -> Verdict | None:
        waits = touching and self._policy.overlap == "wait" and not plan.choices.past_overlap
        return self._wait(plan, WaitingOn.OVERLAP, _issues(touching)) if waits else None

    def _lacks_room(self, plan: Plan) -> Verdict | None:
        if len(self._in_review) >= self._policy.max_in_review:
            return self._wait(plan, WaitingOn.REVIEWERS, self._told(self._in_review), most=self._policy.max_in_review)
        if len(self._at_work) >= self._policy.max_parallel:
            return self._wait(
                plan, WaitingOn.SLOT, self._told(self._at_work), limit=Limit.REPOSITORY, most=self._policy.max_parallel
            )
        if self._host_slots is not None and self._host_slots <= 0:
            return self._wait(plan, WaitingOn.SLOT, (), limit=Limit.HOST)
        return None

    def _wait(self, plan: Plan, on: WaitingOn, waits_for: tuple[str, ...], **told: Any) -> Verdict:
        self._place += 1
        return Verdict(uid=plan.uid, on=on, waits_for=waits_for, place=min(self._place, NAMED_PLACES + 1), **told)

    def _told(self, plans: list[Plan]) -> tuple[str, ...]:
        return _issues(plans) if self._place < NAMED_PLACES else ()


def share_out(queues: Sequence[Queue], free: int) -> dict[int, tuple[Verdict, ...]]:
    """Return the verdicts of repositories that share a host with this many free slots, by the repository's id.

    A free slot goes to the repository with the fewest plans at work; among equals to the one whose next plan was
    approved first. So none waits longer than it takes the others to get as many, whatever they ask for.
    """
    given = {queue.repository_id: 0 for queue in queues}
    verdicts = {queue.repository_id: queue.verdicts(0) for queue in queues}
    for _ in range(free):
        heads = [
            _claim(queue, given[queue.repository_id], head) for queue in queues if (head := _head(queue, verdicts))
        ]
        if not heads:
            break
        chosen = min(heads)[-1]
        given[chosen] += 1
        queue = next(queue for queue in queues if queue.repository_id == chosen)
        verdicts[chosen] = queue.verdicts(given[chosen])
    return verdicts


def _head(queue: Queue, verdicts: Mapping[int, tuple[Verdict, ...]]) -> Plan | None:
    """Return the plan that would start if the host had a slot for its repository."""
    uid = next((v.uid for v in verdicts[queue.repository_id] if v.limit is Limit.HOST), None)
    return next((plan for plan in queue.plans if plan.uid == uid), None)


def _claim(queue: Queue, given: int, head: Plan) -> tuple[int, float, int]:
    return (len(queue.at_work) + given, _approved_at(head), queue.repository_id)


def _approved_at(plan: Plan) -> float:
    return plan.plan_approval.at if plan.plan_approval else plan.requested_at


def turn(plan: Plan) -> tuple[int, float, int, int]:
    """Return what the queue is sorted by."""
    return (ORDER.index(plan.choices.priority), _approved_at(plan), plan.issue_number, plan.try_number)


def _overlap(one: Plan, other: Plan) -> bool:
    return overlapping(_files(one), _files(other))


def _files(plan: Plan) -> tuple[str, ...]:
    return plan.revision.document.files if plan.revision else ()


def _issues(plans: Sequence[Plan]) -> tuple[str, ...]:
    return tuple(f"#{p.issue_number}" for p in plans)
