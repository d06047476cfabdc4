"""Moves of a plan that becomes several: its parts get their issues one after the other, then plans of their own.

Each issue is made by an effect of its own, the next once the one before is known. So a hold, a failure or a person who
ends the plan stops it between two of them, and it goes on with the first part that has none.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from bot.lifecycle import effects as fx
from bot.lifecycle.moves.common import Step, changed, end, fail, moved, open_job_of, say
from bot.lifecycle.plan import Child, Failure, Split
from bot.lifecycle.states import State, WaitingOn
from runner.contract import JobKind, Outcome
from runner.results import Unit, Verdict

if TYPE_CHECKING:
    from bot.lifecycle import events
    from bot.lifecycle.plan import Plan
    from runner.results import SplitDocument


def split_written(plan: Plan, event: events.SplitWritten) -> Step:
    """Begin to make the parts' issues."""
    job, cut = open_job_of(plan), event.report.split
    if cut is None or job.by is None or job.unit is not Unit.SPLIT_PLAN:
        return _failed(plan, "The runner reported parts of a plan that nobody asked to split.")
    if (fault := fault_of(cut)) is not None:
        return _failed(plan, f"The plan can't be split as the agent wants it: {fault}.")
    gates = event.report.detected_gates if plan.policy.gates is None else plan.policy.gates
    children = tuple(Child(document=part.plan, depends_on=part.depends_on) for part in cut.children)
    made = Split(
        number=job.number,
        by=job.by,
        summary=cut.summary,
        gates=gates,
        authors=(plan.requester, *plan.speakers),
        children=children,
    )
    plan = changed(plan, job=None, feedback=(), speakers=(), split=made, waiting_on=WaitingOn.BOT)
    return moved(plan, f"cut into {len(children)} parts", _make(plan, made, 1))


def _failed(plan: Plan, sentence: str) -> Step:
    job = open_job_of(plan)
    failure = Failure(outcome=Outcome.INVALID_RESULT, sentence=sentence, during=JobKind.PLAN, job=job)
    return fail(changed(plan, job=None), failure, "no parts that could be taken on")


def fault_of(cut: SplitDocument) -> str | None:
    """Return what is wrong with the parts of a plan: they must be plans, and be mergeable in some order."""
    waits = {position: set(part.depends_on) for position, part in enumerate(cut.children, 1)}
    for position, part in enumerate(cut.children, 1):
        if part.plan.verdict is not Verdict.PLAN:
            return f"part {position} is no plan"
        if not waits[position] <= waits.keys() - {position}:
            return f"part {position} builds on a part that there is not"
    while ready := [position for position, on in waits.items() if not on & waits.keys()]:
        waits = {position: on for position, on in waits.items() if position not in ready}
    return f"parts {', '.join(map(str, waits))} wait for each other" if waits else None


def child_made(plan: Plan, event: events.ChildMade) -> Step:
    """Make the next part's issue; after the last one the parts go on in the plan's place."""
    noted = _noted(plan, event)
    if noted is None:
        return Step(plan, (), "of another splitting")
    plan, split = noted
    left = next((n for n, child in enumerate(split.children, 1) if child.number is None), None)
    if left is None:
        return _done(plan, split, event)
    if plan.hold is not None:
        return moved(plan, f"part {event.position} is #{event.number}; held before the next one")
    return moved(plan, f"part {event.position} is #{event.number}", _make(plan, split, left))


def child_noted(plan: Plan, event: events.ChildMade) -> Step:
    """Remember an issue that was made while the plan was stopped."""
    noted = _noted(plan, event)
    if noted is None:
        return Step(plan, (), "of another splitting")
    return moved(noted[0], f"part {event.position} is #{event.number}, and no further one is made")


def go_on(plan: Plan, split: Split) -> tuple[fx.Effect, ...]:
    """Return the effect that makes the first part that is missing; it may have been made unseen."""
    left = next(n for n, child in enumerate(split.children, 1) if child.number is None)
    return (_make(plan, split, left, again=True),)


def _noted(plan: Plan, event: events.ChildMade) -> tuple[Plan, Split] | None:
    if plan.split is None or plan.split.number != event.split:
        return None
    made = {"number": event.number, "issue_id": event.issue_id}
    children = tuple(
        child.model_copy(update=made) if position == event.position else child
        for position, child in enumerate(plan.split.children, 1)
    )
    split = plan.split.model_copy(update={"children": children})
    return changed(plan, split=split), split


def _make(plan: Plan, split: Split, position: int, *, again: bool = False) -> fx.MakeChild:
    """Return the effect that makes a part's issue; each time that it is asked for has a key of its own."""
    key = f"{plan.uid}:child:{split.number}:{position}:{plan.version + 1}"
    return fx.MakeChild(key=key, position=position, again=again)


def _done(plan: Plan, split: Split, event: events.ChildMade) -> Step:
    plan, stops = end(plan, State.SPLIT, waits_for=split.numbers)
    opened = (
        fx.OpenChild(key=f"{plan.uid}:open:{split.number}:{position}", position=position)
        for position in range(1, len(split.children) + 1)
    )
    told = say(plan, fx.Topic.SPLIT_DONE, event)
    return moved(plan, f"split into {', '.join(plan.waits_for)}", *stops, *opened, told, *_fold(plan))


def _fold(plan: Plan) -> tuple[fx.Effect, ...]:
    """Return the effect by which the comment of the plan that was split says that nobody decides on it any more."""
    if plan.revision is None or plan.revision.comment_id is None:
        return ()
    key, number = f"{plan.uid}:superseded:{plan.revision.number}", plan.revision.number
    return (fx.MarkSuperseded(key=key, revision=number),)
