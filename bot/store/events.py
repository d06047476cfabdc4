"""Lifecycle events in the inbox: what the bot itself found out, in the same queue as what GitHub sends."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pydantic import TypeAdapter

from bot.lifecycle.events import Event
from bot.store.deliveries import NewDelivery

if TYPE_CHECKING:
    from bot.store.deliveries import Source

EVENT: TypeAdapter[Event] = TypeAdapter(Event)
"""Reads and writes an event as the body of an internal delivery."""


def event_delivery(event: Any, *, guid: str, source: Source, lane: str, installation_id: int) -> NewDelivery:
    """Return a lifecycle event as an internal delivery."""
    body = EVENT.dump_json(event).decode()
    return NewDelivery(guid=guid, source=source, event="event", lane=lane, body=body, installation_id=installation_id)
