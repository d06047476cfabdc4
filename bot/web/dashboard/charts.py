"""Charts as drawings: where axes, ticks, bars and lines lie. A template draws them as SVG, with a table behind each.

Across, places are per cent of the width, so that a chart fits any window while its letters keep their size; down, they
are pixels. A value that is not known leaves a gap, never a zero.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise
from typing import TYPE_CHECKING

from bot.web.dashboard.axis import middle

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from bot.web.dashboard.axis import Label

HEIGHT = 180
"""Pixels from the highest tick to the axis."""
MOST_TICKS = 5
"""Ticks of the value axis beside its zero."""
BAR = 0.62
"""Part of its period's width that a bar takes."""
STEPS = (1, 2, 2.5, 5, 10)
"""Distances between ticks that people count by, in powers of ten."""


class Kind(StrEnum):
    """How a chart shows its values."""

    BARS = "bars"
    """Sums over a period, from zero."""
    LINES = "lines"
    """What was found in a period, such as an average."""


@dataclass(frozen=True, slots=True)
class Value:
    """What was found in one period: the number that places it, None where unknown, and how people read it."""

    number: float | None
    shown: str


@dataclass(frozen=True, slots=True)
class Series:
    """Values of one kind, a period each. ``name`` stands in the legend and over the table's column."""

    name: str
    values: tuple[Value, ...]


@dataclass(frozen=True, slots=True)
class Tick:
    """A line across the chart; ``y`` in pixels from the top."""

    y: float
    label: str


@dataclass(frozen=True, slots=True)
class Mark:
    """One value: a bar from ``y`` to the axis, or a point; ``says`` names period and value."""

    x: float
    y: float
    width: float
    height: float
    series: int
    says: str


@dataclass(frozen=True, slots=True)
class Segment:
    """A piece of a line between two periods that are both known."""

    x1: float
    y1: float
    x2: float
    y2: float
    series: int


@dataclass(frozen=True, slots=True)
class Chart:
    """A drawing, and what stands in the table behind it."""

    title: str
    summary: str
    """What it shows, in a sentence."""
    kind: Kind
    periods: tuple[str, ...]
    series: tuple[Series, ...]
    ticks: tuple[Tick, ...]
    labels: tuple[Label, ...]
    marks: tuple[Mark, ...]
    segments: tuple[Segment, ...]
    height: int = HEIGHT

    @property
    def empty(self) -> bool:
        """Whether nothing at all is known."""
        return not self.marks


def chart(
    title: str,
    summary: str,
    kind: Kind,
    periods: Sequence[str],
    series: Sequence[Series],
    label: Callable[[float], str],
    labels: Sequence[Label] = (),
) -> Chart:
    """Return the drawing of these series, all over the same periods.

    ``label`` writes a value of the axis; ``labels`` are what is named along it.
    """
    numbers = [value.number for each in series for value in each.values if value.number is not None]
    scale = nice(max(numbers, default=0.0))
    top = scale[-1]
    marks = tuple(_marks(kind, periods, series, top))
    return Chart(
        title=title,
        summary=summary,
        kind=kind,
        periods=tuple(periods),
        series=tuple(series),
        ticks=tuple(Tick(y=_down(value, top), label=label(value)) for value in scale),
        labels=tuple(labels),
        marks=marks,
        segments=_segments(marks, periods) if kind is Kind.LINES else (),
    )


def nice(highest: float) -> tuple[float, ...]:
    """Return the values of an axis: from zero in equal steps that people count by, up to or over ``highest``."""
    if highest <= 0 or not math.isfinite(highest):
        return (0.0, 1.0)
    power = 10.0 ** math.floor(math.log10(highest / MOST_TICKS))
    step = next(power * factor for factor in STEPS if power * factor * MOST_TICKS >= highest * (1 - 1e-9))
    count = max(1, math.ceil(highest / step * (1 - 1e-8)))
    return tuple(float(f"{step * n:.10g}") for n in range(count + 1))


def _down(value: float, top: float) -> float:
    return round(HEIGHT * (1 - value / top), 2)


def _marks(kind: Kind, periods: Sequence[str], series: Sequence[Series], top: float) -> list[Mark]:
    share = 100 * BAR / len(periods) if periods else 0.0
    width = round(share / len(series), 3) if series and kind is Kind.BARS else 0.0
    found = []
    for number, each in enumerate(series):
        for at, value in enumerate(each.values):
            if value.number is None:
                continue
            y = _down(value.number, top)
            x = middle(at, len(periods)) - (share / 2 - width * number if width else 0)
            says = f"{periods[at]}: {value.shown}" if len(series) == 1 else f"{periods[at]}, {each.name}: {value.shown}"
            found.append(Mark(round(x, 3), y, width, round(HEIGHT - y, 2), number, says))
    return found


def _segments(marks: Sequence[Mark], periods: Sequence[str]) -> tuple[Segment, ...]:
    """Join the points of a series where no unknown lies between them."""
    apart = 100 / len(periods) if periods else 0.0
    joined = ((one, two) for one, two in pairwise(marks) if one.series == two.series and two.x - one.x < apart * 1.5)
    return tuple(Segment(one.x, one.y, two.x, two.y, one.series) for one, two in joined)
