"""What somebody could do to a plan just now: the commands that would do something, of those that they may give.

For whoever offers buttons. It is no decision: GitHub is asked again, and the plan may have moved on, when one is used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from bot.lifecycle import events as ev
from bot.lifecycle.commands import Verb
from bot.lifecycle.permission import Action
from bot.lifecycle.policy import may
from bot.lifecycle.requests import ACTIONS
from bot.lifecycle.states import WaitingOn
from bot.lifecycle.transitions import STEERING, rule_of

if TYPE_CHECKING:
    from bot.lifecycle.permission import Permission
    from bot.lifecycle.plan import Person, Plan

EVENTS: dict[Verb, type] = {
    Verb.PLAN: ev.PlanRequested,
    Verb.APPROVE: ev.Approved,
    Verb.REJECT: ev.Rejected,
    Verb.REOPEN: ev.ReopenRequested,
    Verb.UPDATE: ev.UpdateRequested,
    Verb.EXPAND: ev.ExpandRequested,
    Verb.SPLIT: ev.SplitRequested,
    Verb.ANSWER: ev.Answered,
    Verb.RETRY: ev.RetryRequested,
    Verb.REVISE: ev.ReviseRequested,
    Verb.FIX: ev.FixRequested,
    Verb.ACCEPT: ev.RecommendationsAccepted,
    Verb.REMEMBER: ev.LessonsAdopted,
    Verb.CANCEL: ev.CancelRequested,
    Verb.ICEBOX: ev.Shelved,
    Verb.THAW: ev.Thawed,
    Verb.START: ev.StartRequested,
    Verb.DEPENDS: ev.DependsChosen,
    Verb.PRIORITY: ev.PriorityChosen,
    Verb.AGENT: ev.AgentChosen,
    Verb.BUDGET: ev.BudgetChosen,
    Verb.COSTS: ev.CostsRequested,
    Verb.STATUS: ev.StatusRequested,
}
"""What each command amounts to where it is heard; ``/help`` amounts to nothing that a plan hears."""
BESIDE = frozenset({Verb.PLAN, Verb.COSTS, Verb.STATUS})
"""Commands that are no answer to where a plan stands: one asks for another try, the others for words."""


def offers(plan: Plan, person: Person, permission: Permission) -> tuple[Verb, ...]:
    """Return what a person of this permission could do now, in the order of :class:`~.commands.Verb`.

    Teams that the policy names are not asked for here: who may decide only through one is offered to.
    """
    return tuple(
        verb
        for verb, event in EVENTS.items()
        if verb not in BESIDE and _may(plan, person, permission, verb) and _does(plan, verb, event)
    )


def _may(plan: Plan, person: Person, permission: Permission, verb: Verb) -> bool:
    action, approvers = ACTIONS[verb], plan.policy.approvers
    if action is Action.ANSWER and plan.issue.author is not None and plan.issue.author.id == person.id:
        return True
    if not may(plan.policy, permission, action):
        return False
    return action is not Action.DECIDE or approvers.admit(person.login, permission, approvers.teams)


def _does(plan: Plan, verb: Verb, event: type) -> bool:
    """Whether it would do something: the table has a move for it, and what it is about is there."""
    if event in STEERING and (plan.frozen or plan.splitting):
        return False
    return rule_of(plan, event).move is not None and _has(plan, verb)


def _has(plan: Plan, verb: Verb) -> bool:
    match verb:
        case Verb.APPROVE:
            return plan.asked is not None
        case Verb.ANSWER:
            return bool(plan.open_questions)
        case Verb.START:
            return plan.waiting_on is WaitingOn.OVERLAP
        case Verb.ACCEPT:
            return len(plan.recommended) > len(plan.accepted)
        case Verb.REMEMBER:
            return bool(plan.waiting)
        case _:
            return True
