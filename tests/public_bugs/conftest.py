"""The village of the scenarios, for faults that show from the outside."""

from __future__ import annotations

from tests.scenarios.conftest import country, source, sqlite_template, sqlite_url, village

__all__ = ["country", "source", "sqlite_template", "sqlite_url", "village"]
