"""What figures are made of: of each plan the journal, what its agents used, and what its jobs took beside that."""

from __future__ import annotations

from decimal import Decimal
from math import ceil
from typing import TYPE_CHECKING, NamedTuple

from bot.lifecycle.states import Gate, State, WaitingOn

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from runner.contract import Usage

MINUTE = 60
WAITS = {WaitingOn.PLAN_DECISION: Gate.PLAN, WaitingOn.DIFF_DECISION: Gate.DIFF}
"""What a plan waits on while it stands at a gate."""


class Line(NamedTuple):
    """One line of a plan's journal, as far as figures need it."""

    at: float
    event: str
    from_state: State | None
    to_state: State | None
    waiting_on: WaitingOn | None
    """What the plan waits on after it."""
    holding_back: int = 0
    """Blocking checks that had failed on the work under review."""

    @property
    def gate(self) -> Gate | None:
        """The gate at which the plan stands after it."""
        return WAITS.get(self.waiting_on) if self.waiting_on is not None else None


class Spending(NamedTuple):
    """What one run of an agent used, and when that was told."""

    at: float
    usage: Usage


class JobTime(NamedTuple):
    """What one job took of a runner, agents and all; told with its report, or when it was lost."""

    at: float
    seconds: float | None
    """From when a runner took it to its end; None where that is unknown."""
    checks: float | None = None
    """Of these, in the repository's checks; None where nobody told."""
    complete: bool = True
    """False where the runner fell silent, so that it took this at least."""
    rate: Decimal = Decimal(0)
    """Dollars a minute of GitHub Actions, as they were set when a runner took it."""

    @property
    def minutes(self) -> int | None:
        """Minutes as GitHub bills them: each job's rounded up."""
        return None if self.seconds is None else ceil(self.seconds / MINUTE)

    @property
    def usd(self) -> Decimal | None:
        """What the minutes cost; nothing at no rate, however many they were."""
        if not self.rate:
            return Decimal(0)
        return None if self.minutes is None else self.rate * self.minutes


class History(NamedTuple):
    """Everything about one plan, each part in order of time."""

    lines: Sequence[Line]
    spending: Sequence[Spending] = ()
    jobs: Sequence[JobTime] = ()


class Wait(NamedTuple):
    """A plan that stood at a gate: ``end`` is None where it still stands."""

    gate: Gate
    start: float
    end: float | None


def waits_of(lines: Sequence[Line]) -> Iterator[Wait]:
    """Yield each time the plan stood at a gate; a plan that is held or asks anew stands there again.

    What a comment says happened when GitHub's clock says, which may be behind ours: nothing ends before it began.
    """
    gate: Gate | None = None
    start = 0.0
    for line in lines:
        now = line.gate
        if now is gate:
            continue
        if gate is not None:
            yield Wait(gate=gate, start=start, end=max(start, line.at))
        gate, start = now, line.at
    if gate is not None:
        yield Wait(gate=gate, start=start, end=None)


def known_at(history: History, until: float) -> History:
    """Return what was known of a plan before a time."""
    return History(
        lines=[line for line in history.lines if line.at < until],
        spending=[spending for spending in history.spending if spending.at < until],
        jobs=[job for job in history.jobs if job.at < until],
    )
