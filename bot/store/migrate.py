"""Bring a database to the current schema. Safe to run in several processes at once, and at each start."""

from __future__ import annotations

from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory

from bot.store.engine import choose_backend, translated


def migrate(url: str) -> None:
    """Apply the migrations that are missing, alone.

    Raises :class:`~bot.errors.ConfigError` for a URL that can't be used, and
    :class:`~bot.store.engine.StoreUnavailable` where the database does not answer.
    """
    backend = choose_backend(url)
    try:
        with translated(), backend.migration_lock(), backend.writer.begin() as connection:
            command.upgrade(_config(connection), "head")
    finally:
        backend.writer.dispose()
        backend.reader.dispose()


def is_current(url: str) -> bool:
    """Tell whether every migration has been applied; raises what :func:`migrate` does."""
    backend = choose_backend(url)
    try:
        with translated(), backend.reader.begin() as connection:
            applied = MigrationContext.configure(connection).get_current_heads()
            return set(applied) == set(ScriptDirectory.from_config(_config(connection)).get_heads())
    finally:
        backend.writer.dispose()
        backend.reader.dispose()


def _config(connection: object) -> Config:
    config = Config(attributes={"connection": connection})
    config.set_main_option("script_location", str(Path(__file__).with_name("migrations")).replace("%", "%%"))
    return config
