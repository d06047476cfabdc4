"""The figures of a period against a second account that is kept while the histories are made up."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import dataclass, field
from decimal import Decimal
from statistics import median

import pytest

from bot.lifecycle.costs import Amount
from bot.lifecycle.figures import Figures, History, Line, Share, Spending, Wait, figures, waits_of
from bot.lifecycle.states import Gate, State, WaitingOn
from runner.contract import Usage
from runner.results import Unit

SINCE, UNTIL = 1_000_000.0, 3_000_000.0
PLANS = 1_000


@dataclass
class Account:
    """What the period comes to, noted down as each thing is made up."""

    cents: int = 0
    lost_cents: int = 0
    merged: int = 0
    denied: int = 0
    decided: Counter = field(default_factory=Counter)
    rejected: Counter = field(default_factory=Counter)
    waited: dict = field(default_factory=lambda: {gate: [] for gate in Gate})
    standing: dict = field(default_factory=lambda: {gate: [] for gate in Gate})
    reached: list = field(default_factory=list)
    attempts: list = field(default_factory=list)
    shown: int = 0
    by_agent: Counter = field(default_factory=Counter)


class Life:
    """One plan's life, told to a history and to the account at once."""

    def __init__(self, rng: random.Random, account: Account) -> None:
        self.rng, self.account = rng, account
        self.at = rng.uniform(0, UNTIL)
        self.state, self.lines, self.spending = None, [], []
        self.mine = self.runs = self.reached = 0
        self.in_period_from_start = self.at >= SINCE
        self.agent = rng.choice(["claude", "codex"])

    def now(self) -> bool:
        return SINCE <= self.at < UNTIL

    def line(self, event: str, to: State, waiting_on: WaitingOn | None) -> None:
        self.lines.append(Line(at=self.at, event=event, from_state=self.state, to_state=to, waiting_on=waiting_on))
        self.state = to

    def spend(self, unit: Unit) -> None:
        cents = self.rng.randrange(1, 500)
        run = Usage(unit=unit, agent=self.agent, model=None, attempt=1, usd=Decimal(cents) / 100, seconds=60)
        self.spending.append(Spending(at=self.at, usage=run))
        if self.now():
            self.account.cents += cents
            self.account.by_agent[self.agent] += cents
            self.mine += cents
            self.runs += unit is Unit.EXECUTE_PLAN

    def wait(self, gate: Gate) -> bool:
        """Stand at the gate; False where that lasts beyond the period."""
        start, self.at = self.at, self.at + self.rng.uniform(60, 400_000)
        if self.at >= UNTIL:
            if start < UNTIL:
                self.account.standing[gate].append(UNTIL - start)
            return False
        if self.now():
            self.account.waited[gate].append(self.at - start)
            self.account.decided[gate] += 1
        return True

    def reject(self, gate: Gate) -> None:
        self.line("rejected", State.REJECTED, None)
        self.account.rejected[gate] += self.now()
        self.account.lost_cents += self.mine

    def live(self) -> History:
        self.line("plan_requested", State.DRAFT, WaitingOn.RUNNER)
        self.go_on()
        if self.in_period_from_start:
            self.account.reached.append(self.reached)
        if self.runs:
            self.account.attempts.append(self.runs)
        return History(lines=tuple(self.lines), spending=tuple(self.spending))

    def later(self) -> bool:
        self.at += self.rng.uniform(1, 5_000)
        return self.at < UNTIL

    def go_on(self) -> None:
        if not self.later():
            return
        self.spend(Unit.CREATE_PLAN)
        self.line("plan_posted", State.DRAFT, WaitingOn.PLAN_DECISION)
        if not self.wait(Gate.PLAN):
            return
        if self.rng.random() < 0.2:
            self.reject(Gate.PLAN)
            return
        self.line("approved", State.APPROVED, WaitingOn.SLOT)
        self.reached = 1
        self.execute()

    def execute(self) -> None:
        if not self.later():
            return
        for _ in range(self.rng.randrange(1, 4)):
            self.spend(Unit.EXECUTE_PLAN)
        self.line("branch_confirmed", State.IN_REVIEW, WaitingOn.BOT)
        self.reached = 2
        self.line("review_posted", State.IN_REVIEW, WaitingOn.DIFF_DECISION)
        self.account.shown += self.now()
        if not self.wait(Gate.DIFF):
            return
        if self.rng.random() < 0.3:
            self.reject(Gate.DIFF)
            return
        self.line("approved", State.IN_REVIEW, WaitingOn.BOT)
        self.reached = 3
        self.line("pull_request_opened", State.PR_OPEN, WaitingOn.MERGE)
        self.end()

    def end(self) -> None:
        if not self.later():
            return
        if self.rng.random() < 0.25:
            self.line("pull_request_closed", State.REJECTED, None)
            self.account.denied += self.now()
            self.account.lost_cents += self.mine
            return
        self.line("pull_request_merged", State.MERGED, None)
        self.account.merged += self.now()
        self.reached = 4


