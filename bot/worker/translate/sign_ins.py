"""People who take back, on GitHub, what they had allowed the App: they are signed out of the dashboard."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bot.store import sessions

if TYPE_CHECKING:
    from bot.intake.payloads import AuthorizationPayload
    from bot.store.deliveries import Delivery
    from bot.store.engine import Tx


def read(tx: Tx, delivery: Delivery, said: AuthorizationPayload, _bot_user_id: int) -> str:
    """End the sessions that the person had by then; a later one is a new consent."""
    ended = 0 if said.sender is None else sessions.end_of(tx, said.sender.id, before=delivery.received_at)
    return f"{ended} sessions ended"
