"""What the check run says of commits that people or a merge queue put together: whether anybody approved them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bot.github.gateway import CheckRun
from bot.lifecycle.wording import verdicts as wording
from bot.store import plans
from bot.worker.context import Done
from bot.worker.effects.posts import CHECK_NAME, check_mark

if TYPE_CHECKING:
    from bot.lifecycle.effects import JudgeGroup, JudgeHead
    from bot.lifecycle.plan import Plan
    from bot.store.outbox import Claimed
    from bot.worker.context import Context


def judge_head(ctx: Context, claimed: Claimed, effect: JudgeHead) -> Done:
    """Fail the check on a commit that somebody pushed to a plan's pull request."""
    with ctx.store.read() as tx:
        plan = plans.get(tx, claimed.plan_uid or "")
    if plan is None or plan.unverified is None or plan.unverified.head != effect.head:
        return Done("it is not what the pull request holds any more")
    title, summary = wording.unverified_check(plan)
    check = CheckRun(
        name=CHECK_NAME,
        title=title,
        summary=summary,
        conclusion="failure",
        external_id=check_mark(plan, effect.head),
    )
    number = ctx.gateway.ensure_check_run(plan.repo, effect.head, check, first=claimed.first)
    return Done(f"check run {number}")


def judge_group(ctx: Context, claimed: Claimed, effect: JudgeGroup) -> Done:
    """Pass a merge group, unless it holds commits of a plan's pull request that nobody approved."""
    with ctx.store.read() as tx:
        known = plans.with_pull_request(tx, effect.repo.id)
    foreign = [plan for plan in known if _is_foreign(ctx, effect, plan)]
    title, summary = wording.group_check(foreign)
    check = CheckRun(
        name=CHECK_NAME,
        title=title,
        summary=summary,
        conclusion="failure" if foreign else "success",
        external_id=f"twogate:group:{effect.head}",
    )
    ctx.gateway.ensure_check_run(effect.repo, effect.head, check, first=claimed.first)
    return Done(f"{check.conclusion}: {title}")


def _is_foreign(ctx: Context, effect: JudgeGroup, plan: Plan) -> bool:
    """Whether the group holds a plan's pull request at another commit than people approved.

    Of those that stand before the last one in the queue, GitHub tells only by the commits in it.
    """
    last = plan.pull_request == effect.pull_request
    if plan.pull_request is None or not (last or plan.in_merge_queue):
        return False
    head = ctx.gateway.pull(plan.repo, plan.pull_request).head
    if head == plan.approved_head:
        return False
    return last or ctx.gateway.compare(plan.repo, effect.head, head).ahead_by == 0
