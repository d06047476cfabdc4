"""Make a plan's parts: their issues, one at a time, and then the plan of each in its own lane."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bot.errors import Permanent
from bot.lifecycle import events as ev
from bot.lifecycle.lessons import of_part
from bot.lifecycle.plan import Part, lane
from bot.lifecycle.states import HoldCause, Via
from bot.lifecycle.wording import render as wording
from bot.store.events import event_delivery
from bot.worker.context import Done, found, plan_of

if TYPE_CHECKING:
    from bot.lifecycle.effects import MakeChild, OpenChild
    from bot.lifecycle.plan import Child, Plan, Split
    from bot.store.deliveries import NewDelivery
    from bot.store.outbox import Claimed
    from bot.worker.context import Context


def make_child(ctx: Context, claimed: Claimed, effect: MakeChild) -> Done:
    """Open the issue of a part, unless the plan was stopped meanwhile."""
    plan, split = _split(ctx, claimed)
    if split is None or not plan.splitting or plan.hold is not None:
        return Done("the plan is not being split")
    title, body = wording.child_issue(plan, split, effect.position)
    issue = ctx.gateway.ensure_issue(
        plan.repo,
        f"{plan.uid}:child:{split.number}:{effect.position}",
        title,
        body,
        [plan.policy.label],
        first=claimed.first and not effect.again,
    )
    event = ev.ChildMade(
        at=ctx.now(),
        source=claimed.key,
        split=split.number,
        position=effect.position,
        number=issue.number,
        issue_id=issue.id,
    )
    return found(claimed, event, f"#{issue.number}")


def open_child(ctx: Context, claimed: Claimed, effect: OpenChild) -> Done:
    """Hang the part's issue under its parent's, and ask for its plan there, which is written already."""
    plan, split = _split(ctx, claimed)
    if split is None:
        return Done("the plan is not split any more")
    child = split.children[effect.position - 1]
    asked = _request(ctx, claimed, plan, split, effect.position)
    try:
        hangs = ctx.gateway.ensure_sub_issue(plan.repo, plan.issue_number, child.issue_id or 0)
    except Permanent as refusal:
        event = ev.EffectFailed(at=ctx.now(), source=claimed.key, effect="sub_issue", sentence=str(refusal))
        return Done("not a sub-issue", (asked, *found(claimed, event).follow_ups))
    return Done("a sub-issue" if hangs else "there are no sub-issues here", (asked,))


def _split(ctx: Context, claimed: Claimed) -> tuple[Plan, Split | None]:
    plan = plan_of(ctx, claimed)
    return plan, plan.split


def _request(ctx: Context, claimed: Claimed, plan: Plan, split: Split, position: int) -> NewDelivery:
    """Return the request for the part's plan, as who had the plan split makes it, in the lane of its issue."""
    child = split.children[position - 1]
    number = child.number or 0
    issue = ctx.gateway.issue(plan.repo, number)
    stands = {HoldCause.ISSUE_CLOSED: issue.state == "closed", HoldCause.ISSUE_LOCKED: issue.locked}
    event = ev.PlanRequested(
        at=ctx.now(),
        source=claimed.key,
        by=split.by,
        via=Via.COMMAND,
        repo=plan.repo,
        issue_number=number,
        issue=issue.snapshot,
        policy=plan.policy,
        part=_part(plan, split, child, position),
        pauses=tuple(cause for cause, holds in stands.items() if holds),
    )
    return event_delivery(
        event,
        guid=f"child:{claimed.key}",
        source="effect",
        lane=lane(plan.repo.id, number),
        installation_id=claimed.installation_id,
    )


def _part(plan: Plan, split: Split, child: Child, position: int) -> Part:
    before = [split.children[n - 1].number for n in child.depends_on]
    builds_on = {*plan.choices.depends_on, *(number for number in before if number is not None)}
    return Part(
        of=plan.issue_number,
        position=position,
        total=len(split.children),
        document=child.document,
        gates=split.gates,
        authors=split.authors,
        depends_on=tuple(sorted(builds_on)),
        lessons=of_part(plan, split, position),
    )
