"""What stands beside the work on a pull request: reviews, comments on its lines, checks that fail on it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bot.lifecycle.ci import CiState
from bot.lifecycle.policy import Action
from bot.lifecycle.states import State
from bot.worker.effects.remarks import LONGEST_REMARK, MOST_REMARKS, Gathered, allowed_to, of_review, remark_of, unheard
from runner.contract import Feedback

if TYPE_CHECKING:
    from bot.github.gateway import PullReview
    from bot.lifecycle.ci import CiCheck
    from bot.lifecycle.plan import Plan
    from bot.lifecycle.policy import Policy
    from bot.worker.context import Context

WANT_CHANGES = frozenset({"changes_requested", "commented"})
"""Reviews whose words are taken along: an approval asks for nothing."""
MOST_FAILING = 10
"""Failing checks that one fix takes along."""
LONGEST_LOG = 20_000
"""Characters of the end of one check's log that travel to the agent."""


def of_work(ctx: Context, plan: Plan | None, policy: Policy) -> Gathered:
    """Return what ``/revise`` takes along: what stands on the commits in review, and on the open pull request."""
    beside = of_review(ctx, plan, policy)
    if plan is None or plan.pull_request is None or not (plan.rework or plan.state is State.PR_OPEN):
        return beside
    there = _of_pull(ctx, plan, plan.pull_request, policy, MOST_REMARKS - len(beside.said))
    return Gathered((*beside.said, *there.said), (*beside.heard, *there.heard))


def _of_pull(ctx: Context, plan: Plan, pull: int, policy: Policy, most: int) -> Gathered:
    may = allowed_to(ctx, plan, policy, Action.STEER)
    handed_in = [
        (f"review:{review.id}", _words(review))
        for review in ctx.gateway.reviews(plan.repo, pull)
        if review.state in WANT_CHANGES and review.body.strip() and f"review:{review.id}" not in plan.heard
        if review.author is not None and not review.by_bot and may(review.author)
    ]
    shown = plan.review or (plan.rework.review if plan.rework else None)
    beside = unheard(plan, "review_comment", ctx.gateway.review_comments(plan.repo, pull), may)
    chosen = [*handed_in, *((name, remark_of(comment, shown)) for name, comment in beside)][:most]
    return Gathered(tuple(words for _, words in chosen), tuple(name for name, _ in chosen))


def _words(review: PullReview) -> Feedback:
    author = review.author.login if review.author else ""
    return Feedback(kind="review", author=author, text=review.body[:LONGEST_REMARK])


def of_checks(ctx: Context, plan: Plan | None, _policy: Policy) -> Gathered:
    """Return what ``/fix`` takes along: the checks that fail on the open pull request, each with its log as it is."""
    if plan is None or plan.state is not State.PR_OPEN:
        return Gathered()
    head = ctx.gateway.branch_head(plan.repo, plan.branch)
    return Gathered(() if head is None else failing(ctx, plan, head))


def failing(ctx: Context, plan: Plan, head: str) -> tuple[Feedback, ...]:
    """Return the checks of others that fail on a commit, each with the end of its log."""
    failed = [check for check in ctx.gateway.checks(plan.repo, head) if check.state is CiState.FAILED]
    return tuple(_told(ctx, plan, check) for check in failed[:MOST_FAILING])


def _told(ctx: Context, plan: Plan, check: CiCheck) -> Feedback:
    log = None if check.job_id is None else ctx.gateway.job_log(plan.repo, check.job_id)
    said = f"The check {check.name} ended as {check.conclusion or 'failed'}. {check.url}".strip()
    text = said if log is None else f"{said}\nThe end of its log:\n{log[-LONGEST_LOG:]}"
    return Feedback(kind="ci", author=check.app[:300] or "ci", text=text)
