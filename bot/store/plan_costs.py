"""What a plan has cost so far: what its jobs used, with what came of each."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bot.lifecycle.amounts import Amount
from bot.lifecycle.costs import CostRow, PlanCost
from bot.lifecycle.histories import waits_of
from bot.store import histories, jobs, plans, usage
from runner.contract import JobKind, Outcome
from runner.results import Unit

if TYPE_CHECKING:
    from collections.abc import Collection

    from bot.lifecycle.amounts import Run
    from bot.lifecycle.plan import Plan
    from bot.store.engine import Tx
    from bot.store.jobs import Job


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


def totals(tx: Tx, uids: Collection[str]) -> dict[str, Amount]:
    """Return the dollars of the agents of each of these plans so far. Two statements."""
    runs: dict[str, list[Run]] = {uid: [] for uid in uids}
    for uid, run in usage.paid(tx, uids):
        runs[uid].append(run)
    for uid, _, _ in jobs.silent(tx, plans.these(uids)):
        runs[uid].append(usage.Paid())
    return {uid: Amount.dollars(each) for uid, each in runs.items()}


def _was_lost(job: Job) -> bool:
    """Whether an agent may have run in a job of which nothing came back."""
    return job.claimed_at is not None and job.closed_at is not None and job.reported_at is None and job.unit is not None


def _untold(plan: Plan, job: Job) -> CostRow:
    unit = Unit(job.unit or "")
    agent = plan.agents[unit].name
    return CostRow.untold(unit, agent, job=job.id, kind=JobKind(job.kind), outcome=Outcome.LOST)
