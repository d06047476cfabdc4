"""What happened in a stretch of time, by when each thing did: the points of a trend, and the base of all figures."""

from __future__ import annotations

from collections import Counter, defaultdict
from decimal import Decimal
from statistics import median
from typing import TYPE_CHECKING, NamedTuple

from bot.lifecycle.amounts import Amount, Sum, Tally, Use, all_dollars, exact
from bot.lifecycle.costs import bill
from bot.lifecycle.histories import SHOWN
from bot.lifecycle.states import Frozen, Gate, State, WaitingOn

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from bot.lifecycle.histories import JobTime, Turn, Used
    from runner.contract import Usage, UsdSource
    from runner.results import Unit

GOES_ON = {(State.APPROVED, False), (State.IN_REVIEW, True)}
"""State of a plan after an approval that counts, and whether it waits for a step of the bot's own."""


class Share(Frozen):
    """A part of a whole, both counted; what has no whole has no share."""

    part: int
    whole: int

    @property
    def value(self) -> Decimal | None:
        """The share, 0 to 1."""
        return Decimal(self.part) / self.whole if self.whole else None


class Happened(Frozen):
    """What happened between two times: a point of a trend, and the base of a period's figures."""

    since: float
    until: float
    spend: Amount
    """All dollars: of agents, and of the minutes of GitHub Actions at their rate."""
    agents: Tally
    """All runs of agents: dollars, seconds, tokens by kind."""
    check_seconds: Amount
    """Of the repository's checks on runners."""
    actions_minutes: Amount
    """Of our own jobs on GitHub Actions, each rounded up to a minute."""
    actions_usd: Amount
    people_seconds: float
    """That plans had stood at gates which somebody decided in this time."""
    asked: int
    """Plans asked for."""
    merged: int
    """Pull requests merged."""
    denied: int
    """Pull requests closed unmerged."""
    at_plan_gate: Share
    """Plans rejected there, of all that were decided there."""
    at_diff_gate: Share
    failing_shown: Share
    """Diffs that reached a person with a blocking check that failed, of all that did; the product promises none."""
    waits: dict[Gate, float | None]
    """Median seconds until a person decided, of what was decided in the period."""

    @property
    def cost_per_merged(self) -> Amount | None:
        """All that was spent, divided by what was merged; None where nothing was."""
        return self.spend.over(self.merged) if self.merged else None

    @property
    def denial_rate(self) -> Share:
        """Pull requests closed unmerged, of those that were decided."""
        return Share(part=self.denied, whole=self.denied + self.merged)


class Kind(NamedTuple):
    """What runs of agents have in common."""

    unit: Unit
    agent: str
    model: str | None
    source: UsdSource
    price_date: str | None


class Seen:
    """What was seen to happen within a stretch of time. That of several plans, and of several stretches, adds up."""

    def __init__(self) -> None:
        self.used: dict[Kind, Use] = defaultdict(Use)
        self.minutes, self.actions, self.checks = Sum(), Sum(), Sum()
        self.asked = self.merged = self.denied = 0
        self.shown = self.failing = 0
        """Diffs shown, and those of them of which a blocking check had failed."""
        self.decided, self.rejected = Counter[Gate](), Counter[Gate]()
        self.waited: dict[Gate, list[float]] = {gate: [] for gate in Gate}

    def spent(self, run: Used | Usage) -> None:
        """See a run of an agent."""
        self.used[Kind(run.unit, run.agent, run.model, run.usd_source, run.price_date)].add(run)

    def worked(self, job: JobTime) -> None:
        """See what a job took of a runner."""
        self.minutes.add(job.minutes, complete=job.complete)
        self.checks.add(exact(job.checks), complete=job.complete)
        bill(self.actions, job)

    def turned(self, turn: Turn) -> None:
        """See a turn that a plan took."""
        line = turn.line
        self.asked += turn.first
        if line.from_state is not line.to_state:
            self.merged += line.event == "pull_request_merged" and line.to_state is State.MERGED
            self.denied += line.event == "pull_request_closed" and line.to_state is State.REJECTED
        if line.event == SHOWN:
            self.shown += 1
            self.failing += line.holding_back > 0
        if (decision := decided(turn)) is not None:
            self.decided[decision.gate] += 1
            self.rejected[decision.gate] += decision.rejects

    def stood(self, gate: Gate, seconds: float) -> None:
        """See the end of a plan's stand at a gate."""
        self.waited[gate].append(seconds)

    def include(self, other: Seen) -> None:
        """Add what was seen of other plans, or in another stretch."""
        for kind, use in other.used.items():
            self.used[kind].include(use)
        self.minutes.include(other.minutes)
        self.actions.include(other.actions)
        self.checks.include(other.checks)
        self.asked += other.asked
        self.merged += other.merged
        self.denied += other.denied
        self.shown += other.shown
        self.failing += other.failing
        self.decided += other.decided
        self.rejected += other.rejected
        for gate, lengths in other.waited.items():
            self.waited[gate] += lengths

    def happened(self, since: float, until: float) -> Happened:
        """Return it in figures; the times are those between which it was seen."""
        agents, actions = together(self.used.values()), self.actions.amount
        at_gate = {gate: Share(part=self.rejected[gate], whole=self.decided[gate]) for gate in Gate}
        return Happened(
            since=since,
            until=until,
            spend=all_dollars(agents.usd, actions),
            agents=agents,
            check_seconds=self.checks.amount,
            actions_minutes=self.minutes.amount,
            actions_usd=actions,
            people_seconds=sum(sum(lengths) for lengths in self.waited.values()),
            asked=self.asked,
            merged=self.merged,
            denied=self.denied,
            at_plan_gate=at_gate[Gate.PLAN],
            at_diff_gate=at_gate[Gate.DIFF],
            failing_shown=Share(part=self.failing, whole=self.shown),
            waits={gate: median(lengths) if lengths else None for gate, lengths in self.waited.items()},
        )

    def by(self, name: Callable[[Kind], str]) -> dict[str, Tally]:
        """Return the tallies of the runs by a name of theirs."""
        found: dict[str, list[Use]] = defaultdict(list)
        for kind, use in self.used.items():
            found[name(kind)].append(use)
        return {key: together(found[key]) for key in sorted(found)}


def together(uses: Iterable[Use]) -> Tally:
    """Return what all of these used."""
    found = Use()
    for use in uses:
        found.include(use)
    return found.tally


class Decision(NamedTuple):
    """What was decided at a gate."""

    gate: Gate
    rejects: bool


def decided(turn: Turn) -> Decision | None:
    """Return what a turn decides, where it does.

    What was said to something that had changed meanwhile is no approval.
    """
    line, ended = turn.line, turn.ended
    if ended is None:
        return None
    if line.event == "rejected":
        return Decision(ended.gate, rejects=True)
    goes_on = line.event == "approved" and (line.to_state, line.waiting_on is WaitingOn.BOT) in GOES_ON
    return Decision(ended.gate, rejects=False) if goes_on else None
