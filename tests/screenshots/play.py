"""Plays the threads, and returns each as the page that GitHub's stand-in shows of it."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

import httpx

from bot.store.migrate import migrate
from tests.scenarios.village import Country, Village
from tests.screenshots.threads import POLICY, THREADS
from tests.standin import StandIn
from tests.town.repository import ROOT, prepare

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@dataclass(frozen=True)
class Page:
    """A page as the stand-in serves it, and the id of the element from which on its picture shows it."""

    html: str
    start: str


def pages(folder: Path) -> dict[str, Page]:
    """Return the pages by the name of their picture."""
    with _village(folder) as village:
        paths = {name: play(village) for name, play in THREADS.items()}
        village.check()
        return {name: _page(village, path) for name, path in paths.items()}


def _page(village: Village, path: str) -> Page:
    where, _, start = path.partition("#")
    answer = httpx.get(f"{village.github.url}/{village.repository}/{where}", timeout=30)
    answer.raise_for_status()
    return Page(answer.text, start)


@contextmanager
def _village(folder: Path) -> Iterator[Village]:
    (folder / "village").mkdir()
    source = prepare(ROOT / "tests/demo/repository", folder / "source", POLICY)
    database = f"sqlite:///{folder / 'store.db'}"
    migrate(database)
    with (
        StandIn(folder / "github") as github,
        Village(Country.found(github), folder / "village", source, database) as village,
    ):
        yield village
