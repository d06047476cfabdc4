"""The outbox: what is to be done towards GitHub, one effect at a time in each lane.

An effect is *claimed* by lease and token, carried out, and finished only while the token still matches. A process that
dies leaves a lease that runs out, and nothing else. Who claims an effect that may have been begun before
(``Claimed.first`` is false) looks for its result before writing.
"""

from __future__ import annotations

import json
import secrets
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pydantic import TypeAdapter
from sqlalchemy import (
    ColumnElement,
    Double,
    Select,
    String,
    and_,
    bindparam,
    cast,
    exists,
    literal,
    or_,
    select,
    update,
)

from bot.errors import MAX_ATTEMPTS
from bot.lifecycle.effects import Effect, Settling
from bot.store import deliveries
from bot.store.documents import dump, load, note
from bot.store.schema import outbox, throttles

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from bot.store.deliveries import NewDelivery
    from bot.store.engine import Tx

_EFFECT: TypeAdapter[Effect] = TypeAdapter(Effect)


@dataclass(frozen=True, slots=True)
class Claimed:
    """An effect in hand. ``attempt`` counts from 1; ``token`` proves the claim."""

    id: int
    lane: str
    plan_uid: str | None
    installation_id: int
    kind: str
    key: str
    payload: str
    created_at: float
    attempt: int
    first: bool
    """Nobody can have begun it before: the only case in which it need not be looked up."""
    token: str

    @property
    def effect(self) -> Effect:
        """The effect itself. Raises :class:`ValueError` where this release can't read it."""
        return read_effect(self.payload)


@dataclass(frozen=True, slots=True)
class Parked:
    """An effect that was given up, for people to see."""

    id: int
    lane: str
    kind: str
    key: str
    parked_at: float
    error: str


def add(tx: Tx, effects: Iterable[Effect], *, lane: str, installation_id: int, plan_uid: str | None = None) -> int:
    """Store effects in their order and wake the workers; return how many were new.

    A key that is known adds nothing, and neither does a status while one of the lane still waits: it will show what
    the plan is when it is carried out.
    """
    return sum(
        _add(tx, effect, {"lane": lane, "installation_id": installation_id, "plan_uid": plan_uid})
        for effect in effects
        if not (isinstance(effect, Settling) and _waits(tx, lane, effect.kind))
    )


def read_effect(payload: str) -> Effect:
    """Return an effect as it was stored. Raises :class:`ValueError` where this release can't read it."""
    return _EFFECT.validate_python(load(payload))


def ready(tx: Tx, kinds: Collection[str], paced: Collection[str] = ()) -> bool:
    """Tell whether :func:`claim` would find something; enough of a look in a read transaction."""
    return tx.execute(_CLAIMABLE, now=tx.now, kinds=list(kinds), paced=list(paced)).first() is not None


def claim(tx: Tx, owner: str, lease: float, kinds: Collection[str], paced: Collection[str] = ()) -> Claimed | None:
    """Take the effect that is due first, for ``lease`` seconds; None where nothing can be done now.

    Only ``kinds`` are taken, so that an older process leaves to a newer one what it does not know. Of the ``paced``
    kinds, those that write, one at a time is in hand for each installation. Nothing is taken whose gate is closed.
    """
    tx.exclusive("claim")
    row = tx.execute(_CLAIMABLE_LOCKED, now=tx.now, kinds=list(kinds), paced=list(paced)).first()
    if row is None:
        return None
    token = secrets.token_hex(8)
    tx.execute(
        update(outbox)
        .where(outbox.c.id == row.id)
        .values(owner=owner, token=token, lease_until=tx.now + lease, attempts=row.attempts + 1, tried=True)
    )
    c = row._mapping  # noqa: SLF001 - SQLAlchemy's public name for it
    names = ("id", "lane", "plan_uid", "installation_id", "kind", "key", "payload", "created_at")
    return Claimed(**{name: c[name] for name in names}, attempt=row.attempts + 1, first=not row.tried, token=token)


def renew(tx: Tx, claims: Iterable[Claimed], lease: float) -> None:
    """Lengthen the leases of exactly these claims, where they still are ours."""
    for claimed in claims:
        _update(tx, claimed, lease_until=tx.now + lease)


def may_call(tx: Tx, claimed: Claimed, least: float) -> bool:
    """Tell, just before calling out, whether the claim is still ours for ``least`` seconds and its gate is open."""
    c = outbox.c
    held = and_(c.id == claimed.id, c.token == claimed.token, c.done_at.is_(None), c.lease_until >= tx.now + least)
    return tx.execute(select(c.id).where(held, ~_shut("installation:")), now=tx.now).first() is not None


def finish(tx: Tx, claimed: Claimed, result: str, follow_ups: Iterable[NewDelivery] = ()) -> bool:
    """Close an effect and put what follows from it into the inbox. False, and nothing, where it is no longer ours."""
    if not _update(tx, claimed, done_at=tx.now, lease_until=None, result=note(result), error=None):
        return False
    deliveries.add_all(tx, follow_ups)
    tx.wake()
    return True


def retry(tx: Tx, claimed: Claimed, at: float, error: str, *, give_back: bool = False) -> bool:
    """Put an effect off until ``at``; the try counts unless it is given back. False where it is no longer ours."""
    attempts = claimed.attempt - give_back
    return _update(tx, claimed, not_before=at, attempts=attempts, error=note(error), **_FREE)


