"""The effects that this process has in hand, and how each of them ends.

Only what is in hand at this moment is renewed: a claim that a thread lost must run out. Just before the call the claim
is looked at once more, since a process that was suspended may have lost it to another.
"""

from __future__ import annotations

import json
import logging
import threading
from collections.abc import Callable, Collection, Iterable
from typing import TYPE_CHECKING

from tenacity import Retrying, retry_if_exception_type, stop_after_delay, wait_fixed

from bot import trail
from bot.errors import MAX_ATTEMPTS, Permanent, RetryAt, Transient, UserError, backoff
from bot.store import outbox, throttles
from bot.store.deliveries import NewDelivery
from bot.store.engine import StoreUnavailable, is_trouble
from bot.worker.schedule import LEASE, LEAST_LEASE, LONGEST_PUT_OFF, RECORD_PATIENCE, STORE_PAUSE

if TYPE_CHECKING:
    from bot.store.engine import Store, Tx
    from bot.store.outbox import Claimed

log = logging.getLogger(__name__)

Deliver = Callable[["Claimed"], Iterable[NewDelivery]]
"""Carries out an effect and returns what follows from it. It looks before it writes unless ``claimed.first``."""


class Claims:
    """Takes effects, keeps their leases alive while they are in hand, carries them out and records how they ended."""

    def __init__(
        self,
        store: Store,
        owner: str,
        deliver: Deliver,
        kinds: Collection[str],
        paced: Collection[str],
        lease: float = LEASE,
    ) -> None:
        self._store = store
        self._owner = owner
        self._deliver = deliver
        self._kinds = frozenset(kinds)
        self._paced = frozenset(paced)
        self._lease = lease
        self._least = lease * LEAST_LEASE / LEASE
        self._lock = threading.Lock()
        self._in_hand: dict[int, Claimed] = {}

    def take(self) -> Claimed | None:
        """Claim the next effect, if any can be done now."""
        with self._store.read() as tx:
            if not outbox.ready(tx, self._kinds, self._paced):
                return None
        with self._store.write() as tx:
            claimed = outbox.claim(tx, self._owner, self._lease, self._kinds, self._paced)
        if claimed is not None:
            with self._lock:
                self._in_hand[claimed.id] = claimed
        return claimed

    def renew(self) -> None:
        """Lengthen the leases of what is in hand."""
        with self._lock:
            claims = list(self._in_hand.values())
        if claims:
            with self._store.write() as tx:
                outbox.renew(tx, claims, self._lease)

    def carry_out(self, claimed: Claimed) -> None:
        """Do a claimed effect and record how it ended. Raises nothing: what can't be recorded runs out."""
        with trail.working(
            f"effect {claimed.kind}",
            lane=claimed.lane,
            effect=claimed.id,
            key=claimed.key,
            plan=claimed.plan_uid,
            installation=claimed.installation_id,
            attempt=claimed.attempt,
        ):
            self._carry_out(claimed)

    def _carry_out(self, claimed: Claimed) -> None:
        try:
            if self._may_call(claimed):
                self._record(self._attempt(claimed))
            else:
                self._record(lambda tx: outbox.release(tx, claimed))
        except StoreUnavailable:
            log.exception("effect %s: its end could not be recorded; it will be looked up after its lease", claimed.key)
        finally:
            with self._lock:
                self._in_hand.pop(claimed.id, None)

    def _may_call(self, claimed: Claimed) -> bool:
        with self._store.read() as tx:
            return outbox.may_call(tx, claimed, self._least)

    def _attempt(self, claimed: Claimed) -> Callable[[Tx], object]:
        """Return what is to be written down about the attempt."""
        if claimed.attempt > MAX_ATTEMPTS:
            return _failed(claimed, Transient("It was begun each time and never came to an end."))
        try:
            follow_ups = tuple(self._deliver(claimed))
        except RetryAt as put_off:
            return _put_off(claimed, put_off)
        except (Permanent, UserError) as refusal:
            return _given_up(claimed, refusal, str(refusal))
        except Exception as trouble:  # noqa: BLE001 - whatever it is, it is written down
            return _waiting(claimed, trouble) if is_trouble(trouble) else _failed(claimed, trouble)
        return lambda tx: outbox.finish(tx, claimed, "done", follow_ups)

    def _record(self, write: Callable[[Tx], object]) -> None:
        patiently = Retrying(
            retry=retry_if_exception_type(StoreUnavailable),
            wait=wait_fixed(STORE_PAUSE),
            stop=stop_after_delay(RECORD_PATIENCE),
            reraise=True,
        )
        for attempt in patiently:
            with attempt, self._store.write() as tx:
                write(tx)


def _put_off(claimed: Claimed, put_off: RetryAt) -> Callable[[Tx], object]:
    def write(tx: Tx) -> None:
        at = min(put_off.at, tx.now + LONGEST_PUT_OFF)
        if put_off.gate is not None:
            throttles.close(tx, put_off.gate, at, str(put_off))
        outbox.retry(tx, claimed, at, str(put_off), give_back=True)

    return write


def _waiting(claimed: Claimed, trouble: Exception) -> Callable[[Tx], object]:
    """Wait for the database, however long it takes: the effect keeps its tries."""
    log.warning("effect %s waits for the database: %s", claimed.key, trouble)
    return lambda tx: outbox.retry(tx, claimed, tx.now + STORE_PAUSE, repr(trouble), give_back=True)


def _failed(claimed: Claimed, trouble: Exception) -> Callable[[Tx], object]:
    if claimed.attempt >= MAX_ATTEMPTS:
        known = isinstance(trouble, Transient)
        sentence = str(trouble) if known else f"An unexpected fault of the bot ({type(trouble).__name__}); see its log."
        return _given_up(claimed, trouble, f"Given up after {claimed.attempt} tries. {sentence}")
    log.warning("effect %s failed, try %d", claimed.key, claimed.attempt, exc_info=trouble)
    return lambda tx: outbox.retry(tx, claimed, tx.now + backoff(claimed.attempt), repr(trouble))


def _given_up(claimed: Claimed, cause: Exception, sentence: str) -> Callable[[Tx], object]:
    log.error("effect %s is parked", claimed.key, exc_info=cause)
    told = NewDelivery(
        guid=f"effect_failed:{claimed.id}:{claimed.token}",
        source="effect",
        event="effect_failed",
        lane=claimed.lane,
        body=json.dumps(
            {
                "effect": claimed.kind,
                "key": claimed.key,
                "job": outbox.job_of(claimed),
                "payload": claimed.payload,
                "sentence": sentence,
            }
        ),
        installation_id=claimed.installation_id,
    )
    return lambda tx: outbox.park(tx, claimed, repr(cause), [told])
