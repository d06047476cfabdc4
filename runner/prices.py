"""Dollars from tokens: the repository's own prices, else the price table that lies in the installed ``genai-prices``.

Call by call, since tiers go by the size of one request. An unknown model or an unknown count is an unknown amount,
never zero and never a part of the sum.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from importlib.metadata import version
from typing import TYPE_CHECKING

from runner.contract import Usage, UsdSource

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from genai_prices.types import PriceCalculation

    from runner.agents.base import AgentResult, AgentRun, Call
    from runner.terms import Price

PACKAGE = "genai-prices"
"""Its version is the date of the prices: a new release is a change of prices."""
POLICY = "policy file"
"""Where the repository's own prices come from."""
MAX_MODELS = 300
"""Characters of the names of models that a row shows."""
MAX_CALL = Decimal(10**9)
"""Dollars that one call costs at most, whatever a policy says: sums of it stay numbers that can be told."""
OTHER_OUTPUT = ("output_audio_mtok", "output_image_mtok", "output_video_mtok")
"""What makes a model's output dearer by kind, by up to twenty times. Calls are not told apart by kind, so such a model
has no price that holds."""
MILLION = 1_000_000


@dataclass(frozen=True, slots=True)
class Cost:
    """What one call cost."""

    usd: Decimal
    source: str
    """Where the price comes from, as a row shows it."""
    whole: bool = True
    """False where the call used something without a known price, so that the dollars read "at least"."""


def cost(call: Call, own: Mapping[str, Price] | None = None, asked: str | None = None) -> Cost | None:
    """Return what ``call`` cost in US dollars, None where neither ``own`` nor the table knows its model.

    ``asked`` is the model's name in the request, where the answer gives it another one.
    """
    names = [name for name in dict.fromkeys((call.model, asked)) if name]
    every = [*names, *(_short(name) for name in names)]
    price = next((own[name] for name in every if name in own), None) if own else None
    if price is not None:
        searched = call.web_searches or call.file_searches
        return Cost(_by_policy(call, price), POLICY, whole=not (call.extras or searched))
    found = next((found for name in names if (found := _by_table(call, _short(name)))), None)
    if found is None:
        return None
    prices = found.model_price
    free = (call.web_searches and prices.web_searches_kcount is None) or (
        call.file_searches and prices.storage_searches_kcount is None
    )
    return Cost(found.total_price, f"{PACKAGE} {version(PACKAGE)}", whole=not (call.extras or free))


def _short(model: str) -> str:
    """Return a model's name without its provider's: ``anthropic/claude-…``."""
    return model.rsplit("/", 1)[-1]


def window(model: str) -> int | None:
    """Return how many tokens of input the model takes at most, None where the table doesn't tell."""
    from genai_prices.data_snapshot import get_snapshot  # noqa: PLC0415 - see _by_table

    try:
        return get_snapshot().find_provider_model(_short(model), None, None, None)[1].context_window
    except LookupError:
        return None


def _by_policy(call: Call, price: Price) -> Decimal:
    read = price.input if price.cache_read is None else price.cache_read
    write = price.input if price.cache_write is None else price.cache_write
    cached = call.cache_read_tokens * read + call.cache_write_tokens * write
    usd = (call.input_tokens * price.input + cached + call.output_tokens * price.output) / MILLION
    return min(usd, MAX_CALL)


def _by_table(call: Call, model: str) -> PriceCalculation | None:
    from genai_prices import Usage as Tokens  # noqa: PLC0415 - half a second, for runs that need a price only
    from genai_prices import calc_price  # noqa: PLC0415

    tokens = Tokens(
        input_tokens=call.all_input,
        output_tokens=call.output_tokens,
        cache_read_tokens=call.cache_read_tokens,
        cache_write_tokens=call.cache_write_tokens,
        cache_write_1h_tokens=call.cache_write_1h_tokens,
        web_searches=call.web_searches,
        storage_searches=call.file_searches,
    )
    try:
        found = calc_price(tokens, model_ref=model, price_context=dict([call.variant]) if call.variant else None)
    except (LookupError, ValueError):
        return None
    return None if any(getattr(found.model_price, kind, None) is not None for kind in OTHER_OUTPUT) else found


def usage_of(run: AgentRun, result: AgentResult, seconds: float, own: Mapping[str, Price] | None = None) -> Usage:
    """Return the row of a run that no meter counted: dollars as reported, else by price table, else unknown.

    Where a subscription covers it there are none, whatever the agent says that its tokens would have cost.
    """
    calls = result.calls or ()
    usd, source, date, whole = _dollars(result, own)
    if run.spec.subscription:
        usd, source, date = None, UsdSource.SUBSCRIPTION, None
    return Usage(
        unit=run.unit,
        agent=run.spec.name,
        model=names_of(call.model for call in calls) or run.spec.model,
        attempt=run.attempt,
        **_tokens(result.calls),
        usd=usd,
        usd_source=source,
        price_date=date,
        seconds=seconds,
        complete=result.complete and whole,
        calls=None if result.calls is None else len(calls),
    )


def names_of(models: Iterable[str | None]) -> str | None:
    """Return the names of models as a row shows them, each once, on one line; None where there is none."""
    names = ", ".join(dict.fromkeys(model for model in models if model))[:MAX_MODELS]
    return "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in names) or None


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


def _dollars(
    result: AgentResult, own: Mapping[str, Price] | None
) -> tuple[Decimal | None, UsdSource, str | None, bool]:
    """Return the dollars, where they come from, by which prices, and whether they are all."""
    if result.usd is not None:
        return result.usd, UsdSource.REPORTED, None, True
    costs = [cost(call, own) for call in result.calls or ()]
    known = [each for each in costs if each is not None]
    if not known or len(known) < len(costs):
        return None, UsdSource.UNKNOWN, None, True
    date = " and ".join(dict.fromkeys(each.source for each in known))
    return sum((each.usd for each in known), Decimal(0)), UsdSource.PRICES, date, all(each.whole for each in known)
