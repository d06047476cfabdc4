"""What may be forgotten: finished rows of the queues, and sessions that are over.

Never the journal, the plans or what was spent. Nor reactions: they stand for as long as people leave them, and each is
judged once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import delete, select, true

from bot.store import sessions
from bot.store.schema import deliveries, outbox

if TYPE_CHECKING:
    from bot.store.engine import Tx

DAY = 86_400.0
KEEP_DONE_DAYS = 30
"""GitHub sends a delivery again for three days at most; the rest is for those who ask what happened."""
KEEP_PARKED_DAYS = 180
"""What was given up is kept until a person has had every chance to see it."""
BATCH = 500
"""Rows deleted in one transaction, so that no other writer waits long."""


def forget(tx: Tx) -> int:
    """Delete a batch of finished rows that are old enough; return how many, below :data:`BATCH` where all are gone."""
    gone = sessions.forget(tx, BATCH)
    for table in (deliveries, outbox):
        c = table.c
        done = (c.done_at < tx.now - KEEP_DONE_DAYS * DAY) & c.parked_at.is_(None)
        parked = c.parked_at < tx.now - KEEP_PARKED_DAYS * DAY
        passing = c.source != "poll" if table is deliveries else true()
        old = select(c.id).where(c.done_at.is_not(None), done | parked, passing).limit(BATCH - gone)
        gone += tx.execute(delete(table).where(c.id.in_(old))).rowcount
    return gone
