"""What a period cost and what came of it: the figures that a maintainer decides with, each defined here and only here.

A figure is over a period, ``since`` (included) to ``until`` (not), in seconds since the epoch. Money counts when it was
reported, decisions when they were made. What nothing is known of is None, never zero; a sum with unknown parts says
"at least". ``docs/reference/costs.md`` has the formulas in words.
"""

from __future__ import annotations

from collections import defaultdict
from decimal import Decimal
from statistics import median
from typing import TYPE_CHECKING

from bot.lifecycle.costs import Amount
from bot.lifecycle.states import Frozen, Gate, State, WaitingOn
from runner.contract import Usage
from runner.results import Unit

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

MINUTE, HOUR = 60, 3_600
WAITS = {WaitingOn.PLAN_DECISION: Gate.PLAN, WaitingOn.DIFF_DECISION: Gate.DIFF}
"""What a plan waits on while it stands at a gate."""
STAGES = ("asked for", "plan approved", "verified", "diff approved", "merged")
"""How far a plan got, in order; each stage contains those behind it."""


class Line(Frozen):
    """One line of a plan's journal, as far as figures need it."""

    at: float
    event: str
    from_state: State | None
    to_state: State | None
    waiting_on: WaitingOn | None
    """What the plan waits on after it."""
    holding_back: int = 0
    """Blocking checks that had failed on the work under review."""


class Spending(Frozen):
    """What one run of an agent used, and when that was told."""

    at: float
    usage: Usage


class History(Frozen):
    """Everything about one plan: its journal and its spending, both in order of time."""

    lines: tuple[Line, ...]
    spending: tuple[Spending, ...] = ()


class Wait(Frozen):
    """A plan that stood at a gate: ``end`` is None where it still stands."""

    gate: Gate
    start: float
    end: float | None


class Share(Frozen):
    """A part of a whole, both counted; what has no whole has no share."""

    part: int
    whole: int

    @property
    def value(self) -> Decimal | None:
        """The share, 0 to 1."""
        return Decimal(self.part) / self.whole if self.whole else None


class Figures(Frozen):
    """A period in figures."""

    since: float
    until: float
    spend: Amount
    merged: int
    """Pull requests merged."""
    denied: int
    """Pull requests closed unmerged."""
    at_plan_gate: Share
    """Plans rejected there, of all that were decided there."""
    at_diff_gate: Share
    came_to_nothing: Amount
    """Spent in the period on plans that had ended rejected, cancelled or denied by its end."""
    stages: tuple[int, ...]
    """Of the plans asked for in the period, how many have come to each of :data:`STAGES`."""
    attempts: Decimal | None
    """Runs of an executing agent a plan that was executed, on average."""
    failing_shown: Share
    """Diffs that reached a person with a blocking check that failed, of all that did; the product promises none."""
    waits: dict[Gate, float | None]
    """Median seconds until a person decided, of what was decided in the period."""
    oldest: dict[Gate, float | None]
    """Seconds that the oldest plan has waited which still stands at the gate."""
    agent_seconds: Amount
    by_unit: dict[str, Amount]
    by_agent: dict[str, Amount]
    by_model: dict[str, Amount]

    @property
    def cost_per_merged(self) -> Amount | None:
        """All that was spent, divided by what was merged; None where nothing was."""
        if not self.merged:
            return None
        value = self.spend.value
        return Amount(value=None if value is None else value / self.merged, at_least=self.spend.at_least)

    @property
    def denial_rate(self) -> Share:
        """Pull requests closed unmerged, of those that were decided."""
        return Share(part=self.denied, whole=self.denied + self.merged)

    def forecast(self, period: float) -> Amount:
        """Return what ``period`` seconds cost at the pace of these; a period without length forecasts nothing."""
        span = self.until - self.since
        if span <= 0 or self.spend.value is None:
            return Amount(value=None)
        return Amount(value=self.spend.value * Decimal(str(period / span)), at_least=self.spend.at_least)

    @property
    def bottleneck(self) -> str:
        """In a sentence: whether plans wait longer for people or for agents."""
        people = sum(value for value in self.waits.values() if value is not None)
        plans = self.stages[0]
        seconds = self.agent_seconds.value
        if not plans or seconds is None or not (people or seconds):
            return "Too little happened to tell what plans wait for."
        agents = float(seconds) / plans
        if people > agents:
            return f"People are the bottleneck: {_hours(people)} at the gates, {_hours(agents)} of agents a plan."
        return f"Agents are the bottleneck: {_hours(agents)} of them a plan, {_hours(people)} at the gates."


def _hours(seconds: float) -> str:
    return f"{seconds / HOUR:.1f} hours" if seconds >= HOUR else f"{seconds / MINUTE:.0f} minutes"


