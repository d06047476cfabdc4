"""Fixtures: one Chromium and one village with plans in many states, for all tests of a worker."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.browser.browser import CHROMIUM, DRIVER, MISSING, Browser
from tests.browser.sights import Sights
from tests.scenarios.conftest import country, source
from tests.scenarios.village import Country, Village
from tests.store.databases import sqlite_template

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

__all__ = ["country", "source", "sqlite_template"]


@pytest.fixture(scope="session")
def chromium() -> Iterator[Browser]:
    if not (CHROMIUM.exists() and DRIVER.exists()):
        pytest.skip(MISSING)
    with Browser() as browser:
        yield browser


@pytest.fixture
def browser(chromium: Browser) -> Browser:
    chromium.fresh()
    return chromium


@pytest.fixture(scope="session")
def sights(
    country: Country, source: Path, sqlite_template: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Sights]:
    home = tmp_path_factory.mktemp("sights")
    database = home / "village.db"
    database.write_bytes(sqlite_template.read_bytes())
    with Village(country, home, source, f"sqlite:///{database}") as village:
        yield Sights.build(village)
