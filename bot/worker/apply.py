"""Put an event to a plan: one transition, and in the same commit the row, the journal, the jobs, the effects."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bot import trail
from bot.lifecycle.dependencies import ended_unmerged
from bot.lifecycle.events import BranchExpired, CiDue
from bot.lifecycle.lessons import newly_given
from bot.lifecycle.plan import lane
from bot.lifecycle.states import WaitingOn
from bot.lifecycle.transitions import open_plan, transition
from bot.store import deliveries, jobs, journal, lessons, outbox, plans, timers, usage
from bot.store.deliveries import NewDelivery
from bot.store.events import EVENT
from bot.store.journal import Entry
from bot.worker.dependants import tell_dependants
from bot.worker.schedule import JOB_START_DEADLINE
from bot.worker.telling import apart

if TYPE_CHECKING:
    from bot.lifecycle.events import Event, PlanRequested
    from bot.lifecycle.moves.common import Step
    from bot.lifecycle.plan import Job, Plan
    from bot.store.engine import Tx

QUEUE = "queue"
"""Event of the delivery that asks a repository's queue to look again."""


def apply(tx: Tx, plan: Plan, event: Event) -> str:
    """Put the event to the plan and return what came of it."""
    step = transition(plan, event)
    plans.save(tx, step.plan, plan.version)
    _follow(tx, plan, step, event)
    return step.note


def open_new(tx: Tx, event: PlanRequested, uid: str, before: Plan | None) -> str:
    """Open a plan for a request, after the issue's plan before it, and return what came of it."""
    step = open_plan(event, uid, before)
    plans.save(tx, step.plan, None)
    _follow(tx, None, step, event)
    return step.note


def _follow(tx: Tx, before: Plan | None, step: Step, event: Event) -> None:
    plan = step.plan
    trail.note(plan=plan.uid, event=event.type)
    effects, told = apart(before, step, event)
    journal.append(tx, _entry(before, step, event, told))
    _keep_jobs(tx, before, plan)
    _keep_timers(tx, before, plan)
    for lesson in newly_given(before, plan):
        lessons.keep(tx, plan.repo.id, lesson)
    outbox.add(tx, effects, lane=plan.lane, installation_id=plan.repo.installation_id, plan_uid=plan.uid)
    if before is not None and not before.ended and ended_unmerged(plan):
        tell_dependants(tx, plan, event.at)
    if before is None or _in_queue(before) != _in_queue(plan):
        ask_queue(tx, plan.repo.id, plan.repo.installation_id, f"{plan.uid}:{plan.version}")


def _in_queue(plan: Plan) -> tuple[object, ...]:
    """Return what the queue goes by, apart from what a plan keeps while it waits."""
    return plan.state, plan.waiting_on is WaitingOn.CI, plan.hold, plan.choices, plan.diff_approval is None


def ask_queue(tx: Tx, repository_id: int, installation_id: int, why: str) -> None:
    """Let the repository's queue look again, once for each reason."""
    deliveries.add(
        tx,
        NewDelivery(
            guid=f"queue:{why}",
            source="effect",
            event=QUEUE,
            lane=lane(repository_id, 0),
            body="{}",
            installation_id=installation_id,
        ),
    )


def _entry(before: Plan | None, step: Step, event: Event, told: dict[str, Any]) -> Entry:
    plan = step.plan
    by = getattr(event, "by", None)
    return Entry(
        ref=f"{plan.uid}:{plan.version}",
        lane=plan.lane,
        at=event.at,
        event=event.type,
        source=event.source,
        plan_uid=plan.uid,
        version=plan.version,
        actor_id=by.id if by else None,
        actor_login=by.login if by else None,
        from_state=before.state if before else None,
        to_state=plan.state,
        note=step.note,
        details=_details(plan, event, told),
    )


def _details(plan: Plan, event: Event, told: dict[str, Any]) -> dict[str, Any]:
    """Return the hashes and numbers that an auditor asks for, whole."""
    revision, review, report = plan.revision, plan.review, getattr(event, "report", None)
    found = {
        "waiting_on": plan.waiting_on,
        "revision": revision.number if revision else None,
        "plan_sha256": revision.sha256 if revision else None,
        "head": review.work.head if review else None,
        "holding_back": sum(gate.holds_back for gate in review.gates) or None if review else None,
        "job": plan.job.id if plan.job else getattr(event, "job", None),
        "via": getattr(event, "via", None),
        **told,
        "salvaged": report.salvaged if report else None,
        "prompts": [prompt.model_dump(mode="json") for prompt in report.prompts] or None if report else None,
    }
    return {name: value for name, value in found.items() if value is not None}


def _keep_jobs(tx: Tx, before: Plan | None, plan: Plan) -> None:
    """Let the jobs' rows say what the plan says: a new job opened, a dropped one told to stop and closed."""
    old = {job.id: job for job in before.open_jobs} if before else {}
    new = {job.id: job for job in plan.open_jobs}
    for name in old:
        if name not in new:
            _close_job(tx, name)
    for name, job in new.items():
        if name not in old:
            _open_job(tx, plan, job)
        elif job.run_id is not None and job.run_id != old[name].run_id:
            jobs.dispatched(tx, name, job.run_id)


def _keep_timers(tx: Tx, before: Plan | None, plan: Plan) -> None:
    """Let the timers say until when something of the plan is kept or waited for."""
    known = _due(before) if before else {}
    for key, event in _due(plan).items():
        if event == known.get(key):
            continue
        if event is None:
            timers.drop_timer(tx, key)
            continue
        body, where = EVENT.dump_json(event).decode(), plan.repo.installation_id
        timers.set_timer(tx, key, due_at=event.at, lane=plan.lane, event="event", body=body, installation_id=where)


def _due(plan: Plan) -> dict[str, BranchExpired | CiDue | None]:
    """Return what the plan is told at a time ahead, by the timer's key."""
    branch, ci = f"{plans.BRANCH_TIMER}{plan.uid}", f"ci:{plan.uid}"
    expires, review = plan.keep_branch_until, plan.review if plan.waiting_on is WaitingOn.CI else None
    until = review.ci_until if review else None
    return {
        branch: None if expires is None else BranchExpired(at=expires, source=branch),
        ci: CiDue(at=until, source=f"{ci}:{until!r}", head=review.work.head) if review and until else None,
    }


def _close_job(tx: Tx, name: str) -> None:
    """End a job for its plan. What it spent counts by its last heartbeat, until its report says it exactly."""
    job, progress = jobs.get(tx, name), jobs.last_progress(tx, name)
    over = job is not None and job.reported_at is not None
    if not over:
        jobs.stop(tx, name, "The plan no longer waits for this job.")
    jobs.close(tx, name)
    if job is not None and not over and progress is not None:
        usage.add(tx, job, [run.model_copy(update={"complete": False}) for run in progress.usage], final=False)


def _open_job(tx: Tx, plan: Plan, job: Job) -> None:
    jobs.open_job(
        tx,
        job=job.id,
        plan_uid=plan.uid,
        repository_id=plan.repo.id,
        lane=plan.lane,
        installation_id=plan.repo.installation_id,
        kind=job.kind,
        unit=job.unit,
        deadline_at=tx.now + JOB_START_DEADLINE,
    )
