"""Jobs: one run of the runner each, from its opening to its report.

The row is the one place where the web's answers to a runner and the worker's view of it meet; every change here is
conditional on what the row is, so that of two claims, two reports or two pushes one wins.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, fields
from decimal import Decimal
from typing import TYPE_CHECKING, Any, NamedTuple

from sqlalchemy import ColumnElement, Select, exists, func, select, update

from bot.lifecycle.histories import JobTime
from bot.store.documents import dump, load, note
from bot.store.endings import short
from bot.store.schema import jobs, usage
from runner.contract import JobSpec, Outcome, Progress, Report

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from bot.store.engine import Tx
    from runner.contract import JobKind
    from runner.results import Unit


@dataclass(frozen=True, slots=True)
class Job:
    """A job as stored. The caller made a hash of the key and a cipher text of the token before they came here."""

    id: str
    plan_uid: str
    repository_id: int
    lane: str
    installation_id: int
    kind: str
    unit: str | None
    opened_at: float
    dispatched_at: float | None
    run_id: int | None
    run_attempt: int | None
    claimed_at: float | None
    key_hash: str | None
    heartbeat_at: float | None
    phase: str | None
    deadline_at: float
    """When the worker must look after it: to start, to be heard of, to end, whichever comes next."""
    stop_reason: str | None
    push_sha: str | None
    push_token: bytes | None
    reported_at: float | None
    closed_at: float | None

    @property
    def is_open(self) -> bool:
        """Whether the plan still counts on it."""
        return self.closed_at is None


_TIMES = [jobs.c.ran_seconds, jobs.c.check_seconds, jobs.c.actions_rate]
_COLUMNS = [jobs.c[field.name] for field in fields(Job)]


def open_job(
    tx: Tx,
    *,
    job: str,
    plan_uid: str,
    repository_id: int,
    lane: str,
    installation_id: int,
    kind: JobKind,
    unit: Unit | None,
    deadline_at: float,
) -> bool:
    """Store a new job that must have started by ``deadline_at``. False where it is stored already."""
    values = {"plan_uid": plan_uid, "repository_id": repository_id, "lane": lane, "installation_id": installation_id}
    insert = tx.insert(jobs).values(id=job, kind=kind, unit=unit, deadline_at=deadline_at, opened_at=tx.now, **values)
    return tx.execute(insert.on_conflict_do_nothing(index_elements=["id"]).returning(jobs.c.id)).first() is not None


def get(tx: Tx, job: str) -> Job | None:
    """Return a job; in a write transaction its row is locked."""
    found = _where(tx, jobs.c.id == job)
    return found[0] if found else None


def by_run(tx: Tx, repository_id: int, run_id: int) -> Job | None:
    """Return the job that an Actions run of the repository carries out."""
    found = _where(tx, (jobs.c.repository_id == repository_id) & (jobs.c.run_id == run_id))
    return found[0] if found else None


def of_plan(tx: Tx, plan_uid: str) -> list[Job]:
    """Return a plan's jobs, the oldest first."""
    return _where(tx, jobs.c.plan_uid == plan_uid)


def pushed(tx: Tx, plan_uid: str) -> set[str]:
    """Return the commits that the plan's jobs were given a token for."""
    query = select(jobs.c.push_sha).where(jobs.c.plan_uid == plan_uid, jobs.c.push_sha.is_not(None))
    return set(tx.execute(query).scalars())


def overdue(tx: Tx) -> list[Job]:
    """Return the open jobs whose deadline has passed."""
    return _where(tx, jobs.c.closed_at.is_(None) & (jobs.c.deadline_at <= tx.now))


def over_with_token(tx: Tx) -> list[Job]:
    """Return the jobs that are closed and whose token to push still stands, as far as is known."""
    return _where(tx, jobs.c.closed_at.is_not(None) & jobs.c.push_token.is_not(None))


def specify(tx: Tx, job: str, spec: JobSpec) -> None:
    """Keep what the runner will be told; fixed at dispatch."""
    _set(tx, jobs.c.id == job, spec=dump(spec.model_dump(mode="json")))


def spec(tx: Tx, job: str) -> JobSpec | None:
    """Return what the runner is told, once it is known."""
    text = tx.execute(select(jobs.c.spec).where(jobs.c.id == job)).scalar_one_or_none()
    return None if text is None else JobSpec.model_validate(load(text))


