from __future__ import annotations

from tests.store.databases import clock, migrated, server, sqlite_template, sqlite_url, store, url

__all__ = ["clock", "migrated", "server", "sqlite_template", "sqlite_url", "store", "url"]
