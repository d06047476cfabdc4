"""What people look at of plans, in the repositories that they may see and in no other.

Each question is one statement, however many plans there are, and reads about as many rows as it returns. A page begins
behind a mark, the key of the last row before it: what comes in meanwhile neither repeats nor hides a row. Jobs and the
journal are looked at in the same way: :mod:`~bot.store.browse_jobs`, :mod:`~bot.store.browse_journal`.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

from sqlalchemy import ColumnElement, Select, bindparam, case, func, literal_column, select

from bot.lifecycle.brief import Brief
from bot.lifecycle.choices import PlanPriority
from bot.lifecycle.plan import Plan, lane
from bot.lifecycle.queue import ORDER
from bot.lifecycle.states import State, WaitingOn
from bot.store import keyset
from bot.store.documents import load
from bot.store.schema import plans

if TYPE_CHECKING:
    from collections.abc import Collection

    from sqlalchemy import Row

    from bot.store.engine import Tx

MOST_QUEUED = 100
"""Approved plans, those approved first, among which the first of the queue are looked for."""


class PlanMark(NamedTuple):
    """Where a page of plans ends."""

    created_at: float
    uid: str


@dataclass(frozen=True, slots=True)
class PlanFilters:
    """Which plans are wanted; nothing given: all."""

    states: tuple[State, ...] = ()
    waiting_on: WaitingOn | None = None
    held: bool | None = None
    issue: int | None = None
    requester: int | None = None
    ideas: bool = False
    """Only those with recommendations that nobody has accepted."""


@dataclass(frozen=True, slots=True)
class Listed:
    """A plan in a list, and what its row says beside the plan itself."""

    brief: Brief
    created_at: float
    updated_at: float
    approved_at: float | None

    @property
    def mark(self) -> PlanMark:
        """Where a page that ends with it ends."""
        return PlanMark(self.created_at, self.brief.uid)


def plans_page(
    tx: Tx, repositories: Collection[int], wanted: PlanFilters, after: PlanMark | None, limit: int
) -> list[Listed]:
    """Return the plans that were asked for last, the newest first, from behind a mark."""
    query = _plans_page(frozenset(repositories), wanted, limit, further=after is not None)
    return [_as_listed(row) for row in tx.execute(query, **keyset.mark(_PLAN_KEY, after))]


def first_of(tx: Tx, repositories: Collection[int], state: State, limit: int) -> list[Listed]:
    """Return the first plans of a state: of approved ones those that start first, of others the newest."""
    if state is not State.APPROVED:
        return plans_page(tx, repositories, PlanFilters(states=(state,)), None, limit)
    rows = tx.execute(_QUEUED, repositories=list(repositories), state=state).all()
    return [_as_listed(row) for row in sorted(rows, key=_turn)[:limit]]


def briefs(tx: Tx, repositories: Collection[int], uids: Collection[str]) -> dict[str, Brief]:
    """Return these plans in brief, of those that may be seen."""
    rows = tx.execute(_BRIEFS, uids=list(uids), repositories=list(repositories))
    return {listed.brief.uid: listed.brief for listed in map(_as_listed, rows)}


def counts_by_state(tx: Tx, repositories: Collection[int]) -> dict[State, int]:
    """Return how many plans are in each state; a state without any is left out."""
    counts: Counter[State] = Counter()
    for state, count in tx.execute(_COUNTS, repositories=list(repositories)):
        counts[State(state)] += count
    return dict(counts)


def plan_of(tx: Tx, repositories: Collection[int], uid: str) -> tuple[Plan, Listed] | None:
    """Return a plan whole, with its row; None where there is none, or none that may be seen."""
    c = plans.c
    row = tx.execute(
        select(c.document, c.brief, c.created_at, c.updated_at, c.approved_at).where(
            c.uid == uid, c.repository_id.in_(repositories)
        )
    ).first()
    if row is None:
        return None
    plan = Plan.model_validate(load(row.document))
    return plan, Listed(Brief.of(plan), row.created_at, row.updated_at, row.approved_at)


def tries_of(tx: Tx, repository_id: int, issue: int) -> list[Listed]:
    """Return an issue's plans, the newest try first."""
    c = plans.c
    query = _listed(select(c.uid).where(c.repository_id == repository_id, c.issue_number == issue))
    return [_as_listed(row) for row in tx.execute(query.order_by(c.try_number.desc()))]


_PLAN_KEY = (plans.c.created_at, plans.c.uid)


@lru_cache(keyset.STATEMENTS)
def _plans_page(repositories: frozenset[int], wanted: PlanFilters, limit: int, *, further: bool) -> Select[Any]:
    c = plans.c
    conditions = _plan_conditions(wanted)
    if further:
        conditions.append(keyset.behind(_PLAN_KEY))
    if wanted.issue is None:
        arms = keyset.arms(c.repository_id, repositories, c.state, wanted.states)
    else:
        arms = [[c.lane.in_([lane(number, wanted.issue) for number in sorted(repositories)])]]
        conditions += [c.state.in_(wanted.states)] if wanted.states else []
    found = keyset.newest(_PLAN_KEY, arms, conditions, limit, few=wanted.issue is not None)
    return _listed(found).order_by(c.created_at.desc(), c.uid.desc())


def _plan_conditions(wanted: PlanFilters) -> list[ColumnElement[bool]]:
    c = plans.c
    asked: list[tuple[object, ColumnElement[bool]]] = [
        (wanted.waiting_on, c.waiting_on == wanted.waiting_on),
        (wanted.held, c.held.is_(bool(wanted.held))),
        (wanted.requester, c.requester_id == wanted.requester),
        (wanted.ideas or None, c.ideas > literal_column("0")),
    ]
    return [condition for value, condition in asked if value is not None]


def _listed(uids: Select[Any]) -> Select[Any]:
    """Return the query for these plans' rows; the document comes along where an older release wrote no brief."""
    c = plans.c
    whole = case((c.brief.is_(None), c.document))
    return select(c.brief, whole.label("document"), c.created_at, c.updated_at, c.approved_at).where(c.uid.in_(uids))


_NAMED = plans.c.uid.in_(bindparam("uids", expanding=True))
_BRIEFS = _listed(select(plans.c.uid).where(_NAMED, plans.c.repository_id.in_(keyset.SEEN)))
_QUEUED = _listed(
    select(
        select(plans.c.uid)
        .where(plans.c.repository_id.in_(keyset.SEEN), plans.c.state == bindparam("state"))
        .order_by(plans.c.approved_at)
        .limit(MOST_QUEUED)
        .subquery()
    )
)
_COUNTS = (
    select(plans.c.state, func.count())
    .where(plans.c.repository_id.in_(keyset.SEEN))
    .group_by(plans.c.repository_id, plans.c.state)
)


def _as_listed(row: Row[Any]) -> Listed:
    if row.brief is None:
        brief = Brief.of(Plan.model_validate(load(row.document)))
    else:
        brief = Brief.model_validate(load(row.brief))
    return Listed(brief, row.created_at, row.updated_at, row.approved_at)


def _turn(row: Row[Any]) -> tuple[int, int, float]:
    """Sort approved plans as the queue does, as far as their briefs tell: of a hundred sorted a few are made."""
    brief = load(row.brief) if row.brief is not None else {}
    priority = PlanPriority(brief.get("priority", PlanPriority.NORMAL))
    return brief.get("place") or MOST_QUEUED, ORDER.index(priority), row.approved_at or 0.0
