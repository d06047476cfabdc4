"""What the commands on the bot's machine begin with: its settings, its logs and its database."""

from __future__ import annotations

import os

from dotenv import dotenv_values

from bot import logs, settings
from bot.errors import ConfigError
from bot.store.engine import Store, open_store
from bot.store.migrate import is_current, migrate


def found_settings() -> settings.Settings:
    """Return the settings of the environment and of ``.env``, of which the environment wins."""
    file = {name: value for name, value in dotenv_values(".env").items() if value is not None}
    return settings.from_environment({**file, **os.environ})


def made_ready() -> settings.Settings:
    """Return the settings, once logs are written and the database is up to date."""
    found = found_settings()
    logs.set_up(found)
    found.home.mkdir(mode=0o700, parents=True, exist_ok=True)
    migrate(found.database_url)
    return found


def current_store() -> Store:
    """Return the database. Raises :class:`ConfigError` where it is not at the current schema."""
    url = found_settings().database_url
    if not is_current(url):
        raise ConfigError(["The database is not up to date: run `twogate migrate`."])
    return open_store(url)
