"""Money and tokens: per job and per plan.

What is not known is never zero: a sum over something unknown, or over a run that was cut off, is a lower bound and
says "at least"; a sum of unknowns alone is unknown.
"""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING

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


class Amount(Frozen):
    """A sum: None where nothing of it is known; ``at_least`` where only a part is."""

    value: Decimal | None
    at_least: bool = False

    @classmethod
    def total(cls, parts: Iterable[tuple[Decimal | int | None, bool]]) -> Amount:
        """Add up (value, complete) pairs. Nothing at all adds up to a certain zero."""
        all_parts = list(parts)
        known = [Decimal(value) for value, _ in all_parts if value is not None]
        if all_parts and not known:
            return cls(value=None)
        certain = all(value is not None and complete for value, complete in all_parts)
        return cls(value=sum(known, Decimal(0)), at_least=not certain)


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

    @property
    def usd(self) -> Amount:
        """All dollars."""
        return Amount.total((row.usd, row.complete) for row in self.rows)

    @property
    def seconds(self) -> Amount:
        """All seconds in which an agent ran."""
        return Amount.total((_exact(row.seconds), row.complete) for row in self.rows)

    def tokens(self, kind: str) -> Amount:
        """All tokens of a kind: ``input``, ``output``, ``cache_read``, ``cache_write`` or ``reasoning``."""
        return _tokens(self.rows, kind)

    @property
    def jobs(self) -> tuple[JobCost, ...]:
        """The cost table's lines: one for each unit, agent and model of each job."""
        groups: dict[tuple[str, Unit, str, str | None], list[CostRow]] = {}
        for row in self.rows:
            groups.setdefault((row.job, row.unit, row.agent, row.model), []).append(row)
        return tuple(_job(rows) for rows in groups.values())

    @property
    def rejected_share(self) -> Decimal | None:
        """The part of the dollars, 0 to 1, that went into attempts which came to nothing; None where unknown.

        Such are the runs of jobs that failed, attempts that a check sent back to the agent, and the writing of plans
        that were rewritten.
        """
        total = self.usd
        if total.value is None or total.at_least or not total.value:
            return None
        rejected = sum((row.usd for row in self.rows if row.usd is not None and self._rejected(row)), Decimal(0))
        return rejected / total.value

    def _rejected(self, row: CostRow) -> bool:
        last_plan = [r.job for r in self.rows if r.kind is JobKind.PLAN and r.outcome.is_success][-1:]
        last_attempt = max(r.attempt for r in self.rows if (r.job, r.unit) == (row.job, row.unit))
        rewritten = row.kind is JobKind.PLAN and row.job not in last_plan
        return not row.outcome.is_success or rewritten or row.attempt < last_attempt


def _exact(seconds: float | None) -> Decimal | None:
    return None if seconds is None else Decimal(str(seconds))


def _tokens(rows: Iterable[CostRow], kind: str) -> Amount:
    return Amount.total((getattr(row, f"{kind}_tokens"), row.complete) for row in rows)


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
        input_tokens=_tokens(rows, "input"),
        output_tokens=_tokens(rows, "output"),
        cache_read_tokens=_tokens(rows, "cache_read"),
        cache_write_tokens=_tokens(rows, "cache_write"),
        usd=Amount.total((row.usd, row.complete) for row in rows),
        usd_sources=tuple(sorted({row.usd_source for row in rows})),
        price_dates=tuple(sorted({row.price_date for row in rows if row.price_date})),
        seconds=Amount.total((_exact(row.seconds), row.complete) for row in rows),
    )


def dollars(amount: Amount) -> str:
    """Return a sum as people read it: ``$0.0123``, ``at least $4.50``, ``unknown``."""
    if amount.value is None or (amount.at_least and amount.value < SMALLEST_SHOWN):
        return "unknown"
    if 0 < amount.value < SMALLEST_SHOWN:
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
