"""Pages of the newest rows of several repositories, each walked in an index of its own from its newest row on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sqlalchemy import ColumnElement, Select, bindparam, select, tuple_, union_all

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from sqlalchemy import BindParameter, Column

    from bot.lifecycle.states import State

MOST_ARMS = 60
"""Repositories times states that one statement looks into one by one, each from its newest row on; beyond that it
sorts what they have together, which costs more with every plan."""
STATEMENTS = 256
"""Statements of each kind of list that a process keeps, since making one takes several times as long as its answer."""

SEEN: BindParameter[int] = bindparam("repositories", expanding=True)
"""In a statement that is made once: the numbers of the repositories that may be seen."""


def arms(
    repository: ColumnElement[int],
    repositories: Collection[int],
    state: Column[str] | None = None,
    states: Sequence[State] = (),
) -> list[list[ColumnElement[bool]]]:
    """Return the conditions of each part that has an order of its own in an index.

    A ``repository`` that is no plain column keeps its index aside, where a plan's own rows are fewer.
    """
    if len(repositories) * max(len(states), 1) > MOST_ARMS:
        whole: list[ColumnElement[bool]] = [repository.in_(sorted(repositories))]
        return [whole if state is None or not states else [*whole, state.in_(states)]]
    if state is None or not states:
        return [[repository == number] for number in sorted(repositories)]
    return [[repository == number, state == each] for number in sorted(repositories) for each in states]


def newest(
    key: tuple[Column[Any], ...],
    arms: Iterable[list[ColumnElement[bool]]],
    conditions: list[ColumnElement[bool]],
    limit: int,
    *,
    few: bool = False,
) -> Select[Any]:
    """Return the query for the last column of the newest keys of all arms.

    Each arm is walked from its newest row on, no further than the limit; where few rows can meet the conditions, all of
    these are looked up instead.
    """
    order = [column.desc() for column in key]
    every = [select(*key).where(*arm, *conditions) for arm in arms]
    parts = every if few else [select(arm.order_by(*order).limit(limit).subquery()) for arm in every]
    if not parts:
        return select(key[-1]).where(key[-1].is_(None))
    merged = union_all(*parts).subquery()
    newest = [merged.c[column.name].desc() for column in key]
    return select(select(merged.c[key[-1].name]).order_by(*newest).limit(limit).subquery())


def behind(key: tuple[Column[Any], ...]) -> ColumnElement[bool]:
    """Return the condition for rows older than a mark, whose values the execution gives under the columns' names."""
    return tuple_(*key) < tuple_(*(bindparam(f"after_{column.name}", type_=column.type) for column in key))


def mark(key: tuple[Column[Any], ...], after: Sequence[object] | None) -> dict[str, object]:
    """Return the values for :func:`behind`; none where the page is the first."""
    return {} if after is None else {f"after_{c.name}": value for c, value in zip(key, after, strict=True)}
