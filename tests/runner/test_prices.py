"""Dollars: reported, by table, or unknown; never zero by accident."""

from __future__ import annotations

import subprocess
import sys
from decimal import Decimal
from typing import TYPE_CHECKING

import pytest

from runner.agents.base import AgentResult, Call
from runner.contract import UsdSource
from runner.prices import price, usage_of
from tests.runner.runs import run_in

if TYPE_CHECKING:
    from pathlib import Path

SONNET = "claude-sonnet-4-5"


def test_a_call_is_priced_with_its_caches() -> None:
    assert price(Call(SONNET, 1220, 130, 3100, 350)) == Decimal("0.0078525")
    assert price(Call(f"anthropic/{SONNET}", 1220, 130, 3100, 350)) == Decimal("0.0078525")
    dearer = price(Call(SONNET, 0, 0, 0, 1_000, cache_write_1h_tokens=1_000))
    assert dearer == Decimal("0.006")


@pytest.mark.parametrize("model", ["nobody-knows-it", "", None])
def test_an_unknown_model_has_no_price(model: str | None) -> None:
    assert price(Call(model, 1000, 1000)) is None


def test_calls_are_priced_one_by_one(tmp_path: Path) -> None:
    one = Call("gpt-5.5", 30_000, 1_000)
    row = usage_of(run_in(tmp_path), AgentResult(ok=True, error=None, session=None, calls=(one,) * 10), 1)
    assert row.usd == Decimal("1.80"), "their sum priced as one call is $3.45: tiers go by the size of a request"
    assert row.usd_source is UsdSource.PRICES
    assert row.price_date == "genai-prices 0.2.3"


def test_one_unknown_call_makes_the_amount_unknown(tmp_path: Path) -> None:
    calls = (Call(SONNET, 1000, 1000), Call("nobody-knows-it", 1, 1))
    row = usage_of(run_in(tmp_path), AgentResult(ok=True, error=None, session=None, calls=calls), 1)
    assert (row.usd, row.usd_source, row.price_date) == (None, UsdSource.UNKNOWN, None)
    assert row.input_tokens == 1001
    assert row.model == f"{SONNET}, nobody-knows-it"


def test_reported_dollars_win(tmp_path: Path) -> None:
    result = AgentResult(ok=True, error=None, session=None, calls=(Call(SONNET, 1, 1),), usd=Decimal("0.5"))
    row = usage_of(run_in(tmp_path), result, 2.5)
    assert (row.usd, row.usd_source, row.price_date) == (Decimal("0.5"), UsdSource.REPORTED, None)
    assert row.seconds == 2.5


def test_no_usage_is_unknown_everywhere(tmp_path: Path) -> None:
    row = usage_of(run_in(tmp_path), AgentResult(ok=True, error=None, session=None), 1)
    assert (row.input_tokens, row.output_tokens, row.usd, row.usd_source) == (None, None, None, UsdSource.UNKNOWN)
    assert row.model == SONNET


def test_reasoning_is_told_where_it_is_known(tmp_path: Path) -> None:
    calls = (Call(SONNET, 1, 10, reasoning_tokens=4), Call(SONNET, 1, 10))
    assert usage_of(run_in(tmp_path), AgentResult(True, None, None, calls=calls), 1).reasoning_tokens == 4


def test_the_price_table_is_loaded_late() -> None:
    asked = "import sys, runner.prices, runner.agents; sys.exit('genai_prices' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", asked], check=False, timeout=60).returncode == 0
