"""The journal: what happened to each plan, when, by whom and why. Only ever added to; it is the audit log."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any

from sqlalchemy import ColumnElement, select

from bot.lifecycle.plan import repository_of
from bot.store.documents import dump, load, note
from bot.store.schema import journal

if TYPE_CHECKING:
    from collections.abc import Mapping

    from bot.store.engine import Tx


@dataclass(frozen=True, slots=True)
class Entry:
    """One line. ``ref`` is unique: the same thing is written once. ``details`` is JSON-ready and holds whole hashes."""

    ref: str
    lane: str
    at: float
    event: str
    source: str
    plan_uid: str | None = None
    version: int | None = None
    actor_id: int | None = None
    actor_login: str | None = None
    from_state: str | None = None
    to_state: str | None = None
    note: str = ""
    details: Mapping[str, Any] = field(default_factory=dict)


FOR_FIGURES = ("waiting_on", "holding_back")
"""Details that figures are made of, which have a column each."""
_COLUMNS = [journal.c[each.name] for each in fields(Entry)]


def append(tx: Tx, entry: Entry) -> bool:
    """Write a line. False where its ``ref`` was written before."""
    values = {column.name: getattr(entry, column.name) for column in _COLUMNS}
    values |= {
        "note": note(entry.note),
        "details": dump(dict(entry.details)),
        **{name: entry.details.get(name) for name in FOR_FIGURES},
        "repository_id": repository_of(entry.lane),
    }
    insert = tx.insert(journal).values(**values).on_conflict_do_nothing(index_elements=["ref"])
    return tx.execute(insert.returning(journal.c.id)).first() is not None


def of_plan(tx: Tx, uid: str) -> list[Entry]:
    """Return a plan's history, the oldest line first."""
    return _where(tx, journal.c.plan_uid == uid)


def of_lane(tx: Tx, lane: str) -> list[Entry]:
    """Return the history of an issue, with all its tries and what came to nothing."""
    return _where(tx, journal.c.lane == lane)


def of_source(tx: Tx, lane: str, source: str) -> Entry | None:
    """Return the line of an issue that was told by this; None while nothing came of it."""
    found = _where(tx, (journal.c.lane == lane) & (journal.c.source == source))
    return found[0] if found else None


def _where(tx: Tx, condition: ColumnElement[bool]) -> list[Entry]:
    rows = tx.execute(select(*_COLUMNS).where(condition).order_by(journal.c.id)).mappings()
    return [Entry(**{**row, "details": load(row["details"])}) for row in rows]
