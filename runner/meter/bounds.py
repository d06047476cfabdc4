"""What a call can cost: before it is sent, and after its answer broke off."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from runner.agents.base import Call
from runner.prices import cost, window

if TYPE_CHECKING:
    from collections.abc import Mapping
    from decimal import Decimal

    from runner.meter.wire.base import Ask
    from runner.terms import Price

WIDEST = 1_000_000
"""Tokens of input that a call may have which takes some from where the request does not show it, where the price table
does not know the model's own limit."""
PICTURE = 10_000
"""Tokens of a picture at most, however few bytes it has."""
BYTES_A_TOKEN = 3
"""Of code and prose in JSON, on the careful side, where a guess has to do."""
FASTEST = 300
"""Tokens a second that a model brings at most, in one answer."""


@dataclass(frozen=True, slots=True)
class Bound:
    """A sum that a call does not exceed; dollars are None where its model has no price."""

    usd: Decimal | None
    tokens: int


def worst(ask: Ask, size: int, prices: Mapping[str, Price]) -> Bound:
    """Return what a call can cost at most whose request has ``size`` bytes.

    No token of text is shorter than a byte, and each way to bill the input is tried.
    """
    given = _window(ask) if ask.hidden else _given(ask, size)
    return _dearest(Call(ask.model, given, ask.output, variant=ask.variant), ask, prices)


def broken(ask: Ask, size: int, seen: Call | None, seconds: float, prices: Mapping[str, Price]) -> Bound:
    """Return what a call will have cost at most whose answer broke off after ``seconds``, as far as can be told.

    The input is what the answer said, else guessed by what the request shows; of the output there can't be more than a
    model brings in that time.
    """
    brought = min(ask.output, int(seconds * FASTEST * ask.answers))
    if seen is not None and seen.all_input:
        call = replace(seen, output_tokens=max(seen.output_tokens, brought))
        found = cost(call, prices, ask.model)
        return Bound(found.usd if found else None, call.all_input + call.output_tokens)
    return _dearest(Call(ask.model, _given(ask, size // BYTES_A_TOKEN), brought, variant=ask.variant), ask, prices)


def _given(ask: Ask, text: int) -> int:
    """Return the tokens of input at most, where its text has ``text``."""
    shown = text + ask.pictures * PICTURE
    return _window(ask) if ask.stored else min(shown, _window(ask, shown))


def _window(ask: Ask, unknown: int = WIDEST) -> int:
    """Return the tokens that the model takes at most, ``unknown`` where the price table doesn't tell."""
    return (window(ask.model) if ask.model else None) or unknown


def _dearest(plain: Call, ask: Ask, prices: Mapping[str, Price]) -> Bound:
    """Return the most that a call can cost, however its input is billed."""
    ways = [plain, replace(plain, input_tokens=0, cache_write_tokens=plain.input_tokens)]
    if ask.long_cache:
        ways.append(replace(ways[1], cache_write_1h_tokens=plain.input_tokens))
    amounts = [found.usd for way in ways if (found := cost(way, prices))]
    return Bound(max(amounts, default=None), plain.all_input + plain.output_tokens)
