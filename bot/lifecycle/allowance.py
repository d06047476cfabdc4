"""What is left to spend: of a plan's budget over all its jobs, and of the repository's day.

What is known to be spent counts; an unknown amount can't. It is the runner's meter that sees to it that nothing stays
unknown where a budget is set.
"""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING

from bot.lifecycle.amounts import Amount
from bot.lifecycle.states import Frozen

if TYPE_CHECKING:
    from collections.abc import Iterable

    from runner.contract import Usage
    from runner.terms import Budget

DAY = 86_400
"""Seconds of a day; days begin at midnight UTC."""


class Day(Frozen):
    """A repository's day, as far as its limit goes."""

    since: float
    """When it began."""
    limit: Decimal
    spent: Amount

    @property
    def left(self) -> Amount:
        """What may still be spent, or where it is :attr:`at_most`, perhaps less."""
        known = self.spent.value or Decimal(0)
        return Amount(value=max(self.limit - known, Decimal(0)))

    @property
    def at_most(self) -> bool:
        """Whether something was spent of which nobody knows how much."""
        return self.spent.at_least or (self.spent.value is None and not self.spent.covered)


def day_start(now: float) -> float:
    """Return when the day of ``now`` began; both are epoch seconds."""
    return now - now % DAY


def left(budget: Budget, plan: Iterable[Usage], today: Iterable[Usage]) -> Budget:
    """Return what a job may spend, after what the plan's other jobs and the repository's day have used."""
    rows = list(plan)
    return budget.model_copy(
        update={
            "usd": None if budget.usd is None else max(budget.usd - dollars(rows), Decimal(0)),
            "tokens": None if budget.tokens is None else max(budget.tokens - sum(row.tokens for row in rows), 0),
            "usd_today": left_today(budget, today),
        }
    )


def left_today(budget: Budget, today: Iterable[Usage]) -> Decimal | None:
    """Return the dollars left of the repository's day; None where no limit is set."""
    return None if budget.usd_today is None else max(budget.usd_today - dollars(today), Decimal(0))


def dollars(rows: Iterable[Usage]) -> Decimal:
    """Return the known dollars of these runs."""
    return sum((row.usd for row in rows if row.usd is not None), Decimal(0))
