"""What happened in a stretch of time, by when each thing did: the points of a trend, and the base of all figures."""

from __future__ import annotations

from collections import defaultdict
from decimal import Decimal
from functools import cached_property
from math import ceil
from statistics import median
from typing import TYPE_CHECKING, NamedTuple

from bot.lifecycle.costs import Amount, Tally, actions_of, all_dollars, exact
from bot.lifecycle.histories import waits_of
from bot.lifecycle.periods import DAY, aligned
from bot.lifecycle.states import Frozen, Gate, State, WaitingOn

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from bot.lifecycle.histories import History, JobTime, Line
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


def trend(histories: Sequence[History], since: float, until: float, step: float = DAY) -> tuple[Happened, ...]:
    """Return what happened in each day of a period, or with a step of :data:`~.periods.WEEK` in each week.

    Days begin at midnight UTC and weeks on Mondays; the first and the last are cut by the period.
    """
    start = aligned(since, step)
    points = [Seen() for _ in range(ceil((until - start) / step) if since < until else 0)]

    def place(at: float) -> Seen | None:
        return points[int((at - start) // step)] if since <= at < until else None

    for history in histories:
        sort_in(history, place)
    return tuple(
        point.happened(max(since, start + step * n), min(until, start + step * (n + 1)))
        for n, point in enumerate(points)
    )


def spent_on(histories: Iterable[History], since: float, until: float) -> Amount:
    """Return all dollars that were spent between two times."""
    known = list(histories)
    runs = [s.usage for h in known for s in h.spending if since <= s.at < until]
    return Spent(runs, [job for h in known for job in h.jobs if since <= job.at < until]).dollars


class Kind(NamedTuple):
    """What runs of agents have in common."""

    unit: Unit
    agent: str
    model: str | None
    source: UsdSource
    price_date: str | None


class Spent(NamedTuple):
    """What was spent on one plan."""

    runs: Sequence[Usage]
    jobs: Sequence[JobTime]

    @property
    def dollars(self) -> Amount:
        """All of it."""
        return all_dollars(Amount.dollars(self.runs), actions_of(self.jobs))


class Seen:
    """What was seen to happen within a stretch of time."""

    def __init__(self) -> None:
        self.runs: list[Usage] = []
        self.jobs: list[JobTime] = []
        self.asked = self.merged = self.denied = 0
        self.shown: list[bool] = []
        """Of each diff shown, whether a blocking check had failed."""
        self.rejected: dict[Gate, list[bool]] = {gate: [] for gate in Gate}
        """Of each decision, whether it was a rejection."""
        self.waited: dict[Gate, list[float]] = {gate: [] for gate in Gate}

    def take(self, history: History, since: float) -> Spent:
        """See what happened to a plan from a time on, and return what it spent from then on."""
        runs, jobs = len(self.runs), len(self.jobs)
        sort_in(history, lambda at: self if at >= since else None)
        return Spent(self.runs[runs:], self.jobs[jobs:])

    def happened(self, since: float, until: float) -> Happened:
        """Return it in figures; the times are those between which it was seen."""
        agents, actions = Tally.sum(self._tallies.values()), actions_of(self.jobs)
        plan_gate, diff_gate = (self.rejected[gate] for gate in (Gate.PLAN, Gate.DIFF))
        return Happened(
            since=since,
            until=until,
            spend=all_dollars(agents.usd, actions),
            agents=agents,
            check_seconds=Amount.total((exact(job.checks), job.complete) for job in self.jobs),
            actions_minutes=Amount.total((job.minutes, job.complete) for job in self.jobs),
            actions_usd=actions,
            people_seconds=sum(sum(lengths) for lengths in self.waited.values()),
            asked=self.asked,
            merged=self.merged,
            denied=self.denied,
            at_plan_gate=Share(part=sum(plan_gate), whole=len(plan_gate)),
            at_diff_gate=Share(part=sum(diff_gate), whole=len(diff_gate)),
            failing_shown=Share(part=sum(self.shown), whole=len(self.shown)),
            waits={gate: median(lengths) if lengths else None for gate, lengths in self.waited.items()},
        )

    def by(self, name: Callable[[Kind], str]) -> dict[str, Tally]:
        """Return the tallies of the runs by a name of theirs."""
        found: dict[str, list[Tally]] = defaultdict(list)
        for kind, tally in self._tallies.items():
            found[name(kind)].append(tally)
        return {key: Tally.sum(found[key]) for key in sorted(found)}

    @cached_property
    def _tallies(self) -> dict[Kind, Tally]:
        """Of all runs, once all have been seen."""
        groups: dict[Kind, list[Usage]] = defaultdict(list)
        for run in self.runs:
            groups[Kind(run.unit, run.agent, run.model, run.usd_source, run.price_date)].append(run)
        return {kind: Tally.of(runs) for kind, runs in groups.items()}


def sort_in(history: History, place: Callable[[float], Seen | None]) -> None:
    """Put everything that happened to a plan where it belongs by its time."""
    for told, usage in history.spending:
        if (seen := place(told)) is not None:
            seen.runs.append(usage)
    for job in history.jobs:
        if (seen := place(job.at)) is not None:
            seen.jobs.append(job)
    for before, line in pairs(history.lines):
        if (seen := place(line.at)) is not None:
            _note(seen, before, line)
    for wait in waits_of(history.lines):
        if wait.end is not None and (seen := place(wait.end)) is not None:
            seen.waited[wait.gate].append(wait.end - wait.start)


def pairs(lines: Sequence[Line]) -> Iterator[tuple[Line | None, Line]]:
    """Yield each line after the one before it."""
    before = None
    for line in lines:
        yield before, line
        before = line


def _note(seen: Seen, before: Line | None, line: Line) -> None:
    """Note what one line of a journal tells, after the one before it."""
    seen.asked += before is None
    arrived = line.from_state is not line.to_state
    seen.merged += arrived and line.event == "pull_request_merged" and line.to_state is State.MERGED
    seen.denied += arrived and line.event == "pull_request_closed" and line.to_state is State.REJECTED
    if line.event == "review_posted":
        seen.shown.append(line.holding_back > 0)
    for gate, rejected in decided(before, line):
        seen.rejected[gate].append(rejected)


def decided(before: Line | None, line: Line) -> Iterator[tuple[Gate, bool]]:
    """Yield the gate that a line decides at, where it does, and whether it rejects what stood there.

    What was said to something that had changed meanwhile is no approval.
    """
    gate = before.gate if before is not None else None
    if gate is None or line.gate is gate:
        return
    if line.event == "rejected":
        yield gate, True
    elif line.event == "approved" and (line.to_state, line.waiting_on is WaitingOn.BOT) in GOES_ON:
        yield gate, False
