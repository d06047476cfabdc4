"""What all readers of deliveries share."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any

from bot.store import deliveries, plans
from bot.store.events import event_delivery
from bot.worker.apply import apply

if TYPE_CHECKING:
    from bot.lifecycle.plan import Plan
    from bot.store.deliveries import Delivery
    from bot.store.engine import Tx


def put(tx: Tx, delivery: Delivery, event: Any) -> str:
    """Put an event to the newest plan of the delivery's issue."""
    plan = plans.latest(tx, delivery.lane)
    return apply(tx, plan, event) if plan else "no plan of this issue"


def said(delivery: Delivery) -> dict[str, Any]:
    """Return when and from where an event of this delivery is."""
    return {"at": delivery.received_at, "source": delivery.guid}


def epoch(text: str) -> float:
    """Return GitHub's time in seconds since the epoch."""
    return datetime.fromisoformat(text).timestamp()


def fan_out(tx: Tx, delivery: Delivery, affected: list[Plan], event: Any) -> str:
    """Put one event into the lane of each plan it is about."""
    for plan in affected:
        deliveries.add(
            tx,
            event_delivery(
                event,
                guid=f"{delivery.guid}:{plan.uid}",
                source="reconcile",
                lane=plan.lane,
                installation_id=plan.repo.installation_id,
            ),
        )
    return f"told {len(affected)} plans"
