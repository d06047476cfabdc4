"""Times on a page: short, as seen from now, with the exact one behind them."""

from __future__ import annotations

from datetime import UTC, datetime

from markupsafe import Markup

MINUTE, HOUR, DAY = 60, 3_600, 86_400
RECENT_DAYS = 14
"""A time that lies back longer than this is told as a date."""


def moment(at: float) -> datetime:
    """Return seconds since the epoch as a time in UTC."""
    return datetime.fromtimestamp(at, UTC)


def ago(at: float, now: float) -> Markup:
    """Return how long ago something was: ``3 h ago``, or its date."""
    past = now - at
    if past < MINUTE:
        return _time(at, "just now")
    return _time(at, f"{length(past)} ago" if past < RECENT_DAYS * DAY else day(at))


def since(at: float, now: float) -> Markup:
    """Return how long something has been so: ``3 h``."""
    return _time(at, length(max(0.0, now - at)))


def on(at: float) -> Markup:
    """Return a time to the second, for a log."""
    return _time(at, moment(at).strftime("%Y-%m-%d %H:%M:%S"))


def day(at: float) -> str:
    """Return a date: ``30 Nov 2026``."""
    found = moment(at)
    return f"{found.day} {found:%b %Y}"


def length(seconds: float) -> str:
    """Return a length of time in its largest whole unit, or its two largest where that tells more."""
    if seconds < MINUTE:
        return f"{max(0, int(seconds))} s"
    if seconds < HOUR:
        return f"{int(seconds // MINUTE)} min"
    if seconds < DAY:
        hours, minutes = divmod(int(seconds // MINUTE), 60)
        return f"{hours} h {minutes} min" if minutes and hours < 10 else f"{hours} h"  # noqa: PLR2004 - two digits tell enough
    days = int(seconds // DAY)
    return "1 day" if days == 1 else f"{days:,} days"


def took(seconds: float) -> str:
    """Return how long a machine took, which may be less than a second."""
    return f"{seconds:.1f} s" if seconds < 10 else length(seconds)  # noqa: PLR2004 - two digits tell enough


def _time(at: float, shown: str) -> Markup:
    """Return a time as it is shown. Nothing in it is foreign text, so nothing is escaped: a page shows hundreds."""
    exact = moment(at).replace(microsecond=0, tzinfo=None)
    return Markup(f'<time datetime="{exact.isoformat()}Z" title="{exact} UTC">{shown}</time>')  # noqa: S704
