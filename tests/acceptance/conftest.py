"""The village of the scenarios, for questions about the whole product."""

from __future__ import annotations

from tests.scenarios.conftest import country, source, sqlite_template, sqlite_url, village

__all__ = ["country", "source", "sqlite_template", "sqlite_url", "village"]
