"""Whether somebody may do what they said: by permission, as an approver, as a bot, as another than who asked."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import Field

from bot.lifecycle.approvers import is_bot
from bot.lifecycle.commands import Verb
from bot.lifecycle.permission import Action, Permission
from bot.lifecycle.policy import may
from bot.lifecycle.states import SILENT, Frozen

if TYPE_CHECKING:
    from bot.lifecycle.plan import Plan
    from bot.lifecycle.requests import Reading, Request


class Refusal(Frozen):
    """Not done, and why: the topic of the answer, or None where silence is the answer."""

    topic: str | None
    reason: str
    needs: Permission | None = None
    details: dict[str, str] = Field(default_factory=dict)
    """What the answer says besides."""


def refused(request: Request, reading: Reading, plan: Plan | None, action: Action) -> Refusal | None:
    """Return why this person may not do this here, or None: they may.

    A reaction is refused in silence, since nobody waits for words, and so is a bot, lest two of them talk for ever.
    """
    return (
        _as_a_bot(request, reading, action)
        or _without_right(request, reading, plan, action)
        or _own(request, reading, plan)
    )


def _as_a_bot(request: Request, reading: Reading, action: Action) -> Refusal | None:
    """Refuse bots, and what people let an App say for them, unless the policy lists it."""
    if request.bot is None or reading.policy.approvers.lists(request.bot):
        return None
    reason = f"said by {request.bot}, which the policy does not list"
    may_themselves = not is_bot(request.actor.login) and may(reading.policy, reading.permission, action)
    return Refusal(topic="through_app" if may_themselves else None, reason=reason, details={"app": request.bot})


def _without_right(request: Request, reading: Reading, plan: Plan | None, action: Action) -> Refusal | None:
    """Refuse who lacks the permission, or is none of the approvers."""
    approvers, needs = reading.policy.approvers, reading.policy.needs(action)
    reason, named = "", {}
    if not (may(reading.policy, reading.permission, action) or _is_asked(request, action, plan)):
        reason = f"{request.actor.login} lacks {needs}"
    elif action is Action.DECIDE and not approvers.admit(request.actor.login, reading.permission, reading.teams):
        reason = f"{request.actor.login} is none of the approvers"
    if not reason:
        return None
    if action is Action.DECIDE:
        named = {"teams": " ".join(approvers.teams), "users": " ".join(approvers.users)}
    topic = "needs_triage" if action is Action.REQUEST_PLAN and not request.pauses else "not_allowed"
    silent = request.via in SILENT or is_bot(request.actor.login)
    details = {name: value for name, value in named.items() if value}
    return Refusal(topic=None if silent else topic, reason=reason, needs=needs, details=details)


def _is_asked(request: Request, action: Action, plan: Plan | None) -> bool:
    """Whether the issue's author answers: what the plan asks is asked of them too."""
    author = plan.issue.author if plan is not None else None
    return action is Action.ANSWER and author is not None and author.id == request.actor.id


def is_counted(verb: Verb, plan: Plan) -> bool:
    """Whether it takes the people that an approval takes: one, or another agent or budget than was approved."""
    return verb is Verb.APPROVE or (verb in {Verb.AGENT, Verb.BUDGET} and plan.bound)


def _own(request: Request, reading: Reading, plan: Plan | None) -> Refusal | None:
    """Refuse the approval of what a person asked for themselves, where the policy wants another's."""
    if plan is None or not reading.policy.approvers.distinct or not is_counted(request.command.verb, plan):
        return None
    what = None
    if request.actor.id == plan.requester.id:
        what = "requester"
    elif request.actor.id in {person.id for person in plan.updated_by}:
        what = "author"
    if what is None:
        return None
    topic = None if is_bot(request.actor.login) else "needs_another"
    return Refusal(topic=topic, reason=f"{request.actor.login} is the plan's {what}", details={"what": what})
