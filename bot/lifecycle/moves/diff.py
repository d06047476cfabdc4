"""Moves at the diff gate: what is up for decision goes back to be changed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bot.lifecycle import effects as fx
from bot.lifecycle.moves.common import Step, answer, at_head, changed, conclude_check, moved, open_job, told
from bot.lifecycle.states import State
from runner.contract import Feedback, JobKind
from runner.results import Unit

if TYPE_CHECKING:
    from bot.lifecycle import events
    from bot.lifecycle.plan import Plan

NOTHING_TO_CHANGE = "nothing to change was said; write it behind /revise, or comment on lines of the commit first"
NOT_SHOWN = "its diff is not posted yet; look at it first, then say what to change"


def folded(before: Plan, plan: Plan) -> tuple[fx.Effect, ...]:
    """Return what folds the diff that a step put out of the plan: other work took its place, or it was dropped."""
    review = before.review
    kept = (plan.review, plan.rework.review if plan.rework else None)
    if review is None or review.comment_id is None or review.number in {each.number for each in kept if each}:
        return ()
    key = f"{plan.uid}:outdated:{review.number}"
    return (fx.FoldReview(key=key, number=review.number, comment_id=review.comment_id),)


def revise(plan: Plan, event: events.ReviseRequested) -> Step:
    """Go on with the work by what people said of it; whatever of its diff was approved is over."""
    review = plan.review
    if review is None or review.comment_id is None:
        return answer(plan, event, fx.Topic.NOT_NOW, NOT_SHOWN, why=NOT_SHOWN)
    if not event.text and not event.remarks:
        return answer(plan, event, fx.Topic.NOT_NOW, NOTHING_TO_CHANGE, why=NOTHING_TO_CHANGE)
    closing = conclude_check(plan, "neutral", f"Sent back to be changed by {event.by.login}.")
    words = (Feedback(kind="revise", author=event.by.login, text=event.text),) if event.text else ()
    plan = told(plan, *words, *event.remarks, by=[event.by] if words else [])
    plan = changed(plan, state=State.EXECUTING, diff_approval=None, heard=(*plan.heard, *event.heard))
    plan = at_head(plan, review.work.head)
    plan, effects = open_job(plan, JobKind.EXECUTE, Unit.EXECUTE_PLAN, head=review.work.head)
    note = f"revising {review.work.head[:12]}, remarks: {len(event.remarks)}"
    return moved(plan, note, *effects, *closing)
