"""The words behind ``/depends``, and the waits without an end that are refused."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import pytest

from bot.lifecycle.choices import Choices, NotUnderstoodError
from bot.lifecycle.dependencies import (
    MOST_DEPENDENCIES,
    RefusedDependencyError,
    Wish,
    ended_unmerged,
    grant,
    read_dependencies,
)
from bot.lifecycle.states import State, WaitingOn
from tests.lifecycle import stories

if TYPE_CHECKING:
    from bot.lifecycle.plan import Plan


def plan(issue: int, *depends_on: int, state: State = State.DRAFT) -> Plan:
    return stories.plan(state, WaitingOn.PERSON, issue_number=issue, choices=Choices(depends_on=depends_on))


def known(*plans: Plan):
    by_issue = {p.issue_number: p for p in plans}
    return by_issue.get


@pytest.mark.parametrize(
    ("words", "wish"),
    [
        ("#12", Wish(issues=(12,))),
        ("12 #13", Wish(issues=(12, 13))),
        (" #13,  #12 ,#13", Wish(issues=(13, 12))),
        ("DROP #12", Wish(issues=(12,), drop=True)),
        ("drop 12, 13", Wish(issues=(12, 13), drop=True)),
        ("default", Wish(issues=(), drop=True)),
    ],
)
def test_dependencies_are_named_in_words(words, wish):
    assert read_dependencies(words) == wish


@pytest.mark.parametrize(
    "words", ["", "drop", "that one", "#0", "#-1", "#1.5", "acme/shop#12", "#12345678901", "#١٢", "#12 drop"]
)
def test_what_is_no_dependency_is_answered_with_what_would_be(words):
    with pytest.raises(NotUnderstoodError, match="Write issues of this repository behind it"):
        read_dependencies(words)


def test_what_is_added_and_dropped_leaves_the_rest():
    mine = plan(4, 9, 7)
    newest = known(mine, plan(7), plan(8), plan(9))
    assert grant(Wish(issues=(8, 7)), mine, newest) == (7, 8, 9)
    assert grant(Wish(issues=(7,), drop=True), mine, newest) == (9,)
    assert grant(Wish(issues=(), drop=True), mine, newest) == ()


def test_what_is_merged_already_can_be_depended_on_and_leads_nowhere():
    assert grant(Wish(issues=(7,)), plan(4), known(plan(4), plan(7, 4, state=State.MERGED))) == (7,)


FOREVER = [
    (4, (), "A plan can't wait for itself."),
    (5, (), "There is no plan of #5 to wait for; `/plan` there asks for one."),
    (7, (plan(7, state=State.REJECTED),), r"The plan of #7 has ended without a merge \(rejected\)"),
    (7, (plan(7, state=State.SPLIT),), r"\(split\)"),
    (7, (plan(7, 4),), "no end: #4 waits for #7, #7 for #4."),
    (7, (plan(7, 8, 9), plan(8), plan(9, 4)), "no end: #4 waits for #7, #7 for #9, #9 for #4."),
    (7, (plan(7, 9), plan(9, 4, state=State.REJECTED)), "#4 waits for #7, #7 for #9, #9 for #4"),
]


@pytest.mark.parametrize(("issue", "others", "told"), FOREVER, ids=[told for *_, told in FOREVER])
def test_a_wait_without_an_end_is_refused(issue, others, told):
    mine = plan(4)
    with pytest.raises(RefusedDependencyError, match=told):
        grant(Wish(issues=(issue,)), mine, known(mine, *others))


def test_ways_that_lead_elsewhere_are_no_circle():
    others = (plan(7, 8, 9), plan(8, 9), plan(9, 6), plan(6, 5, state=State.MERGED), plan(5, 4))
    assert grant(Wish(issues=(7, 8)), plan(4), known(*others)) == (7, 8)


def test_only_what_is_there_can_be_dropped():
    with pytest.raises(RefusedDependencyError, match=r"This plan does not wait for #8 and #9\."):
        grant(Wish(issues=(7, 8, 9), drop=True), plan(4, 7), known())


def test_no_plan_waits_for_more_than_can_be_told():
    others = [plan(n) for n in range(10, 11 + MOST_DEPENDENCIES)]
    wish = Wish(issues=tuple(p.issue_number for p in others))
    with pytest.raises(RefusedDependencyError, match="at most 20 others"):
        grant(wish, plan(4), known(*others))


def test_which_plans_bring_nothing():
    assert [state for state in State if ended_unmerged(plan(1, state=state))] == [
        State.REJECTED,
        State.CANCELLED,
        State.SPLIT,
    ]


def test_no_history_of_wishes_makes_a_circle():
    """Any order of wishes, endings, reopenings and new tries leaves an order in which everything could be merged."""
    dice = random.Random(4)
    plans = {n: plan(n) for n in range(1, 9)}
    granted = 0
    for _ in range(3_000):
        issue = dice.randint(1, 8)
        mine = plans[issue]
        event = dice.random()
        if event < 0.1:
            ends = [State.MERGED] if mine.state is State.MERGED else [State.MERGED, State.REJECTED, State.DRAFT]
            plans[issue] = mine.model_copy(update={"state": dice.choice(ends)})
        elif event < 0.15:
            plans[issue] = plan(issue)
        elif mine.state is State.DRAFT:
            wish = Wish(issues=tuple(dice.sample(range(1, 9), 2)), drop=dice.random() < 0.3)
            try:
                depends_on = grant(wish, mine, plans.get)
            except RefusedDependencyError:
                continue
            granted += 1
            plans[issue] = plan(issue, *depends_on)
        _check_order(plans)
    assert granted > 300


def _check_order(plans: dict[int, Plan]) -> None:
    left = {n: p.choices.depends_on for n, p in plans.items() if p.state is not State.MERGED}
    while left:
        free = [n for n, needs in left.items() if not set(needs) & set(left)]
        assert free, f"a circle among {left}"
        for n in free:
            del left[n]
