"""What a repository's plans cost, told where somebody asked or the policy does."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bot.lifecycle.allowance import Day
from bot.lifecycle.figures import Figures, figures
from bot.lifecycle.periods import month_end
from bot.lifecycle.wording.costs_told import costs_comment
from bot.store import histories
from bot.worker.context import Done

if TYPE_CHECKING:
    from bot.lifecycle.effects import TellCosts
    from bot.lifecycle.plan import Repo
    from bot.lifecycle.policy import Policy
    from bot.store.outbox import Claimed
    from bot.worker.context import Context


def tell_costs(ctx: Context, claimed: Claimed, effect: TellCosts) -> Done:
    """Answer with the figures of the month that was asked for."""
    policy = ctx.policies.at(effect.repo, ctx.gateway.repository(effect.repo).default_branch).policy
    found = figures_of(ctx, effect.repo, effect.month, min(month_end(effect.month), ctx.now()))
    body = costs_comment(found, policy, to=effect.to, day=_day(ctx, effect.repo, policy))
    comment = ctx.gateway.ensure_comment(effect.repo, effect.issue_number, claimed.key, body, first=claimed.first)
    return Done(f"comment {comment.id}")


def figures_of(ctx: Context, repo: Repo, since: float, until: float) -> Figures:
    """Return the figures of one repository."""
    with ctx.store.read() as tx:
        found = histories.in_period(tx, since, until, [repo.id])
    return figures(found.get(repo.id, ()), since, until)


def _day(ctx: Context, repo: Repo, policy: Policy) -> Day | None:
    """Return what is left of the repository's day, where it has a limit."""
    if policy.budget.usd_today is None:
        return None
    with ctx.store.read() as tx:
        return Day(limit=policy.budget.usd_today, spent=histories.today(tx, repo.id))
