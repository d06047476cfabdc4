"""Moves that a job's life makes: dispatched, claimed, reported, failed, lost."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bot.lifecycle import effects as fx
from bot.lifecycle.lessons import asked, joined, started_over, used
from bot.lifecycle.moves.common import (
    NOT_WAITING,
    Step,
    at_head,
    changed,
    fail,
    failed_for_us,
    moved,
    open_job,
    open_job_of,
    open_same_job,
    post_revision,
    say,
)
from bot.lifecycle.moves.recommendations import noted
from bot.lifecycle.plan import Failure, Learned, Review, Revision
from bot.lifecycle.states import State, WaitingOn
from runner.contract import Feedback, JobKind, Outcome, Phase
from runner.results import Unit

if TYPE_CHECKING:
    from bot.lifecycle import events
    from bot.lifecycle.plan import Plan


LONGEST_LIST = 60_000
"""Characters of the paths in conflict that go back to the agent: one message holds 65,536."""


def start_execution(plan: Plan, event: events.SlotGranted) -> Step:
    """Begin the approved work."""
    head = plan.branch_head if plan.carry_on else None
    choices = plan.choices.model_copy(update={"past_overlap": False})
    known = plan.lessons if head else started_over(plan)
    learned = joined(known, (Learned(what=lesson) for lesson in event.lessons))
    plan = changed(
        plan, state=State.EXECUTING, overlaps=event.overlaps, choices=choices, lessons=learned, **NOT_WAITING
    )
    plan, effects = open_job(plan, JobKind.EXECUTE, Unit.EXECUTE_PLAN, head=head)
    return moved(plan, "a slot is free: executing", *effects)


def dispatched(plan: Plan, event: events.JobDispatched) -> Step:
    """Remember the run, which the runner's token must name, and the policy it goes by.

    A trial merge goes by none: adopting one there would carry it past the question whether the approval covers it.
    """
    job = open_job_of(plan).model_copy(update={"run_id": event.run_id})
    policy = plan.policy if job.kind is JobKind.CHECK_BASE else event.policy
    return Step(changed(plan, job=job, policy=policy), (), f"run {event.run_id}")


def claimed(plan: Plan, _event: events.JobClaimed) -> Step:
    """A runner is at work."""
    return Step(changed(plan, job=open_job_of(plan).model_copy(update={"claimed": True})), (), "claimed by a runner")


def progressed(plan: Plan, event: events.JobProgressed) -> Step:
    """Executing while the agent works, verifying while its work is checked."""
    state = State.EXECUTING if event.phase in {Phase.PREPARE, Phase.AGENT} else State.VERIFYING
    if state is plan.state:
        return Step(plan, (), f"phase {event.phase}")
    return moved(changed(plan, state=state), f"phase {event.phase}")


def plan_written(plan: Plan, event: events.PlanWritten) -> Step:
    """Post the written plan as the next revision."""
    document, report = event.report.plan, event.report
    if document is None:
        return fail(plan, failed_for_us("The runner reported a plan without its text.", JobKind.PLAN), "no document")
    questions = tuple(dict.fromkeys((*document.questions, *asked(report))))
    document = document.model_copy(update={"questions": questions})
    gates = report.detected_gates if plan.policy.gates is None else plan.policy.gates
    number = plan.revision.number + 1 if plan.revision else 1
    plan = changed(plan, job=None, feedback=(), speakers=(), updated_by=plan.speakers)
    revision = Revision(number=number, document=document, gates=gates, used=used(report))
    plan, effects = post_revision(plan, revision)
    return moved(plan, f"revision {number} written: {document.verdict}", *effects)


def work_verified(plan: Plan, event: events.WorkVerified) -> Step:
    """Read the pushed branch back before anybody is asked about it."""
    job, report = open_job_of(plan), event.report
    if report.work is None or any(gate.holds_back for gate in report.gates):
        sentence = "The runner reported verified work without its commit, or with a blocking check that failed."
        return fail(plan, failed_for_us(sentence, JobKind.EXECUTE), "report contradicts itself")
    review = Review(
        number=job.number,
        work=report.work,
        gates=report.gates,
        sandbox=report.sandbox,
        notes=report.notes,
        attempts=report.attempts,
        inspection=report.inspection,
        used=used(report),
        asked=asked(report),
        thread=plan.pull_request if plan.rework else None,
    )
    plan = changed(
        plan, state=State.VERIFYING, waiting_on=WaitingOn.BOT, job=None, feedback=(), speakers=(), review=review
    )
    plan = changed(plan, carry_on=False, recommended=noted(plan, report.work))
    read = fx.ReadBack(key=f"{job.id}:read_back", job=job.id, head=report.work.head)
    return moved(plan, f"{report.work.head[:12]} verified and pushed", read)


def base_reported(plan: Plan, event: events.BaseReported) -> Step:
    """Open the pull request, or let the agent settle the conflict, which needs a new approval."""
    approval, review = plan.diff_approval, plan.review
    plan = changed(plan, job=None, waiting_on=WaitingOn.BOT)
    if approval is None or review is None:
        return fail(plan, failed_for_us("The approval is gone.", JobKind.CHECK_BASE), "no approval to act on")
    if not event.conflicts:
        return moved(plan, "merges cleanly", publish(plan, review.work.head))
    paths = "\n".join(event.conflicts)[:LONGEST_LIST]
    words = Feedback(kind="conflict", author="twogate", text=f"The default branch changed these files too:\n{paths}")
    plan = changed(plan, state=State.EXECUTING, diff_approval=None, feedback=(*plan.feedback, words))
    plan = at_head(plan, review.work.head)
    plan, effects = open_job(plan, JobKind.EXECUTE, Unit.EXECUTE_PLAN, head=review.work.head, merge_base_in=True)
    told = say(plan, fx.Topic.BASE_CONFLICT, event, paths=paths)
    return moved(plan, "conflicts with the default branch", told, *effects)


def check_base(plan: Plan, head: str) -> fx.CheckBase:
    """Return the effect that compares the approved head with the default branch as it is then."""
    return fx.CheckBase(key=f"{plan.uid}:base:{plan.version + 1}:{head}", head=head)


def publish(plan: Plan, head: str) -> fx.OpenPullRequest | fx.AdvanceBranch:
    """Return the effect that brings one approved commit to a pull request, a new or the open one; once an approval."""
    if plan.rework is not None:
        key = f"{plan.uid}:advance:{plan.version + 1}:{head}"
        return fx.AdvanceBranch(key=key, head=head, expected=plan.rework.on)
    return fx.OpenPullRequest(key=f"{plan.uid}:pr:{plan.version + 1}:{head}", head=head)


def job_failed(plan: Plan, event: events.JobFailed) -> Step:
    """Stop here and ask a person, with everything that is known."""
    job, report = open_job_of(plan), event.report
    failure = Failure(
        outcome=report.outcome,
        sentence=report.sentence,
        during=job.kind,
        gates=report.gates,
        output_tail=report.output_tail,
        notes=report.notes,
        asked=asked(report),
        job=job,
    )
    return fail(changed(plan, job=None), failure, f"job ended: {report.outcome}")


def job_lost(plan: Plan, event: events.JobLost) -> Step:
    """Try once more; a second loss in a row is a person's to look at."""
    job = open_job_of(plan)
    if job.lost_before:
        lost = Failure(outcome=Outcome.LOST, sentence=event.sentence, during=job.kind, job=job)
        return fail(plan, lost, "lost twice")
    waiting, state = plan.waiting_on, plan.state
    plan, effects = open_same_job(plan, job, lost_before=True)
    plan = changed(plan, state=State.EXECUTING if state is State.VERIFYING else state)
    note = f"{job.id} lost, trying once more (was waiting on {waiting})"
    return moved(plan, note, *effects)
