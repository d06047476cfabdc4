"""The figures of a period as pages and the API show them: worked out once for several looks.

What a period cost is made of every journal and every run of an agent in it, which is seconds of work for ten thousand
plans. So it is remembered for each set of repositories: people look at the same month again and again. What was shown
for a minute is worked out anew beside the page, which shows what is known and says of when it is.
"""

from __future__ import annotations

import threading
from collections import Counter, OrderedDict
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures import TimeoutError as TooSlow
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from bot.lifecycle.accounts import Accounts, accounts
from bot.lifecycle.periods import DAY, WEEK
from bot.store import histories
from bot.web.refusal import Refused

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from bot.store.engine import Store

FRESH_SECONDS = 60.0
"""How long figures are shown as they were worked out."""
KEPT_SECONDS = 300.0
"""How long they are shown at most, while they are worked out anew."""
MOST_REMEMBERED = 64
"""Periods and sets of repositories that a process remembers."""
PATIENCE_SECONDS = 60.0
"""How long somebody waits for figures that nobody asked for before; then they are told to come back."""
MOST_WAITING = 4
"""Requests that wait for figures at the same time, in one process: half of its threads, so that whoever asks for a
hundred periods at once keeps nobody else from being answered."""
MOST_OF_ONE = 2
"""Of these, requests of one person, who so keeps nobody else from figures that nobody asked for before."""
BACK_SECONDS = 10
NOT_YET = "These figures are still being worked out, since the period is full: come back in a moment."
DAILY = 45 * DAY
"""The longest period that is drawn by days; a longer one is drawn by weeks."""


Key = tuple[frozenset[int], str]
Period = Callable[[float], tuple[float, float]]
"""From the time now to the start and the end of a period."""


@dataclass(frozen=True, slots=True)
class Book:
    """A period in figures."""

    accounts: Accounts
    at: float
    """When it was worked out."""


class Books:
    """Works books out, one after the other. Safe to share between threads."""

    def __init__(self, store: Store, now: Callable[[], float]) -> None:
        self._store = store
        self._now = now
        self._lock = threading.Lock()
        self._kept: OrderedDict[Key, Book] = OrderedDict()
        self._under_way: dict[Key, Future[Book]] = {}
        self._worker = ThreadPoolExecutor(max_workers=1, thread_name_prefix="books")
        self._waiting = Counter[int]()

    def book(self, repositories: Collection[int], name: str, period: Period, who: int) -> Book:
        """Return the book of these repositories for a period. ``name`` is what the period is asked for by.

        ``who`` is the number of the person who asks. Raises what ``period`` raises for what is none, and ``Refused``
        503 where it takes too long, or many wait.
        """
        key, now = (frozenset(repositories), name), self._now()
        since, until = period(now)
        with self._lock:
            found = self._kept.get(key)
        age = now - found.at if found is not None else -1.0
        if found is not None and 0 <= age < FRESH_SECONDS:
            return found
        if found is not None and 0 <= age < KEPT_SECONDS:
            self._begun(key, since, until, now)
            return found
        with self._place(who):
            try:
                return self._begun(key, since, until, now).result(PATIENCE_SECONDS)
            except TooSlow as error:
                raise Refused(503, NOT_YET, retry_after=BACK_SECONDS) from error

    @contextmanager
    def _place(self, who: int) -> Iterator[None]:
        """Hold one of the places of those who wait. Raises ``Refused`` 503 where none is left for this person."""
        with self._lock:
            if self._waiting.total() >= MOST_WAITING or self._waiting[who] >= MOST_OF_ONE:
                raise Refused(503, NOT_YET, retry_after=BACK_SECONDS)
            self._waiting[who] += 1
        try:
            yield
        finally:
            with self._lock:
                self._waiting -= Counter([who])

    def _begun(self, key: Key, since: float, until: float, now: float) -> Future[Book]:
        """Return the work on a book, which is begun where nobody has."""
        with self._lock:
            under_way = self._under_way.get(key)
            if under_way is None:
                under_way = self._worker.submit(self._work_out, key, since, until, now)
                self._under_way[key] = under_way
                under_way.add_done_callback(lambda _: self._under_way.pop(key, None))
            return under_way

    def _work_out(self, key: Key, since: float, until: float, now: float) -> Book:
        step = DAY if until - since <= DAILY else WEEK
        with self._store.read() as tx:
            made = Book(accounts(histories.by_name(tx, since, until, key[0]), since, until, step), now)
        with self._lock:
            self._kept[key] = made
            self._kept.move_to_end(key)
            while len(self._kept) > MOST_REMEMBERED:
                self._kept.popitem(last=False)
        return made
