"""Dollars from tokens: the price table that lies in the installed ``genai-prices``, asked call by call.

Call by call, since tiers go by the size of one request. An unknown model or an unknown count is an unknown amount,
never zero and never a part of the sum.
"""

from __future__ import annotations

from decimal import Decimal
from importlib.metadata import version
from typing import TYPE_CHECKING

from runner.contract import Usage, UsdSource

if TYPE_CHECKING:
    from collections.abc import Sequence

    from runner.agents.base import AgentResult, AgentRun, Call

PACKAGE = "genai-prices"
"""Its version is the date of the prices: a new release is a change of prices."""
MAX_MODELS = 300
"""Characters of the names of models that a row shows."""


def price(call: Call) -> Decimal | None:
    """Return the list price of ``call`` in US dollars, None where the table doesn't know the model."""
    from genai_prices import Usage as Tokens  # noqa: PLC0415 - half a second, for runs that report no dollars only
    from genai_prices import calc_price  # noqa: PLC0415

    if not call.model:
        return None
    tokens = Tokens(
        input_tokens=call.all_input,
        output_tokens=call.output_tokens,
        cache_read_tokens=call.cache_read_tokens,
        cache_write_tokens=call.cache_write_tokens,
        cache_write_1h_tokens=call.cache_write_1h_tokens,
    )
    try:
        return calc_price(tokens, model_ref=call.model.rsplit("/", 1)[-1]).total_price
    except (LookupError, ValueError):
        return None


def usage_of(run: AgentRun, result: AgentResult, seconds: float) -> Usage:
    """Return the row of the cost table for one run: dollars as reported, else by price table, else unknown."""
    calls = result.calls or ()
    usd, source = _dollars(result)
    return Usage(
        unit=run.unit,
        agent=run.spec.name,
        model=", ".join(dict.fromkeys(call.model for call in calls if call.model))[:MAX_MODELS] or run.spec.model,
        attempt=run.attempt,
        **_tokens(result.calls),
        usd=usd,
        usd_source=source,
        price_date=f"{PACKAGE} {version(PACKAGE)}" if source is UsdSource.PRICES else None,
        seconds=seconds,
        complete=result.complete,
    )


def _tokens(calls: Sequence[Call] | None) -> dict[str, int | None]:
    """Return the sums by name; an agent that tells no reasoning tokens has an unknown number of them."""
    if calls is None:
        return {}
    reasoning = [call.reasoning_tokens for call in calls if call.reasoning_tokens is not None]
    return {
        "input_tokens": sum(call.input_tokens for call in calls),
        "output_tokens": sum(call.output_tokens for call in calls),
        "cache_read_tokens": sum(call.cache_read_tokens for call in calls),
        "cache_write_tokens": sum(call.cache_write_tokens for call in calls),
        "reasoning_tokens": sum(reasoning) if reasoning else None,
    }


def _dollars(result: AgentResult) -> tuple[Decimal | None, UsdSource]:
    if result.usd is not None:
        return result.usd, UsdSource.REPORTED
    amounts = [price(call) for call in result.calls or ()]
    known = [amount for amount in amounts if amount is not None]
    if not known or len(known) < len(amounts):
        return None, UsdSource.UNKNOWN
    return sum(known, Decimal(0)), UsdSource.PRICES
