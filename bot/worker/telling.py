"""Answers to people who spoke to the bot itself: kept with the line of the journal, for where they asked."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bot.lifecycle.effects import Say, Topic
from bot.lifecycle.states import DIRECT
from bot.lifecycle.wording import render as wording
from bot.store import plans, policies

if TYPE_CHECKING:
    from bot.lifecycle.effects import Effect
    from bot.lifecycle.events import Event
    from bot.lifecycle.moves.common import Step
    from bot.lifecycle.plan import Plan
    from bot.lifecycle.requests import Request
    from bot.store.engine import Tx


VOID = frozenset({Topic.APPROVAL_VOID, Topic.BRANCH_MOVED})
"""Answers that say of what changed the plan that it does not count."""


def apart(before: Plan | None, step: Step, event: Event) -> tuple[tuple[Effect, ...], dict[str, Any]]:
    """Return the effects that are carried out, and what the journal keeps for who spoke to the bot itself.

    ``answer`` is what they are told; ``in_vain`` says that what they wanted does not count.
    """
    by = getattr(event, "by", None)
    if getattr(event, "via", None) not in DIRECT or by is None:
        return step.effects, {}
    own = [effect for effect in step.effects if isinstance(effect, Say) and effect.to == by]
    said = "\n\n".join(wording.say(each.topic, each.details, step.plan, None) for each in own)
    in_vain = any(each.topic in VOID for each in own) or (bool(own) and _same(before, step.plan))
    told = {"answer": said or None, "in_vain": in_vain or None}
    return tuple(effect for effect in step.effects if effect not in own), told


def _same(before: Plan | None, plan: Plan) -> bool:
    return before is not None and plan.model_copy(update={"version": before.version, "since": before.since}) == before


def text_for(tx: Tx, request: Request, say: Say) -> str:
    """Return what a comment would answer to a request."""
    plan = plans.glimpse(tx, f"{request.repo.id}:{request.issue_number}")
    policy = policies.last_valid(tx, request.repo.id) if plan is None else plan.policy
    return wording.say(say.topic, say.details, plan, None, policy)
