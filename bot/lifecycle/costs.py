"""Money and tokens of a plan, a job at a time, and how sums are written. Those of periods are ``figures``."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING

from bot.lifecycle.amounts import Amount, Sum, all_dollars, exact, tokens_of
from bot.lifecycle.histories import JobTime, Wait
from bot.lifecycle.states import Frozen
from runner.contract import JobKind, Outcome, Usage, UsdSource
from runner.results import Unit

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

MINUTE = 60
SMALLEST_SHOWN = Decimal("0.0001")
"""Dollars below this are shown as less than it, never as nothing."""
TWO_PLACES_FROM = 1
"""Dollars from which cents are exact enough."""
COVERED = "covered by subscription"
"""In place of dollars, where there are none by use."""


class CostRow(Frozen):
    """What one run of one agent used, and what came of the job it was part of."""

    job: str
    kind: JobKind
    outcome: Outcome
    unit: Unit
    agent: str
    model: str | None
    attempt: int
    input_tokens: int | None = None
    output_tokens: int | None = None
    cache_read_tokens: int | None = None
    cache_write_tokens: int | None = None
    reasoning_tokens: int | None = None
    usd: Decimal | None = None
    usd_source: UsdSource = UsdSource.UNKNOWN
    price_date: str | None = None
    seconds: float | None = None
    complete: bool = True

    @classmethod
    def of(cls, usage: Usage, *, job: str, kind: JobKind, outcome: Outcome) -> CostRow:
        """Return the row of a usage record."""
        return cls(job=job, kind=kind, outcome=outcome, **usage.model_dump())

    @classmethod
    def untold(cls, unit: Unit, agent: str, *, job: str, kind: JobKind, outcome: Outcome) -> CostRow:
        """Return the row of a run that certainly was and of which no usage came back, as of a lost job."""
        return cls(job=job, kind=kind, outcome=outcome, unit=unit, agent=agent, model=None, attempt=1, complete=False)


class JobCost(Frozen):
    """One line of the cost table: what a unit's runs in one job used."""

    job: str
    kind: JobKind
    outcome: Outcome
    unit: Unit
    agent: str
    model: str | None
    attempts: int
    input_tokens: Amount
    output_tokens: Amount
    cache_read_tokens: Amount
    cache_write_tokens: Amount
    usd: Amount
    usd_sources: tuple[UsdSource, ...]
    price_dates: tuple[str, ...]
    seconds: Amount


class PlanCost(Frozen):
    """What a plan cost so far: every run of every revision and retry, in their order."""

    rows: tuple[CostRow, ...] = ()
    times: tuple[JobTime, ...] = ()
    """What its jobs took, agents and all."""
    waits: tuple[Wait, ...] = ()
    """When it stood at a gate."""

    @property
    def usd(self) -> Amount:
        """All dollars: of agents, and of the minutes of GitHub Actions at their rate."""
        return all_dollars(Amount.dollars(self.rows), self.actions_usd)

    @property
    def actions_usd(self) -> Amount:
        """Of them, those of the minutes of GitHub Actions."""
        return actions_of(self.times)

    @property
    def actions_minutes(self) -> Amount:
        """Of its jobs on GitHub Actions, each rounded up to a minute."""
        return Amount.total((job.minutes, job.complete) for job in self.times)

    @property
    def check_seconds(self) -> Amount:
        """Of the repository's checks on runners."""
        return Amount.total((exact(job.checks), job.complete) for job in self.times)

    @property
    def people_seconds(self) -> float:
        """That it stood at gates which somebody decided, or took it away from."""
        return sum(wait.end - wait.start for wait in self.waits if wait.end is not None)

    @property
    def seconds(self) -> Amount:
        """All seconds in which an agent ran."""
        return Amount.total((exact(row.seconds), row.complete) for row in self.rows)

    def tokens(self, kind: str) -> Amount:
        """All tokens of a kind: ``input``, ``output``, ``cache_read``, ``cache_write`` or ``reasoning``."""
        return tokens_of(self.rows, kind)

    @property
    def jobs(self) -> tuple[JobCost, ...]:
        """The cost table's lines: one for each unit, agent and model of each job."""
        groups: dict[tuple[str, Unit, str, str | None], list[CostRow]] = {}
        for row in self.rows:
            groups.setdefault((row.job, row.unit, row.agent, row.model), []).append(row)
        return tuple(_job(rows) for rows in groups.values())

    @property
    def rejected_share(self) -> Decimal | None:
        """The part of the agents' dollars, 0 to 1, that went into attempts which came to nothing; None where unknown.

        Such are the runs of jobs that failed, attempts that a check sent back to the agent, and the writing of plans
        that were rewritten.
        """
        total = Amount.dollars(self.rows)
        if total.value is None or total.at_least or not total.value:
            return None
        rejected = sum((row.usd for row in self.rows if row.usd is not None and self._rejected(row)), Decimal(0))
        return rejected / total.value

    def _rejected(self, row: CostRow) -> bool:
        last_plan = [r.job for r in self.rows if r.kind is JobKind.PLAN and r.outcome.is_success][-1:]
        last_attempt = max(r.attempt for r in self.rows if (r.job, r.unit) == (row.job, row.unit))
        rewritten = row.kind is JobKind.PLAN and row.job not in last_plan
        return not row.outcome.is_success or rewritten or row.attempt < last_attempt


