"""What a period cost and what came of it: the figures that a maintainer decides with, each defined here and only here.

A figure is over a period, ``since`` (included) to ``until`` (not), in seconds since the epoch. Money counts when it was
reported, decisions when they were made. What nothing is known of is None, never zero; a sum with unknown parts says
"at least". ``docs/reference/costs.md`` has the formulas in words.
"""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING

from bot.lifecycle.amounts import Amount, Tally
from bot.lifecycle.happened import Happened, Share
from bot.lifecycle.periods import DAY, month_end
from bot.lifecycle.reckoning import reckon
from bot.lifecycle.states import Gate, State

if TYPE_CHECKING:
    from collections.abc import Iterable

    from bot.lifecycle.happened import Kind
    from bot.lifecycle.histories import History
    from bot.lifecycle.reckoning import Reckoning

MINUTE, HOUR = 60, 3_600


class Figures(Happened):
    """A period in figures."""

    rejected: Amount
    """Of the spending, that of plans which had ended rejected at a gate, or denied, by the period's end."""
    abandoned: Amount
    """Of the spending, that of plans which had ended cancelled by the period's end."""
    stages: tuple[int, ...]
    """Of the plans asked for in the period, how many have come to each of :data:`STAGES`."""
    attempts: Decimal | None
    """Runs of an executing agent a plan that was executed, on average."""
    worked_for: int
    """Plans that agents worked for."""
    oldest: dict[Gate, float | None]
    """Seconds that the oldest plan has waited which still stands at the gate."""
    forecast: Amount | None
    """What the month costs in which the period ends, at the pace of the period; None before that is a day old."""
    by_unit: dict[str, Tally]
    by_agent: dict[str, Tally]
    by_model: dict[str, Tally]
    by_source: dict[str, Tally]
    """By where the dollars come from, with the date of the prices."""

    @property
    def tells_something(self) -> bool:
        """Whether anything happened in the period, or anybody is waited for at its end."""
        counted = (self.agents.runs, self.asked, self.merged, self.denied)
        return any(counted) or any(age is not None for age in self.oldest.values())

    @property
    def came_to_nothing(self) -> Amount:
        """Spent on what was rejected, denied or abandoned."""
        return Amount.sum((self.rejected, self.abandoned))

    @property
    def pass_rates(self) -> tuple[Share, ...]:
        """From each of :data:`STAGES` to the next: how many went on, of those that had come so far."""
        return tuple(Share(part=n, whole=whole) for whole, n in zip(self.stages, self.stages[1:], strict=False))

    @property
    def agent_seconds_a_plan(self) -> float | None:
        """Of those that agents worked for; None where they worked for none, or nothing is known of it."""
        seconds = self.agents.seconds.value
        return float(seconds) / self.worked_for if self.worked_for and seconds is not None else None

    @property
    def bottleneck(self) -> str:
        """In a sentence: whether plans wait longer for people or for agents."""
        people = sum(value for value in self.waits.values() if value is not None)
        agents = self.agent_seconds_a_plan
        if agents is None or not (people or agents):
            return "Too little happened to tell what plans wait for."
        if people > agents:
            return f"People are the bottleneck: {_hours(people)} at the gates, {_hours(agents)} of agents a plan."
        return f"Agents are the bottleneck: {_hours(agents)} of them a plan, {_hours(people)} at the gates."


def _hours(seconds: float) -> str:
    if seconds >= HOUR:
        return f"{seconds / HOUR:.1f} hours"
    minutes = round(seconds / MINUTE)
    if seconds and not minutes:
        return "less than a minute"
    return "1 minute" if minutes == 1 else f"{minutes} minutes"


def figures(histories: Iterable[History], since: float, until: float) -> Figures:
    """Return the figures of a period over all these plans; what came after its end doesn't count.

    The forecast is right where the histories go back to the beginning of the month.
    """
    return figures_of(reckon(histories, since, until))


def figures_of(found: Reckoning) -> Figures:
    """Return what was sorted out of some plans in figures."""
    seen, until = found.seen, found.until
    happened = seen.happened(found.since, until)
    return Figures(
        **dict(happened),
        rejected=found.ended[State.REJECTED].amount,
        abandoned=found.ended[State.CANCELLED].amount,
        stages=tuple(found.stages),
        attempts=Decimal(found.executions) / found.executed if found.executed else None,
        worked_for=found.worked_for,
        oldest={gate: until - found.standing[gate] if gate in found.standing else None for gate in Gate},
        forecast=_forecast(found.month.amount, happened),
        by_unit=seen.by(lambda kind: kind.unit.value),
        by_agent=seen.by(lambda kind: kind.agent),
        by_model=seen.by(lambda kind: kind.model or "unknown"),
        by_source=seen.by(_source),
    )


def _forecast(so_far: Amount, period: Happened) -> Amount | None:
    span, month = period.until - period.since, max(period.since, period.until - 1)
    if span < DAY:
        return None
    rest = period.spend.times(Decimal(str(month_end(month) - period.until))).over(Decimal(str(span)))
    return Amount.sum((so_far, rest))


def _source(kind: Kind) -> str:
    return f"{kind.source}, {kind.price_date}" if kind.price_date else str(kind.source)
