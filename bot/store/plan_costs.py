"""What a plan has cost so far: what its jobs used, with what came of each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlalchemy import exists, select

from bot.lifecycle.costs import CostRow, PlanCost
from bot.lifecycle.histories import waits_of
from bot.store import histories, jobs, plans, usage
from bot.store.schema import jobs as jobs_table
from bot.store.schema import usage as usage_table
from runner.contract import JobKind, Outcome, UsdSource
from runner.results import Unit

if TYPE_CHECKING:
    from collections.abc import Collection
    from decimal import Decimal

    from bot.lifecycle.plan import Plan
    from bot.store.engine import Tx
    from bot.store.jobs import Job


@dataclass(frozen=True, slots=True)
class Untold:
    """A run that certainly was and of which nothing is known."""

    usd: Decimal | None = None
    complete: bool = False
    usd_source: UsdSource = UsdSource.UNKNOWN


UNTOLD = Untold()


def of_plan(tx: Tx, plan: Plan) -> PlanCost:
    """Return every run of every job of the plan, what the jobs took, and when it stood at a gate. Five queries."""
    spent = usage.of_plan(tx, plan.uid)
    known = {job.id: job for job in jobs.of_plan(tx, plan.uid)}
    ends = jobs.outcomes(tx, plan.uid)
    rows = [
        CostRow.of(run.usage, job=run.job, kind=JobKind(known[run.job].kind), outcome=ends.get(run.job, Outcome.LOST))
        for run in spent
    ]
    told = {run.job for run in spent}
    silent = [job for job in known.values() if job.id not in told and _was_lost(job)]
    times = tuple(time for _, time in jobs.times(tx, plans.only(plan.uid)))
    waits = tuple(waits_of(histories.lines_of(tx, plan.uid)))
    return PlanCost(rows=(*rows, *(_untold(plan, job) for job in silent)), times=times, waits=waits)


def untold(tx: Tx, uids: Collection[str]) -> list[str]:
    """Return whose jobs were lost without a word of what they used, a name a job."""
    c, told = jobs_table.c, usage_table.c
    lost = c.claimed_at.is_not(None) & c.closed_at.is_not(None) & c.reported_at.is_(None) & c.unit.is_not(None)
    query = select(c.plan_uid).where(c.plan_uid.in_(uids), lost, ~exists().where(told.job == c.id))
    return list(tx.execute(query).scalars())


def _was_lost(job: Job) -> bool:
    """Whether an agent may have run in a job of which nothing came back."""
    return job.claimed_at is not None and job.closed_at is not None and job.reported_at is None and job.unit is not None


def _untold(plan: Plan, job: Job) -> CostRow:
    unit = Unit(job.unit or "")
    agent = plan.agents[unit].name
    return CostRow.untold(unit, agent, job=job.id, kind=JobKind(job.kind), outcome=Outcome.LOST)
