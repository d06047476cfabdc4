"""The measure of pages runs, whatever pages ask of who looks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bench import pages

if TYPE_CHECKING:
    import pytest


def test_every_page_can_be_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, few in (("PLANS", 120), ("FEW", 110), ("ROUNDS", 2)):
        monkeypatch.setattr(pages, name, few)
    monkeypatch.setattr(pages, "PAGES", {"queue": "/", "costs": "/costs?period=90d"})
    measured = pages.measure()
    assert {each.name for each in measured} == {
        *(f"page: {name}, p95" for name in ("queue", "costs", *pages.TABS)),
        "page: costs, first look",
    }
    assert all(each.value > 0 and each.ratio for each in measured)
