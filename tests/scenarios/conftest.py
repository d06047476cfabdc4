"""Fixtures: a village with an empty history, and its template."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.scenarios import course
from tests.scenarios.village import Country, Village
from tests.standin import StandIn
from tests.store.databases import sqlite_template
from tests.town.repository import prepare

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator

__all__ = ["sqlite_template"]

CODE = Path(__file__).parent.parent / "demo" / "repository"
POLICY = """\
label: agent
agent: {cli: scripted}
agents:
  scripted: {command: [scripted]}
queue: {max_parallel: 4, overlap: warn}
sandbox: auto
gates:
  - {name: tests, run: "true"}
"""


@pytest.fixture(scope="session")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The repository that every village starts with."""
    return prepare(CODE, tmp_path_factory.mktemp("source") / "shop", POLICY)


@pytest.fixture(scope="session")
def country(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Country]:
    with StandIn(tmp_path_factory.mktemp("github")) as github:
        yield Country.found(github)


@pytest.fixture
def sqlite_url(sqlite_template: Path) -> str:
    """An empty database for one village after the other, always in the same place."""
    place = sqlite_template.with_name("village.db")
    for leftover in place.parent.glob("village.db*"):
        leftover.unlink()
    shutil.copy(sqlite_template, place)
    return f"sqlite:///{place}"


@pytest.fixture
def village(country: Country, tmp_path: Path, source: Path, sqlite_url: str) -> Iterator[Village]:
    with Village(country, tmp_path, source, sqlite_url) as founded:
        yield founded
        founded.check()


@pytest.hookimpl(wrapper=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> Generator[None, object, object]:
    """At the end of a scenario that went well, compare its whole course."""
    done = yield
    if isinstance(village := pyfuncitem.funcargs.get("village"), Village):
        course.compare(village, pyfuncitem.path, pyfuncitem.name)
    return done
