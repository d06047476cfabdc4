"""What agents used and cost: a row for each run of an agent, only ever added.

A job's figures come twice at most: from its last heartbeat when it is lost, and from its report, which may still arrive
afterwards. Where the report's rows exist, only they count. Unknown is null, never zero.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, NamedTuple

from sqlalchemy import ColumnElement, Select, bindparam, exists, or_, select

from bot.lifecycle.histories import Spending, Used
from bot.store.documents import note
from bot.store.schema import usage
from runner.contract import Usage, UsdSource
from runner.results import Unit

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from bot.store.engine import Tx
    from bot.store.jobs import Job


@dataclass(frozen=True, slots=True)
class Spent:
    """One run of an agent, and whose it was."""

    job: str
    plan_uid: str
    repository_id: int
    at: float
    usage: Usage


class Paid(NamedTuple):
    """What one run cost; without values a run that certainly was and of which nothing is known."""

    usd: Decimal | None = None
    complete: bool = False
    usd_source: UsdSource = UsdSource.UNKNOWN


_FIGURES = [usage.c[name] for name in Usage.model_fields]
_BETTER = usage.alias("better").c
_COUNTS = or_(usage.c.final, ~exists().where(_BETTER.job == usage.c.job, _BETTER.final))
"""Whether a row counts: one of a report, or of a last heartbeat after which no report came."""
_COST = (usage.c.usd, usage.c.complete, usage.c.usd_source)
_PAID = select(usage.c.plan_uid, *_COST).where(usage.c.plan_uid.in_(bindparam("uids", expanding=True)), _COUNTS)
_PAID_SINCE = select(usage.c.repository_id, *_COST).where(
    usage.c.repository_id.in_(bindparam("repositories", expanding=True)), usage.c.at >= bindparam("since"), _COUNTS
)
_UNITS = {unit.value: unit for unit in Unit}
_SOURCES = {source.value: source for source in UsdSource}


def add(tx: Tx, job: Job, runs: Sequence[Usage], *, final: bool) -> int:
    """Store a job's runs of agents, from its report (``final``) or its last heartbeat; return how many were new."""
    return sum(_add(tx, job, number, run, final=final) for number, run in enumerate(runs))


def of_plan(tx: Tx, plan_uid: str) -> list[Spent]:
    """Return what the plan's jobs used, every revision and retry included."""
    return _counted(tx, usage.c.plan_uid == plan_uid)


def of_plans(tx: Tx, uids: Select[tuple[str]]) -> Iterator[tuple[str, Spending]]:
    """Yield, by plan, what the jobs of the plans that a query names used, as far as figures need it."""
    c = usage.c
    query = select(c.plan_uid, c.at, *(c[name] for name in Used._fields)).where(c.plan_uid.in_(uids), _COUNTS)
    for uid, at, unit, agent, model, usd, source, *rest in tx.execute(query.order_by(c.id)):
        yield uid, Spending(at, Used(_UNITS[unit], agent, model, _dollars(usd), _SOURCES[source], *rest))


def paid(tx: Tx, uids: Collection[str]) -> Iterator[tuple[str, Paid]]:
    """Yield what each run of these plans' jobs cost, with its plan."""
    for uid, usd, complete, source in tx.execute(_PAID, uids=list(uids)):
        yield uid, _paid(usd, complete, source)


def paid_since(tx: Tx, repositories: Collection[int], since: float) -> Iterator[tuple[int, Paid]]:
    """Yield, by repository, what each run cost that was told since ``since`` (epoch seconds)."""
    for number, usd, complete, source in tx.execute(_PAID_SINCE, repositories=list(repositories), since=since):
        yield number, _paid(usd, complete, source)


def of_repositories(tx: Tx, repositories: Collection[int], since: float) -> list[Spent]:
    """Return what jobs of these repositories used that reported, or were lost, since ``since`` (epoch seconds)."""
    return _counted(tx, usage.c.repository_id.in_(list(repositories)) & (usage.c.at >= since))


def since(tx: Tx, at: float) -> list[Spent]:
    """Return what jobs of all repositories used that reported, or were lost, since then (epoch seconds)."""
    return _counted(tx, usage.c.at >= at)


def _add(tx: Tx, job: Job, number: int, run: Usage, *, final: bool) -> bool:
    figures = {name: note(value) if isinstance(value, str) else value for name, value in run.model_dump().items()}
    insert = tx.insert(usage).values(
        job=job.id,
        final=final,
        number=number,
        plan_uid=job.plan_uid,
        repository_id=job.repository_id,
        at=tx.now,
        **{**figures, "usd": None if run.usd is None else str(run.usd)},
    )
    insert = insert.on_conflict_do_nothing(index_elements=["job", "final", "number"])
    return tx.execute(insert.returning(usage.c.id)).first() is not None


def _paid(usd: str | None, complete: bool, source: str) -> Paid:  # noqa: FBT001
    return Paid(_dollars(usd), complete, _SOURCES[source])


def _dollars(usd: str | None) -> Decimal | None:
    return None if usd is None else Decimal(usd)


def _counted(tx: Tx, condition: ColumnElement[bool]) -> list[Spent]:
    c = usage.c
    query = select(c.job, c.plan_uid, c.repository_id, c.at, *_FIGURES).where(condition, _COUNTS).order_by(c.id)
    return [
        Spent(row["job"], row["plan_uid"], row["repository_id"], row["at"], _usage(dict(row)))
        for row in tx.execute(query).mappings()
    ]


def _usage(row: dict[str, object]) -> Usage:
    return Usage.model_validate({name: row[name] for name in Usage.model_fields})
