"""Tell the plans that wait for another one that nothing of it will be merged as it stands."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bot.lifecycle import events as ev
from bot.lifecycle.states import State
from bot.store import deliveries, plans
from bot.store.events import event_delivery

if TYPE_CHECKING:
    from bot.lifecycle.plan import Plan
    from bot.store.engine import Tx

WAITERS = frozenset({State.DRAFT, State.APPROVED, State.FAILED, State.ICEBOX})
"""States in which a plan can still have to wait for others."""


def tell_dependants(tx: Tx, ended: Plan, at: float) -> None:
    """Put an event into the lane of each plan that waits for this one, which has just ended unmerged."""
    source = f"ended:{ended.uid}:{ended.version}"
    event = ev.DependencyEnded.model_validate(
        {"at": at, "source": source, "issue": ended.issue_number, "how": ended.state, "children": _children(ended)}
    )
    for plan in plans.in_repository(tx, ended.repo.id, WAITERS):
        if ended.issue_number in plan.choices.depends_on:
            new = event_delivery(
                event,
                guid=f"{source}:{plan.uid}",
                source="effect",
                lane=plan.lane,
                installation_id=plan.repo.installation_id,
            )
            deliveries.add(tx, new)


def _children(ended: Plan) -> list[int]:
    return [int(name.removeprefix("#")) for name in ended.waits_for] if ended.state is State.SPLIT else []
