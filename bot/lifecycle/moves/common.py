"""What moves are made of: a step, and the few things that many of them do."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from bot.lifecycle import effects as fx
from bot.lifecycle.lessons import given_back
from bot.lifecycle.plan import Failure, Job, Plan, Revision
from bot.lifecycle.states import SILENT, State, WaitingOn
from runner.contract import JobKind, Outcome
from runner.results import Unit, Verdict

if TYPE_CHECKING:
    from collections.abc import Iterable

    from bot.lifecycle.events import Event, HumanEvent
    from bot.lifecycle.plan import Person
    from runner.contract import Feedback


@dataclass(frozen=True, slots=True)
class Step:
    """What an event does to a plan: the plan afterwards, the effects to carry out, and a clause for the journal."""

    plan: Plan
    effects: tuple[fx.Effect, ...] = ()
    note: str = ""

    def then(self, *effects: fx.Effect) -> Step:
        """Return the step with more effects."""
        return Step(self.plan, (*self.effects, *effects), self.note)


def changed(plan: Plan, **fields: Any) -> Plan:
    """Return the plan with these fields set."""
    return plan.model_copy(update=fields)


NOT_WAITING: dict[str, Any] = {"waits_for": (), "in_vain": (), "place": None, "limit": None, "most": None}
"""The fields of a plan of which the queue says nothing, or nothing yet."""
SETTLE_SECONDS = 8.0
"""An edit of the status waits this long for the next change: GitHub asks for one edit in ten seconds or so."""


def at_head(plan: Plan, head: str | None) -> Plan:
    """Return the plan with the branch that is worked on at this commit."""
    if plan.rework is not None:
        return changed(plan, rework=plan.rework.model_copy(update={"head": head}))
    return changed(plan, branch_head=head)


def show_status(plan: Plan) -> fx.ShowStatus:
    """Return the effect that shows the plan as it will be once this step is stored; the first one at once."""
    settle = SETTLE_SECONDS if plan.version else 0.0
    return fx.ShowStatus(key=f"{plan.uid}:status:{plan.version + 1}", settle=settle)


def moved(plan: Plan, note: str, *effects: fx.Effect) -> Step:
    """Return a step that people see: the effects, and the status brought up to date."""
    return Step(plan, (*effects, show_status(plan)), note)


def say(plan: Plan, topic: fx.Topic, event: Event, to: Person | None = None, **details: str) -> fx.Say:
    """Return the effect that answers an event with one short comment, once, where it was said."""
    key = f"{plan.uid}:say:{topic}:{event.source}"
    where = getattr(event, "thread", None) or plan.thread
    return fx.Say(key=key, repo=plan.repo, issue_number=where, topic=topic, to=to, details=details)


def answer(plan: Plan, event: HumanEvent, topic: fx.Topic, note: str, **details: str) -> Step:
    """Leave the plan as it is and say why, where somebody waits for words."""
    if event.via in SILENT:
        return Step(plan, (), note)
    return Step(plan, (say(plan, topic, event, event.by, **details),), note)


def drop_job(plan: Plan) -> tuple[Plan, tuple[fx.Effect, ...]]:
    """Close the open job, if any, from our side, and stop its run; a hold has no work left to take up again."""
    if plan.hold is not None:
        plan = changed(plan, hold=plan.hold.model_copy(update={"interrupted": None}))
    if plan.job is None:
        return plan, ()
    stop = fx.StopRun(key=f"{plan.job.id}:stop", job=plan.job.id, run_id=plan.job.run_id)
    return changed(plan, job=None), (stop,)


def open_job(
    plan: Plan,
    kind: JobKind,
    unit: Unit | None,
    *,
    head: str | None = None,
    merge_base_in: bool = False,
    by: Person | None = None,
    lost_before: bool = False,
) -> tuple[Plan, tuple[fx.Effect, ...]]:
    """Open a job in place of any open one. Its number is never used again, so its id names it for good.

    While the plan is held nothing is begun: the job is noted, and opened once nothing holds the plan any more.
    """
    plan, stops = drop_job(plan)
    number = plan.jobs_opened + 1
    job = Job(
        id=f"{plan.uid}-{number}",
        kind=kind,
        unit=unit,
        number=number,
        lost_before=lost_before,
        head=head,
        merge_base_in=merge_base_in,
        by=by,
    )
    if plan.hold is not None:
        hold = plan.hold.model_copy(update={"interrupted": job})
        return changed(plan, hold=hold, waiting_on=WaitingOn.RUNNER), stops
    dispatch = fx.Dispatch(key=f"{job.id}:dispatch", job=job.id)
    return changed(plan, job=job, jobs_opened=number, waiting_on=WaitingOn.RUNNER), (*stops, dispatch)


def open_same_job(plan: Plan, job: Job, *, lost_before: bool = False) -> tuple[Plan, tuple[fx.Effect, ...]]:
    """Open a new job that does what this one was to do."""
    return open_job(
        plan, job.kind, job.unit, head=job.head, merge_base_in=job.merge_base_in, by=job.by, lost_before=lost_before
    )


def open_job_of(plan: Plan) -> Job:
    """Return the open job. :func:`bot.lifecycle.transitions.transition` lets no event of another job in."""
    if plan.job is None:
        raise LookupError("a job's event came to a plan without an open job")
    return plan.job


def start_planning(
    plan: Plan, unit: Unit = Unit.UPDATE_PLAN, *, by: Person | None = None
) -> tuple[Plan, tuple[fx.Effect, ...]]:
    """Open the job that writes the plan, or rewrites it, as ``unit`` does, where there is one."""
    over = dict.fromkeys(("plan_approval", "diff_approval", "review", "failure", "split"))
    fresh = changed(plan, state=State.DRAFT, **over)
    return open_job(fresh, JobKind.PLAN, unit if plan.revision else Unit.CREATE_PLAN, by=by)


def post_revision(plan: Plan, revision: Revision) -> tuple[Plan, tuple[fx.Effect, ...]]:
    """Make this the current revision, up for decision once its comment is posted. Any approval is over."""
    old = plan.revision
    superseded = (
        (fx.MarkSuperseded(key=f"{plan.uid}:superseded:{old.number}", revision=old.number),)
        if old is not None and old.comment_id is not None
        else ()
    )
    plan = changed(
        plan,
        state=State.DRAFT,
        waiting_on=WaitingOn.BOT,
        revisions=(*plan.revisions, revision),
        plan_approval=None,
        diff_approval=None,
        review=None,
        failure=None,
        carry_on=False,
        split=None,
    )
    post = fx.PostPlan(key=f"{plan.uid}:plan:{revision.number}", revision=revision.number)
    return plan, (post, *superseded)


def ask_anew(plan: Plan) -> tuple[Plan, tuple[fx.Effect, ...]]:
    """Post the current plan again as a new revision, so that it can be approved for what it is now."""
    current = plan.revision
    if current is None:
        return start_planning(plan)
    gates = current.gates if plan.policy.gates is None else plan.policy.gates
    plan, stops = drop_job(plan)
    origin = current.repeats or current.number
    again = Revision(number=current.number + 1, document=current.document, gates=gates, repeats=origin)
    plan, posts = post_revision(plan, again)
    return plan, (*stops, *posts)


def told(plan: Plan, *words: Feedback, by: Iterable[Person]) -> Plan:
    """Return the plan with more words to answer, and whose they are."""
    speakers = {person.id: person for person in (*plan.speakers, *by)}
    return changed(plan, feedback=(*plan.feedback, *words), speakers=tuple(speakers.values()))


def waiting_for_decision(verdict: Verdict) -> WaitingOn:
    """Return whose turn it is once a plan with this verdict is posted."""
    if verdict is Verdict.PLAN:
        return WaitingOn.PLAN_DECISION
    return WaitingOn.ANSWERS if verdict is Verdict.NEEDS_INFORMATION else WaitingOn.PERSON


def fail(plan: Plan, failure: Failure, note: str) -> Step:
    """Put the plan where only a person moves it on."""
    closing = conclude_check(plan, "failure", failure.sentence)
    plan, stops = drop_job(plan)
    plan = changed(
        plan, state=State.FAILED, waiting_on=WaitingOn.PERSON, failure=failure, diff_approval=None, **NOT_WAITING
    )
    return moved(plan, note, *stops, *closing)


def end(plan: Plan, state: State, **fields: Any) -> tuple[Plan, tuple[fx.Effect, ...]]:
    """Put the plan where nothing more happens: no job, no hold, no wait, no diff approved but what is merged."""
    plan, stops = drop_job(plan)
    done = plan.diff_approval if state is State.MERGED else None
    lessons = given_back(plan) if state is State.CANCELLED else plan.lessons
    over = {"waiting_on": None, "hold": None, "rework": None, "diff_approval": done, "lessons": lessons}
    return changed(plan, state=state, **over, **fields), stops


def failed_for_us(sentence: str, during: JobKind) -> Failure:
    """Return a failure that is not the agent's."""
    return Failure(outcome=Outcome.RUNNER_FAILED, sentence=sentence, during=during)


def conclude_check(plan: Plan, conclusion: str, sentence: str) -> tuple[fx.Effect, ...]:
    """Tell the review's check run, where there is one, what came of its commit."""
    review = plan.review
    if review is None or review.check_run_id is None:
        return ()
    key = f"{plan.uid}:check:{review.number}:{plan.version + 1}"
    about = {"check_run_id": review.check_run_id, "head": review.work.head}
    return (fx.ConcludeCheck.model_validate({"key": key, **about, "conclusion": conclusion, "sentence": sentence}),)
