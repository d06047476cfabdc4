"""Start a job: fix what the runner will be told, then dispatch the workflow."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bot.errors import Permanent
from bot.github.gateway import Glance
from bot.lifecycle import events as ev
from bot.lifecycle.lessons import sent
from bot.lifecycle.plan import lane
from bot.lifecycle.states import HoldCause, State
from bot.store import jobs, plans
from bot.worker.context import Done, found
from bot.worker.effects.authorise import plan_comment_sha256
from bot.worker.policies import POLICY_PATH
from runner.contract import MOST_KNOWN, Issue, JobKind, JobSpec, KnownPlan, Ledger, Repository
from runner.results import Verdict

if TYPE_CHECKING:
    from bot.github.gateway import RepositoryInfo
    from bot.lifecycle.effects import Dispatch, StopRun
    from bot.lifecycle.plan import Job, Plan
    from bot.lifecycle.policy import Policy
    from bot.store.outbox import Claimed
    from bot.worker.context import Context
    from runner.contract import Feedback
    from runner.results import PlanDocument
    from runner.terms import AgentSpec

DUPLICABLE = frozenset(State) - {State.REJECTED, State.CANCELLED}
"""States of a plan that another issue's can be a duplicate of: what people turned down covers nothing."""
MOST_REJECTIONS = 10
"""Reasons why earlier attempts were denied that a job is told, the newest."""
DAY = 86_400.0
SAID_TO_THE_TEXT = frozenset({"update", "expand", "split", "answer", "annotation"})
"""Kinds of words for a job that writes the plan alone: an approval covers the text, not what was said to it."""


def dispatch(ctx: Context, claimed: Claimed, effect: Dispatch) -> Done:
    """Dispatch the plan's open job, unless what was approved reads otherwise now."""
    with ctx.store.read() as tx:
        plan = plans.get(tx, claimed.plan_uid or "")
    job = next((job for job in plan.open_jobs if job.id == effect.job), None) if plan else None
    if plan is None or job is None:
        return Done("the job is no longer open")
    info = ctx.gateway.repository(plan.repo)
    node = plan.revision.node_id if plan.revision else None
    looked = Glance(comments=(node,) if node else (), branches=(info.default_branch,), file=POLICY_PATH)
    with ctx.gateway.glance(plan.repo, looked):
        return _dispatched(ctx, claimed, plan, job, info)


def _dispatched(ctx: Context, claimed: Claimed, plan: Plan, job: Job, info: RepositoryInfo) -> Done:
    base = ctx.gateway.branch_head(plan.repo, info.default_branch)
    if base is None:
        raise Permanent(f"The branch {info.default_branch} has no commit yet. Push one, then /retry.")
    policy = ctx.policies.at(plan.repo, base).policy
    if policy.paused:
        pause = ev.HoldPlaced(at=ctx.now(), source=claimed.key, cause=HoldCause.POLICY_PAUSED)
        return found(claimed, pause, "the policy pauses new work")
    if job.kind is JobKind.EXECUTE and plan.rework is None and (void := _void(ctx, claimed, plan, policy)):
        return void
    spec = job_spec(_with_branch(ctx, plan), job, info, base, policy, _known(ctx, plan), _denied(ctx, plan))
    with ctx.store.write() as tx:
        jobs.specify(tx, job.id, spec)
    # the workflow names its run after the job, by which it is found where the answer was lost
    run_id = ctx.gateway.ensure_dispatch(
        plan.repo,
        ctx.workflow,
        info.default_branch,
        {"job": job.id},
        marker=job.id,
        first=claimed.first,
    )
    event = ev.JobDispatched(at=ctx.now(), source=claimed.key, job=job.id, run_id=run_id, policy=policy)
    return found(claimed, event, f"run {run_id}")


def _with_branch(ctx: Context, plan: Plan) -> Plan:
    """Return the plan with what an earlier job pushed of further work that was dropped: the next one writes over it."""
    if plan.rework is None or plan.work_head is not None:
        return plan
    left = ctx.gateway.branch_head(plan.repo, plan.work_branch)
    with ctx.store.read() as tx:
        own = jobs.pushed(tx, plan.uid)
    return plan.model_copy(update={"rework": plan.rework.model_copy(update={"head": left if left in own else None})})


def _void(ctx: Context, claimed: Claimed, plan: Plan, policy: Policy) -> Done | None:
    """Return why the plan's approval can't be used, or None: it covers what would be done."""
    approval, revision = plan.plan_approval, plan.revision
    if approval is None or revision is None:
        raise Permanent("The plan has no approval.")
    what = None
    if revision.content_sha256 != approval.content_sha256 or plan_comment_sha256(ctx, plan) != approval.binds_to:
        what = "plan_comment"
    elif policy.gates_sha256 != plan.policy.gates_sha256:
        what = "policy"
    if what is None:
        return None
    said = {"at": ctx.now(), "source": claimed.key, "what": what, "policy": policy}
    return found(claimed, ev.ApprovalVoid.model_validate(said), f"approval void: {what}")


