"""What people look at of jobs and runners, as :mod:`~bot.store.browse` does of plans."""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

from sqlalchemy import Select, bindparam, case, func, select

from bot.store import keyset
from bot.store.documents import load
from bot.store.endings import short
from bot.store.schema import jobs

if TYPE_CHECKING:
    from collections.abc import Collection

    from sqlalchemy import Row

    from bot.store.engine import Tx

MOST_JOBS = 100
"""Jobs that are shown with their plan, the last; the list of jobs has all of them, page by page."""
MOST_RUNNERS = 100
"""Runners that are shown, those that reported last."""
RUNNERS_SPAN = 30 * 86_400.0
"""How far back (seconds) a runner is known by its last report."""


class JobMark(NamedTuple):
    """Where a page of jobs ends."""

    opened_at: float
    id: str


@dataclass(frozen=True, slots=True)
class JobFilters:
    """Which jobs are wanted."""

    open: bool | None = None
    runner: str | None = None
    plan: str | None = None


@dataclass(frozen=True, slots=True)
class JobRow:
    """A job as people see it. ``end`` is its report as data, in a list in short."""

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


def jobs_of(tx: Tx, plan_uid: str) -> list[JobRow]:
    """Return a plan's jobs, the oldest first, each with how it ended; of many the last."""
    c = jobs.c
    query = select(*_JOB, *_END).where(c.plan_uid == plan_uid).order_by(c.opened_at.desc(), c.id.desc())
    return [_as_job(row) for row in tx.execute(query.limit(MOST_JOBS))][::-1]


def jobs_page(
    tx: Tx, repositories: Collection[int], wanted: JobFilters, after: JobMark | None, limit: int
) -> list[JobRow]:
    """Return the jobs that were opened last, the newest first, from behind a mark."""
    query = _jobs_page(frozenset(repositories), wanted, limit, further=after is not None)
    return [_as_job(row) for row in tx.execute(query, **keyset.mark(_JOB_KEY, after))]


def job_of(tx: Tx, repositories: Collection[int], job: str) -> tuple[JobRow, dict[str, Any]] | None:
    """Return a job and its whole report as data (empty while there is none); None where it may not be seen."""
    c = jobs.c
    row = tx.execute(select(*_JOB, c.ending, c.report).where(c.id == job, c.repository_id.in_(repositories))).first()
    if row is None:
        return None
    report = load(row.report) if row.report else {}
    return replace(_as_job(row), end=report), report


def runners(tx: Tx, repositories: Collection[int]) -> list[RunnerRow]:
    """Return the runners that reported lately, the last one first."""
    found = tx.execute(_RUNNERS, repositories=list(repositories), since=tx.now - RUNNERS_SPAN)
    return [RunnerRow(*row) for row in found]


_JOB_KEY = (jobs.c.opened_at, jobs.c.id)
_JOB = [jobs.c[each.name] for each in fields(JobRow) if each.name != "end"]
_END = (jobs.c.ending, case((jobs.c.ending.is_(None), jobs.c.report)).label("report"))
"""How a job ended, in short; its report comes along where an older release wrote nothing shorter."""
_LAST = func.max(jobs.c.reported_at)
_RUNNERS = (
    select(jobs.c.repository_id, jobs.c.runner, func.count(), _LAST)
    .where(jobs.c.repository_id.in_(keyset.SEEN), jobs.c.opened_at >= bindparam("since"), jobs.c.runner.is_not(None))
    .group_by(jobs.c.repository_id, jobs.c.runner)
    .order_by(_LAST.desc(), jobs.c.runner)
    .limit(MOST_RUNNERS)
)


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
    return select(*_JOB, *_END).where(c.id.in_(found)).order_by(c.opened_at.desc(), c.id.desc())


def _as_job(row: Row[Any]) -> JobRow:
    *values, ending, report = tuple(row)
    known = dict(zip((column.name for column in _JOB), values, strict=True))
    return JobRow(**known, end=load(ending) if ending else short(load(report)) if report else {})
