"""Tables for a terminal: the plans, and what was given up."""

from __future__ import annotations

import itertools
import textwrap
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from bot.lifecycle.plan import Plan
    from bot.store import deliveries, outbox

PLANS = ("REPOSITORY", "ISSUE", "STATE", "WAITS FOR", "VERSION", "AGE")
PARKED = ("QUEUE", "ID", "WHAT", "LANE", "SINCE", "ERROR")
ERROR_SHOWN = 200
"""Characters of an error in a table; the log has it whole."""


def table(*rows: Sequence[str]) -> Iterator[str]:
    """Yield rows as lines whose columns are in line."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        yield "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()


def wrapped(widths: Sequence[int], *rows: Sequence[str]) -> Iterator[str]:
    """Yield rows as lines whose columns have these widths, long cells over several lines, a blank line between rows."""
    for number, row in enumerate(rows):
        cells = [textwrap.wrap(printable(cell), width) or [""] for cell, width in zip(row, widths, strict=True)]
        lines = itertools.zip_longest(*cells, fillvalue="")
        if number > 1:
            yield ""
        yield from (_padded(line, widths) for line in lines)


def _padded(cells: Sequence[str], widths: Sequence[int]) -> str:
    return "  ".join(cell.ljust(width) for cell, width in zip(cells, widths, strict=True)).rstrip()


def plan(found: Plan, now: float) -> tuple[str, ...]:
    """Return a plan's row under :data:`PLANS`."""
    state = f"{found.state} (held)" if found.hold else str(found.state)
    where = f"{found.repo.owner}/{found.repo.name}"
    waits = str(found.waiting_on or "-")
    return where, f"#{found.issue_number}", state, waits, str(found.version), age(now - found.requested_at)


def delivery(found: deliveries.Parked, now: float) -> tuple[str, ...]:
    """Return the row of a delivery that was given up, under :data:`PARKED`."""
    return "delivery", str(found.id), found.event, found.lane, age(now - found.parked_at), _line(found.error)


def effect(found: outbox.Parked, now: float) -> tuple[str, ...]:
    """Return the row of an effect that was given up, under :data:`PARKED`."""
    return "effect", str(found.id), found.kind, found.lane, age(now - found.parked_at), _line(found.error)


def age(seconds: float) -> str:
    """Return a length of time in its largest whole unit."""
    for name, length in (("d", 86_400), ("h", 3_600), ("min", 60)):
        if seconds >= length:
            return f"{int(seconds // length)} {name}"
    return f"{max(0, int(seconds))} s"


def printable(text: str) -> str:
    """Return text from outside as one line that moves no cursor."""
    return "".join(c if c.isprintable() else " " for c in text)


def _line(text: str) -> str:
    shown = printable(text)
    return shown if len(shown) <= ERROR_SHOWN else f"{shown[: ERROR_SHOWN - 1]}\N{HORIZONTAL ELLIPSIS}"
