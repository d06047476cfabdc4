"""Figures and the ledger for programs: plain data for JSON, and CSV for spreadsheets.

Times are RFC 3339 in UTC, durations seconds, dollars text so that no cent is lost, shares 0 to 1 as text. What is
unknown is null or empty, never zero; beside a sum stands whether it is "at least", and whether a subscription covers a
part of it.
"""

from __future__ import annotations

import csv
import io
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, NamedTuple

from bot.lifecycle.amounts import KINDS, Amount, Tally
from bot.lifecycle.reckoning import STAGES

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from decimal import Decimal

    from bot.lifecycle.accounts import Accounts
    from bot.lifecycle.figures import Figures
    from bot.lifecycle.happened import Happened, Share
    from runner.contract import JobKind, Outcome, Usage

FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")  # noqa: RUF001 - some spreadsheets take these for the others
"""Beginnings that make a spreadsheet compute a cell; text that has one gets an apostrophe before it."""


class Entry(NamedTuple):
    """One row of the ledger: a run of an agent, and whose it was."""

    at: float
    repository: str
    """``owner/name``."""
    issue: int
    plan: str
    job: str
    kind: JobKind
    outcome: Outcome | None
    """None where the job's report never came."""
    usage: Usage


def plain(found: Figures) -> dict[str, Any]:
    """Return the figures of a period as plain data."""
    parts = {"unit": found.by_unit, "agent": found.by_agent, "model": found.by_model, "source": found.by_source}
    return {
        **plain_point(found),
        "rejected_usd": _money(found.rejected),
        "abandoned_usd": _money(found.abandoned),
        "came_to_nothing_usd": _money(found.came_to_nothing),
        "stages": dict(zip(STAGES, found.stages, strict=True)),
        "pass_rates": dict(zip(STAGES[1:], map(_share, found.pass_rates), strict=True)),
        "attempts_a_plan": _text(found.attempts),
        "oldest_wait_seconds": {str(gate): seconds for gate, seconds in found.oldest.items()},
        "agent_seconds_a_plan": found.agent_seconds_a_plan,
        "bottleneck": found.bottleneck,
        "forecast_of_the_month_usd": None if found.forecast is None else _money(found.forecast),
        "by": {kind: {name: _tally(tally) for name, tally in tallies.items()} for kind, tallies in parts.items()},
    }


def plain_point(found: Happened) -> dict[str, Any]:
    """Return what happened in a stretch of time as plain data."""
    each = found.cost_per_merged
    return {
        "since": moment(found.since),
        "until": moment(found.until),
        "spent_usd": _money(found.spend),
        "cost_per_merged_usd": None if each is None else _money(each),
        "denial_rate": _share(found.denial_rate),
        "asked": found.asked,
        "merged": found.merged,
        "denied": found.denied,
        "agents": _tally(found.agents),
        "check_seconds": _number(found.check_seconds),
        "people_seconds": found.people_seconds,
        "actions_minutes": _number(found.actions_minutes),
        "actions_usd": _money(found.actions_usd),
        "rejected_at_plan_gate": _share(found.at_plan_gate),
        "rejected_at_diff_gate": _share(found.at_diff_gate),
        "failing_diffs_shown": _share(found.failing_shown),
        "median_wait_seconds": {str(gate): seconds for gate, seconds in found.waits.items()},
    }


def plain_accounts(found: Accounts) -> dict[str, Any]:
    """Return the accounts of a period as plain data."""
    return {
        "total": plain(found.total),
        "organisations": {name: plain(each) for name, each in found.organisations.items()},
        "repositories": {name: plain(each) for name, each in found.repositories.items()},
    }


