"""Make an issue of a report from outside, and ask for its plan in the policy's name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bot.lifecycle import events as ev
from bot.lifecycle.plan import Person, lane
from bot.lifecycle.states import HoldCause, Via
from bot.lifecycle.wording import render as wording
from bot.store.events import event_delivery
from bot.worker.context import Done

if TYPE_CHECKING:
    from bot.lifecycle.effects import OpenReported
    from bot.lifecycle.policy import Policy
    from bot.store.deliveries import NewDelivery
    from bot.store.outbox import Claimed
    from bot.worker.context import Context


def open_reported(ctx: Context, claimed: Claimed, effect: OpenReported) -> Done:
    """Open the issue, if the policy as it reads now lets the report in with the secret that it came with."""
    repo, report = effect.repo, effect.report
    branch = ctx.gateway.repository(repo).default_branch
    policy = ctx.policies.at(repo, ctx.gateway.branch_head(repo, branch) or branch).policy
    if not policy.hooks.lets_in(report.tracker):
        return Done(f"the policy lets no reports of {report.tracker} in any more")
    if policy.hooks.generation != effect.generation:
        return Done("the policy made the secret with which this came another one")
    title, body = wording.reported_issue(report, policy)
    issue = ctx.gateway.ensure_issue(repo, effect.key, title, body, [policy.label], first=claimed.first)
    return Done(f"#{issue.number}", (_request(ctx, claimed, effect, policy, issue.number),))


def _request(ctx: Context, claimed: Claimed, effect: OpenReported, policy: Policy, number: int) -> NewDelivery:
    """Return the request for a plan, by the bot itself: a report names nobody who could be asked who they are."""
    bot = ctx.gateway.identity()
    event = ev.PlanRequested(
        at=ctx.now(),
        source=claimed.key,
        by=Person(id=bot.bot_user_id, login=f"{bot.slug}[bot]"),
        via=Via.HOOK,
        repo=effect.repo,
        issue_number=number,
        issue=ctx.gateway.issue(effect.repo, number).snapshot,
        policy=policy,
        pauses=(HoldCause.POLICY_PAUSED,) if policy.paused else (),
    )
    return event_delivery(
        event,
        guid=f"reported:{claimed.key}",
        source="effect",
        lane=lane(effect.repo.id, number),
        installation_id=claimed.installation_id,
    )
