"""Every failure the bot knows, sorted by what is done about it.

    TwogateError
    ├── UserError      a sentence for the person who asked; nothing is retried
    ├── RetryAt        not now: the work is put off to a time, and the attempt is given back
    ├── Transient      passing trouble: tried again after a growing pause, up to a limit
    ├── Permanent      will never work as asked: parked, journalled, told to the plan
    └── ConfigError    the bot can't start; names every fault at once

Anything else that is raised is a fault of ours: the work is kept, tried again with growing pauses, then parked.
"""

from __future__ import annotations


class TwogateError(Exception):
    """Base of all failures that are named here."""


class UserError(TwogateError):
    """What a person asked can't be done; the message says why and what to do."""


class RetryAt(TwogateError):  # noqa: N818 - it is an instruction rather than an error
    """Put the work off until ``at`` (seconds since the epoch); ``gate`` names what is closed for all until then."""

    def __init__(self, at: float, sentence: str, *, gate: str | None = None) -> None:
        super().__init__(sentence)
        self.at = at
        self.gate = gate


class Transient(TwogateError):  # noqa: N818 - reads as the kind of trouble it is
    """Network trouble, a 5xx, a store that restarts: worth another try."""


class Permanent(TwogateError):  # noqa: N818 - reads as the kind of trouble it is
    """Refused for good: a 4xx that no waiting mends. The message is fit for a person."""


class ConfigError(TwogateError):
    """Settings that the bot can't start with."""

    def __init__(self, faults: list[str]) -> None:
        super().__init__("\n".join(faults))
        self.faults = faults


BACKOFF_FIRST_SECONDS = 2.0
"""Pause after the first failed try; doubled each time."""
BACKOFF_LONGEST_SECONDS = 300.0
"""No pause is longer, so that a long outage ends in minutes once it is over."""
MAX_ATTEMPTS = 8
"""Tries before an effect or a delivery is parked and shown: about ten minutes of trouble."""


def backoff(attempt: int) -> float:
    """Return the seconds to wait after the given number of failed tries."""
    return float(min(BACKOFF_FIRST_SECONDS * 2 ** (attempt - 1), BACKOFF_LONGEST_SECONDS))
