"""Add trials up: a pass rate with its interval, tokens, dollars, minutes; and what differs between two versions."""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from runner.evals.trial import Trial

Z = 1.959964
"""Of the normal distribution, for intervals of 95 %."""
Interval = tuple[float, float]


@dataclass(frozen=True)
class Figures:
    """What one version came to."""

    passed: int
    measured: int
    """Trials that could be run; the pass rate is over these."""
    planned: int
    tokens: int
    usd: Decimal | None
    """None where nothing is known."""
    complete: bool
    """False where tokens and dollars read "at least"."""
    minutes: float

    @property
    def rate(self) -> float | None:
        """Return the share that passed, None where nothing could be run."""
        return self.passed / self.measured if self.measured else None

    @property
    def interval(self) -> Interval:
        """Return where the pass rate lies with a confidence of 95 %."""
        return wilson(self.passed, self.measured)


def figures(trials: Sequence[Trial], planned: int) -> Figures:
    """Return the figures of one version's trials."""
    known = [trial.usd for trial in trials if trial.usd is not None]
    return Figures(
        passed=sum(trial.passed for trial in trials),
        measured=sum(not trial.fault for trial in trials),
        planned=planned,
        tokens=sum(trial.tokens for trial in trials),
        usd=sum(known, Decimal(0)) if known or not trials else None,
        complete=all(trial.complete for trial in trials),
        minutes=sum(trial.seconds for trial in trials) / 60,
    )


def wilson(passed: int, measured: int) -> Interval:
    """Return Wilson's score interval, which holds for small numbers and for all or none as well."""
    if not measured:
        return 0.0, 1.0
    rate, scale = passed / measured, 1 + Z**2 / measured
    middle = (rate + Z**2 / (2 * measured)) / scale
    half = Z * math.sqrt(rate * (1 - rate) / measured + Z**2 / (4 * measured**2)) / scale
    return max(0.0, middle - half), min(1.0, middle + half)


def difference(one: Figures, other: Figures) -> Interval | None:
    """Return where ``other``'s pass rate less ``one``'s lies (Newcombe 1998, method 10); None where one is unknown."""
    before, after = one.rate, other.rate
    if before is None or after is None:
        return None
    (low, high), (least, most) = one.interval, other.interval
    gap = after - before
    return gap - math.hypot(after - least, high - before), gap + math.hypot(most - after, before - low)
