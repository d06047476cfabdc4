"""What a repository's plans cost, told where somebody asked or the policy does."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bot.lifecycle.figures import Figures, figures
from bot.lifecycle.periods import WEEK, month_end
from bot.lifecycle.wording.costs_told import costs_comment, costs_message
from bot.store import days, histories
from bot.worker.context import Done

if TYPE_CHECKING:
    from bot.lifecycle.allowance import Day
    from bot.lifecycle.effects import SendWeek, TellCosts, TellWeek
    from bot.lifecycle.plan import Repo
    from bot.lifecycle.policy import Policy
    from bot.store.outbox import Claimed
    from bot.worker.context import Context


def tell_costs(ctx: Context, claimed: Claimed, effect: TellCosts) -> Done:
    """Answer with the figures of the month that was asked for."""
    policy = _policy(ctx, effect.repo)
    found = figures_of(ctx, effect.repo, effect.month, min(month_end(effect.month), ctx.now()))
    body = costs_comment(found, policy, to=effect.to, day=_day(ctx, effect.repo, policy))
    comment = ctx.gateway.ensure_comment(effect.repo, effect.issue_number, claimed.key, body, first=claimed.first)
    return Done(f"comment {comment.id}")


def tell_week(ctx: Context, claimed: Claimed, effect: TellWeek) -> Done:
    """Tell of a week in the issue that the policy names now, where anything happened."""
    policy = _policy(ctx, effect.repo)
    found = figures_of(ctx, effect.repo, effect.week, effect.week + WEEK)
    if policy.summary.issue != effect.issue_number or not found.tells_something:
        return Done("not asked for any more, or nothing happened")
    body, number = costs_comment(found, policy), effect.issue_number
    comment = ctx.gateway.ensure_comment(effect.repo, number, claimed.key, body, first=claimed.first)
    return Done(f"comment {comment.id}")


def send_week(ctx: Context, claimed: Claimed, effect: SendWeek) -> Done:
    """Tell of a week in the chat, once: where an earlier try ended unseen, the message may be there."""
    if ctx.chat is None:
        return Done("no chat is set: TWOGATE_CHAT_WEBHOOK")
    if not claimed.first:
        return Done("it may have been sent; a week is told of once")
    found = figures_of(ctx, effect.repo, effect.week, effect.week + WEEK)
    if not _policy(ctx, effect.repo).summary.chat or not found.tells_something:
        return Done("not asked for any more, or nothing happened")
    ctx.chat(costs_message(found, f"{effect.repo.owner}/{effect.repo.name}"))
    return Done("sent")


def _policy(ctx: Context, repo: Repo) -> Policy:
    return ctx.policies.at(repo, ctx.gateway.repository(repo).default_branch).policy


def figures_of(ctx: Context, repo: Repo, since: float, until: float) -> Figures:
    """Return the figures of one repository."""
    with ctx.store.read() as tx:
        found = histories.in_period(tx, since, until, [repo.id])
        return figures((history for _, history in found), since, until)


def _day(ctx: Context, repo: Repo, policy: Policy) -> Day | None:
    """Return what is left of the repository's day, where it has a limit."""
    if policy.budget.usd_today is None:
        return None
    with ctx.store.read() as tx:
        return days.of(tx, repo.id, policy.budget.usd_today)
