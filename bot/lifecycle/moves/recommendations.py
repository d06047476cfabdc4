"""What the agent recommends beside its task: kept by number, and made an issue where a person says so.

The jobs that write such issues run beside the plan's own: they fail, are lost and end without moving the plan.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bot.lifecycle import effects as fx
from bot.lifecycle import events as ev
from bot.lifecycle.moves.common import Step, changed, moved, say
from bot.lifecycle.moves.lessons import heard
from bot.lifecycle.plan import Job, Recommended
from runner.contract import JobKind
from runner.results import Unit

if TYPE_CHECKING:
    from bot.lifecycle.plan import Plan
    from runner.contract import Work


def noted(plan: Plan, work: Work) -> tuple[Recommended, ...]:
    """Return the plan's list with what this work recommends behind it: numbers stay, nothing stands there twice."""
    known = {each.what.title.casefold() for each in plan.recommended}
    found = work.summary.recommendations if work.summary else ()
    new = tuple(Recommended(what=each) for each in found if each.title.casefold() not in known)
    return (*plan.recommended, *new)


def accept(plan: Plan, event: ev.RecommendationsAccepted) -> Step:
    """Have an issue written of each; what is one already, or is on its way, is told."""
    effects: list[fx.Effect] = []
    told: dict[str, list[str]] = {"known": [], "on_its_way": [], "unknown": []}
    for number in event.numbers:
        one = plan.recommended[number - 1] if 0 < number <= len(plan.recommended) else None
        if one is None:
            told["unknown"].append(str(number))
        elif one.issue is not None:
            told["known"].append(f"{number} {one.issue}")
        elif one.job is not None or one.making is not None:
            told["on_its_way"].append(str(number))
        else:
            plan, dispatch = _write(plan, number, one)
            effects.append(dispatch)
    details = {name: ", ".join(numbers) for name, numbers in told.items() if numbers}
    answer = (say(plan, fx.Topic.ACCEPTED, event, event.by, **details),) if details else ()
    return moved(plan, f"{len(effects)} recommendations accepted", *effects, *answer)


def _write(plan: Plan, number: int, one: Recommended) -> tuple[Plan, fx.Dispatch]:
    opened = plan.jobs_opened + 1
    job = Job(id=f"{plan.uid}-{opened}", kind=JobKind.WRITE_ISSUE, unit=Unit.CREATE_ISSUE, number=opened)
    plan = _with(changed(plan, jobs_opened=opened), number, job=job, tries=one.tries + 1)
    return plan, fx.Dispatch(key=f"{job.id}:dispatch", job=job.id)


def _with(plan: Plan, number: int, **fields: Any) -> Plan:
    """Return the plan with one recommendation changed."""
    one = plan.recommended[number - 1].model_copy(update=fields)
    return changed(plan, recommended=(*plan.recommended[: number - 1], one, *plan.recommended[number:]))


def number_of(plan: Plan, job: str | None) -> int | None:
    """Return which recommendation a job writes, or has written, the issue of."""
    jobs = {each.job.id if each.job else each.making: n for n, each in enumerate(plan.recommended, 1)}
    return jobs.get(job) if job else None


def beside(plan: Plan, event: ev.Event) -> Step | None:
    """Return what an event of a recommendation's own job does; None where it is of something else."""
    if isinstance(event, ev.EffectFailed):
        number = number_of(plan, event.job)
        return None if number is None else _failed(plan, number, event, event.sentence)
    number = number_of(plan, event.job) if isinstance(event, ev.JobEvent) else None
    return job_lives(plan, number, event) if number is not None and isinstance(event, ev.JobEvent) else None


def job_lives(plan: Plan, number: int, event: ev.JobEvent) -> Step:
    """Follow the job of a recommendation; what it learned waits on the plan."""
    one = plan.recommended[number - 1]
    if one.job is None:
        return Step(plan, (), f"late: job {event.job} is not open")
    plan = heard(plan, event)
    match event:
        case ev.JobDispatched():
            return Step(_with(plan, number, job=one.job.model_copy(update={"run_id": event.run_id})), (), "dispatched")
        case ev.IssueWritten() if event.report.issue is not None:
            return _written(plan, number, event)
        case ev.JobFailed() | ev.IssueWritten():
            return _failed(plan, number, event, event.report.sentence)
        case ev.JobLost():
            return _failed(plan, number, event, event.sentence)
    return Step(plan, (), f"recommendation {number}: {event.type}")


def _written(plan: Plan, number: int, event: ev.IssueWritten) -> Step:
    one, text = plan.recommended[number - 1], event.report.issue
    assert text is not None, "asked before"  # noqa: S101
    make = fx.MakeIssue(key=f"{event.job}:issue", job=event.job, number=number, text=text, again=one.tries > 1)
    return Step(_with(plan, number, job=None, making=event.job), (make,), f"recommendation {number}: written")


def made(plan: Plan, event: ev.IssueMade) -> Step:
    """Say which issue it became."""
    number = number_of(plan, event.job)
    if number is None:
        return Step(plan, (), "no recommendation waits for it")
    plan = _with(plan, number, making=None, issue=event.number)
    details = {"number": str(number), "issue": str(event.number)}
    told = _tell(plan, fx.Topic.ACCEPTED_MADE, event, **details)
    return moved(plan, f"recommendation {number} is issue #{event.number}", told, update_pull(plan))


def _failed(plan: Plan, number: int, event: ev.Event, sentence: str) -> Step:
    plan = _with(plan, number, job=None, making=None)
    told = _tell(plan, fx.Topic.ACCEPTED_FAILED, event, number=str(number), sentence=sentence)
    return moved(plan, f"recommendation {number} became no issue", told, update_pull(plan))


def _tell(plan: Plan, topic: fx.Topic, event: ev.Event, **details: str) -> fx.Say:
    told = say(plan, topic, event, None, **details)
    return told.model_copy(update={"issue_number": plan.pull_request or plan.issue_number})


def update_pull(plan: Plan) -> fx.UpdatePull:
    """Return the effect that brings the pull request's costs up to date."""
    return fx.UpdatePull(key=f"{plan.uid}:pull:{plan.version + 1}")
