"""What people look at: plans, jobs, runners and the journal, of the repositories that they may see and of no other.

Each question is one statement, however many plans there are, and reads about as many rows as it returns. A page begins
behind a mark, the key of the last row before it: what comes in meanwhile neither repeats nor hides a row.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, fields
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
from bot.store.journal import Entry
from bot.store.schema import jobs, journal, plans

if TYPE_CHECKING:
    from collections.abc import Collection

    from sqlalchemy import BindParameter, Row

    from bot.store.engine import Tx

MOST_QUEUED = 100
"""Approved plans, those approved first, among which the first of the queue are looked for."""
RUNNERS_SPAN = 30 * 86_400.0
"""How far back (seconds) a runner is known by its last report."""


class PlanMark(NamedTuple):
    """Where a page of plans ends."""

    created_at: float
    uid: str


class JobMark(NamedTuple):
    """Where a page of jobs ends."""

    opened_at: float
    id: str


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
class JournalFilters:
    """Which lines of the journal are wanted."""

    plan: str | None = None
    event: str | None = None
    actor: str | None = None
    """A login, in any case."""
    since: float | None = None
    until: float | None = None


@dataclass(frozen=True, slots=True)
class JobFilters:
    """Which jobs are wanted."""

    open: bool | None = None
    runner: str | None = None
    plan: str | None = None


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


@dataclass(frozen=True, slots=True)
class Logged:
    """A line of the journal, by its number."""

    id: int
    repository_id: int
    entry: Entry


@dataclass(frozen=True, slots=True)
class JobRow:
    """A job as people see it. ``end`` is its report as data, without what is long."""

    id: str
    plan_uid: str
    repository_id: int
    kind: str
    unit: str | None
    opened_at: float
    dispatched_at: float | None
    run_id: int | None
    claimed_at: float | None
    heartbeat_at: float | None
    phase: str | None
    deadline_at: float
    stop_reason: str | None
    reported_at: float | None
    closed_at: float | None
    runner: str | None
    end: dict[str, Any] = field(default_factory=dict)

    @property
    def mark(self) -> JobMark:
        """Where a page that ends with it ends."""
        return JobMark(self.opened_at, self.id)


@dataclass(frozen=True, slots=True)
class RunnerRow:
    """A runner of a repository, as its reports show it."""

    repository_id: int
    name: str
    jobs: int
    last_at: float


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


def jobs_of(tx: Tx, plan_uid: str) -> list[JobRow]:
    """Return a plan's jobs, the oldest first, each with how it ended."""
    c = jobs.c
    query = select(*_JOB, c.report).where(c.plan_uid == plan_uid).order_by(c.opened_at, c.id)
    return [_as_job(row) for row in tx.execute(query)]


def jobs_page(
    tx: Tx, repositories: Collection[int], wanted: JobFilters, after: JobMark | None, limit: int
) -> list[JobRow]:
    """Return the jobs that were opened last, the newest first, from behind a mark."""
    query = _jobs_page(frozenset(repositories), wanted, limit, further=after is not None)
    return [_as_job(row) for row in tx.execute(query, **keyset.mark(_JOB_KEY, after))]


def job_of(tx: Tx, repositories: Collection[int], job: str) -> tuple[JobRow, dict[str, Any]] | None:
    """Return a job and its whole report as data (empty while there is none); None where it may not be seen."""
    c = jobs.c
    row = tx.execute(select(*_JOB, c.report).where(c.id == job, c.repository_id.in_(repositories))).first()
    if row is None:
        return None
    report = load(row[-1]) if row[-1] else {}
    return _as_job(row), report


def runners(tx: Tx, repositories: Collection[int]) -> list[RunnerRow]:
    """Return the runners that reported lately, the last one first."""
    found = tx.execute(_RUNNERS, repositories=list(repositories), since=tx.now - RUNNERS_SPAN)
    return [RunnerRow(*row) for row in found]


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


