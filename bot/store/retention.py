"""What may be forgotten: finished rows of the queues, and sessions that are over.

Never the journal, the plans or what was spent. Nor reactions: they stand for as long as people leave them, and each is
judged once. Of reports that came by a hook the mark stays, without what they said: what is signed without a time can be
sent again at any time, and must not make a second issue then.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import delete, select, true, update

from bot.store import sessions
from bot.store.schema import deliveries, outbox

if TYPE_CHECKING:
    from sqlalchemy import ColumnElement, Table

    from bot.store.engine import Tx

DAY = 86_400.0
KEEP_DONE_DAYS = 30
"""GitHub sends a delivery again for three days at most; the rest is for those who ask what happened."""
KEEP_PARKED_DAYS = 180
"""What was given up is kept until a person has had every chance to see it."""
KEPT = ("poll", "hook")
"""Sources of deliveries by which what comes again is known for ever."""
BATCH = 500
"""Rows deleted in one transaction, so that no other writer waits long."""


def forget(tx: Tx) -> int:
    """Delete a batch of finished rows that are old enough; return how many, below :data:`BATCH` where all are gone."""
    gone = sessions.forget(tx, BATCH)
    gone += _emptied(tx, BATCH - gone)
    for table in (deliveries, outbox):
        passing = table.c.source.not_in(KEPT) if table is deliveries else true()
        old = select(table.c.id).where(_is_old(table, tx.now), passing).limit(BATCH - gone)
        gone += tx.execute(delete(table).where(table.c.id.in_(old))).rowcount
    return gone


def _emptied(tx: Tx, most: int) -> int:
    """Take what strangers said out of reports that are old enough, and return out of how many."""
    c = deliveries.c
    old = select(c.id).where(_is_old(deliveries, tx.now), c.source == "hook", c.body != "").limit(most)
    return tx.execute(update(deliveries).where(c.id.in_(old)).values(body="", parked_at=None)).rowcount


def _is_old(table: Table, now: float) -> ColumnElement[bool]:
    c = table.c
    done = (c.done_at < now - KEEP_DONE_DAYS * DAY) & c.parked_at.is_(None)
    return c.done_at.is_not(None) & (done | (c.parked_at < now - KEEP_PARKED_DAYS * DAY))
