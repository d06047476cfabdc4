from __future__ import annotations

from tests.store.databases import migrated, server, sqlite_template, sqlite_url, url
from tests.web.lab import clock, github, lab, lab_on

__all__ = ["clock", "github", "lab", "lab_on", "migrated", "server", "sqlite_template", "sqlite_url", "url"]