def release(tx: Tx, claimed: Claimed) -> bool:
    """Undo a claim for which nothing was called. False where it is no longer ours."""
    return _update(tx, claimed, attempts=claimed.attempt - 1, tried=not claimed.first, **_FREE)


def park(tx: Tx, claimed: Claimed, error: str, follow_ups: Iterable[NewDelivery] = ()) -> bool:
    """Give an effect up: its lane goes on. False, and nothing, where it is no longer ours."""
    if not _update(tx, claimed, done_at=tx.now, parked_at=tx.now, lease_until=None, error=note(error)):
        return False
    deliveries.add_all(tx, follow_ups)
    tx.wake()
    return True


def unpark(tx: Tx, effect_id: int) -> bool:
    """Let a parked effect be tried afresh; it is looked up first. False where it is not parked."""
    freed = {"done_at": None, "parked_at": None, "attempts": 0, "not_before": tx.now, **_FREE}
    where = (outbox.c.id == effect_id, outbox.c.parked_at.is_not(None))
    tx.wake()
    return tx.execute(update(outbox).where(*where).values(**freed)).rowcount == 1


def once_more(tx: Tx, kinds: Collection[str], since: float) -> int:
    """Let effects stored since then that were given up after all their tries have another one; return how many.

    What GitHub refused for good was given up at once, and stays so.
    """
    c = outbox.c
    freed = {"done_at": None, "parked_at": None, "attempts": MAX_ATTEMPTS - 1, "not_before": tx.now, **_FREE}
    where = (c.parked_at.is_not(None), c.attempts >= MAX_ATTEMPTS, c.created_at > since, c.kind.in_(list(kinds)))
    count = tx.execute(update(outbox).where(*where).values(**freed)).rowcount
    if count:
        tx.wake()
    return count


def parked(tx: Tx, limit: int = 100) -> list[Parked]:
    """Return what was given up, the latest first."""
    c = outbox.c
    query = select(c.id, c.lane, c.kind, c.key, c.parked_at, c.error).where(c.parked_at.is_not(None))
    return [Parked(*row) for row in tx.execute(query.order_by(c.parked_at.desc()).limit(limit))]


def job_of(claimed: Claimed) -> str | None:
    """Return the job that an effect is about, if it is about one; reads payloads that this release can't."""
    data = json.loads(claimed.payload).get("data")
    job = data.get("job") if isinstance(data, dict) else None
    return job if isinstance(job, str) else None


_FREE: dict[str, Any] = {"owner": None, "token": None, "lease_until": None}
_NOW = bindparam("now", type_=Double)
_KINDS, _PACED = (bindparam(name, type_=String, expanding=True) for name in ("kinds", "paced"))


def _add(tx: Tx, effect: Effect, address: dict[str, Any]) -> bool:
    values = {
        "kind": effect.kind,
        "key": effect.key,
        "priority": int(effect.priority),
        "payload": dump(effect.model_dump(mode="json")),
        "created_at": tx.now,
        "not_before": tx.now + (effect.settle if isinstance(effect, Settling) else 0),
    }
    insert = tx.insert(outbox).values(**address, **values).on_conflict_do_nothing(index_elements=["key"])
    new = tx.execute(insert.returning(outbox.c.id)).first() is not None
    if new:
        tx.wake()
    return new


def _waits(tx: Tx, lane: str, kind: str) -> bool:
    c = outbox.c
    query = select(c.id).where(c.lane == lane, c.kind == kind, c.done_at.is_(None), c.token.is_(None))
    return tx.execute(query.with_for_update()).first() is not None


def _claimable() -> Select[Any]:
    c, other = outbox.c, outbox.alias("other").c
    held = other.lease_until > _NOW
    before = or_(other.priority < c.priority, and_(other.priority == c.priority, other.id < c.id))
    lane_busy = exists().where(other.lane == c.lane, other.done_at.is_(None), other.id != c.id, or_(held, before))
    writer = and_(other.installation_id == c.installation_id, other.done_at.is_(None), held)
    writes = and_(c.kind.in_(_PACED), or_(exists().where(writer, other.kind.in_(_PACED)), _shut("writes:")))
    return (
        select(outbox)
        .where(c.done_at.is_(None), c.not_before <= _NOW, or_(c.lease_until.is_(None), c.lease_until <= _NOW))
        .where(c.kind.in_(_KINDS), ~lane_busy, ~writes, ~_shut("installation:"))
        .order_by(c.priority, c.not_before, c.id)
        .limit(1)
    )


def _shut(gate: str) -> ColumnElement[bool]:
    name = literal(gate).concat(cast(outbox.c.installation_id, String))
    return exists().where(throttles.c.name == name, throttles.c.until > _NOW)


_CLAIMABLE = _claimable()
_CLAIMABLE_LOCKED = _CLAIMABLE.with_for_update(skip_locked=True)


def _update(tx: Tx, claimed: Claimed, **values: object) -> bool:
    c = outbox.c
    ours = (c.id == claimed.id, c.token == claimed.token, c.done_at.is_(None))
    return tx.execute(update(outbox).where(*ours).values(**values)).rowcount == 1
