"""What more than one person has to say: it is kept until enough of them have said it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bot.lifecycle import effects as fx
from bot.lifecycle.approvers import Needed, still_needed
from bot.lifecycle.moves.common import Step, answer, changed, moved, say
from bot.lifecycle.plan import Approval, Pending, Wish
from bot.lifecycle.states import Gate

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bot.lifecycle import events
    from bot.lifecycle.plan import Plan

APPROVED_BEFORE = "you have approved this already, and it needs another person's approval too"
WISHED_BEFORE = "you have asked for this already, and another person has to ask for the same"


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
    given, needed = _together(before, approval, event)
    if needed.met:
        return approval.model_copy(update={"earlier": given[:-1]})
    if _same_people(before, given):
        return answer(plan, event, fx.Topic.NOT_NOW, "approved before", why=APPROVED_BEFORE)
    plan = changed(plan, pending=Pending(approvals=given, needed=needed))
    return moved(plan, f"approved by {len(given)}, which is not enough yet")


def wished(plan: Plan, event: events.AgentChosen | events.BudgetChosen, command: str) -> Step | None:
    """Return the step that keeps a change of what was approved while it needs more people; None once it counts.

    Agent and budget are a part of what the plan gate's approval covers, so a change takes as many as that did.
    """
    own = Approval(
        gate=Gate.PLAN,
        by=event.by,
        via=event.via,
        at=event.at,
        binds_to=command,
        comment_id=event.comment_id,
        owns=event.owns,
    )
    before = next((wish.approvals for wish in plan.wished if wish.command == command), ())
    given, needed = _together(before, own, event)
    if needed.met:
        return None
    if _same_people(before, given):
        return answer(plan, event, fx.Topic.NOT_NOW, "asked for before", why=WISHED_BEFORE)
    wish = Wish(command=command, approvals=given, needed=needed)
    plan = changed(plan, wishes=(*others(plan, wish.name), wish))
    told = say(plan, fx.Topic.WISHED, event, event.by, command=command)
    return moved(plan, f"/{command} asked for by {len(given)}, which is not enough yet", told)


def others(plan: Plan, name: str) -> tuple[Wish, ...]:
    """Return the wishes that count and are about something else."""
    return tuple(wish for wish in plan.wished if wish.name != name)


def _together(before: Sequence[Approval], own: Approval, event: events.Counted) -> tuple[tuple[Approval, ...], Needed]:
    """Return what was said by everybody whose word stands, this person last, and what is lacking beside it."""
    given = (*(a for a in before if a.by.id not in {event.by.id, *event.fallen}), own)
    return given, still_needed(event.approvers, [a.owns for a in given], event.owned)


def _same_people(before: Sequence[Approval], given: Sequence[Approval]) -> bool:
    return [a.by.id for a in before] == [a.by.id for a in given]
