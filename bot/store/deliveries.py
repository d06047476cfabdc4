"""The inbox: everything that happened and waits to be thought about, in order within its lane.

A delivery answered with success is in here. Its guid is unique, so the same one acts once. The oldest open delivery of
a lane goes first; while it waits for another try the lane waits with it, until it is done or parked.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Literal

from sqlalchemy import Double, Row, Select, bindparam, delete, exists, select, update

from bot.store.documents import note
from bot.store.schema import deliveries

if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from bot.store.engine import Tx

Source = Literal["github", "runner", "effect", "poll", "timer", "reconcile", "person", "hook"]


@dataclass(frozen=True, slots=True)
class NewDelivery:
    """Something that happened, before it is stored. ``body`` is JSON text whose shape ``source`` and ``event`` tell."""

    guid: str
    source: Source
    event: str
    lane: str
    body: str
    installation_id: int | None = None


@dataclass(frozen=True, slots=True)
class Delivery(NewDelivery):
    """A stored delivery. ``attempts`` counts the tries that failed."""

    id: int = 0
    received_at: float = 0.0
    attempts: int = 0


@dataclass(frozen=True, slots=True)
class Parked:
    """A delivery that was given up, for people to see."""

    id: int
    guid: str
    event: str
    lane: str
    parked_at: float
    error: str


def add(tx: Tx, new: NewDelivery) -> bool:
    """Store a delivery and wake the workers. False where its guid is known already."""
    row = tx.execute(
        tx.insert(deliveries)
        .values(
            guid=new.guid,
            source=new.source,
            event=new.event,
            lane=new.lane,
            installation_id=new.installation_id,
            body=new.body,
            received_at=tx.now,
            not_before=tx.now,
        )
        .on_conflict_do_nothing(index_elements=["guid"])
        .returning(deliveries.c.id)
    ).first()
    if row is not None:
        tx.wake()
    return row is not None


@dataclass(frozen=True, slots=True)
class Kept(NewDelivery):
    """A delivery as it stands: what came of it once it is done."""

    id: int = 0
    done_at: float | None = None
    parked_at: float | None = None
    outcome: str | None = None


def keep(tx: Tx, new: NewDelivery) -> int | None:
    """Store what nobody has to think about and return its number; None where its guid is known already."""
    values = {each.name: getattr(new, each.name) for each in fields(NewDelivery)}
    times = {"received_at": tx.now, "not_before": tx.now, "done_at": tx.now}
    insert = tx.insert(deliveries).values(**values, **times).on_conflict_do_nothing(index_elements=["guid"])
    return tx.execute(insert.returning(deliveries.c.id)).scalar()


def conclude(tx: Tx, delivery_id: int, outcome: str) -> None:
    """Say what came of it."""
    tx.execute(update(deliveries).where(deliveries.c.id == delivery_id).values(outcome=note(outcome)))


def unkeep(tx: Tx, delivery_id: int) -> None:
    """Forget it, as if it had never been."""
    tx.execute(delete(deliveries).where(deliveries.c.id == delivery_id))


def kept(tx: Tx, *, source: Source, guid: str | None = None, number: int | None = None) -> Kept | None:
    """Return a delivery of a source by its guid or its number; None where there is none (any more)."""
    c = deliveries.c
    named = c.guid == guid if guid is not None else c.id == number
    columns = [c[each.name] for each in fields(Kept)]
    row = tx.execute(select(*columns).where(named, c.source == source)).mappings().first()
    return None if row is None else Kept(**row)


def is_known(tx: Tx, guid: str) -> bool:
    """Tell whether a delivery of that guid was stored."""
    return tx.execute(select(deliveries.c.id).where(deliveries.c.guid == guid)).first() is not None


def add_all(tx: Tx, news: Iterable[NewDelivery]) -> int:
    """Store several in their order and return how many were new."""
    return sum(add(tx, new) for new in news)


def ready(tx: Tx) -> bool:
    """Tell whether :func:`next_open` would find one; enough of a look in a read transaction."""
    return tx.execute(_DUE, now=tx.now).first() is not None


def next_open(tx: Tx) -> Delivery | None:
    """Take the delivery that is due first among the oldest of each lane; None where nothing is due.

    In PostgreSQL its row stays locked until the transaction ends, and other workers pass it and its lane by.
    """
    row = tx.execute(_DUE_LOCKED, now=tx.now).first()
    return None if row is None else _delivery(row)


def finish(tx: Tx, delivery: Delivery, outcome: str) -> None:
    """Close a delivery, with what came of it."""
    _set(tx, delivery, done_at=tx.now, outcome=note(outcome), error=None)


def retry(tx: Tx, delivery: Delivery, at: float, error: str, *, give_back: bool = False) -> None:
    """Put a delivery off until ``at``; the try counts unless it is given back."""
    _set(tx, delivery, not_before=at, attempts=delivery.attempts + (not give_back), error=note(error))


def park(tx: Tx, delivery: Delivery, error: str) -> None:
    """Give a delivery up: it counts as done, and is kept longer for people to see."""
    _set(tx, delivery, done_at=tx.now, parked_at=tx.now, attempts=delivery.attempts + 1, error=note(error))


def unpark(tx: Tx, delivery_id: int) -> bool:
    """Let a parked delivery be tried afresh. False where it is not parked."""
    result = tx.execute(
        update(deliveries)
        .where(deliveries.c.id == delivery_id, deliveries.c.parked_at.is_not(None))
        .values(done_at=None, parked_at=None, attempts=0, not_before=tx.now)
    )
    tx.wake()
    return result.rowcount == 1


def parked(tx: Tx, limit: int = 100) -> list[Parked]:
    """Return what was given up, the latest first."""
    c = deliveries.c
    rows = tx.execute(
        select(c.id, c.guid, c.event, c.lane, c.parked_at, c.error)
        .where(c.parked_at.is_not(None))
        .order_by(c.parked_at.desc())
        .limit(limit)
    )
    return [Parked(*row) for row in rows]


def _due() -> Select[Any]:
    older = deliveries.alias("older")
    c = deliveries.c
    blocked = exists().where(older.c.lane == c.lane, older.c.done_at.is_(None), older.c.id < c.id)
    return (
        select(c.guid, c.source, c.event, c.lane, c.body, c.installation_id, c.id, c.received_at, c.attempts)
        .where(c.done_at.is_(None), c.not_before <= bindparam("now", type_=Double), ~blocked)
        .order_by(c.not_before, c.id)
        .limit(1)
    )


_DUE = _due()
"""Made once, since the worker asks several times a second; so is each statement of its kind in the outbox."""
_DUE_LOCKED = _DUE.with_for_update(skip_locked=True)


def _delivery(row: Row[*tuple[Any, ...]]) -> Delivery:
    return Delivery(*row)


def _set(tx: Tx, delivery: Delivery, **values: object) -> None:
    tx.execute(
        update(deliveries).where(deliveries.c.id == delivery.id, deliveries.c.done_at.is_(None)).values(**values)
    )
