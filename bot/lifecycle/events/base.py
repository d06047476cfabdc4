"""What every event has: when it happened and from where it is known."""

from __future__ import annotations

from bot.lifecycle.states import Frozen


class BaseEvent(Frozen):
    """Something that happened to a plan."""

    at: float
    """Seconds since the epoch."""
    source: str
    """The delivery, reaction or effect that told it."""
