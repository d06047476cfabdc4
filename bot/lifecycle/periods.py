"""Stretches of time that figures are over, in UTC: a month, the last days, a week; each from its start up to its end.

Times are seconds since the epoch.
"""

from __future__ import annotations

import re
from calendar import monthrange
from datetime import UTC, datetime, timedelta

DAY = 86_400.0
WEEK = 7 * DAY
"""Seconds of a day and a week."""
DAYS = 30
"""Days that figures are over where nobody says otherwise."""
MOST_DAYS = 366
"""Days that figures are over at most."""
_MONTH = re.compile(r"[0-9]{4}(?<!0000)-(0[1-9]|1[0-2])")
_MONDAY = 4 * DAY
"""The first Monday of the epoch."""


class PeriodError(ValueError):
    """What was asked for is no stretch of time, or lies ahead. Its text says what to write instead."""


def last_days(days: int, now: float) -> tuple[float, float]:
    """Return the last ``days`` days up to now. Raises :class:`PeriodError` where they are none, or too many."""
    if not 1 <= days <= MOST_DAYS:
        raise PeriodError(f"{days} days can't be told of: say 1 to {MOST_DAYS}.")
    return now - days * DAY, now


def month(text: str, now: float) -> tuple[float, float]:
    """Return a month such as ``2026-11``, as far as it has passed. Raises :class:`PeriodError`."""
    if _MONTH.fullmatch(text) is None:
        raise PeriodError(f"{text[:20]!r} is no month: write it as 2026-11.")
    start = datetime(int(text[:4]), int(text[5:]), 1, tzinfo=UTC)
    if start.timestamp() >= now:
        raise PeriodError(f"{text} has not begun: nothing can be told of it.")
    return start.timestamp(), min(month_end(start.timestamp()), now)


def month_start(at: float) -> float:
    """Return when the month began that a time lies in."""
    return datetime.fromtimestamp(at, UTC).replace(day=1, hour=0, minute=0, second=0, microsecond=0).timestamp()


def month_end(at: float) -> float:
    """Return when the month ends that a time lies in."""
    start = datetime.fromtimestamp(month_start(at), UTC)
    return (start + timedelta(days=monthrange(start.year, start.month)[1])).timestamp()


def month_name(at: float) -> str:
    """Return the month that a time lies in, as :func:`month` reads it."""
    return datetime.fromtimestamp(at, UTC).strftime("%Y-%m")


def aligned(at: float, step: float) -> float:
    """Return the latest midnight, or for a step of a week the latest Monday's, that is not after a time."""
    offset = _MONDAY if step == WEEK else 0.0
    return at - (at - offset) % step
