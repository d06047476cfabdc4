"""What people look at of the journal, as :mod:`~bot.store.browse` does of plans."""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from sqlalchemy import ColumnElement, Select, func, select

from bot.store import keyset
from bot.store.documents import load
from bot.store.journal import Entry
from bot.store.schema import journal

if TYPE_CHECKING:
    from collections.abc import Collection

    from sqlalchemy import Row

    from bot.store.engine import Tx


@dataclass(frozen=True, slots=True)
class JournalFilters:
    """Which lines of the journal are wanted."""

    plan: str | None = None
    event: str | None = None
    actor: str | None = None
    """A login, in any case."""
    since: float | None = None
    until: float | None = None


@dataclass(frozen=True, slots=True)
class Logged:
    """A line of the journal, by its number."""

    id: int
    repository_id: int
    entry: Entry

    @property
    def mark(self) -> tuple[int]:
        """Where a page that ends with it ends."""
        return (self.id,)


def journal_page(
    tx: Tx, repositories: Collection[int], wanted: JournalFilters, after: int | None, limit: int
) -> list[Logged]:
    """Return the journal's lines, the newest first, from behind the line of that number."""
    query = _journal_page(frozenset(repositories), wanted, limit, further=after is not None)
    mark = keyset.mark(_JOURNAL_KEY, None if after is None else (after,))
    return [_as_logged(row) for row in tx.execute(query, **mark)]


def journal_of(tx: Tx, plan_uid: str, after: int | None, limit: int) -> list[Logged]:
    """Return a plan's lines of the journal, the oldest first, from behind the line of that number."""
    c = journal.c
    query = select(c.id, c.repository_id, *_ENTRY).where(c.plan_uid == plan_uid, c.id > (after or 0))
    return [_as_logged(row) for row in tx.execute(query.order_by(c.id).limit(limit))]


_JOURNAL_KEY = (journal.c.id,)
_ENTRY = [journal.c[each.name] for each in fields(Entry)]


@lru_cache(keyset.STATEMENTS)
def _journal_page(repositories: frozenset[int], wanted: JournalFilters, limit: int, *, further: bool) -> Select[Any]:
    c = journal.c
    conditions = _journal_conditions(wanted)
    if further:
        conditions.append(keyset.behind(_JOURNAL_KEY))
    few = wanted.plan is not None
    arms = keyset.arms(c.repository_id + 0 if few else c.repository_id, repositories)
    found = keyset.newest(_JOURNAL_KEY, arms, conditions, limit, few=few)
    return select(c.id, c.repository_id, *_ENTRY).where(c.id.in_(found)).order_by(c.id.desc())


def _journal_conditions(wanted: JournalFilters) -> list[ColumnElement[bool]]:
    c = journal.c
    asked: list[tuple[object, ColumnElement[bool]]] = [
        (wanted.plan, c.plan_uid == wanted.plan),
        (wanted.event, c.event == wanted.event),
        (wanted.actor, func.lower(c.actor_login) == (wanted.actor or "").lower()),
        (wanted.since, c.at >= (wanted.since or 0.0)),
        (wanted.until, c.at < (wanted.until or 0.0)),
    ]
    return [condition for value, condition in asked if value is not None]


def _as_logged(row: Row[Any]) -> Logged:
    number, repository_id, *values = tuple(row)
    said = dict(zip((column.name for column in _ENTRY), values, strict=True))
    return Logged(number, repository_id, Entry(**{**said, "details": load(said["details"])}))
