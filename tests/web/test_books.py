"""Figures are worked out once for several looks, beside the page where old ones can be shown."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from threading import Event

import pytest
from sqlalchemy import update

from bot.lifecycle.periods import PeriodError, last_days
from bot.store.engine import open_store
from bot.store.schema import repositories
from bot.web.books import FRESH_SECONDS, KEPT_SECONDS, MOST_OF_ONE, MOST_WAITING, Books
from bot.web.refusal import Refused
from tests.web import company
from tests.web.lab import Clock

SEEN = {repo.id for repo in company.REPOS}


def period(now: float) -> tuple[float, float]:
    return last_days(90, now)


def asked(books: Books) -> tuple[int, float]:
    found = books.book(SEEN, "90d", period, 1)
    return found.accounts.total.asked, found.at


def test_old_figures_are_shown_while_new_ones_are_worked_out(sqlite_url: str) -> None:
    clock = Clock(1_796_030_000.0)
    store = open_store(sqlite_url, now=clock)
    company.found(store, 10, clock())
    books, start = Books(store, clock), clock()
    assert asked(books) == (10, start)
    company.found(store, 5, clock(), first=11)
    clock.at = start + FRESH_SECONDS - 1
    assert asked(books) == (10, start)
    clock.at = later = start + FRESH_SECONDS
    assert asked(books) == (10, start)
    for under_way in list(books._under_way.values()):
        under_way.result(30)
    assert asked(books) == (15, later)
    company.found(store, 5, clock(), first=16)
    clock.at = much_later = later + KEPT_SECONDS
    assert asked(books) == (20, much_later), "what is too old is not shown"
    assert books.book({SEEN.copy().pop()}, "90d", period, 1).accounts.total.asked < 20
    with store.write() as tx:
        tx.execute(update(repositories).values(name="shop"))
    assert books.book(SEEN, "91d", period, 1).accounts.total.asked == 20, (
        "repositories that bear one name are all counted"
    )

    def none(_now: float) -> tuple[float, float]:
        raise PeriodError("none")

    with pytest.raises(PeriodError):
        books.book(SEEN, "x", none, 1)
    store.dispose()


def test_who_asks_for_many_periods_at_once_keeps_no_thread_of_others(sqlite_url: str) -> None:
    clock, held = Clock(1_796_030_000.0), Event()
    store = open_store(sqlite_url, now=clock)
    company.found(store, 3, clock())
    books = Books(store, clock)
    books._worker.submit(held.wait, 30)
    with ThreadPoolExecutor(MOST_WAITING) as threads:
        waiting = []
        for n in range(MOST_WAITING):
            waiting.append(threads.submit(books.book, SEEN, f"{n}d", period, n // MOST_OF_ONE))
            until = time.monotonic() + 10
            while len(books._under_way) <= n and time.monotonic() < until:
                time.sleep(0.01)
            if n % MOST_OF_ONE == MOST_OF_ONE - 1:
                with pytest.raises(Refused) as refused:
                    books.book(SEEN, "one too many of this person", period, n // MOST_OF_ONE)
                assert (refused.value.status, len(books._under_way)) == (503, n + 1)
        with pytest.raises(Refused):
            books.book(SEEN, "another", period, 9)
        held.set()
        assert all(each.result(30).accounts.total.asked == 3 for each in waiting)
    assert books.book(SEEN, "another", period, 9).accounts.total.asked == 3
    store.dispose()
