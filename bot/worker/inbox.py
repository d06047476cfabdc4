"""One step of thinking: the oldest delivery that is due, with all it changes, in one transaction."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import TYPE_CHECKING

from bot import trail
from bot.errors import MAX_ATTEMPTS, Permanent, RetryAt, UserError, backoff
from bot.store import deliveries, timers
from bot.store.engine import is_trouble
from bot.worker.schedule import LONGEST_PUT_OFF

if TYPE_CHECKING:
    from bot.store.deliveries import Delivery
    from bot.store.engine import Store, Tx

log = logging.getLogger(__name__)

Advance = Callable[["Tx", "Delivery"], str]
"""Works out what a delivery means and writes it all down: plan, journal, effects. Returns the outcome in a few words.
It makes no call to the outside."""


class _Failed(Exception):  # noqa: N818 - carries the delivery out of the transaction that is rolled back
    def __init__(self, delivery: Delivery, cause: Exception) -> None:
        super().__init__(str(cause))
        self.delivery = delivery
        self.cause = cause


def advance_one(store: Store, advance: Advance) -> bool:
    """Work off one delivery; False where none is due.

    Where ``advance`` raises, nothing of it remains: the delivery is put off, or parked when that was the last try.
    Raises :class:`~bot.store.engine.StoreUnavailable` where the database does not answer or has no room; the delivery
    waits for as long as that takes.
    """
    with store.read() as tx:
        if not deliveries.ready(tx):
            return False
    try:
        return _advance(store, advance)
    except _Failed as failed:
        with trail.bearing(lane=failed.delivery.lane, **_known(failed.delivery)):
            _put_off(store, failed.delivery, failed.cause)
        return True


def fire_timers(store: Store) -> bool:
    """Move the timers that are due into the inbox; False where none was."""
    with store.read() as tx:
        if not timers.due(tx):
            return False
    with store.write() as tx:
        return timers.fire(tx) > 0


def _advance(store: Store, advance: Advance) -> bool:
    with store.write() as tx:
        delivery = deliveries.next_open(tx)
        if delivery is None:
            return False
        with trail.working(f"delivery {delivery.event}", lane=delivery.lane, **_known(delivery)):
            try:
                outcome = advance(tx, delivery)
            except Exception as cause:
                if is_trouble(cause):
                    raise  # no fault of the delivery, which keeps its tries
                raise _Failed(delivery, cause) from cause
            deliveries.finish(tx, delivery, outcome)
        return True


def _known(delivery: Delivery) -> dict[str, str | int | None]:
    """Return what the log says of a delivery."""
    installation = delivery.installation_id
    return {"delivery": delivery.id, "guid": delivery.guid, "source": delivery.source, "installation": installation}


def _put_off(store: Store, delivery: Delivery, cause: Exception) -> None:
    tries = delivery.attempts + 1
    with store.write() as tx:
        if isinstance(cause, RetryAt):
            deliveries.retry(tx, delivery, min(cause.at, tx.now + LONGEST_PUT_OFF), str(cause), give_back=True)
        elif isinstance(cause, Permanent | UserError) or tries >= MAX_ATTEMPTS:
            log.error("delivery %s of lane %s is parked", delivery.guid, delivery.lane, exc_info=cause)
            deliveries.park(tx, delivery, repr(cause))
        else:
            log.warning("delivery %s of lane %s failed, try %d", delivery.guid, delivery.lane, tries, exc_info=cause)
            deliveries.retry(tx, delivery, tx.now + backoff(tries), repr(cause))