def _known(ctx: Context, plan: Plan) -> tuple[KnownPlan, ...]:
    """Return, for a first plan, what other issues have plans that it may be a duplicate of, the newest first."""
    if plan.revision is not None:
        return ()
    with ctx.store.read() as tx:
        found = plans.newest(tx, plan.repo.id, DUPLICABLE, MOST_KNOWN)
    written = ((other, other.revision.document) for other in found if other.revision)
    return tuple(
        _told(other, document, ctx.now())
        for other, document in written
        if other.issue_number != plan.issue_number and document.verdict is Verdict.PLAN
    )


def _denied(ctx: Context, plan: Plan) -> tuple[Feedback, ...]:
    """Return why the plan was rejected of which this one was called a duplicate."""
    original = plan.revision.document.duplicate_of if plan.revision else None
    if original is None:
        return ()
    with ctx.store.read() as tx:
        other = plans.glimpse(tx, lane(plan.repo.id, original))
    return other.rejections if other else ()


def _told(plan: Plan, document: PlanDocument, now: float) -> KnownPlan:
    return KnownPlan(
        issue=plan.issue_number,
        title=document.title,
        state=plan.state,
        files=document.files,
        merged_days_ago=None if plan.merged_at is None else (now - plan.merged_at) / DAY,
    )


def job_spec(
    plan: Plan,
    job: Job,
    info: RepositoryInfo,
    base: str,
    policy: Policy,
    known: tuple[KnownPlan, ...] = (),
    denied: tuple[Feedback, ...] = (),
) -> JobSpec:
    """Return what the runner is told of a job; ``denied`` is why another plan for the same thing was rejected."""
    revision = plan.revision
    as_approved = job.kind is not JobKind.PLAN and (plan.rework is None or policy.gates is None)
    gates = revision.gates if as_approved and revision else policy.gates or ()
    return JobSpec(
        job=job.id,
        kind=job.kind,
        unit=job.unit,
        repository=Repository(
            id=plan.repo.id,
            owner=info.owner,
            name=info.name,
            default_branch=info.default_branch,
            clone_url=info.clone_url,
        ),
        plan_uid=plan.uid,
        revision=revision.number if revision else 0,
        base=base,
        branch=plan.work_branch,
        head=job.head,
        shown=plan.approved_head if plan.rework else None,
        branch_head=plan.work_head,
        merge_base_in=job.merge_base_in,
        issue=Issue(
            number=plan.issue_number,
            title=plan.issue.title[:1_024],
            body=plan.issue.body[:262_144],
            author=plan.issue.author.login if plan.issue.author else "a deleted user",
        ),
        plan=revision.document if revision else None,
        feedback=(*_feedback(plan, job), *(*plan.rejections, *denied)[-MOST_REJECTIONS:]),
        ledger=_ledger(plan, job),
        inspector=_paid(policy.inspector, policy) if policy.inspector and job.kind is JobKind.EXECUTE else None,
        known=known,
        lessons=sent(plan) if job.kind is JobKind.EXECUTE else (),
        logs=policy.logs,
        recommendation=next((each.what for each in plan.recommended if each.job == job), None),
        agents={unit: _paid(agent, policy) for unit, agent in plan.choices.agents(policy).items()},
        gates=gates,
        detect_gates=policy.gates is None,
        protected=policy.protected,
        checks=policy.checks,
        prepare=policy.prepare,
        carry=policy.carry,
        sandbox=policy.sandbox,
        network=policy.network,
        budget=plan.choices.limits(policy),
        tiers=policy.tiers,
        prices=policy.prices,
    )


def _paid(agent: AgentSpec, policy: Policy) -> AgentSpec:
    """Return the agent with how it is paid here."""
    return agent.model_copy(update={"subscription": agent.name in policy.subscriptions})


def _feedback(plan: Plan, job: Job) -> tuple[Feedback, ...]:
    """Return the words that a job is to answer."""
    writes = job.kind is JobKind.PLAN
    return tuple(words for words in plan.feedback if writes or words.kind not in SAID_TO_THE_TEXT)


def _ledger(plan: Plan, job: Job) -> Ledger | None:
    """Return where the work stands that the job goes on with, by what was reported when it was shown."""
    review = plan.review or (plan.rework.review if plan.rework else None)
    if job.kind is not JobKind.EXECUTE or review is None or job.head != review.work.head:
        return None
    work = review.work
    summary = work.summary
    return Ledger(
        delivered=summary.delivered if summary else (),
        missing=summary.missing if summary else (),
        files=tuple(file.path for file in work.files),
    )


def stop_run(ctx: Context, claimed: Claimed, effect: StopRun) -> Done:
    """Cancel the run of a job that must not go on. The runner is told as well, at its next heartbeat."""
    with ctx.store.read() as tx:
        plan = plans.get(tx, claimed.plan_uid or "")
        job = jobs.get(tx, effect.job)
    if plan is None or job is None or job.reported_at is not None:
        return Done("nothing runs")
    run_id = effect.run_id or job.run_id
    if run_id is None:
        run = ctx.gateway.find_run(plan.repo, ctx.workflow, effect.job)
        run_id = run.id if run else None
    if run_id is None:
        return Done("it was never dispatched")
    ctx.gateway.cancel_run(plan.repo, run_id)
    return Done(f"run {run_id} cancelled")
