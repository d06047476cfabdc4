"""How the queues are: a few counts for the health check and the dashboard."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlalchemy import Table, func, select

from bot.store.schema import deliveries, outbox

if TYPE_CHECKING:
    from bot.store.engine import Tx


@dataclass(frozen=True, slots=True)
class Queue:
    """One queue: rows that wait, the age of the oldest in seconds, rows that were given up."""

    waiting: int
    oldest_seconds: float
    parked: int


@dataclass(frozen=True, slots=True)
class Health:
    """Both queues."""

    deliveries: Queue
    effects: Queue


def look(tx: Tx) -> Health:
    """Count what waits and what was given up."""
    return Health(_queue(tx, deliveries, "received_at"), _queue(tx, outbox, "created_at"))


def _queue(tx: Tx, table: Table, since: str) -> Queue:
    query = select(func.count(), func.min(table.c[since])).where(table.c.done_at.is_(None))
    waiting, oldest = tx.execute(query).one()
    parked = tx.execute(select(func.count()).where(table.c.parked_at.is_not(None))).scalar_one()
    return Queue(waiting, 0.0 if oldest is None else max(0.0, tx.now - oldest), parked)