_PLAN_KEY = (plans.c.created_at, plans.c.uid)
_JOB_KEY = (jobs.c.opened_at, jobs.c.id)
_JOURNAL_KEY = (journal.c.id,)
_JOB = [jobs.c[each.name] for each in fields(JobRow) if each.name != "end"]
_ENTRY = [journal.c[each.name] for each in fields(Entry)]
_SHORT = ("outcome", "sentence", "attempts", "started_at", "ended_at", "gates", "output_tail", "salvaged")
"""What of a report goes with a job in a list."""


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


@lru_cache(keyset.STATEMENTS)
def _jobs_page(repositories: frozenset[int], wanted: JobFilters, limit: int, *, further: bool) -> Select[Any]:
    c = jobs.c
    asked = [
        (wanted.open, c.closed_at.is_(None) if wanted.open else c.closed_at.is_not(None)),
        (wanted.runner, c.runner == wanted.runner),
        (wanted.plan, c.plan_uid == wanted.plan),
    ]
    conditions = [condition for value, condition in asked if value is not None]
    if further:
        conditions.append(keyset.behind(_JOB_KEY))
    few = wanted.plan is not None
    arms = keyset.arms(c.repository_id + 0 if few else c.repository_id, repositories)
    found = keyset.newest(_JOB_KEY, arms, conditions, limit, few=few)
    return select(*_JOB, c.report).where(c.id.in_(found)).order_by(c.opened_at.desc(), c.id.desc())


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


def _plan_conditions(wanted: PlanFilters) -> list[ColumnElement[bool]]:
    c = plans.c
    asked: list[tuple[object, ColumnElement[bool]]] = [
        (wanted.waiting_on, c.waiting_on == wanted.waiting_on),
        (wanted.held, c.held.is_(bool(wanted.held))),
        (wanted.requester, c.requester_id == wanted.requester),
        (wanted.ideas or None, c.ideas > literal_column("0")),
    ]
    return [condition for value, condition in asked if value is not None]


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


def _listed(uids: Select[Any]) -> Select[Any]:
    """Return the query for these plans' rows; the document comes along where an older release wrote no brief."""
    c = plans.c
    whole = case((c.brief.is_(None), c.document))
    return select(c.brief, whole.label("document"), c.created_at, c.updated_at, c.approved_at).where(c.uid.in_(uids))


_SEEN: BindParameter[int] = bindparam("repositories", expanding=True)
_BRIEFS = _listed(
    select(plans.c.uid).where(plans.c.uid.in_(bindparam("uids", expanding=True)), plans.c.repository_id.in_(_SEEN))
)
_QUEUED = _listed(
    select(
        select(plans.c.uid)
        .where(plans.c.repository_id.in_(_SEEN), plans.c.state == bindparam("state"))
        .order_by(plans.c.approved_at)
        .limit(MOST_QUEUED)
        .subquery()
    )
)
_COUNTS = (
    select(plans.c.state, func.count())
    .where(plans.c.repository_id.in_(_SEEN))
    .group_by(plans.c.repository_id, plans.c.state)
)
_LAST = func.max(jobs.c.reported_at)
_RUNNERS = (
    select(jobs.c.repository_id, jobs.c.runner, func.count(), _LAST)
    .where(jobs.c.repository_id.in_(_SEEN), jobs.c.opened_at >= bindparam("since"), jobs.c.runner.is_not(None))
    .group_by(jobs.c.repository_id, jobs.c.runner)
    .order_by(_LAST.desc(), jobs.c.runner)
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


def _as_logged(row: Row[Any]) -> Logged:
    number, repository_id, *values = tuple(row)
    said = dict(zip((column.name for column in _ENTRY), values, strict=True))
    return Logged(number, repository_id, Entry(**{**said, "details": load(said["details"])}))


def _as_job(row: Row[Any]) -> JobRow:
    *values, report = tuple(row)
    known = dict(zip((column.name for column in _JOB), values, strict=True))
    end = load(report) if report else {}
    return JobRow(**known, end={name: end[name] for name in _SHORT if name in end})
