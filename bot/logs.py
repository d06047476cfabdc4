"""The log: a line a record, for people or as JSON, with what the thread was at, and never with a secret.

Nothing of the bot logs a secret; what slips into a message by way of somebody's exception is taken out here.
"""

from __future__ import annotations

import json
import logging
import re
import time
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from bot import trail
from bot.settings import JSON

if TYPE_CHECKING:
    from collections.abc import Iterable

    from bot.settings import Settings

LEAST_SECRET = 8
"""Characters from which on a secret is looked for in what is logged; a shorter one is no secret."""
INSTEAD = "***"
SHAPES = re.compile(
    r"""
      \bgh[a-z]_[A-Za-z0-9_.-]{16,}                           # tokens of GitHub
    | \bgithub_pat_\w{20,}
    | \beyJ[\w-]{8,}\.[\w-]{8,}(?:\.[\w-]*)?                  # JSON Web Tokens
    | (?<=://)[^/\s:@]+:[^/\s@]+(?=@)                         # user and password of an address
    | -----BEGIN[ ][A-Z ]*PRIVATE[ ]KEY-----.*?(?:-----END[ ][A-Z ]*PRIVATE[ ]KEY-----|\Z)
    """,
    re.VERBOSE | re.DOTALL,
)
"""How secrets look that are not in the settings."""
TOO_CHATTY = ("httpx", "httpcore", "alembic.runtime.migration")


def set_up(settings: Settings) -> None:
    """Write what is logged to standard error from now on, unless somebody has set up the log already."""
    handler = logging.StreamHandler()
    made = Json if settings.log_format == JSON else Text
    handler.setFormatter(made(secrets_of(settings)))
    logging.basicConfig(level=logging.INFO, handlers=[handler])
    for name in TOO_CHATTY:
        logging.getLogger(name).setLevel(logging.WARNING)


def secrets_of(settings: Settings) -> tuple[str, ...]:
    """Return what no record may hold, the longest first."""
    password = urlsplit(settings.database_url).password
    known = (
        settings.private_key,
        settings.webhook_secret,
        settings.client_secret,
        settings.metrics_token,
        settings.chat_webhook,
        password,
    )
    return tuple(sorted((secret for secret in known if secret and len(secret) >= LEAST_SECRET), key=len, reverse=True))


class _Clean(logging.Formatter):
    def __init__(self, secrets: Iterable[str] = ()) -> None:
        super().__init__()
        self._secrets = tuple(secrets)

    def clean(self, text: str) -> str:
        """Return text without secrets."""
        for secret in self._secrets:
            text = text.replace(secret, INSTEAD)
        return SHAPES.sub(INSTEAD, text)

    def line(self, text: str) -> str:
        """Return text without secrets that begins no line of its own."""
        return "".join(c if c.isprintable() else repr(c)[1:-1] for c in self.clean(text))

    def at(self, record: logging.LogRecord) -> str:
        """Return when it was, in UTC."""
        return f"{time.strftime('%Y-%m-%dT%H:%M:%S', time.gmtime(record.created))}.{int(record.msecs):03d}Z"

    def fault(self, record: logging.LogRecord) -> str | None:
        """Return the exception with its trace, indented, so that none of its lines passes for a record."""
        if not record.exc_info or not record.exc_info[0]:
            return None
        lines = self.clean(self.formatException(record.exc_info)).split("\n")
        return "\n".join(f"  {self.line(line)}" for line in lines)


class Text(_Clean):
    """``2026-11-30T08:00:00.000Z INFO bot.worker.deliver: said [plan=… effect=…]``, and traces below."""

    def format(self, record: logging.LogRecord) -> str:
        """Return a record's line."""
        bears = " ".join(f"{name}={self.line(str(value))}" for name, value in trail.fields().items())
        said = f"{self.at(record)} {record.levelname} {record.name}: {self.line(record.getMessage())}"
        line = f"{said} [{bears}]" if bears else said
        fault = self.fault(record)
        return line if fault is None else f"{line}\n{fault}"


class Json(_Clean):
    """An object a line: ``at``, ``level``, ``logger``, ``message``, the fields, and ``exception``."""

    def format(self, record: logging.LogRecord) -> str:
        """Return a record's line."""
        bears = {name: self.clean(v) if isinstance(v, str) else v for name, v in trail.fields().items()}
        said: dict[str, Any] = {
            **bears,
            "at": self.at(record),
            "level": record.levelname,
            "logger": record.name,
            "message": self.line(record.getMessage()),
        }
        fault = self.fault(record)
        return json.dumps(said if fault is None else {**said, "exception": fault}, ensure_ascii=True)
