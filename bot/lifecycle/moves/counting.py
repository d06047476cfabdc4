"""Approvals of which more than one is needed: they are kept until they are enough."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bot.lifecycle import effects as fx
from bot.lifecycle.approvers import still_needed
from bot.lifecycle.moves.common import Step, answer, changed, moved
from bot.lifecycle.plan import Approval, Pending

if TYPE_CHECKING:
    from bot.lifecycle import events
    from bot.lifecycle.plan import Plan
    from bot.lifecycle.states import Gate


def counted(
    plan: Plan, event: events.Approved, gate: Gate, binds_to: str, content_sha256: str | None = None
) -> Approval | Step:
    """Return the approval, with those by others that it completes; or the step that keeps it, while more are needed."""
    approval = Approval(
        gate=gate,
        by=event.by,
        via=event.via,
        at=event.at,
        binds_to=binds_to,
        content_sha256=content_sha256,
        comment_id=event.comment_id or event.on_comment,
        reaction_id=event.reaction_id,
        owns=event.owns,
    )
    before = plan.halfway.approvals if plan.halfway else ()
    earlier = tuple(a for a in before if a.by.id not in {event.by.id, *event.fallen})
    given = (*earlier, approval)
    needed = still_needed(event.approvers, [a.owns for a in given], event.owned)
    if needed.met:
        return approval.model_copy(update={"earlier": earlier})
    if [a.by.id for a in before] == [a.by.id for a in given]:
        why = "you have approved this already, and it needs another person's approval too"
        return answer(plan, event, fx.Topic.NOT_NOW, "approved before", why=why)
    plan = changed(plan, pending=Pending(approvals=given, needed=needed))
    return moved(plan, f"approved by {len(given)}, which is not enough yet")
