"""Lessons that wait in a repository, on both databases."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bot.store import lessons
from runner.results import Unit, WaitingLesson

if TYPE_CHECKING:
    import pytest

    from bot.store.engine import Store

SHOP, OTHER = 7, 8


def keep(store: Store, repository: int, *texts: str, path: str = "src/**") -> None:
    with store.write() as tx:
        for text in texts:
            lesson = WaitingLesson(
                unit=Unit.EXECUTE_PLAN, kind="fact", text=text, paths=(path,), learned_from="acme/shop#1"
            )
            lessons.keep(tx, repository, lesson)


def take(store: Store, *files: str, most: int = 10) -> list[str]:
    with store.write() as tx:
        return [lesson.text for lesson in lessons.take(tx, SHOP, files, most)]


def test_what_finds_no_plan_holds_nothing_up_and_each_goes_with_one_plan(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lessons, "PAGE", 3)
    keep(store, SHOP, *(f"never {n}" for n in range(10)), path="gone/**")
    keep(store, SHOP, "first", "second", "third", "first")
    keep(store, OTHER, "theirs")
    assert take(store, "src/a.py", most=0) == []
    assert take(store, "src/a.py", most=2) == ["first", "second"]
    assert take(store, "src/a.py", "docs/**") == ["third"]
    assert take(store, "src/a.py") == []
    assert take(store, "gone/b.py") == [f"never {n}" for n in range(10)]


def test_the_oldest_are_forgotten_beyond_the_most_that_a_repository_keeps(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lessons, "MOST_KEPT", 2)
    keep(store, OTHER, "theirs")
    keep(store, SHOP, "one", "two", "two", "three")
    assert take(store, "src/a.py") == ["two", "three"]
