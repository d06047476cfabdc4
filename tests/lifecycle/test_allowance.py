"""What is left to spend."""

from __future__ import annotations

from decimal import Decimal

from bot.lifecycle.allowance import day_start, left, left_today
from runner.contract import Usage
from runner.results import Unit
from runner.terms import Budget


def used(usd: str | None, **tokens: int) -> Usage:
    amount = None if usd is None else Decimal(usd)
    return Usage(unit=Unit.EXECUTE_PLAN, agent="claude", model="m", attempt=1, usd=amount, seconds=1, **tokens)


def test_what_the_plan_and_the_day_have_used_is_taken_off():
    budget = Budget(usd=Decimal(5), tokens=1_000, usd_today=Decimal(20), minutes=7, attempts=2)
    plan = [used("1.25", input_tokens=100, output_tokens=50, reasoning_tokens=40), used("0.75", cache_read_tokens=300)]
    rest = left(budget, plan, [*plan, used("3", cache_write_tokens=5)])
    assert rest == budget.model_copy(update={"usd": Decimal(3), "tokens": 550, "usd_today": Decimal(15)})


def test_an_overdrawn_budget_is_empty_and_no_budget_stays_none():
    over = [used("9", output_tokens=9_000)]
    spent = left(Budget(usd=Decimal(5), tokens=10, usd_today=Decimal(5)), over, over)
    assert (spent.usd, spent.tokens, spent.usd_today) == (0, 0, 0)
    assert left(Budget(), over, over) == Budget()
    assert left_today(Budget(), over) is None


def test_what_is_unknown_is_not_counted():
    budget = Budget(usd=Decimal(5), tokens=10)
    assert left(budget, [used(None)], []) == budget


def test_days_begin_at_midnight():
    assert day_start(86_400 * 3 + 5.5) == 86_400 * 3
    assert day_start(86_400 * 3) == 86_400 * 3
