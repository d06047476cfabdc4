"""Dates named along an axis of days or weeks: always the same distance apart, as calendars have it.

Days are named one by one, every other one, or each Monday; weeks one by one or every other one, and months where there
are many. Across, places are per cent of the width.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil
from typing import TYPE_CHECKING

from bot.lifecycle.periods import DAY, WEEK, aligned, month_end
from bot.web.dashboard import times

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

MOST_NAMED = 8
"""Dates that are named along an axis at most; half of them where the window is narrow."""
EDGE = 2.0
"""Per cent of the width in which nothing is named at either end, since it would be cut off."""


@dataclass(frozen=True, slots=True)
class Label:
    """A date named along the axis; ``x`` in per cent. Where the window is narrow, ``minor`` ones are left out."""

    x: float
    text: str
    minor: bool


def middle(at: int, periods: int) -> float:
    """Return where the middle of a period is."""
    return round(100 * (at + 0.5) / periods, 3)


def labels(starts: Sequence[float], step: float) -> tuple[Label, ...]:
    """Return what to name along periods that begin then, a day or a week each; the first may be cut."""
    named = list(_months(starts) if step == WEEK and len(starts) > 2 * MOST_NAMED else _periods(starts, step))
    return tuple(Label(x, text, bool((len(named) - 1 - n) % 2)) for n, (x, text) in enumerate(named))


def _periods(starts: Sequence[float], step: float) -> Iterator[tuple[float, str]]:
    """Name periods by their first days; a week that is cut begins on none that the others do."""
    count = len(starts)
    every = 1 if count <= MOST_NAMED else 2
    mondays = step == DAY and count > 2 * MOST_NAMED
    for n, at in enumerate(starts):
        day = aligned(at, DAY)
        if day == aligned(day, WEEK) if mondays else (count - 1 - n) % every == 0 and aligned(at, step) in {at, day}:
            yield middle(n, count), f"{times.moment(day).day} {times.moment(day):%b}"


def _months(starts: Sequence[float]) -> Iterator[tuple[float, str]]:
    """Name months where they begin, or every other one, and so on; a year with its first."""
    begin, width = aligned(starts[0], WEEK), len(starts) * WEEK
    every = ceil(width / (30 * DAY) / MOST_NAMED)
    at = month_end(begin)
    while at < begin + width:
        x, month = round(100 * (at - begin) / width, 3), times.moment(at)
        if (month.month - 1) % every == 0 and EDGE <= x <= 100 - EDGE:
            yield x, f"{month:%b %Y}" if month.month == 1 else f"{month:%b}"
        at = month_end(at)
