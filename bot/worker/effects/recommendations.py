"""Make an issue of a recommendation that a person accepted."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bot.lifecycle import events as ev
from bot.lifecycle.wording import render as wording
from bot.worker.context import Done, found, plan_of

if TYPE_CHECKING:
    from bot.lifecycle.effects import MakeIssue
    from bot.store.outbox import Claimed
    from bot.worker.context import Context


def make_issue(ctx: Context, claimed: Claimed, effect: MakeIssue) -> Done:
    """Open the issue, once a recommendation, without a label: no plan is made of it until somebody asks."""
    plan = plan_of(ctx, claimed)
    title, body = wording.recommended_issue(plan, effect.text)
    key, first = f"{plan.uid}:recommendation:{effect.number}", claimed.first and not effect.again
    issue = ctx.gateway.ensure_issue(plan.repo, key, title, body, [], first=first)
    event = ev.IssueMade(at=ctx.now(), source=claimed.key, job=effect.job, number=issue.number)
    return found(claimed, event, f"#{issue.number}")
