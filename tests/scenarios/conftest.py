"""Fixtures: a village with an empty history, and its template."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.scenarios.village import Country, Village
from tests.standin import StandIn
from tests.store.databases import sqlite_template, sqlite_url
from tests.town.repository import prepare

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["sqlite_template", "sqlite_url"]

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
def village(country: Country, tmp_path: Path, source: Path, sqlite_url: str) -> Iterator[Village]:
    with Village(country, tmp_path, source, sqlite_url) as founded:
        yield founded
        founded.check()
