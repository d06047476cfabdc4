"""What somebody could do to a plan just now: the commands that would do something, of those that they may give.

For whoever offers buttons. It is no decision: GitHub is asked again, and the plan may have moved on, when one is used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from bot.lifecycle.commands import DOES_SOMETHING, Verb
from bot.lifecycle.meanings import MEANINGS
from bot.lifecycle.permission import Action
from bot.lifecycle.policy import Policy, may
from bot.lifecycle.states import PAUSES, State, WaitingOn
from bot.lifecycle.transitions import STEERING, TABLE, rule_of

if TYPE_CHECKING:
    from collections.abc import Collection

    from bot.lifecycle.permission import Permission
    from bot.lifecycle.plan import Person, Plan
    from bot.lifecycle.states import HoldCause


def offers(plan: Plan, person: Person, permission: Permission, later: Collection[State] = ()) -> tuple[Verb, ...]:
    """Return what a person of this permission could do now, in the order of :class:`~.commands.Verb`.

    ``later`` are the states of the issue's later tries, which alone hear what is said from then on; but what is left of
    the lessons of the last one that was rejected or merged can be kept whatever followed. Teams that the policy names
    are not asked for here: who may decide only through one is offered to.
    """
    return tuple(
        verb
        for verb in DOES_SOMETHING
        if _comes_to_it(verb, later) and _may(plan, person, permission, verb) and _does(plan, verb)
    )


def takes_ideas(state: State, held: Collection[HoldCause], permission: Permission) -> bool:
    """Whether ``/accept`` would be heard, as far as a list knows the plan."""
    meaning = MEANINGS[Verb.ACCEPT]
    stands = TABLE[state, meaning.event].move is not None and PAUSES.issuperset(held)
    return stands and may(Policy(), permission, meaning.needs)


def _comes_to_it(verb: Verb, later: Collection[State]) -> bool:
    return not later or (verb is Verb.REMEMBER and {State.REJECTED, State.MERGED}.isdisjoint(later))


def _may(plan: Plan, person: Person, permission: Permission, verb: Verb) -> bool:
    action, approvers = MEANINGS[verb].needs, plan.policy.approvers
    if action is Action.ANSWER and plan.issue.author is not None and plan.issue.author.id == person.id:
        return True
    if not may(plan.policy, permission, action):
        return False
    return action is not Action.DECIDE or approvers.admit(person.login, permission, approvers.teams)


def _does(plan: Plan, verb: Verb) -> bool:
    """Whether it would do something: the table has a move for it, and what it is about is there."""
    if verb is Verb.PLAN:
        return plan.ended
    event = MEANINGS[verb].event
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
            return bool(plan.acceptable)
        case Verb.REMEMBER:
            return bool(plan.keepable)
        case _:
            return True
