"""How the bot does, in counts, read at each look from what all processes share: so many statements, all on indexes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sqlalchemy import ColumnElement, Select, Table, case, func, select

from bot.lifecycle.allowance import day_start
from bot.lifecycle.amounts import Amount
from bot.store import health, rate_limits, throttles, usage
from bot.store.schema import deliveries, jobs, outbox, plans
from bot.store.schema import throttles as throttles_table

if TYPE_CHECKING:
    from collections.abc import Mapping

    from bot.store.engine import Tx
    from bot.store.health import Health
    from bot.store.rate_limits import Left
    from bot.store.throttles import Throttle
    from runner.contract import Usage

RECENT = 3_600.0
"""Seconds back from a look within which what was done is counted."""
HEARTBEAT = "poll"
"""The periodic task whose turns tell that a worker is alive: it comes round more often than any other."""

Counts = dict[tuple[str, ...], int]


@dataclass(frozen=True, slots=True)
class Gauges:
    """All of it. Where keys are tuples, their parts are named beside."""

    queues: Health
    deliveries_open: Counts
    """By source and event."""
    deliveries_recent: Counts
    """By source, event and ``done`` or ``parked``."""
    effects_open: Counts
    """By kind, and ``waiting``, ``in_hand`` or ``retrying``."""
    effects_recent: Counts
    """By kind and ``done`` or ``parked``."""
    retries_recent: Counts
    """Tries beyond the first of the same, by kind."""
    limits: list[Left]
    gates: list[Throttle]
    jobs: Counts
    """Open ones by kind and ``preparing``, ``dispatched`` or ``running``."""
    plans: Counts
    """By state, what they wait for (empty: nothing) and ``yes`` or ``no`` for held."""
    spent_today: Mapping[int, Amount]
    """Dollars of the UTC day by repository, the dearest first."""
    worker_overdue: float | None
    """Seconds by which the turn of the most frequent task is overdue; None where no worker ever ran."""


def look(tx: Tx) -> Gauges:
    """Count everything."""
    effects_recent, retries = _effects_recent(tx)
    return Gauges(
        queues=health.look(tx),
        deliveries_open=_open(tx, deliveries, deliveries.c.source, deliveries.c.event),
        deliveries_recent=_deliveries_recent(tx),
        effects_open=_effects_open(tx),
        effects_recent=effects_recent,
        retries_recent=retries,
        limits=rate_limits.known(tx),
        gates=throttles.closed(tx),
        jobs=_jobs(tx),
        plans=_plans(tx),
        spent_today=spent_today(tx),
        worker_overdue=worker_overdue(tx),
    )


def worker_overdue(tx: Tx) -> float | None:
    """Return the seconds by which a worker's turn is overdue, 0 where none is; None where no worker ever ran."""
    c = throttles_table.c
    until = tx.execute(select(c.until).where(c.name == f"turn:{HEARTBEAT}")).scalar()
    return None if until is None else max(0.0, tx.now - until)


def spent_today(tx: Tx) -> dict[int, Amount]:
    """Return what jobs that reported in the UTC day so far cost, by repository, the dearest first."""
    runs: dict[int, list[Usage]] = {}
    for spent in usage.since(tx, day_start(tx.now)):
        runs.setdefault(spent.repository_id, []).append(spent.usage)
    found = {repository: Amount.dollars(each) for repository, each in runs.items()}
    return dict(sorted(found.items(), key=lambda item: (-(item[1].value or 0), item[0])))


def _open(tx: Tx, table: Table, *by: ColumnElement[Any]) -> Counts:
    return _counted(tx, select(*by, func.count()).where(table.c.done_at.is_(None)).group_by(*by))


def _deliveries_recent(tx: Tx) -> Counts:
    c = deliveries.c
    by = (c.source, c.event, _outcome(deliveries))
    return _counted(tx, select(*by, func.count()).where(c.done_at >= tx.now - RECENT).group_by(*by))


def _effects_open(tx: Tx) -> Counts:
    c = outbox.c
    stands = case((c.lease_until > tx.now, "in_hand"), (c.attempts > 0, "retrying"), else_="waiting")
    return _open(tx, outbox, c.kind, stands)


def _effects_recent(tx: Tx) -> tuple[Counts, Counts]:
    """Return the effects that ended of late, and how many tries beyond the first those of a kind took."""
    c, outcome = outbox.c, _outcome(outbox)
    query = select(c.kind, outcome, func.count(), func.sum(case((c.attempts > 1, c.attempts - 1), else_=0)))
    ended: Counts = {}
    retries: Counts = {}
    for kind, how, count, again in tx.execute(query.where(c.done_at >= tx.now - RECENT).group_by(c.kind, outcome)):
        ended[kind, how] = count
        retries[kind,] = retries.get((kind,), 0) + int(again)
    return ended, retries


def _outcome(table: Table) -> ColumnElement[str]:
    return case((table.c.parked_at.is_not(None), "parked"), else_="done")


def _jobs(tx: Tx) -> Counts:
    c = jobs.c
    stands = case((c.dispatched_at.is_(None), "preparing"), (c.claimed_at.is_(None), "dispatched"), else_="running")
    return _counted(tx, select(c.kind, stands, func.count()).where(c.closed_at.is_(None)).group_by(c.kind, stands))


def _plans(tx: Tx) -> Counts:
    c = plans.c
    by = (c.state, func.coalesce(c.waiting_on, ""), case((c.held, "yes"), else_="no"))
    return _counted(tx, select(*by, func.count()).group_by(*by))


def _counted(tx: Tx, query: Select[Any]) -> Counts:
    """Return a query's counts, its last column, by the columns before."""
    return {tuple(map(str, row[:-1])): int(row[-1]) for row in tx.execute(query)}
