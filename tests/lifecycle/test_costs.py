"""Money and tokens: what is unknown stays so, and what is shown reads well."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.lifecycle.amounts import Amount
from bot.lifecycle.costs import CostRow, PlanCost, count, dollars, minutes, percent
from runner.contract import JobKind, Outcome, Usage, UsdSource
from runner.results import Unit


def row(job: str = "j-1", **fields) -> CostRow:
    base = {
        "kind": JobKind.EXECUTE,
        "outcome": Outcome.VERIFIED,
        "unit": Unit.EXECUTE_PLAN,
        "agent": "claude",
        "model": "sonnet",
        "attempt": 1,
        "input_tokens": 1_000,
        "output_tokens": 200,
        "usd": Decimal("0.10"),
        "usd_source": UsdSource.REPORTED,
        "seconds": 30.0,
    }
    return CostRow(job=job, **{**base, **fields})


def planning(job: str, **fields) -> CostRow:
    return row(job, **{"kind": JobKind.PLAN, "outcome": Outcome.PLANNED, "unit": Unit.CREATE_PLAN, **fields})


def test_a_usage_record_becomes_a_row():
    usage = Usage(unit=Unit.CREATE_PR, agent="x", model=None, attempt=2, input_tokens=5, seconds=1.5, complete=False)
    made = CostRow.of(usage, job="j-9", kind=JobKind.EXECUTE, outcome=Outcome.TIMED_OUT)
    assert (made.job, made.unit, made.input_tokens, made.output_tokens, made.usd) == (
        "j-9",
        Unit.CREATE_PR,
        5,
        None,
        None,
    )
    assert made.usd_source is UsdSource.UNKNOWN
    assert not made.complete


def test_nothing_spent_is_a_certain_zero():
    assert PlanCost().usd == Amount(value=Decimal(0))
    assert dollars(PlanCost().usd) == "$0"
    assert PlanCost().jobs == ()


def test_all_known_adds_up():
    cost = PlanCost(rows=(row(), row("j-2")))
    assert cost.usd == Amount(value=Decimal("0.20"))
    assert cost.tokens("input") == Amount(value=Decimal(2_000))
    assert cost.seconds == Amount(value=Decimal("60.0"))


def test_unknown_is_never_zero():
    lost = CostRow.untold(Unit.EXECUTE_PLAN, "claude", job="j-2", kind=JobKind.EXECUTE, outcome=Outcome.LOST)
    assert PlanCost(rows=(lost,)).usd == Amount(value=None)
    assert dollars(PlanCost(rows=(lost,)).usd) == "unknown"
    assert PlanCost(rows=(row(), lost)).usd == Amount(value=Decimal("0.10"), at_least=True)
    assert PlanCost(rows=(lost,)).tokens("output").value is None


def test_a_run_that_was_cut_off_is_a_lower_bound():
    assert dollars(PlanCost(rows=(row(complete=False),)).usd) == "at least $0.1000"


def test_the_table_has_a_line_a_job_and_unit():
    rows = (
        planning("j-1"),
        row("j-2"),
        row("j-2", attempt=2),
        row("j-2", unit=Unit.CREATE_PR, price_date="2026-11-01"),
    )
    lines = PlanCost(rows=rows).jobs
    assert [(line.job, line.unit, line.attempts) for line in lines] == [
        ("j-1", Unit.CREATE_PLAN, 1),
        ("j-2", Unit.EXECUTE_PLAN, 2),
        ("j-2", Unit.CREATE_PR, 1),
    ]
    assert lines[1].usd == Amount(value=Decimal("0.20"))
    assert lines[1].cache_read_tokens.value is None
    assert lines[2].price_dates == ("2026-11-01",)


@pytest.mark.parametrize(
    ("rows", "share"),
    [
        ((row(),), Decimal(0)),
        ((row(), row(attempt=2)), Decimal("0.5")),
        ((row("j-1", outcome=Outcome.GATES_FAILED), row("j-2")), Decimal("0.5")),
        ((planning("j-1"), planning("j-2", unit=Unit.UPDATE_PLAN), row("j-3"), row("j-4")), Decimal("0.25")),
        ((row("j-1"), row("j-1", unit=Unit.CREATE_PR)), Decimal(0)),
        ((row(), row("j-2", usd=None)), None),
        ((row(complete=False),), None),
        ((row(usd=Decimal(0)),), None),
        ((), None),
    ],
)
def test_what_went_into_attempts_that_came_to_nothing(rows, share):
    assert PlanCost(rows=rows).rejected_share == share


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("0", "$0"),
        ("0.00001", "less than $0.0001"),
        ("0.0123", "$0.0123"),
        ("0.99994", "$0.9999"),
        ("1", "$1.00"),
        ("1234.567", "$1,234.57"),
        ("1E+40", "$" + ",".join(["10", *["000"] * 13]) + ".00"),
        (None, "unknown"),
    ],
)
def test_dollars_read_well(value, text):
    amount = None if value is None else Decimal(value)
    assert dollars(Amount(value=amount)) == text
    bound = f"at least {text}" if amount and amount > Decimal("0.0001") else "unknown"
    assert dollars(Amount(value=amount, at_least=True)) == bound


def test_counts_minutes_and_shares_read_well():
    assert count(Amount(value=Decimal(1_234_567))) == "1,234,567"
    assert count(Amount(value=Decimal(5), at_least=True)) == "at least 5"
    assert count(Amount(value=None)) == minutes(Amount(value=None)) == percent(None) == "unknown"
    assert minutes(Amount(value=Decimal(252))) == "4.2"
    assert minutes(Amount(value=Decimal(252), at_least=True)) == "at least 4.2"
    assert percent(Decimal("0.374")) == "37 %"


@given(st.lists(st.tuples(st.one_of(st.none(), st.integers(0, 10**9)), st.booleans())))
def test_a_sum_is_certain_only_where_every_part_is(parts):
    total = Amount.total(parts)
    known = [value for value, _ in parts if value is not None]
    assert total.value == (None if parts and not known else sum(known))
    assert (total.value is None or total.at_least) == any(v is None or not complete for v, complete in parts)
