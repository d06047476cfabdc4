"""How the queues are, and the database itself: for the health check, the figures of operation and the doctor."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlalchemy import Table, func, select, text

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


def size(tx: Tx) -> int:
    """Return the bytes that the database takes."""
    sizes = {"sqlite": "SELECT page_count * page_size FROM pragma_page_count(), pragma_page_size()"}
    query = sizes.get(tx.connection.dialect.name, "SELECT pg_database_size(current_database())")
    return int(tx.execute(text(query)).scalar_one())


def damage(tx: Tx) -> str | None:
    """Return what is wrong with SQLite's file, None where it is whole; a server looks after its own files."""
    if tx.connection.dialect.name != "sqlite":
        return None
    found = str(tx.execute(text("PRAGMA quick_check(1)")).scalar())
    return None if found == "ok" else found