def dispatched(tx: Tx, job: str, run_id: int | None) -> None:
    """Note that GitHub accepted the dispatch, and the run where it is known."""
    _set(tx, jobs.c.id == job, dispatched_at=tx.now, run_id=run_id)


def claim(
    tx: Tx, job: str, *, key_hash: str, run_attempt: int, deadline_at: float, actions_rate: Decimal = Decimal(0)
) -> bool:
    """Give the job to the runner that asks. False where it is taken, stopped or closed.

    ``actions_rate`` is what a minute of GitHub Actions costs now, in dollars: what it costs later does not change it.
    """
    free = jobs.c.claimed_at.is_(None) & jobs.c.stop_reason.is_(None) & jobs.c.closed_at.is_(None)
    values = {"claimed_at": tx.now, "heartbeat_at": tx.now, "run_attempt": run_attempt, "key_hash": key_hash}
    return _set(tx, (jobs.c.id == job) & free, deadline_at=deadline_at, actions_rate=str(actions_rate), **values)


def use_jti(tx: Tx, job: str, jti: str) -> bool:
    """Remember an OIDC token's ``jti``. False where it was used for this job before, or the job is unknown."""
    query = select(jobs.c.used_jtis).where(jobs.c.id == job).with_for_update()
    text = tx.execute(query).scalar_one_or_none()
    used = [jti] if text is None else json.loads(text)
    if jti in used:
        return False
    return _set(tx, jobs.c.id == job, used_jtis=json.dumps([*used, jti]))


def heartbeat(tx: Tx, job: str, progress: Progress, *, deadline_at: float) -> None:
    """Note where the job is, and until when it must be heard of again."""
    values = {"heartbeat_at": tx.now, "phase": progress.phase, "deadline_at": deadline_at}
    _set(tx, _open(job), progress=dump(progress.model_dump(mode="json")), **values)


def last_progress(tx: Tx, job: str) -> Progress | None:
    """Return the last heartbeat; its usage is what is known of a job that is lost."""
    text = tx.execute(select(jobs.c.progress).where(jobs.c.id == job)).scalar_one_or_none()
    return None if text is None else Progress.model_validate(load(text))


class UnderWay(NamedTuple):
    """A job that is under way, and its last heartbeat."""

    id: str
    repository_id: int
    progress: Progress


def under_way(tx: Tx, repositories: Collection[int]) -> list[UnderWay]:
    """Return the open jobs of these repositories that were heard of and have not reported."""
    c = jobs.c
    query = select(c.id, c.repository_id, c.progress).where(
        *(c.repository_id.in_(list(repositories)), c.closed_at.is_(None)),
        *(c.progress.is_not(None), c.reported_at.is_(None)),
    )
    return [UnderWay(job, number, Progress.model_validate(load(text))) for job, number, text in tx.execute(query)]


def stop(tx: Tx, job: str, reason: str) -> bool:
    """Tell the runner, at its next word, to end. False where the job is closed or was told before."""
    return _set(tx, _open(job) & jobs.c.stop_reason.is_(None), stop_reason=note(reason))


def grant_push(tx: Tx, job: str, sha: str) -> bool:
    """Reserve the job's only push for one commit, before the token is made. False where it is another's."""
    free = (jobs.c.push_sha.is_(None) | (jobs.c.push_sha == sha)) & jobs.c.stop_reason.is_(None)
    return _set(tx, _open(job) & free, push_sha=sha)


def give_push_back(tx: Tx, job: str) -> None:
    """Take a grant back for which no token was made."""
    _set(tx, (jobs.c.id == job) & jobs.c.push_token.is_(None), push_sha=None)


def keep_push_token(tx: Tx, job: str, cipher: bytes, *, instead_of: bytes | None = None) -> bool:
    """Keep the granted token, encrypted, until it is revoked. False where another is kept than the one it replaces."""
    return _set(tx, (jobs.c.id == job) & jobs.c.push_token.is_not_distinct_from(instead_of), push_token=cipher)


def drop_push_token(tx: Tx, job: str) -> None:
    """Forget the token, once it is revoked."""
    _set(tx, jobs.c.id == job, push_token=None)


