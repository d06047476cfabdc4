"""How often somebody may ask: a window of time for each person, kept in this process."""

from __future__ import annotations

import math
import threading
from collections import OrderedDict, deque
from dataclasses import dataclass
from typing import TYPE_CHECKING

from bot.web.refusal import Refused

if TYPE_CHECKING:
    from collections.abc import Callable

REQUESTS_A_MINUTE = 300
"""Requests of one person to the API, in each process: five a second, as programs ask."""
PAGES_A_MINUTE = 300
"""Pages that one person loads, in each process: five a second, which many open windows that refresh don't come near."""
DEEDS_AN_HOUR = 120
"""Decisions and new plans of one person, in each process: more than anybody reads."""
MINUTE, HOUR = 60.0, 3_600.0
MOST_PEOPLE = 10_000
"""People whose requests are counted at a time; who was quiet longest is forgotten first."""


@dataclass(frozen=True, slots=True)
class Rate:
    """So many times in so many seconds, and what is counted, in words."""

    most: int
    seconds: float
    what: str


ASKING = Rate(REQUESTS_A_MINUTE, MINUTE, "requests a minute")
LOOKING = Rate(PAGES_A_MINUTE, MINUTE, "pages a minute")
DOING = Rate(DEEDS_AN_HOUR, HOUR, "decisions and new plans an hour")


class Limiter:
    """Counts what people do. Safe to share between threads."""

    def __init__(self, rate: Rate, now: Callable[[], float]) -> None:
        self._rate = rate
        self._now = now
        self._lock = threading.Lock()
        self._times: OrderedDict[int, deque[float]] = OrderedDict()

    def count(self, person_id: int) -> None:
        """Count one more of a person's. Raises ``Refused`` 429, with when to come back, where that is too many."""
        now, rate = self._now(), self._rate
        with self._lock:
            times = self._times.setdefault(person_id, deque())
            self._times.move_to_end(person_id)
            while len(self._times) > MOST_PEOPLE:
                self._times.popitem(last=False)
            while times and not 0 <= now - times[0] < rate.seconds:
                times.popleft()
            if len(times) < rate.most:
                times.append(now)
                return
            pause = max(1, math.ceil(times[0] + rate.seconds - now))
        raise Refused(
            429, f"That is more than {rate.most} {rate.what}: come back in {pause} seconds.", retry_after=pause
        )
