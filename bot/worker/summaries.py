"""Each week's figures, for the repositories whose policy asks for them: told once, after the week is over."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bot.lifecycle import effects as fx
from bot.lifecycle.exports import moment
from bot.lifecycle.periods import WEEK, aligned
from bot.lifecycle.plan import lane
from bot.store import outbox, plans, policies

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bot.lifecycle.plan import Repo
    from bot.lifecycle.policy import Summary
    from bot.worker.context import Context


def look(ctx: Context) -> None:
    """Have the week that ended last be told of (Monday to Monday, UTC); what was told of is not told again."""
    with ctx.store.read() as tx:
        repos, known = plans.repositories(tx), policies.valid(tx)
    week = aligned(ctx.now(), WEEK) - WEEK
    wanted = [(repos[number], policy.summary) for number, policy in known.items() if number in repos]
    effects = [(repo, effect) for repo, summary in wanted for effect in _effects(repo, summary, week)]
    if not effects:
        return
    with ctx.store.write() as tx:
        for repo, effect in effects:
            where = effect.issue_number if isinstance(effect, fx.TellWeek) else 0
            outbox.add(tx, [effect], lane=lane(repo.id, where), installation_id=repo.installation_id)


def _effects(repo: Repo, summary: Summary, week: float) -> Iterator[fx.TellWeek | fx.SendWeek]:
    key = f"{repo.id}:say:week:{moment(week)[:10]}"
    if summary.issue is not None:
        yield fx.TellWeek(key=f"{key}:{summary.issue}", repo=repo, issue_number=summary.issue, week=week)
    if summary.chat:
        yield fx.SendWeek(key=f"{key}:chat", repo=repo, week=week)
