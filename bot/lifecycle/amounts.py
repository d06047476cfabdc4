"""Sums that say what they don't know.

What is not known is never zero: a sum over something unknown, or over a run that was cut off, is a lower bound and
says "at least"; a sum of unknowns alone is unknown.
"""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, Protocol

from bot.lifecycle.states import Frozen
from runner.contract import UsdSource

if TYPE_CHECKING:
    from collections.abc import Iterable

KINDS = ("input", "output", "cache_read", "cache_write", "reasoning")
"""Kinds of tokens. Input is without what was read from or written to a cache, output with reasoning."""
_COUNTS = tuple((kind, f"{kind}_tokens") for kind in KINDS)


class Amount(Frozen):
    """A sum: None where nothing of it is known; ``at_least`` where only a part is.

    ``covered`` says that a part of it is paid by a subscription, which has no price by use; a sum of such parts alone
    has no value, and that is not unknown.
    """

    value: Decimal | None
    at_least: bool = False
    covered: bool = False

    @classmethod
    def total(cls, parts: Iterable[tuple[Decimal | int | None, bool]]) -> Amount:
        """Add up (value, complete) pairs. Nothing at all adds up to a certain zero."""
        found = Sum()
        for value, complete in parts:
            found.add(value, complete=complete)
        return found.amount

    @classmethod
    def dollars(cls, runs: Iterable[Run]) -> Amount:
        """Add up what runs of agents cost."""
        found = Sum()
        for run in runs:
            found.pay(run)
        return found.amount

    @classmethod
    def sum(cls, amounts: Iterable[Amount]) -> Amount:
        """Add up sums, each of at least one part."""
        parts = list(amounts)
        paid = [part for part in parts if part.value is not None or part.at_least or not part.covered]
        known = [part.value for part in paid if part.value is not None]
        covered = any(part.covered for part in parts)
        if parts and not known:
            return cls(value=None, at_least=bool(paid) and covered, covered=covered)
        some = any(part.at_least or part.value is None for part in paid)
        return cls(value=sum(known, Decimal(0)), at_least=some, covered=covered)

    def times(self, factor: Decimal) -> Amount:
        """Return so many times the sum."""
        return self if self.value is None else self.model_copy(update={"value": self.value * factor})

    def over(self, count: Decimal | int) -> Amount:
        """Return the sum divided by something above zero."""
        return self if self.value is None else self.model_copy(update={"value": self.value / count})


class Run(Protocol):
    """One run of an agent, as far as money goes: a row of the ledger, or of a plan's costs."""

    @property
    def usd(self) -> Decimal | None:
        """Dollars; None where they are unknown, or covered by a subscription."""

    @property
    def usd_source(self) -> UsdSource:
        """Where the dollars come from."""

    @property
    def complete(self) -> bool:
        """Whether they are all."""


class TimedRun(Run, Protocol):
    """The same with the seconds that it took. Of each of :data:`KINDS` it has the tokens, by names like these."""

    @property
    def seconds(self) -> float | None:
        """Seconds; None where they are unknown."""


class Sum:
    """A sum that is still added to; sums of different things of one sort add up."""

    __slots__ = ("covered", "doubtful", "known", "value")

    def __init__(self) -> None:
        self.value: Decimal | int = 0
        self.known = self.doubtful = self.covered = 0
        """Parts whose value is known, that are unknown or known in part alone, and that a subscription covers."""

    def add(self, value: Decimal | int | None, *, complete: bool = True) -> None:
        """Add a part: None where it is unknown, not ``complete`` where it may be more."""
        if value is None:
            self.doubtful += 1
            return
        self.value += value
        self.known += 1
        self.doubtful += not complete

    def pay(self, run: Run) -> None:
        """Add what a run of an agent cost."""
        if run.usd_source is UsdSource.SUBSCRIPTION:
            self.covered += 1
        else:
            self.add(run.usd, complete=run.complete)

    def include(self, other: Sum) -> None:
        """Add all parts of another sum."""
        self.value += other.value
        self.known += other.known
        self.doubtful += other.doubtful
        self.covered += other.covered

    @property
    def amount(self) -> Amount:
        """What it comes to."""
        covered, doubtful = self.covered > 0, self.doubtful > 0
        if not self.known and (covered or doubtful):
            return Amount(value=None, at_least=covered and doubtful, covered=covered)
        return Amount(value=Decimal(self.value), at_least=doubtful, covered=covered)


class Tally(Frozen):
    """What some runs of agents used together."""

    runs: int
    usd: Amount
    seconds: Amount
    tokens: dict[str, Amount]
    """By kind, each of :data:`KINDS`."""


class Use:
    """A tally that is still added to."""

    def __init__(self) -> None:
        self.runs = 0
        self.usd, self.seconds = Sum(), Sum()
        self.tokens = {kind: Sum() for kind in KINDS}

    def add(self, run: TimedRun) -> None:
        """Add a run."""
        self.runs += 1
        self.usd.pay(run)
        complete = run.complete
        self.seconds.add(exact(run.seconds), complete=complete)
        for kind, name in _COUNTS:
            self.tokens[kind].add(getattr(run, name), complete=complete)

    def include(self, other: Use) -> None:
        """Add all runs of another one."""
        self.runs += other.runs
        self.usd.include(other.usd)
        self.seconds.include(other.seconds)
        for kind, tokens in other.tokens.items():
            self.tokens[kind].include(tokens)

    @property
    def tally(self) -> Tally:
        """What they used."""
        tokens = {kind: tokens.amount for kind, tokens in self.tokens.items()}
        return Tally(runs=self.runs, usd=self.usd.amount, seconds=self.seconds.amount, tokens=tokens)


def exact(seconds: float | None) -> Decimal | None:
    """Return seconds as they can be added up."""
    return None if seconds is None else Decimal(str(seconds))


def tokens_of(rows: Iterable[TimedRun], kind: str) -> Amount:
    """Return all tokens of a kind that these runs used."""
    return Amount.total((getattr(row, f"{kind}_tokens"), row.complete) for row in rows)


def all_dollars(agents: Amount, actions: Amount) -> Amount:
    """Return both together; minutes at no rate are nothing beside a subscription or an unknown price."""
    free = actions.value is not None and not actions.value and not actions.at_least
    return agents if free else Amount.sum((agents, actions))
