"""Dollars: reported, by table, or unknown; never zero by accident."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from decimal import Decimal
from typing import TYPE_CHECKING

import pytest

from runner.agents.base import AgentResult, Call
from runner.contract import UsdSource
from runner.prices import cost, usage_of
from runner.terms import Price
from tests.runner.runs import run_in

if TYPE_CHECKING:
    from pathlib import Path

SONNET = "claude-sonnet-4-5"


def usd(call: Call, own: dict[str, Price] | None = None) -> Decimal | None:
    found = cost(call, own)
    return found.usd if found else None


def test_a_call_is_priced_with_its_caches() -> None:
    assert usd(Call(SONNET, 1220, 130, 3100, 350)) == Decimal("0.0078525")
    assert usd(Call(f"anthropic/{SONNET}", 1220, 130, 3100, 350)) == Decimal("0.0078525")
    dearer = usd(Call(SONNET, 0, 0, 0, 1_000, cache_write_1h_tokens=1_000))
    assert dearer == Decimal("0.006")


def test_a_tier_of_service_has_its_own_price() -> None:
    assert usd(Call("gpt-5.5", 1000, 10)) == Decimal("0.0053")
    assert usd(Call("gpt-5.5", 1000, 10, variant=("service_tier", "priority"))) == Decimal("0.01325")
    assert usd(Call("claude-opus-5-5", 1000, 10, variant=("speed", "fast"))) == Decimal("0.0084")


def test_a_model_that_answers_in_pictures_has_no_price_that_holds() -> None:
    assert usd(Call("gemini-2.5-flash-image", 1000, 1290)) is None
    assert usd(Call("gpt-audio", 1000, 10)) is None


def test_searches_are_priced_where_the_table_knows_them_and_at_least_where_it_does_not() -> None:
    searched = cost(Call(SONNET, 1000, 10, web_searches=3))
    assert searched is not None
    assert (searched.usd, searched.whole) == (Decimal("0.03315"), True)
    old = cost(Call("claude-3-haiku-20240307", 1000, 10, web_searches=3))
    assert old is not None
    assert (old.usd, old.whole) == (Decimal("0.0002625"), False)
    strange = cost(Call(SONNET, 1000, 10, extras=True))
    assert strange is not None
    assert not strange.whole


def test_the_repositorys_own_prices_win() -> None:
    own = {"m": Price(input=Decimal(2), output=Decimal(4), cache_read=Decimal(1)), SONNET: Price(input=1, output=1)}
    assert usd(Call("lab/m", 1_000_000, 500_000, 100_000, 100_000), own) == Decimal("4.3")
    assert usd(Call(SONNET, 1_000_000, 0), own) == Decimal(1)
    renamed = cost(Call(f"{SONNET}-20250929", 1_000_000, 0), own, asked=SONNET)
    assert renamed is not None
    assert (renamed.usd, renamed.source) == (Decimal(1), "policy file")


@pytest.mark.parametrize("model", ["nobody-knows-it", "", None])
def test_an_unknown_model_has_no_price(model: str | None) -> None:
    assert usd(Call(model, 1000, 1000)) is None


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


def test_what_a_subscription_covers_has_tokens_and_no_dollars(tmp_path: Path) -> None:
    run = run_in(tmp_path)
    run = replace(run, spec=run.spec.model_copy(update={"subscription": True}))
    told = AgentResult(ok=True, error=None, session=None, calls=(Call(SONNET, 1_000, 5),) * 2, usd=Decimal("0.5"))
    row = usage_of(run, told, 1)
    assert (row.usd, row.usd_source, row.price_date) == (None, UsdSource.SUBSCRIPTION, None)
    assert (row.input_tokens, row.output_tokens, row.calls) == (2_000, 10, 2)


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
