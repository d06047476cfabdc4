"""``/costs``: what a period cost and what came of it, its trends, and the same for spreadsheets and programs."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any, NamedTuple

from flask import Response, request, url_for

from bot.lifecycle import periods
from bot.lifecycle.exports import figures_csv, plain_accounts
from bot.lifecycle.periods import DAY, WEEK
from bot.lifecycle.reckoning import STAGES
from bot.lifecycle.states import Gate
from bot.store import days
from bot.web.dashboard import times
from bot.web.dashboard.axis import labels
from bot.web.dashboard.charts import Chart, Kind, Series, Value, chart
from bot.web.dashboard.frame import visit
from bot.web.dashboard.shown import dollars
from bot.web.refusal import Refused

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from decimal import Decimal

    from flask import Blueprint

    from bot.lifecycle.accounts import Accounts
    from bot.lifecycle.amounts import Amount
    from bot.lifecycle.happened import Happened
    from bot.web.books import Book
    from bot.web.dashboard.axis import Label
    from bot.web.dashboard.frame import House

USUAL = "30d"
CHOICES = {"7d": "7 days", "30d": "30 days", "90d": "90 days", "365d": "a year"}
"""Periods that the page offers beside months; a month is written as 2026-11."""
PERCENT = 100
BILLED = (("input", "Input"), ("output", "Output"), ("cache_read", "Cache read"), ("cache_write", "Cache written"))
"""Kinds of tokens that have a price of their own, and how they are called in a narrow window."""
UNITS = ((times.DAY, "d"), (times.HOUR, "h"), (times.MINUTE, "min"))
"""Units in which waits are drawn."""


def add_to(pages: Blueprint, house: House) -> None:
    """Add the page and its exports."""

    @pages.get("/costs")
    def costs() -> Response:
        name, book = _book(house)
        total = book.accounts.total
        with house.store.read() as tx:
            today = days.limited(tx, visit().chosen())
        kept: dict[str, Any] = {"period": name, "repository": request.args.get("repository") or None}
        return house.render(
            "costs.html",
            total=total,
            accounts=book.accounts,
            charts=_charts(book.accounts),
            today=today,
            kinds=BILLED,
            stages=list(zip(STAGES, total.stages, strict=True)),
            gates_of=list(Gate),
            period=name,
            months=_months(house.now()),
            choices=CHOICES,
            worked_out=book.at,
            csv=url_for("dashboard.costs_csv", **kept),
            json=url_for("dashboard.costs_json", **kept),
            repository=request.args.get("repository", ""),
        )

    @pages.get("/costs.csv")
    def costs_csv() -> Response:
        name, book = _book(house)
        return _file(figures_csv(book.accounts.named), "text/csv", f"twogate-costs-{name}.csv")

    @pages.get("/costs.json")
    def costs_json() -> Response:
        name, book = _book(house)
        text = json.dumps(plain_accounts(book.accounts), indent=1)
        return _file(text, "application/json", f"twogate-costs-{name}.json")


def _book(house: House) -> tuple[str, Book]:
    """Return the period that the address names, and its figures. Raises ``Refused`` 400 for what is no period."""
    name = request.args.get("period") or USUAL

    def period(now: float) -> tuple[float, float]:
        days = name.removesuffix("d")
        known = name.endswith("d") and days.isascii() and days.isdecimal() and len(days) < 5  # noqa: PLR2004 - years of days
        return periods.last_days(int(days), now) if known else periods.month(name, now)

    try:
        return name, house.books.book(visit().chosen(), name, period, visit().onlooker.person.id)
    except periods.PeriodError as error:
        raise Refused(400, str(error)) from error


def _months(now: float) -> list[str]:
    """Return this month and the eleven before it, as the address writes them."""
    found, at = [], now
    for _ in range(12):
        found.append(periods.month_name(at))
        at = periods.month_start(at) - 1
    return found


def _file(text: str, kind: str, name: str) -> Response:
    return Response(text, mimetype=kind, headers={"Content-Disposition": f'attachment; filename="{name}"'})


def _charts(found: Accounts) -> dict[str, Chart]:
    """Return the drawings of the page."""
    weeks, steps = Axis.of(found.weeks, WEEK), Axis.of(found.steps, found.step)
    return {
        "spend": chart(
            f"Spent each {'day' if found.step == DAY else 'week'}",
            f"{dollars(found.total.spend).capitalize()} in the whole period, on agents and Actions.",
            Kind.BARS,
            steps.names,
            [Series("Spent", _amounts(each.spend for each in found.steps))],
            axis_money,
            steps.labels,
        ),
        "each": chart(
            "Cost per merged pull request",
            "All that was spent in a week, divided by what was merged in it.",
            Kind.LINES,
            weeks.names,
            [Series("Cost per merged pull request", _amounts(each.cost_per_merged for each in found.weeks))],
            axis_money,
            weeks.labels,
        ),
        "denied": chart(
            "Denial rate",
            "Pull requests closed unmerged, of those decided in a week.",
            Kind.LINES,
            weeks.names,
            [Series("Denial rate", _shares([each.denial_rate.value for each in found.weeks]))],
            lambda value: f"{value:g} %",
            weeks.labels,
        ),
        "waits": _waits(found.weeks, weeks),
    }


class Axis(NamedTuple):
    """Periods along an axis: how each is called, and what is named of them."""

    names: list[str]
    labels: tuple[Label, ...]

    @classmethod
    def of(cls, points: Sequence[Happened], step: float) -> Axis:
        """Return the axis of a trend."""
        names = [f"{times.moment(each.since).day} {times.moment(each.since):%b}" for each in points]
        return cls(names, labels([each.since for each in points], step))


def _waits(points: Sequence[Happened], weeks: Axis) -> Chart:
    """Return how long people took at both gates, in the unit that fits the longest wait."""
    known = [seconds for each in points for seconds in each.waits.values() if seconds is not None]
    unit, sign = next((pair for pair in UNITS if max(known, default=0) >= pair[0] * 2), UNITS[-1])
    return chart(
        "How long people took to decide",
        "Median wait at each gate, of what was decided in a week.",
        Kind.LINES,
        weeks.names,
        [Series(f"At the {gate} gate", _lengths([each.waits[gate] for each in points], unit)) for gate in Gate],
        lambda value: f"{value:g} {sign}",
        weeks.labels,
    )


def _amounts(amounts: Iterable[Amount | None]) -> tuple[Value, ...]:
    return tuple(
        Value(None, "none merged")
        if each is None
        else Value(None if each.value is None else float(each.value), dollars(each))
        for each in amounts
    )


def _shares(shares: Iterable[Decimal | None]) -> tuple[Value, ...]:
    return tuple(
        Value(None, "none decided") if each is None else Value(float(each) * PERCENT, f"{each:.0%}") for each in shares
    )


def _lengths(seconds: Iterable[float | None], unit: float) -> tuple[Value, ...]:
    return tuple(
        Value(None, "none decided") if each is None else Value(each / unit, times.length(each)) for each in seconds
    )


def axis_money(value: float) -> str:
    """Return a value of an axis, with as many digits as it has: a rounded one would name another place."""
    whole = value == int(value)
    places = 0 if whole else next((few for few in (2, 3, 4, 5) if math.isclose(round(value, few), value)), 6)
    return f"${value:,.{places}f}"
