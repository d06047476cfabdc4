"""Figures are worked out once for several looks, beside the page where old ones can be shown."""

from __future__ import annotations

import pytest

from bot.lifecycle.periods import PeriodError, last_days
from bot.store.engine import open_store
from bot.web.books import FRESH_SECONDS, KEPT_SECONDS, Books
from tests.web import company
from tests.web.lab import Clock

SEEN = {repo.id for repo in company.REPOS}


def period(now: float) -> tuple[float, float]:
    return last_days(90, now)


def asked(books: Books) -> tuple[int, float]:
    found = books.book(SEEN, "90d", period)
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
    assert books.book({SEEN.copy().pop()}, "90d", period).accounts.total.asked < 20

    def none(_now: float) -> tuple[float, float]:
        raise PeriodError("none")

    with pytest.raises(PeriodError):
        books.book(SEEN, "x", none)
    store.dispose()
