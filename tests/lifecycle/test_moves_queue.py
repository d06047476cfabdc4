"""A plan's turn: what people say it depends on, what the queue says, and a dependency that ends unmerged."""

from __future__ import annotations

import pytest

from bot.lifecycle import effects as fx
from bot.lifecycle import events as ev
from bot.lifecycle.choices import Choices
from bot.lifecycle.states import Limit, State, WaitingOn
from tests.lifecycle import stories
from tests.lifecycle.makers import said
from tests.lifecycle.stepping import STATUS, keys, plan, put, unchanged

AT = {"at": 100.0, "source": "d-1"}
WAITERS = [State.DRAFT, State.APPROVED, State.FAILED, State.ICEBOX]


@pytest.mark.parametrize("state", WAITERS)
def test_what_it_depends_on_is_chosen_whole_before_its_work_begins(state):
    chosen = put(plan(state, WaitingOn.PERSON), said(ev.DependsChosen, depends_on=(7, 9)))
    assert (chosen.plan.state, chosen.plan.choices.depends_on) == (state, (7, 9))
    assert (keys(chosen), chosen.note) == ([STATUS], "depends on #7, #9")
    dropped = put(chosen.plan, said(ev.DependsChosen, depends_on=()))
    assert (dropped.plan.choices.depends_on, dropped.note) == ((), "depends on nothing")


@pytest.mark.parametrize("state", WAITERS)
def test_a_dependency_that_ended_unmerged_is_told_once_a_time(state):
    before = plan(state, WaitingOn.PERSON, choices=Choices(depends_on=(7,)))
    event = ev.DependencyEnded(**AT, issue=7, how=State.SPLIT, children=(20, 21))
    step = put(before, event)
    assert unchanged(before, step)
    (told,) = step.effects
    assert (told.topic, told.to) == (fx.Topic.DEPENDENCY_ENDED, None)
    assert told.details == {"issue": "#7", "how": "split", "children": "#20 #21"}
    assert step.note == "#7 ended unmerged: split"


def test_nobody_is_told_of_what_it_depends_on_no_more():
    before = plan(State.DRAFT, WaitingOn.PLAN_DECISION, choices=Choices(depends_on=(8,)))
    step = put(before, ev.DependencyEnded(**AT, issue=7, how=State.REJECTED))
    assert unchanged(before, step)
    assert (step.effects, step.note) == ((), "does not depend on #7 any more")


WAITING = plan(State.APPROVED, WaitingOn.SLOT, **stories.APPROVED)
TOLD = {"on": WaitingOn.SLOT, "waits_for": ("#3",), "place": 2, "limit": Limit.REPOSITORY}


def test_what_it_waits_for_and_its_place_are_shown():
    step = put(WAITING, ev.QueueWaits(**AT, **TOLD))
    assert (step.plan.waits_for, step.plan.place, step.plan.limit) == (("#3",), 2, Limit.REPOSITORY)
    assert (keys(step), step.note) == ([STATUS], "waits for slot")


@pytest.mark.parametrize(
    "news", [{"place": 1}, {"limit": Limit.HOST}, {"waits_for": ()}, {"on": WaitingOn.REVIEWERS}, {"in_vain": ("#3",)}]
)
def test_any_change_of_it_is_one_edit_of_the_status(news):
    step = put(WAITING, ev.QueueWaits(**AT, **TOLD), ev.QueueWaits(**AT, **{**TOLD, **news}))
    assert keys(step) == [":status:9"]


def test_the_same_again_is_no_news():
    told = put(WAITING, ev.QueueWaits(**AT, **TOLD)).plan
    step = put(told, ev.QueueWaits(**AT, **TOLD))
    assert unchanged(told, step)
    assert (step.effects, step.note) == ((), "still waiting")


def test_what_starts_waits_for_nothing_more():
    step = put(WAITING, ev.QueueWaits(**AT, **TOLD, in_vain=("#3",)), ev.SlotGranted(**AT))
    assert (step.plan.state, step.plan.waits_for, step.plan.in_vain) == (State.EXECUTING, (), ())
    assert (step.plan.place, step.plan.limit) == (None, None)
