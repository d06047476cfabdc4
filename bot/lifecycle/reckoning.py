"""What figures are made of, sorted out in one look at each plan; what was sorted out of several plans adds up.

So a period is read once, and told of each repository, of each organisation, of all together, and by days or weeks.
"""

from __future__ import annotations

from collections import defaultdict
from math import ceil
from typing import TYPE_CHECKING

from bot.lifecycle.amounts import Sum, all_dollars
from bot.lifecycle.costs import bill
from bot.lifecycle.happened import Seen, decided
from bot.lifecycle.histories import turns_of
from bot.lifecycle.periods import WEEK, aligned, month_start
from bot.lifecycle.states import Gate, State
from runner.results import Unit

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from bot.lifecycle.amounts import Amount
    from bot.lifecycle.happened import Happened
    from bot.lifecycle.histories import History, Turn

STAGES = ("asked for", "plan approved", "verified", "diff approved", "merged")
"""How far a plan got, in order; each stage contains those behind it."""
APPROVED_STAGE = {Gate.PLAN: 1, Gate.DIFF: 3}
"""Which of them an approval at a gate leads to."""


class Dollars:
    """All dollars of some plans, of agents and of GitHub Actions, while more are added."""

    def __init__(self) -> None:
        self.agents, self.actions = Sum(), Sum()

    def include(self, other: Dollars) -> None:
        """Add those of other plans."""
        self.agents.include(other.agents)
        self.actions.include(other.actions)

    @property
    def amount(self) -> Amount:
        """What they come to."""
        return all_dollars(self.agents.amount, self.actions.amount)


class Reckoning:
    """What there was of some plans in a period: ``since`` (included) to ``until`` (not), what came after doesn't count.

    Days begin at midnight UTC and weeks on Mondays; the first and the last are cut by the period.
    """

    def __init__(self, since: float, until: float, step: float = WEEK) -> None:
        self.since, self.until, self.step = since, until, step
        self.month = Dollars()
        """Of the month in which the period ends, up to its end."""
        self.ended: dict[State, Dollars] = defaultdict(Dollars)
        """Of the period, by where the plans were at its end."""
        self.stages = [0] * len(STAGES)
        """Of the plans asked for in the period, how many have come to each of :data:`STAGES`."""
        self.worked_for = self.executed = self.executions = 0
        """Plans that agents worked for, that they executed, and how often."""
        self.standing: dict[Gate, float] = {}
        """Since when the oldest plan stands at a gate that still does."""
        self._steps: dict[int, Seen] = defaultdict(Seen)
        self._start = aligned(since, step)
        self._month_start = month_start(max(since, until - 1))

    def take(self, history: History) -> None:
        """Sort a plan in."""
        turns, stands = turns_of(line for line in history.lines if line.at < self.until)
        self._sort(turns)
        if stands is not None:
            self._stands(stands.gate, stands.start)
        self._spent(history, self.ended[turns[-1].line.to_state or State.DRAFT if turns else State.DRAFT])

    def include(self, other: Reckoning) -> None:
        """Add what was sorted out of other plans, for the same period and steps."""
        for number, seen in other._steps.items():
            self._steps[number].include(seen)
        for state, dollars in other.ended.items():
            self.ended[state].include(dollars)
        for gate, start in other.standing.items():
            self._stands(gate, start)
        self.month.include(other.month)
        self.stages = [mine + more for mine, more in zip(self.stages, other.stages, strict=True)]
        self.worked_for += other.worked_for
        self.executed += other.executed
        self.executions += other.executions

    @property
    def seen(self) -> Seen:
        """All that was seen to happen in the period."""
        found = Seen()
        for seen in self._steps.values():
            found.include(seen)
        return found

    def trend(self, step: float) -> tuple[Happened, ...]:
        """Return what happened in each step of the period: those it was sorted by, or weeks where those are days."""
        start = aligned(self.since, step)
        count = ceil((self.until - start) / step) if self.since < self.until else 0
        points = [Seen() for _ in range(count)]
        for number, seen in self._steps.items():
            points[int((self._start + number * self.step - start) // step)].include(seen)
        return tuple(
            point.happened(max(self.since, start + step * n), min(self.until, start + step * (n + 1)))
            for n, point in enumerate(points)
        )

    def _sort(self, turns: Sequence[Turn]) -> None:
        for turn in turns:
            if turn.line.at >= self.since:
                self._at(turn.line.at).turned(turn)
            wait = turn.ended
            if wait is not None and wait.end is not None and wait.end >= self.since:
                self._at(wait.end).stood(wait.gate, wait.end - wait.start)
        if turns and turns[0].line.at >= self.since:
            for stage in range(_stage(turns) + 1):
                self.stages[stage] += 1

    def _spent(self, history: History, mine: Dollars) -> None:
        """Sort in what a plan spent."""
        runs = executions = 0
        for at, run in history.spending:
            if self._month_start <= at < self.until:
                self.month.agents.pay(run)
            if self.since <= at < self.until:
                self._at(at).spent(run)
                mine.agents.pay(run)
                runs += 1
                executions += run.unit is Unit.EXECUTE_PLAN
        for job in history.jobs:
            if self._month_start <= job.at < self.until:
                bill(self.month.actions, job)
            if self.since <= job.at < self.until:
                self._at(job.at).worked(job)
                bill(mine.actions, job)
        self.worked_for += runs > 0
        self.executed += executions > 0
        self.executions += executions

    def _stands(self, gate: Gate, start: float) -> None:
        self.standing[gate] = min(start, self.standing.get(gate, start))

    def _at(self, at: float) -> Seen:
        return self._steps[int((at - self._start) // self.step)]


def reckon(histories: Iterable[History], since: float, until: float, step: float = WEEK) -> Reckoning:
    """Return what there was of these plans in a period."""
    found = Reckoning(since, until, step)
    for history in histories:
        found.take(history)
    return found


def _stage(turns: Sequence[Turn]) -> int:
    """Return the furthest of :data:`STAGES` that a plan has come to."""
    reached = 0
    for turn in turns:
        state, decision = turn.line.to_state, decided(turn)
        if state is State.MERGED:
            return 4
        if state is State.IN_REVIEW:
            reached = max(reached, 2)
        if decision is not None and not decision.rejects:
            reached = max(reached, APPROVED_STAGE[decision.gate])
    return reached
