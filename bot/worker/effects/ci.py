"""What other Apps say of a pushed commit: asked for once however many of them spoke, and shown in the diff review."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bot.errors import Permanent
from bot.github.ensure import marked
from bot.github.gateway import Missing
from bot.lifecycle import events as ev
from bot.lifecycle.ci import LONGEST_LOG, MOST_LOGS, CiState, latest, outlook
from bot.lifecycle.states import WaitingOn
from bot.store import plans
from bot.worker.context import Done, found
from bot.worker.effects.posts import review_key, review_text

if TYPE_CHECKING:
    from bot.lifecycle.ci import CiCheck
    from bot.lifecycle.effects import ReadCi, RefreshReview
    from bot.lifecycle.plan import Plan
    from bot.store.outbox import Claimed
    from bot.worker.context import Context


def read_ci(ctx: Context, claimed: Claimed, _effect: ReadCi) -> Done:
    """Read the checks of the commit that was pushed last, with the logs of required ones that failed."""
    with ctx.store.read() as tx:
        plan = plans.get(tx, claimed.plan_uid or "")
    if plan is None or plan.review is None:
        return Done("nothing was pushed")
    if plan.mends_itself and not _mends_still(ctx, plan):
        return Done("by the policy of now nothing is mended without a person asking")
    head = plan.review.work.head
    checks = ctx.gateway.checks(plan.repo, head)
    logs = _logs(ctx, plan, checks) if plan.waiting_on is WaitingOn.CI or plan.mends_itself else {}
    event = ev.CiReported(at=ctx.now(), source=claimed.key, head=head, checks=checks, logs=logs)
    return found(claimed, event, f"{len(checks)} checks of {head[:12]}")


def _mends_still(ctx: Context, plan: Plan) -> bool:
    """Whether the policy in force lets one more fix begin by itself: the plan's is as old as its last job."""
    default = ctx.gateway.repository(plan.repo).default_branch
    return plan.fixes < ctx.policies.at(plan.repo, default).policy.ci.fix


def _logs(ctx: Context, plan: Plan, checks: tuple[CiCheck, ...]) -> dict[str, str]:
    failed = outlook(plan.policy.ci.require, checks).failed
    if plan.mends_itself:
        failed = tuple(check for check in latest(checks) if check.state is CiState.FAILED)
    return {check.name: _log(ctx, plan, check) for check in failed[:MOST_LOGS]}


def _log(ctx: Context, plan: Plan, check: CiCheck) -> str:
    """Return the end of a check's log; nothing where it has none that can be had: its address still tells more."""
    if check.job_id is None:
        return ""
    try:
        return (ctx.gateway.job_log(plan.repo, check.job_id) or "")[-LONGEST_LOG:]
    except Permanent:
        return ""


def refresh_review(ctx: Context, claimed: Claimed, _effect: RefreshReview) -> Done:
    """Bring the diff review to what is known of its commit now; a decision on it stands as it is."""
    with ctx.store.read() as tx:
        plan = plans.get(tx, claimed.plan_uid or "")
    if plan is None or plan.review is None or plan.review.comment_id is None:
        return Done("no review is posted")
    text = marked(review_key(plan, plan.review.number), review_text(ctx, plan, plan.review))
    try:
        ctx.gateway.edit_comment(plan.repo, plan.review.comment_id, text)
    except Missing:
        return Done("its comment was deleted")
    return Done("edited")