def figures(histories: Sequence[History], since: float, until: float) -> Figures:
    """Return the figures of a period over all these plans; lines after its end don't count."""
    known = [_until(history, until) for history in histories]
    spent = [s.usage for h in known for s in h.spending if s.at >= since]
    lost = [s.usage for h in known if _came_to_nothing(h) for s in h.spending if s.at >= since]
    asked = [h for h in known if h.lines and h.lines[0].at >= since]
    decided = [line for h in known for line in h.lines if line.at >= since]
    shown = [line for line in decided if line.event == "review_posted"]
    waits = [wait for h in known for wait in waits_of(h)]
    executed = [rows for h in known if (rows := _executions(h, since))]
    return Figures(
        since=since,
        until=until,
        spend=_dollars(spent),
        merged=_count(decided, "pull_request_merged", State.MERGED),
        denied=_count(decided, "pull_request_closed", State.REJECTED),
        at_plan_gate=_at_gate(known, since, Gate.PLAN),
        at_diff_gate=_at_gate(known, since, Gate.DIFF),
        came_to_nothing=_dollars(lost),
        stages=tuple(sum(_stage(h) >= n for h in asked) for n in range(len(STAGES))),
        attempts=Decimal(sum(executed)) / len(executed) if executed else None,
        failing_shown=Share(part=sum(line.holding_back > 0 for line in shown), whole=len(shown)),
        waits={gate: _median(w for w in waits if w.gate is gate and _ended_since(w, since)) for gate in Gate},
        oldest={gate: _oldest(waits, gate, until) for gate in Gate},
        agent_seconds=Amount.total((Decimal(str(run.seconds)), run.complete) for run in spent),
        by_unit=_by(spent, lambda row: row.unit.value),
        by_agent=_by(spent, lambda row: row.agent),
        by_model=_by(spent, lambda row: row.model or "unknown"),
    )


def waits_of(history: History) -> Iterator[Wait]:
    """Yield each time the plan stood at a gate; a plan that is held or asks anew stands there again."""
    gate: Gate | None = None
    start = 0.0
    for line in history.lines:
        now = WAITS.get(line.waiting_on) if line.waiting_on is not None else None
        if now is gate:
            continue
        if gate is not None:
            yield Wait(gate=gate, start=start, end=line.at)
        gate, start = now, line.at
    if gate is not None:
        yield Wait(gate=gate, start=start, end=None)


def _until(history: History, until: float) -> History:
    """Return what was known at a time."""
    return History(
        lines=tuple(line for line in history.lines if line.at < until),
        spending=tuple(spending for spending in history.spending if spending.at < until),
    )


def _dollars(rows: Iterable[Usage]) -> Amount:
    return Amount.total((row.usd, row.complete) for row in rows)


def _by(rows: Iterable[Usage], name: Callable[[Usage], str]) -> dict[str, Amount]:
    groups: dict[str, list[Usage]] = defaultdict(list)
    for row in rows:
        groups[name(row)].append(row)
    return {key: _dollars(groups[key]) for key in sorted(groups)}


def _count(lines: Iterable[Line], event: str, to: State) -> int:
    return sum(line.event == event and line.to_state is to and line.from_state is not to for line in lines)


def _came_to_nothing(history: History) -> bool:
    return bool(history.lines) and history.lines[-1].to_state in {State.REJECTED, State.CANCELLED}


def _at_gate(histories: Iterable[History], since: float, gate: Gate) -> Share:
    """Count decisions made while a plan stood at a gate: approvals and rejections."""
    approved = rejected = 0
    for history in histories:
        for before, line in zip(history.lines, history.lines[1:], strict=False):
            at = WAITS.get(before.waiting_on) if before.waiting_on is not None else None
            if line.at < since or at is not gate:
                continue
            approved += line.event == "approved" and WAITS.get(line.waiting_on or WaitingOn.BOT) is not gate
            rejected += line.event == "rejected" and line.to_state is State.REJECTED
    return Share(part=rejected, whole=approved + rejected)


def _stage(history: History) -> int:
    """Return the furthest of :data:`STAGES` that a plan has come to."""
    reached = 0
    for line in history.lines:
        if line.to_state is State.MERGED:
            return 4
        if line.event == "approved" and line.from_state is State.DRAFT and line.to_state is State.APPROVED:
            reached = max(reached, 1)
        if line.to_state is State.IN_REVIEW:
            reached = max(reached, 2)
            if line.event == "approved" and line.waiting_on is WaitingOn.BOT:
                reached = 3
    return reached


def _executions(history: History, since: float) -> int:
    return sum(s.at >= since and s.usage.unit is Unit.EXECUTE_PLAN for s in history.spending)


def _ended_since(wait: Wait, since: float) -> bool:
    return wait.end is not None and wait.end >= since


def _median(waits: Iterable[Wait]) -> float | None:
    lengths = [wait.end - wait.start for wait in waits if wait.end is not None]
    return median(lengths) if lengths else None


def _oldest(waits: Iterable[Wait], gate: Gate, until: float) -> float | None:
    return max((until - wait.start for wait in waits if wait.gate is gate and wait.end is None), default=None)
