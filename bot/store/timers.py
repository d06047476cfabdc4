"""Timers: what shall happen at a time ahead. They lie apart from the inbox, where an open row would block its lane."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import delete, select

from bot.store import deliveries
from bot.store.deliveries import NewDelivery
from bot.store.schema import timers

if TYPE_CHECKING:
    from bot.store.engine import Tx


def set_timer(
    tx: Tx, key: str, *, due_at: float, lane: str, event: str, body: str = "{}", installation_id: int | None = None
) -> None:
    """Set the timer of that key, or set it anew."""
    values = {"due_at": due_at, "lane": lane, "event": event, "body": body, "installation_id": installation_id}
    tx.execute(tx.insert(timers).values(key=key, **values).on_conflict_do_update(index_elements=["key"], set_=values))


def drop_timer(tx: Tx, key: str) -> None:
    """Take the timer of that key back, if there is one that has not fired."""
    tx.execute(delete(timers).where(timers.c.key == key))


def due(tx: Tx) -> bool:
    """Tell whether :func:`fire` has something to do."""
    return tx.execute(select(timers.c.key).where(timers.c.due_at <= tx.now).limit(1)).first() is not None


def fire(tx: Tx, limit: int = 100) -> int:
    """Move what is due into the inbox, as deliveries of source ``timer``, and return how many moved."""
    c = timers.c
    rows = tx.execute(
        select(timers)
        .where(c.due_at <= tx.now)
        .order_by(c.due_at, c.key)
        .limit(limit)
        .with_for_update(skip_locked=True)
    ).all()
    for row in rows:
        guid = f"timer:{row.key}:{row.due_at!r}"
        deliveries.add(tx, NewDelivery(guid, "timer", row.event, row.lane, row.body, row.installation_id))
        tx.execute(delete(timers).where(c.key == row.key))
    return len(rows)
