"""Moves by which people shape a plan that is written: rewrite it, go into detail, cut it, answer what it asks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from bot.lifecycle import effects as fx
from bot.lifecycle.moves.common import Step, answer, changed, conclude_check, moved, start_planning, told
from bot.lifecycle.plan import comment_name, posted_before
from bot.lifecycle.states import WaitingOn
from runner.contract import Feedback
from runner.results import Unit

if TYPE_CHECKING:
    from bot.lifecycle import events
    from bot.lifecycle.plan import Plan

TAKES_ANSWERS = frozenset({WaitingOn.ANSWERS, WaitingOn.PLAN_DECISION, WaitingOn.PERSON})
"""What a draft waits for while its questions stand."""


def update(plan: Plan, event: events.UpdateRequested) -> Step:
    """Rewrite the plan with a person's words; whatever was approved is over."""
    if event.issue is not None:
        plan = changed(plan, issue=event.issue, issue_stale=False)
    return _rewrite(plan, event, "update", Unit.UPDATE_PLAN, "rewriting the plan")


def expand(plan: Plan, event: events.ExpandRequested) -> Step:
    """Have the plan written in more detail, for the same work."""
    return _rewrite(plan, event, "expand", Unit.EXPAND_PLAN, "writing the plan in more detail")


def split(plan: Plan, event: events.SplitRequested) -> Step:
    """Have the plan cut into several; who says so asks for the plans of the parts."""
    return _rewrite(plan, event, "split", Unit.SPLIT_PLAN, "splitting the plan")


def _rewrite(
    plan: Plan,
    event: events.UpdateRequested | events.ExpandRequested | events.SplitRequested,
    kind: Literal["update", "expand", "split"],
    unit: Unit,
    note: str,
) -> Step:
    if plan.revision is None and unit is not Unit.UPDATE_PLAN:
        why = f"there is no plan to {kind} yet; `/update` and your words add to what it is written from"
        return answer(plan, event, fx.Topic.NOT_NOW, f"no plan to {kind} yet", why=why)
    closing = conclude_check(plan, "cancelled", "The plan is being rewritten.")
    words = Feedback(kind=kind, author=event.by.login, text=event.text)
    new = (remark for remark in event.remarks if remark not in plan.feedback)
    plan = told(plan, *new, words, by=(*event.speakers, event.by))
    plan = changed(plan, heard=(*plan.heard, *event.heard))
    plan, effects = start_planning(plan, unit, by=event.by)
    return moved(plan, note, *effects, *closing)


def take_answers(plan: Plan, event: events.Answered) -> Step:
    """Keep what is said to the plan's questions; where nothing else is waited for, the last answer has it go on."""
    revision, questions = plan.text_origin, plan.questions
    if revision is None or not questions or plan.waiting_on not in TAKES_ANSWERS:
        why = "the plan asks nothing now"
        return answer(plan, event, fx.Topic.NOT_NOW, why, why=why)
    if not posted_before(revision, event.at, event.comment_id):
        why = "the answer is older than the questions that stand now"
        return answer(plan, event, fx.Topic.NOT_NOW, why, why=why)
    given = {questions[a.number - 1]: a.text for a in event.answers if 1 <= a.number <= len(questions)}
    if not given:
        why = f"The plan's questions are numbered 1 to {len(questions)}; write `/answer 1: yes`."
        return answer(plan, event, fx.Topic.NOT_UNDERSTOOD, "no question has that number", verb="answer", why=why)
    kept = (words for words in plan.feedback if words.kind != "answer" or words.quote not in given)
    said = (Feedback(kind="answer", author=event.by.login, text=text, quote=asked) for asked, text in given.items())
    used = () if event.comment_id is None else (comment_name(event.comment_id),)
    plan = told(changed(plan, feedback=tuple(kept), heard=(*plan.heard, *used)), *said, by=[event.by])
    if plan.waiting_on is WaitingOn.ANSWERS and not plan.open_questions:
        plan, effects = start_planning(plan)
        return moved(plan, "every question is answered: rewriting the plan", *effects)
    return moved(plan, f"answered: {len(questions) - len(plan.open_questions)} of {len(questions)} questions")
