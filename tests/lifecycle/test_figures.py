"""The figures of a period against a second account that is kept while the histories are made up.

The account counts in thousandths of a dollar, whole numbers, as each thing is made up; it knows nothing of histories.
"""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from decimal import Decimal
from math import ceil
from statistics import median

import pytest

from bot.lifecycle.amounts import KINDS, Amount
from bot.lifecycle.costs import dollars
from bot.lifecycle.figures import Figures, figures, figures_of
from bot.lifecycle.happened import Happened, Share
from bot.lifecycle.histories import History, JobTime, Line, Spending, Wait, waits_of
from bot.lifecycle.periods import DAY, WEEK
from bot.lifecycle.reckoning import reckon
from bot.lifecycle.states import Gate, State, WaitingOn
from runner.contract import Usage, UsdSource
from runner.results import Unit

SINCE, UNTIL = 1_000_000.0, 3_000_000.0
FEBRUARY, MARCH = 2_678_400.0, 5_097_600.0
"""Of 1970; the period ends between the two."""
PLANS = 1_000
RATE = 8
"""Thousandths of a dollar a minute of Actions."""


@dataclass
class Sum:
    """A sum in whole numbers, and how many of its parts are known, in doubt and covered by a subscription."""

    value: int = 0
    known: int = 0
    doubtful: int = 0
    covered: int = 0

    def add(self, value: int | None, *, complete: bool = True, covered: bool = False) -> None:
        self.value += value or 0
        self.known += value is not None
        self.covered += covered
        self.doubtful += not covered and (value is None or not complete)

    def is_told_by(self, amount: Amount, scale: int = 1_000) -> bool:
        """Whether a sum of the figures tells the same, to the last thousandth."""
        told = (amount.value, amount.at_least, amount.covered)
        return told == (Decimal(self.value) / scale, self.doubtful > 0, self.covered > 0)


@dataclass
class Account:
    """What the period comes to, noted down as each thing is made up."""

    money: Sum = field(default_factory=Sum)
    agents: Sum = field(default_factory=Sum)
    actions: Sum = field(default_factory=Sum)
    minutes: Sum = field(default_factory=Sum)
    checks: Sum = field(default_factory=Sum)
    seconds: Sum = field(default_factory=Sum)
    february: Sum = field(default_factory=Sum)
    lost: dict = field(default_factory=lambda: defaultdict(Sum))
    by: dict = field(default_factory=lambda: defaultdict(Sum))
    tokens: dict = field(default_factory=lambda: defaultdict(Sum))
    daily: dict = field(default_factory=lambda: defaultdict(Sum))
    days: dict = field(default_factory=lambda: defaultdict(Counter))
    runs: int = 0
    merged: int = 0
    denied: int = 0
    decided: Counter = field(default_factory=Counter)
    rejected: Counter = field(default_factory=Counter)
    waited: dict = field(default_factory=lambda: {gate: [] for gate in Gate})
    standing: dict = field(default_factory=lambda: {gate: [] for gate in Gate})
    reached: list = field(default_factory=list)
    attempts: list = field(default_factory=list)
    worked_for: int = 0
    shown: int = 0
    failing: int = 0


