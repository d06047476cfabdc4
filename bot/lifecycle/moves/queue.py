"""Moves about a plan's turn: what people say it waits for, what the queue says, and a wait that has no end."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bot.lifecycle import effects as fx
from bot.lifecycle.moves.common import Step, changed, moved, say

if TYPE_CHECKING:
    from bot.lifecycle import events
    from bot.lifecycle.plan import Plan


def choose_dependencies(plan: Plan, event: events.DependsChosen) -> Step:
    """Let the plan start only once the plans of these issues are merged."""
    plan = changed(plan, choices=plan.choices.model_copy(update={"depends_on": event.depends_on}))
    named = ", ".join(f"#{issue}" for issue in event.depends_on)
    return moved(plan, f"depends on {named or 'nothing'}")


def dependency_ended(plan: Plan, event: events.DependencyEnded) -> Step:
    """Tell that the wait has no end any more unless a person says how it goes on."""
    if event.issue not in plan.choices.depends_on:
        return Step(plan, (), f"does not depend on #{event.issue} any more")
    children = " ".join(f"#{issue}" for issue in event.children)
    told = say(plan, fx.Topic.DEPENDENCY_ENDED, event, issue=f"#{event.issue}", how=event.how, children=children)
    return Step(plan, (told,), f"#{event.issue} ended unmerged: {event.how}")


def wait(plan: Plan, event: events.QueueWaits) -> Step:
    """Say what the plan waits for, where that changed."""
    told = {
        "waiting_on": event.on,
        "waits_for": event.waits_for,
        "in_vain": event.in_vain,
        "place": event.place,
        "limit": event.limit,
        "most": event.most,
    }
    waiting = changed(plan, **told)
    return Step(plan, (), "still waiting") if waiting == plan else moved(waiting, f"waits for {event.on}")