def actions_of(jobs: Iterable[JobTime]) -> Amount:
    """Return what the minutes of these jobs cost."""
    found = Sum()
    for job in jobs:
        bill(found, job)
    return found.amount


def bill(actions: Sum, job: JobTime) -> None:
    """Add what the minutes of a job cost."""
    actions.add(job.usd, complete=job.complete or not job.rate)


def _job(rows: Sequence[CostRow]) -> JobCost:
    last = rows[-1]
    return JobCost(
        job=last.job,
        kind=last.kind,
        outcome=last.outcome,
        unit=last.unit,
        agent=last.agent,
        model=last.model,
        attempts=len(rows),
        input_tokens=tokens_of(rows, "input"),
        output_tokens=tokens_of(rows, "output"),
        cache_read_tokens=tokens_of(rows, "cache_read"),
        cache_write_tokens=tokens_of(rows, "cache_write"),
        usd=Amount.dollars(rows),
        usd_sources=tuple(sorted({row.usd_source for row in rows})),
        price_dates=tuple(sorted({row.price_date for row in rows if row.price_date})),
        seconds=Amount.total((exact(row.seconds), row.complete) for row in rows),
    )


def dollars(amount: Amount) -> str:
    """Return a sum as people read it: ``$0``, ``$0.0123``, ``unknown``, ``at least $4.50 + subscription``."""
    if amount.covered and not amount.value and not amount.at_least:
        return COVERED
    text = _dollars(amount)
    return f"{text} + subscription" if amount.covered else text


def _dollars(amount: Amount) -> str:
    if amount.value is None or (amount.at_least and amount.value < SMALLEST_SHOWN):
        return "unknown"
    if not amount.value:
        return "$0"
    if amount.value < SMALLEST_SHOWN:
        return f"less than ${SMALLEST_SHOWN}"
    text = f"${amount.value:,.{2 if amount.value >= TWO_PLACES_FROM else 4}f}"
    return f"at least {text}" if amount.at_least else text


def count(amount: Amount) -> str:
    """Return a number of tokens as people read it: ``12,345``, ``at least 12,345``, ``unknown``."""
    if amount.value is None:
        return "unknown"
    return f"at least {amount.value:,.0f}" if amount.at_least else f"{amount.value:,.0f}"


def minutes(amount: Amount) -> str:
    """Return seconds as minutes: ``4.2``, ``at least 4.2``, ``unknown``."""
    if amount.value is None:
        return "unknown"
    return f"at least {amount.value / MINUTE:,.1f}" if amount.at_least else f"{amount.value / MINUTE:,.1f}"


def percent(share: Decimal | None) -> str:
    """Return a share as per cent: ``37 %``, or ``unknown``."""
    return "unknown" if share is None else f"{share * 100:.0f} %"
