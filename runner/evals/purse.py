"""Dollars and time that a measurement may take, shared by the jobs that run at the same time."""

from __future__ import annotations

import threading
from decimal import Decimal
from typing import TYPE_CHECKING

from runner.meter.limits import money

if TYPE_CHECKING:
    from collections.abc import Callable


class Purse:
    """What is left; usable from several threads. A job is told of it as of what a repository may spend a day."""

    def __init__(self, usd: Decimal | None, minutes: float, now: Callable[[], float]) -> None:
        self._usd, self._now, self._end = usd, now, now() + minutes * 60
        self._minutes = minutes
        self._lock = threading.Lock()
        self._spent: dict[str, Decimal] = {}
        self.stopped = ""
        """Why nothing more is to be done, empty where it is."""

    def spend(self, job: str, usd: Decimal) -> Decimal | None:
        """Note what ``job`` has spent in all, and return what it may; None where there is no limit."""
        with self._lock:
            self._spent[job] = max(usd, self._spent.get(job, Decimal(0)))
            others = sum((spent for name, spent in self._spent.items() if name != job), Decimal(0))
        return None if self._usd is None else max(Decimal(0), self._usd - others)

    @property
    def minutes(self) -> float:
        """What is left of the time."""
        return max(0.0, (self._end - self._now()) / 60)

    def empty(self) -> str:
        """Return the sentence that says what is used up, empty where nothing is."""
        if self.stopped:
            return self.stopped
        with self._lock:
            spent = sum(self._spent.values(), Decimal(0))
        if self._usd is not None and spent >= self._usd:
            return f"the {money(self._usd)} of this measurement are spent"
        return f"the {self._minutes:g} minutes of this measurement are over" if not self.minutes else ""