@pytest.fixture(scope="module")
def told() -> tuple[Figures, Account]:
    rng, account = random.Random(20_261_130), Account()
    histories = [Life(rng, account).live() for _ in range(PLANS)]
    return figures(histories, SINCE, UNTIL), account


def cents(amount: Amount) -> int:
    assert amount.value is not None
    assert not amount.at_least
    return int(amount.value * 100)


def test_money_is_right_to_the_cent(told):
    found, account = told
    assert cents(found.spend) == account.cents > 100_000
    assert cents(found.came_to_nothing) == account.lost_cents > 0
    assert {name: cents(amount) for name, amount in found.by_agent.items()} == account.by_agent
    assert cents(found.by_unit["CreatePlan"]) + cents(found.by_unit["ExecutePlan"]) == account.cents
    assert found.by_model.keys() == {"unknown"}
    each = found.cost_per_merged
    assert each is not None
    assert each.value == Decimal(account.cents) / 100 / account.merged


def test_what_became_of_plans_is_counted_once(told):
    found, account = told
    assert (found.merged, found.denied) == (account.merged, account.denied)
    assert found.denial_rate.value == Decimal(account.denied) / (account.denied + account.merged)
    for gate, share in ((Gate.PLAN, found.at_plan_gate), (Gate.DIFF, found.at_diff_gate)):
        assert share == Share(part=account.rejected[gate], whole=account.decided[gate])
    assert found.stages == tuple(sum(r >= n for r in account.reached) for n in range(5))
    assert found.attempts == Decimal(sum(account.attempts)) / len(account.attempts)
    assert found.failing_shown == Share(part=0, whole=account.shown)


def test_people_are_waited_for_as_long_as_it_took(told):
    found, account = told
    for gate in Gate:
        assert found.waits[gate] == pytest.approx(median(account.waited[gate]))
        assert found.oldest[gate] == pytest.approx(max(account.standing[gate]))
    assert found.bottleneck.startswith("People are the bottleneck: ")


def line(at: float, event: str, to: State, waiting_on: WaitingOn | None = None, **fields) -> Line:
    return Line(
        **{"at": at, "event": event, "from_state": State.DRAFT, "to_state": to, "waiting_on": waiting_on, **fields}
    )


def spent(usd: str | None, **fields) -> Spending:
    run = {"unit": Unit.EXECUTE_PLAN, "agent": "claude", "model": "m", "attempt": 1, "seconds": 600, **fields}
    return Spending(at=5.0, usage=Usage(usd=None if usd is None else Decimal(usd), **run))


def test_an_unknown_price_makes_every_sum_over_it_at_least():
    merged = line(6.0, "pull_request_merged", State.MERGED)
    found = figures([History(lines=(merged,), spending=(spent("1.50"), spent(None)))], 0.0, 10.0)
    assert found.spend == Amount(value=Decimal("1.50"), at_least=True)
    assert found.cost_per_merged == found.spend
    assert found.forecast(20.0) == Amount(value=Decimal("3.00"), at_least=True)


def test_nothing_is_known_of_nothing():
    found = figures([], 0.0, 10.0)
    assert found.spend == Amount(value=Decimal(0))
    assert found.cost_per_merged is None
    assert found.denial_rate.value is None
    assert found.waits == {Gate.PLAN: None, Gate.DIFF: None}
    assert found.attempts is None
    assert found.bottleneck == "Too little happened to tell what plans wait for."
    assert figures([], 5.0, 5.0).forecast(100.0) == Amount(value=None)
    unknown = figures([History(lines=(line(6.0, "pull_request_merged", State.MERGED),), spending=(spent(None),))], 0, 9)
    assert unknown.cost_per_merged == Amount(value=None, at_least=unknown.spend.at_least)


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
    first, second = waits_of(History(lines=lines))
    assert first == Wait(gate=Gate.PLAN, start=2.0, end=5.0)
    assert second == Wait(gate=Gate.PLAN, start=7.0, end=None)
    assert figures([History(lines=lines)], 0.0, 10.0).at_plan_gate == Share(part=0, whole=0)


def test_agents_can_be_the_bottleneck():
    asked = line(1.0, "plan_requested", State.DRAFT, WaitingOn.RUNNER)
    found = figures([History(lines=(asked,), spending=(spent("1"),))], 0.0, 10.0)
    assert found.bottleneck == "Agents are the bottleneck: 10 minutes of them a plan, 0 minutes at the gates."
    longer = figures([History(lines=(asked,), spending=(spent("1", seconds=9_000),))], 0.0, 10.0)
    assert "2.5 hours of them" in longer.bottleneck
