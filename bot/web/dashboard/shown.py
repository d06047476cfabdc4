"""How values are shown on pages: filters and words for the templates."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, Any

from jinja2 import pass_context
from markupsafe import Markup

from bot.lifecycle import costs
from bot.lifecycle.amounts import Amount
from bot.lifecycle.states import State, Via, WaitingOn
from bot.lifecycle.wording.words import OUTCOMES, RESULTS, SEVERITIES
from bot.web.dashboard import text, times
from bot.web.reasons import TURNS

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from jinja2.runtime import Context

    from bot.wire import Money, Total

SHORT_HASH = 12
"""Characters of a hash that are shown; the whole one stands behind them."""

STATES = {
    State.DRAFT: "Draft",
    State.APPROVED: "Approved",
    State.EXECUTING: "Executing",
    State.VERIFYING: "Verifying",
    State.IN_REVIEW: "In review",
    State.PR_OPEN: "Pull request open",
    State.FAILED: "Failed",
    State.MERGED: "Merged",
    State.ICEBOX: "Icebox",
    State.REJECTED: "Rejected",
    State.CANCELLED: "Cancelled",
    State.SPLIT: "Split",
}
"""States as headings, in the order in which a plan comes to them; then those in which it rests."""
TONES = {
    State.MERGED: "good",
    State.FAILED: "bad",
    State.EXECUTING: "busy",
    State.VERIFYING: "busy",
}
"""How a state looks where it is nobody's turn."""
WAYS = {
    Via.LABEL: "a label",
    Via.COMMAND: "a command in a comment",
    Via.REACTION: "a reaction",
    Via.BUTTON: "a button of the check run",
    Via.REPLY: "a reply",
    Via.DASHBOARD: "the dashboard",
    Via.API: "the API",
    Via.MCP: "MCP",
}
"""How somebody said something; what is not named here is called by its own name."""
GATES = {
    "passed": "good",
    "failed": "bad",
    "timed_out": "bad",
    "failed_before": "wait",
    "flaky": "wait",
    "skipped": "",
}
"""How the result of a check looks."""

MARKS = {"passed": "✓", "failed": "✗", "timed_out": "✗", "failed_before": "!", "flaky": "~", "skipped": "·"}
"""The same as a sign beside a name."""


def tone(state: State, waiting_on: WaitingOn | None, held: object) -> str:
    """Return how a plan's state looks: amber where a person is to act."""
    if held or waiting_on in TURNS:
        return "bad" if state is State.FAILED else "wait"
    return TONES.get(state) or ("busy" if waiting_on is WaitingOn.RUNNER else "")


def seconds(at: float | datetime) -> float:
    """Return a time as seconds since the epoch."""
    return at if isinstance(at, float | int) else at.timestamp()


@pass_context
def ago(context: Context, at: float | datetime) -> Markup:
    """Return how long ago something was."""
    return times.ago(seconds(at), context["now"])


@pass_context
def since(context: Context, at: float | datetime) -> Markup:
    """Return for how long something has been so."""
    return times.since(seconds(at), context["now"])


def dollars(money: Money | Amount) -> str:
    """Return money as people read it."""
    amount = money if isinstance(money, Amount) else _amount(money.usd, money.at_least, money.covered)
    return costs.dollars(amount)


def count(total: Total | Amount) -> str:
    """Return a number of tokens."""
    return costs.count(total if isinstance(total, Amount) else _amount(total.value, total.at_least))


def minutes(total: Total | Amount) -> str:
    """Return seconds as minutes."""
    return costs.minutes(total if isinstance(total, Amount) else _amount(total.value, total.at_least))


def digest(value: str) -> Markup:
    """Return a hash: its beginning, and the whole of it behind that."""
    return Markup('<span class="hash" title="{}">{}</span>').format(value, value[:SHORT_HASH])


def _amount(value: str | float | None, at_least: bool, covered: bool = False) -> Amount:  # noqa: FBT001, FBT002
    return Amount(value=None if value is None else Decimal(str(value)), at_least=at_least, covered=covered)


FILTERS: dict[str, Callable[..., Any]] = {
    "ago": ago,
    "since": since,
    "on": lambda at: times.on(seconds(at)),
    "day": lambda at: times.day(seconds(at)),
    "span": times.length,
    "took": times.took,
    "inline": text.inline,
    "linked": text.linked,
    "prose": text.prose,
    "output": text.output,
    "dollars": dollars,
    "tokens": count,
    "minutes": minutes,
    "percent": costs.percent,
    "digest": digest,
    "words": lambda word: str(word).replace("_", " "),
    "sentence": lambda words: words[:1].upper() + words[1:],
}
WORDS: dict[str, Any] = {
    "states": STATES,
    "tone": tone,
    "results": RESULTS,
    "gates": GATES,
    "outcomes": OUTCOMES,
    "severities": SEVERITIES,
    "said_by": WAYS,
}
