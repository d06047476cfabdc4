"""The figures of a period as pages and the API show them: worked out once for several looks.

What a period cost is made of every journal and every run of an agent in it, which is work at a large installation. So
it is remembered for a moment, for each set of repositories: people look at the same month again and again.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from bot.lifecycle.accounts import Accounts, accounts
from bot.lifecycle.happened import Happened, trend
from bot.lifecycle.periods import DAY, WEEK
from bot.store import histories

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from bot.store.engine import Store

REMEMBERED_SECONDS = 60.0
"""How long figures are shown after they were worked out; the page says of when they are."""
MOST_REMEMBERED = 64
"""Periods and sets of repositories that a process remembers."""
DAILY = 45 * DAY
"""The longest period that is drawn by days; a longer one is drawn by weeks."""


@dataclass(frozen=True, slots=True)
class Book:
    """A period in figures: as a whole, by days or weeks, and by weeks."""

    accounts: Accounts
    spent: tuple[Happened, ...]
    weeks: tuple[Happened, ...]
    at: float
    """When it was worked out."""


class Books:
    """Works books out. Safe to share between threads."""

    def __init__(self, store: Store, now: Callable[[], float]) -> None:
        self._store = store
        self._now = now
        self._lock = threading.Lock()
        self._kept: OrderedDict[tuple[frozenset[int], str], Book] = OrderedDict()

    def book(self, repositories: Collection[int], name: str, period: Callable[[float], tuple[float, float]]) -> Book:
        """Return the book of these repositories for a period. ``name`` is what the period is asked for by."""
        key, now = (frozenset(repositories), name), self._now()
        with self._lock:
            found = self._kept.get(key)
        if found is not None and 0 <= now - found.at < REMEMBERED_SECONDS:
            return found
        made = self._work_out(repositories, *period(now), now)
        with self._lock:
            self._kept[key] = made
            self._kept.move_to_end(key)
            while len(self._kept) > MOST_REMEMBERED:
                self._kept.popitem(last=False)
        return made

    def _work_out(self, repositories: Collection[int], since: float, until: float, now: float) -> Book:
        with self._store.read() as tx:
            named = histories.by_name(tx, since, until, repositories)
        every = [history for found in named.values() for history in found]
        weeks = trend(every, since, until, WEEK)
        spent = trend(every, since, until) if until - since <= DAILY else weeks
        return Book(accounts(named, since, until), spent, weeks, now)
