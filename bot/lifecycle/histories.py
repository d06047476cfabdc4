"""What figures are made of: of each plan the journal, what its agents used, and what its jobs took beside that."""

from __future__ import annotations

from decimal import Decimal
from math import ceil
from typing import TYPE_CHECKING, NamedTuple

from bot.lifecycle.states import Gate, State, WaitingOn

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from runner.contract import Usage, UsdSource
    from runner.results import Unit

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


class Used(NamedTuple):
    """What one run of an agent used, as far as figures need it; None where unknown."""

    unit: Unit
    agent: str
    model: str | None
    usd: Decimal | None
    usd_source: UsdSource
    price_date: str | None
    seconds: float | None
    complete: bool
    """False where it may be more."""
    input_tokens: int | None = None
    output_tokens: int | None = None
    cache_read_tokens: int | None = None
    cache_write_tokens: int | None = None
    reasoning_tokens: int | None = None


class Spending(NamedTuple):
    """What one run of an agent used, and when that was told."""

    at: float
    usage: Used | Usage


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


SHOWN = "review_posted"
"""The event with which a diff is before a person."""


class Turn(NamedTuple):
    """A line that tells something: the plan began, came to a gate or left it, changed its state, or showed its diff."""

    line: Line
    first: bool
    ended: Wait | None
    """The plan's stand at a gate that is over with it."""


def turns_of(lines: Iterable[Line]) -> tuple[list[Turn], Wait | None]:
    """Return the turns of a plan, and its stand at the gate where it is at last, without an end.

    A plan that is held or asks anew stands there again. What a comment says happened when GitHub's clock says, which
    may be behind ours: nothing ends before it began.
    """
    turns: list[Turn] = []
    gate: Gate | None = None
    start = 0.0
    for line in lines:
        now = line.gate
        if now is not gate:
            ended = None if gate is None else Wait(gate, start, max(start, line.at))
            turns.append(Turn(line, not turns, ended))
            gate, start = now, line.at
        elif not turns or line.from_state is not line.to_state or line.event == SHOWN:
            turns.append(Turn(line, not turns, None))
    return turns, None if gate is None else Wait(gate, start, None)


def waits_of(lines: Iterable[Line]) -> Iterator[Wait]:
    """Yield each time the plan stood at a gate."""
    turns, last = turns_of(lines)
    yield from (turn.ended for turn in turns if turn.ended is not None)
    if last is not None:
        yield last