FIGURES_HEAD = (
    *("name", "since", "until", "spent_usd", "at_least", "covered", "merged", "cost_per_merged_usd"),
    *("denied", "denial_rate", "rejected_at_plan_gate", "rejected_at_diff_gate", "rejected_usd", "abandoned_usd"),
    *(stage.replace(" ", "_") for stage in STAGES[:-1]),
    "merged_of_asked_for",
    *("attempts_a_plan", "failing_diffs_shown", "median_wait_plan_seconds", "median_wait_diff_seconds"),
    *("oldest_wait_plan_seconds", "oldest_wait_diff_seconds", "agent_seconds", "check_seconds", "people_seconds"),
    *("actions_minutes", "actions_usd", "forecast_of_the_month_usd"),
    *(f"{kind}_tokens" for kind in KINDS),
)
"""Columns of :func:`figures_csv`."""
LEDGER_HEAD = (
    *("at", "repository", "issue", "plan", "job", "kind", "outcome", "unit", "agent", "model", "attempt"),
    *(f"{kind}_tokens" for kind in KINDS),
    *("usd", "usd_source", "price_date", "seconds", "complete"),
)
"""Columns of :func:`ledger_csv`."""


def figures_csv(named: Mapping[str, Figures]) -> str:
    """Return a table with a row of figures a name, as of :class:`~.accounts.Accounts`."""
    return "".join(_lines(FIGURES_HEAD, (_figures_row(name, found) for name, found in named.items())))


def ledger_csv(entries: Iterable[Entry]) -> Iterator[str]:
    """Yield the ledger line by line, the head first."""
    return _lines(LEDGER_HEAD, map(_ledger_row, entries))


def moment(at: float) -> str:
    """Return a time as RFC 3339 has it, in UTC."""
    return datetime.fromtimestamp(at, UTC).isoformat(timespec="seconds").replace("+00:00", "Z")


def _figures_row(name: str, found: Figures) -> tuple[object, ...]:
    each, gates = found.cost_per_merged, (*found.waits.values(), *found.oldest.values())
    return (
        *(name, moment(found.since), moment(found.until)),
        *(_text(found.spend.value), found.spend.at_least, found.spend.covered),
        *(found.merged, each and _text(each.value), found.denied, _text(found.denial_rate.value)),
        *(_text(found.at_plan_gate.value), _text(found.at_diff_gate.value)),
        *(_text(found.rejected.value), _text(found.abandoned.value)),
        *(*found.stages, _text(found.attempts), found.failing_shown.part, *gates),
        *(_text(found.agents.seconds.value), _text(found.check_seconds.value), found.people_seconds),
        *(_text(found.actions_minutes.value), _text(found.actions_usd.value)),
        found.forecast and _text(found.forecast.value),
        *(_text(found.agents.tokens[kind].value) for kind in KINDS),
    )


def _ledger_row(entry: Entry) -> tuple[object, ...]:
    used = entry.usage
    return (
        *(moment(entry.at), entry.repository, entry.issue, entry.plan, entry.job, entry.kind, entry.outcome),
        *(used.unit, used.agent, used.model, used.attempt),
        *(getattr(used, f"{kind}_tokens") for kind in KINDS),
        *(_text(used.usd), used.usd_source, used.price_date, used.seconds, used.complete),
    )


def _lines(head: tuple[str, ...], rows: Iterable[tuple[object, ...]]) -> Iterator[str]:
    for row in (head, *rows):
        line = io.StringIO()
        csv.writer(line).writerow([_cell(value) for value in row])
        yield line.getvalue()


def _cell(value: object) -> object:
    """Return a value as a spreadsheet may have it: whatever text comes from outside, it computes nothing."""
    if value is None or isinstance(value, int | float):
        return value
    text = str(value)
    return f"'{text}" if text.startswith(FORMULA) else text


def _money(amount: Amount) -> dict[str, Any]:
    return {"usd": _text(amount.value), "at_least": amount.at_least, "covered": amount.covered}


def _number(amount: Amount) -> dict[str, Any]:
    return {"value": None if amount.value is None else float(amount.value), "at_least": amount.at_least}


def _share(share: Share) -> dict[str, Any]:
    return {"part": share.part, "of": share.whole, "share": _text(share.value)}


def _tally(tally: Tally) -> dict[str, Any]:
    return {
        "runs": tally.runs,
        **_money(tally.usd),
        "seconds": _number(tally.seconds),
        "tokens": {kind: _number(amount) for kind, amount in tally.tokens.items()},
    }


def _text(value: Decimal | None) -> str | None:
    return None if value is None else f"{value:f}"