def report(tx: Tx, job: str, report: Report) -> bool:
    """Keep how the job ended; a late report as well, for its cost. False where there is one already."""
    first = (jobs.c.id == job) & jobs.c.reported_at.is_(None)
    claimed = tx.execute(select(jobs.c.claimed_at).where(jobs.c.id == job)).scalar_one_or_none()
    ran = min(max(0.0, report.ended_at - report.started_at), tx.now - (claimed or 0.0))
    told = report.model_dump(mode="json")
    values = {
        "report": dump(told),
        "ending": dump(short(told)),
        "outcome": report.outcome,
        "ran_seconds": ran,
        "check_seconds": None if report.check_seconds is None else min(report.check_seconds, ran),
        "runner": note(report.runner),
    }
    return _set(tx, first, reported_at=tx.now, **values)


def report_of(tx: Tx, job: str) -> Report | None:
    """Return the report, once there is one."""
    text = tx.execute(select(jobs.c.report).where(jobs.c.id == job)).scalar_one_or_none()
    return None if text is None else Report.model_validate(load(text))


def outcomes(tx: Tx, plan_uid: str) -> dict[str, Outcome]:
    """Return how the plan's jobs ended that reported, by their ids."""
    query = select(jobs.c.id, jobs.c.outcome).where(jobs.c.plan_uid == plan_uid, jobs.c.outcome.is_not(None))
    return {job: Outcome(outcome) for job, outcome in tx.execute(query)}


def times(tx: Tx, uids: Select[tuple[str]]) -> Iterator[tuple[str, JobTime]]:
    """Yield, by plan, what the jobs took that a runner had and that are over, of the plans that a query names.

    What a lost job took is known up to its last heartbeat, until its report comes.
    """
    c = jobs.c
    at = func.coalesce(c.reported_at, c.closed_at)
    query = select(c.plan_uid, at, c.reported_at, c.heartbeat_at - c.claimed_at, *_TIMES)
    over = (c.plan_uid.in_(uids), c.claimed_at.is_not(None), at.is_not(None))
    for uid, told, reported, heard, ran, checks, rate in tx.execute(query.where(*over).order_by(at, c.id)):
        seconds = heard if reported is None else ran
        yield uid, JobTime(told, seconds, checks, complete=reported is not None, rate=Decimal(rate or 0))


def silent(tx: Tx, uids: Select[tuple[str]]) -> list[tuple[str, float, str]]:
    """Return plan, end and unit of the jobs of which nothing came back though an agent may have run in them.

    Of the plans that a query names.
    """
    c, told = jobs.c, exists().where(usage.c.job == jobs.c.id)
    lost = (c.plan_uid.in_(uids), c.claimed_at.is_not(None), c.closed_at.is_not(None), c.reported_at.is_(None))
    query = select(c.plan_uid, c.closed_at, c.unit).where(*lost, c.unit.is_not(None), ~told)
    return [(uid, at, unit) for uid, at, unit in tx.execute(query.order_by(c.closed_at, c.id))]


def last_reports(tx: Tx, repository_id: int, limit: int) -> list[Report]:
    """Return what jobs of the repository reported last, the newest first."""
    c = jobs.c
    told = select(c.report).where(c.repository_id == repository_id, c.report.is_not(None))
    rows = tx.execute(told.order_by(c.reported_at.desc()).limit(limit)).scalars()
    return [Report.model_validate(load(text)) for text in rows]


def close(tx: Tx, job: str) -> bool:
    """End the job for the plan, whatever the runner may still send. False where it was closed before."""
    return _set(tx, _open(job), closed_at=tx.now)


def look_again(tx: Tx, job: str, deadline_at: float) -> None:
    """Set when the worker must look after the job next."""
    _set(tx, _open(job), deadline_at=deadline_at)


def _open(job: str) -> ColumnElement[bool]:
    return (jobs.c.id == job) & jobs.c.closed_at.is_(None)


def _where(tx: Tx, condition: ColumnElement[bool]) -> list[Job]:
    query = select(*_COLUMNS).where(condition).order_by(jobs.c.opened_at, jobs.c.id)
    return [Job(*row) for row in tx.execute(query.with_for_update() if tx.writes else query)]


def _set(tx: Tx, condition: ColumnElement[bool], **values: Any) -> bool:
    return tx.execute(update(jobs).where(condition).values(**values)).rowcount == 1
