"""What is offered to somebody is what they could do by a comment, and no more."""

from __future__ import annotations

import pytest

from bot.lifecycle.commands import Verb
from bot.lifecycle.offers import offers, takes_ideas
from bot.lifecycle.permission import Permission
from bot.lifecycle.plan import Hold, Plan
from bot.lifecycle.policy import parse_policy
from bot.lifecycle.states import HoldCause, State, WaitingOn
from tests.lifecycle import stories
from tests.lifecycle.makers import ALICE
from tests.lifecycle.stories import BOB

CHOOSING = {Verb.AGENT, Verb.BUDGET, Verb.PRIORITY}
DRAFT = {Verb.UPDATE, Verb.EXPAND, Verb.SPLIT, Verb.ICEBOX, Verb.DEPENDS, Verb.REJECT, Verb.CANCEL, *CHOOSING}
WRITTEN = stories.plan()
"""By Alice, with one question that nobody has answered."""
QUEUED = stories.plan(State.APPROVED, WaitingOn.SLOT, **stories.APPROVED)
AGAIN = {Verb.PLAN, Verb.REJECT, Verb.REOPEN}
REJECTED = stories.plan(State.REJECTED, None, lessons=stories.LEARNED)
HELD = stories.plan(hold=Hold(causes=(HoldCause.LABEL_REMOVED,), at=2.0))
SAID = {
    "written": (WRITTEN, Permission.WRITE, {Verb.APPROVE, Verb.ANSWER, *DRAFT}),
    "being written": (stories.plan(waiting_on=WaitingOn.RUNNER, revisions=()), Permission.WRITE, DRAFT),
    "to triage": (WRITTEN, Permission.TRIAGE, {Verb.ANSWER}),
    "to a reader": (WRITTEN, Permission.READ, set()),
    "held": (HELD, Permission.WRITE, {Verb.REJECT, Verb.CANCEL}),
    "in the queue": (QUEUED, Permission.WRITE, DRAFT),
    "behind another": (
        QUEUED.model_copy(update={"waiting_on": WaitingOn.OVERLAP}), Permission.WRITE, {Verb.START, *DRAFT}
    ),
    "merged": (stories.plan(State.MERGED, None), Permission.ADMIN, {Verb.PLAN}),
    "merged, to a reader": (stories.plan(State.MERGED, None), Permission.READ, set()),
    "merged, with ideas": (
        stories.plan(State.MERGED, None, recommended=stories.RECOMMENDED), Permission.WRITE, {Verb.PLAN, Verb.ACCEPT}
    ),
    "split": (stories.plan(State.SPLIT, None), Permission.TRIAGE, {Verb.PLAN}),
    "rejected": (stories.plan(State.REJECTED, None), Permission.WRITE, AGAIN),
    "rejected, with lessons": (REJECTED, Permission.WRITE, {Verb.REMEMBER, *AGAIN}),
    "rejected, all lessons kept": (
        REJECTED.model_copy(update={"lessons": (stories.LEARNED[0].model_copy(update={"given": True}),)}),
        Permission.WRITE,
        AGAIN,
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", SAID)
def test_what_bob_is_offered(name: str) -> None:
    plan, permission, wanted = SAID[name]
    assert set(offers(plan, BOB, permission)) == wanted


def test_the_author_may_answer_and_the_policy_says_who_decides() -> None:
    assert offers(WRITTEN, ALICE, Permission.READ) == (Verb.ANSWER,)
    narrow: Plan = WRITTEN.model_copy(update={"policy": parse_policy("approvers: {users: [carol]}")})
    assert not {Verb.APPROVE, Verb.REJECT, Verb.BUDGET} & set(offers(narrow, BOB, Permission.ADMIN))


@pytest.mark.parametrize(
    ("later", "wanted"),
    [
        ([State.DRAFT], (Verb.REMEMBER,)),
        ([State.DRAFT, State.CANCELLED], (Verb.REMEMBER,)),
        ([State.REJECTED], ()),
        ([State.MERGED], ()),
    ],
)
def test_of_an_earlier_try_only_what_the_last_rejected_one_learned_can_be_kept(
    later: list[State], wanted: tuple[Verb, ...]
) -> None:
    assert offers(REJECTED, BOB, Permission.ADMIN, later) == wanted


@pytest.mark.parametrize("name", SAID)
def test_a_list_says_of_ideas_what_the_plan_whole_would(name: str) -> None:
    plan, permission, _ = SAID[name]
    plan = plan.model_copy(update={"recommended": stories.RECOMMENDED})
    held = plan.hold.causes if plan.hold else ()
    assert takes_ideas(plan.state, held, permission) == (Verb.ACCEPT in offers(plan, BOB, permission))


def test_what_is_held_takes_no_ideas_but_what_is_paused_does() -> None:
    for causes, takes in (((HoldCause.LABEL_REMOVED,), False), ((HoldCause.LABEL_PAUSED,), True), ((), True)):
        assert takes_ideas(State.PR_OPEN, causes, Permission.WRITE) == takes