class Life:
    """One plan's life, told to a history and to the account at once."""

    def __init__(self, rng: random.Random, account: Account, *, doubts: bool) -> None:
        self.rng, self.account, self.doubts = rng, account, doubts
        self.at = rng.uniform(0, UNTIL)
        self.state, self.lines, self.spending, self.jobs = None, [], [], []
        self.mine: list[tuple] = []
        self.runs = self.executions = self.reached = 0
        self.in_period_from_start = self.at >= SINCE
        self.agent = rng.choice(["claude", "codex"])

    def now(self) -> bool:
        return SINCE <= self.at < UNTIL

    def today(self, what: str) -> None:
        if self.now():
            self.account.days[int(self.at // DAY)][what] += 1

    def line(self, event: str, to: State, waiting_on: WaitingOn | None, holding_back: int = 0) -> None:
        self.lines.append(Line(self.at, event, self.state, to, waiting_on, holding_back))
        self.state = to

    def note(self, value: int | None, **doubt: bool) -> None:
        """Note dollars wherever they count."""
        account = self.account
        account.money.add(value, **doubt)
        account.daily[int(self.at // DAY)].add(value, **doubt)
        if self.at >= FEBRUARY:
            account.february.add(value, **doubt)
        self.mine.append((value, doubt))

    def spend(self, unit: Unit) -> None:
        rng, account = self.rng, self.account
        mills, seconds = rng.randrange(1, 5_000), rng.randrange(1, 2_000)
        tokens = {kind: rng.randrange(100_000) for kind in KINDS}
        source, dated = rng.choice([(UsdSource.METERED, "prices 1"), (UsdSource.REPORTED, None)])
        complete = covered = True
        if self.doubts:
            complete, covered = rng.random() < 0.9, rng.random() < 0.1
            tokens = {kind: None if rng.random() < 0.05 else count for kind, count in tokens.items()}
            mills = None if covered or rng.random() < 0.1 else mills
            source = UsdSource.SUBSCRIPTION if covered else source
        else:
            covered = False
        model = rng.choice(["large", "small", None])
        run = Usage(
            unit=unit,
            agent=self.agent,
            model=model,
            attempt=1,
            usd=None if mills is None else Decimal(mills) / 1_000,
            usd_source=source,
            price_date=dated if source is UsdSource.METERED else None,
            seconds=seconds,
            complete=complete,
            **{f"{kind}_tokens": count for kind, count in tokens.items()},
        )
        self.spending.append(Spending(self.at, run))
        if not self.now():
            return
        doubt = {"complete": complete, "covered": covered}
        self.note(mills, **doubt)
        named = {"unit": unit, "agent": self.agent, "model": model or "unknown"}
        told_by = f"{source}, {dated}" if source is UsdSource.METERED else str(source)
        for key in (*named.items(), ("source", told_by)):
            account.by[key].add(mills, **doubt)
        account.agents.add(mills, **doubt)
        account.seconds.add(seconds, complete=complete)
        for kind, count in tokens.items():
            account.tokens[kind].add(count, complete=complete)
        account.runs += 1
        self.runs += 1
        self.executions += unit is Unit.EXECUTE_PLAN

    def job(self) -> None:
        """Let what was spent have been one job."""
        seconds, checks = self.rng.randrange(1, 4_000), self.rng.randrange(900)
        complete = not self.doubts or self.rng.random() < 0.9
        self.jobs.append(JobTime(self.at, seconds, checks, complete, Decimal(RATE) / 1_000))
        if self.now():
            minutes = ceil(seconds / 60)
            self.account.minutes.add(minutes, complete=complete)
            self.account.actions.add(RATE * minutes, complete=complete)
            self.account.checks.add(checks, complete=complete)
            self.note(RATE * minutes, complete=complete)

    def wait(self, gate: Gate) -> bool:
        """Stand at the gate; False where that lasts beyond the period."""
        start, self.at = self.at, self.at + self.rng.uniform(60, 400_000)
        if self.at >= UNTIL:
            if start < UNTIL:
                self.account.standing[gate].append(UNTIL - start)
            return False
        if self.now():
            self.account.waited[gate].append(self.at - start)
        return True

    def decided(self, gate: Gate, *, rejected: bool) -> None:
        if self.now():
            self.account.decided[gate] += 1
            self.account.rejected[gate] += rejected

    def over(self, how: str) -> None:
        """End without anything to show for it."""
        for value, doubt in self.mine:
            self.account.lost[how].add(value, **doubt)

    def reject(self, gate: Gate) -> None:
        self.line("rejected", State.REJECTED, None)
        self.decided(gate, rejected=True)
        self.over("rejected")

    def live(self) -> History:
        self.line("plan_requested", State.DRAFT, WaitingOn.RUNNER)
        self.today("asked")
        self.go_on()
        if self.in_period_from_start:
            self.account.reached.append(self.reached)
        if self.executions:
            self.account.attempts.append(self.executions)
        self.account.worked_for += self.runs > 0
        return History(self.lines, self.spending, self.jobs)

    def later(self) -> bool:
        self.at += self.rng.uniform(1, 5_000)
        return self.at < UNTIL

    def go_on(self) -> None:
        if not self.later():
            return
        self.spend(Unit.CREATE_PLAN)
        self.job()
        self.line("plan_posted", State.DRAFT, WaitingOn.PLAN_DECISION)
        if not self.wait(Gate.PLAN):
            return
        if self.rng.random() < 0.2:
            self.reject(Gate.PLAN)
            return
        if self.rng.random() < 0.1:
            self.line("cancel_requested", State.CANCELLED, None)
            self.over("abandoned")
            return
        if self.rng.random() < 0.2:  # changed meanwhile: the approval is void, and the plan asks anew
            self.line("approved", State.DRAFT, WaitingOn.BOT)
            self.line("plan_posted", State.DRAFT, WaitingOn.PLAN_DECISION)
            if not self.wait(Gate.PLAN):
                return
        self.line("approved", State.APPROVED, WaitingOn.SLOT)
        self.decided(Gate.PLAN, rejected=False)
        self.reached = 1
        self.execute()

    def execute(self) -> None:
        if not self.later():
            return
        for _ in range(self.rng.randrange(1, 4)):
            self.spend(Unit.EXECUTE_PLAN)
        self.job()
        self.line("branch_confirmed", State.IN_REVIEW, WaitingOn.BOT)
        self.reached = 2
        failing = self.doubts and self.rng.random() < 0.1
        self.line("review_posted", State.IN_REVIEW, WaitingOn.DIFF_DECISION, int(failing))
        self.account.shown += self.now()
        self.account.failing += self.now() and failing
        if not self.wait(Gate.DIFF):
            return
        if self.rng.random() < 0.3:
            self.reject(Gate.DIFF)
            return
        self.line("approved", State.IN_REVIEW, WaitingOn.BOT)
        self.decided(Gate.DIFF, rejected=False)
        self.reached = 3
        self.line("pull_request_opened", State.PR_OPEN, WaitingOn.MERGE)
        self.end()

    def end(self) -> None:
        if not self.later():
            return
        if self.rng.random() < 0.25:
            self.line("pull_request_closed", State.REJECTED, None)
            self.account.denied += self.now()
            self.today("denied")
            self.over("rejected")
            return
        self.line("pull_request_merged", State.MERGED, None)
        self.account.merged += self.now()
        self.today("merged")
        self.reached = 4


Told = tuple[Figures, Account, tuple[Happened, ...]]


@pytest.fixture(scope="module", params=[False, True], ids=["all known", "unknown and covered"])
def told(request: pytest.FixtureRequest) -> Told:
    rng, account = random.Random(20_261_130), Account()
    histories = [Life(rng, account, doubts=request.param).live() for _ in range(PLANS)]
    return figures(histories, SINCE, UNTIL), account, reckon(histories, SINCE, UNTIL, DAY).trend(DAY)


def test_money_is_right_to_the_thousandth_and_says_what_it_does_not_know(told: Told):
    found, account, _ = told
    assert account.money.value > 1_000_000
    assert account.money.is_told_by(found.spend)
    assert account.agents.is_told_by(found.agents.usd)
    assert account.actions.is_told_by(found.actions_usd)
    assert account.lost["rejected"].is_told_by(found.rejected)
    assert account.lost["abandoned"].is_told_by(found.abandoned)
    both = Sum(*(sum(getattr(each, name) for each in account.lost.values()) for name in Sum.__annotations__))
    assert both.is_told_by(found.came_to_nothing)
    each = found.cost_per_merged
    assert each is not None
    assert each.value == Decimal(account.money.value) / 1_000 / account.merged
    month = Decimal(account.money.value) * Decimal(MARCH - UNTIL) / Decimal(UNTIL - SINCE)
    assert found.forecast is not None
    assert found.forecast.value == pytest.approx((account.february.value + month) / 1_000)
    for amount in (found.spend, each, found.forecast, found.came_to_nothing):
        assert amount.at_least == (account.money.doubtful > 0) == dollars(amount).startswith("at least $")
        assert amount.covered == (account.money.covered > 0) == dollars(amount).endswith(" + subscription")


def test_money_is_right_by_unit_agent_model_and_source(told: Told):
    found, account, _ = told
    parts = {"unit": found.by_unit, "agent": found.by_agent, "model": found.by_model, "source": found.by_source}
    assert {(kind, name) for kind, tallies in parts.items() for name in tallies} == account.by.keys()
    for (kind, name), expected in account.by.items():
        if expected.known:
            assert expected.is_told_by(parts[kind][name].usd), (kind, name)
        else:
            assert dollars(parts[kind][name].usd) == "covered by subscription", (kind, name)
    for tallies in parts.values():
        assert sum(tally.runs for tally in tallies.values()) == account.runs == found.agents.runs


def test_tokens_and_times_are_right(told: Told):
    found, account, _ = told
    for kind in KINDS:
        assert account.tokens[kind].is_told_by(found.agents.tokens[kind], 1), kind
    assert account.seconds.is_told_by(found.agents.seconds, 1)
    assert account.checks.is_told_by(found.check_seconds, 1)
    assert account.minutes.is_told_by(found.actions_minutes, 1)
    assert found.people_seconds == pytest.approx(sum(map(sum, account.waited.values())))


def test_what_became_of_plans_is_counted_once(told: Told):
    found, account, _ = told
    assert (found.merged, found.denied) == (account.merged, account.denied)
    assert found.denial_rate.value == Decimal(account.denied) / (account.denied + account.merged)
    for gate, share in ((Gate.PLAN, found.at_plan_gate), (Gate.DIFF, found.at_diff_gate)):
        assert share == Share(part=account.rejected[gate], whole=account.decided[gate])
    stages = [sum(r >= n for r in account.reached) for n in range(5)]
    assert found.stages == tuple(stages)
    assert found.asked == stages[0]
    assert [share.value for share in found.pass_rates] == [Decimal(stages[n + 1]) / stages[n] for n in range(4)]
    assert found.attempts == Decimal(sum(account.attempts)) / len(account.attempts)
    assert found.worked_for == account.worked_for
    assert found.failing_shown == Share(part=account.failing, whole=account.shown)


def test_people_are_waited_for_as_long_as_it_took(told: Told):
    found, account, _ = told
    for gate in Gate:
        assert found.waits[gate] == pytest.approx(median(account.waited[gate]))
        assert found.oldest[gate] == pytest.approx(max(account.standing[gate]))
    assert found.bottleneck.startswith("People are the bottleneck: ")
    assert found.agent_seconds_a_plan == pytest.approx(account.seconds.value / account.worked_for)


def test_a_trend_tells_each_day_by_itself(told: Told):
    _, account, days = told
    assert (days[0].since, days[0].until) == (SINCE, 12 * DAY)
    assert (days[-1].since, days[-1].until) == (34 * DAY, UNTIL)
    for number, day in enumerate(days, int(SINCE // DAY)):
        assert account.daily[number].is_told_by(day.spend)
        happened = {"asked": day.asked, "merged": day.merged, "denied": day.denied}
        assert Counter({what: n for what, n in happened.items() if n}) == account.days[number]


def line(at: float, event: str, to: State, waiting_on: WaitingOn | None = None, **fields) -> Line:
    return Line(
        **{"at": at, "event": event, "from_state": State.DRAFT, "to_state": to, "waiting_on": waiting_on, **fields}
    )


def spent(usd: str | None, at: float = 5.0, **fields) -> Spending:
    run = {"unit": Unit.EXECUTE_PLAN, "agent": "claude", "model": "m", "attempt": 1, "seconds": 600, **fields}
    return Spending(at=at, usage=Usage(usd=None if usd is None else Decimal(usd), **run))


COVERED = {"usd_source": UsdSource.SUBSCRIPTION}
MERGED = (line(6.0, "pull_request_merged", State.MERGED),)


def test_an_unknown_price_makes_every_sum_over_it_at_least():
    found = figures([History(MERGED, (spent("1.50"), spent(None)))], 0.0, 10.0)
    assert found.spend == Amount(value=Decimal("1.50"), at_least=True)
    assert found.cost_per_merged == found.spend
    unknown = figures([History(MERGED, (spent(None),))], 0, 9)
    assert unknown.cost_per_merged == Amount(value=None)


def test_what_a_subscription_covers_is_neither_unknown_nor_nothing():
    found = figures([History(MERGED, (spent(None, **COVERED, input_tokens=7),), [JobTime(6.0, 30.0)])], 0.0, 10.0)
    assert found.spend == found.cost_per_merged == Amount(value=None, covered=True)
    assert dollars(found.spend) == "covered by subscription"
    assert found.agents.tokens["input"] == Amount(value=Decimal(7))
    some = figures([History(MERGED, (spent(None, **COVERED), spent("2"), spent(None)))], 0.0, 10.0)
    assert dollars(some.spend) == "at least $2.00 + subscription"
    none = figures([History(MERGED, (spent(None, **COVERED), spent(None)))], 0.0, 10.0)
    assert dollars(none.spend) == "unknown + subscription"
    assert none.agents.usd == Amount(value=None, at_least=True, covered=True)


def test_minutes_of_actions_cost_what_the_rate_says_each_jobs_rounded_up():
    jobs = [JobTime(3.0, 61.0, rate=Decimal("0.5")), JobTime(4.0, 60.0), JobTime(5.0, None, complete=False)]
    found = figures([History(MERGED, (spent("2"),), jobs)], 0.0, 10.0)
    assert found.actions_minutes == Amount(value=Decimal(3), at_least=True)
    assert found.actions_usd == Amount(value=Decimal(1))
    assert found.spend == Amount(value=Decimal(3))
    lost = figures([History(MERGED, (), [JobTime(5.0, None, complete=False, rate=Decimal(1))])], 0.0, 10.0)
    assert dollars(lost.spend) == "unknown"


def test_nothing_is_known_of_nothing():
    found = figures([], 0.0, 10.0)
    assert found.spend == found.came_to_nothing == Amount(value=Decimal(0))
    assert found.cost_per_merged is None
    assert found.denial_rate.value is None
    assert found.waits == found.oldest == {Gate.PLAN: None, Gate.DIFF: None}
    assert found.attempts is None
    assert found.forecast is None
    assert found.bottleneck == "Too little happened to tell what plans wait for."
    assert reckon([], 10.0, 10.0).trend(WEEK) == ()
    assert not found.tells_something
    assert figures([History(MERGED)], 0.0, 10.0).tells_something


def test_the_forecast_adds_the_pace_of_the_period_to_what_the_month_has_cost():
    histories = [History((), (spent("7", at=FEBRUARY - 1), spent("2", at=FEBRUARY + 1), spent("5", at=FEBRUARY + DAY)))]
    found = figures(histories, FEBRUARY, FEBRUARY + 2 * DAY)
    assert found.forecast == Amount(value=Decimal(7 * 14))
    week = figures(histories, FEBRUARY - 5 * DAY, FEBRUARY + 2 * DAY)
    assert week.forecast == Amount(value=Decimal(7 + 2 * 26))
    over = figures(histories, FEBRUARY, MARCH)
    assert over.forecast == over.spend == Amount(value=Decimal(7))


def test_a_trend_of_weeks_begins_on_mondays():
    thursday = 0.0
    histories = [History((), (spent("1", at=3 * DAY), spent("2", at=4 * DAY), spent("4", at=11 * DAY - 1)))]
    for step in (DAY, WEEK):
        found = reckon(histories, thursday, 12 * DAY, step).trend(WEEK)
        told = [(point.since / DAY, point.until / DAY, point.spend.value) for point in found]
        assert told == [(0, 4, 1), (4, 11, 6), (11, 12, 0)]


def test_a_diff_that_reached_a_person_with_a_failing_check_is_counted():
    shown = line(3.0, "review_posted", State.IN_REVIEW, WaitingOn.DIFF_DECISION, holding_back=1)
    assert figures([History(lines=(shown,))], 0.0, 10.0).failing_shown == Share(part=1, whole=1)


def test_a_plan_that_asks_anew_stands_at_the_gate_again():
    lines = (
        line(1.0, "plan_requested", State.DRAFT, WaitingOn.RUNNER),
        line(2.0, "plan_posted", State.DRAFT, WaitingOn.PLAN_DECISION),
        line(3.0, "status_requested", State.DRAFT, WaitingOn.PLAN_DECISION),
        line(5.0, "update_requested", State.DRAFT, WaitingOn.RUNNER),
        line(7.0, "plan_posted", State.DRAFT, WaitingOn.PLAN_DECISION),
    )
    first, second = waits_of(lines)
    assert first == Wait(gate=Gate.PLAN, start=2.0, end=5.0)
    assert second == Wait(gate=Gate.PLAN, start=7.0, end=None)
    assert figures([History(lines=lines)], 0.0, 10.0).at_plan_gate == Share(part=0, whole=0)


def test_of_several_repositories_the_plan_that_stands_longest_is_the_oldest():
    asked = [line(at, "plan_posted", State.DRAFT, WaitingOn.PLAN_DECISION) for at in (4.0, 2.0, 3.0)]
    one, *others = (reckon([History(lines=(each,))], 0.0, 10.0) for each in asked)
    for other in others:
        one.include(other)
    found, whole = figures_of(one), figures([History(lines=(each,)) for each in asked], 0.0, 10.0)
    assert found.oldest == whole.oldest == {Gate.PLAN: 8.0, Gate.DIFF: None}


def test_nobody_decides_before_they_were_asked_though_githubs_clock_is_behind():
    lines = (
        line(300.0, "plan_posted", State.DRAFT, WaitingOn.PLAN_DECISION),
        line(180.0, "approved", State.APPROVED, WaitingOn.BOT),
    )
    assert list(waits_of(lines)) == [Wait(gate=Gate.PLAN, start=300.0, end=300.0)]
    found = figures([History(lines=lines, spending=(spent("1"),))], 0.0, 400.0)
    assert (found.people_seconds, found.waits[Gate.PLAN]) == (0.0, 0.0)
    assert "-" not in found.bottleneck


def test_further_work_is_decided_at_the_diff_gate_too():
    lines = (
        line(1.0, "pull_request_opened", State.PR_OPEN, WaitingOn.MERGE),
        line(2.0, "review_posted", State.IN_REVIEW, WaitingOn.DIFF_DECISION),
        line(3.0, "rejected", State.PR_OPEN, WaitingOn.MERGE),
    )
    assert figures([History(lines=lines)], 0.0, 10.0).at_diff_gate == Share(part=1, whole=1)


def test_agents_can_be_the_bottleneck():
    asked = line(1.0, "plan_requested", State.DRAFT, WaitingOn.RUNNER)
    found = figures([History(lines=(asked,), spending=(spent("1"),))], 0.0, 10.0)
    assert found.bottleneck == "Agents are the bottleneck: 10 minutes of them a plan, 0 minutes at the gates."
    longer = figures([History(lines=(asked,), spending=(spent("1", seconds=9_000),))], 0.0, 10.0)
    assert "2.5 hours of them" in longer.bottleneck
    short = figures([History(lines=(asked,), spending=(spent("1", seconds=3),))], 0.0, 10.0)
    assert short.bottleneck == "Agents are the bottleneck: less than a minute of them a plan, 0 minutes at the gates."
