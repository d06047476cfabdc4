"""One event put to one plan, and what came of it in a form that a table can hold."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bot.lifecycle.moves.common import Step
from bot.lifecycle.transitions import transition
from tests.lifecycle import stories
from tests.lifecycle.makers import UID

if TYPE_CHECKING:
    from bot.lifecycle.events import Event
    from bot.lifecycle.plan import Plan
    from bot.lifecycle.states import State, WaitingOn

STATUS = ":status:8"
"""The key with which a plan of version 7 brings its status up to date."""


def plan(state: State, waiting_on: WaitingOn | None, **fields: Any) -> Plan:
    """A plan of version 7 that has opened three jobs."""
    return stories.plan(state, waiting_on, **{"version": 7, "jobs_opened": 3, **fields})


def keys(step: Step) -> list[str]:
    """The effects' keys in order, without what they all begin with."""
    return [effect.key.removeprefix(UID) for effect in step.effects]


def unchanged(before: Plan, step: Step) -> bool:
    """Whether the plan is what it was, but for its version."""
    return step.plan == before.model_copy(update={"version": before.version + 1})


def put(before: Plan, *events: Event) -> Step:
    """Put the events one after the other; the last step is returned."""
    step = Step(before)
    for event in events:
        step = transition(step.plan, event)
    return step
