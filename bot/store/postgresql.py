"""PostgreSQL through psycopg 3, for several machines: one clock, row locks, and a notice to all who wait."""

from __future__ import annotations

from contextlib import contextmanager, nullcontext
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, cast
from zlib import crc32

from sqlalchemy import create_engine, func, select, text
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.exc import DBAPIError

from bot.errors import ConfigError
from bot.store.backend import CHANNEL

if TYPE_CHECKING:
    import threading
    from collections.abc import Iterator
    from contextlib import AbstractContextManager

    from sqlalchemy import URL, Connection, Table
    from sqlalchemy.dialects.sqlite import Insert

CONNECT_SECONDS = 5
"""To reach the server."""
STATEMENT_MILLISECONDS = 30_000
"""No statement of the bot takes a second; one that does is ended."""
LOCK_MILLISECONDS = 10_000
"""For a row or lock that another transaction holds."""
IDLE_MILLISECONDS = 30_000
"""A transaction left open, as by a machine that was suspended, is ended by the server so that nobody waits for it."""
POOL_SECONDS = 10
"""For a free connection of this process."""
LISTEN_SECONDS = 0.5
"""Between two looks at whether to stop listening."""
SETTLE_SECONDS = 0.015
"""After a notice, so that a burst of commits wakes a worker once."""
RECONNECT_SECONDS = 1.0
"""Between two tries to listen again; until then the worker's own looks serve."""
MIGRATION_SECONDS = 60
"""For another process to finish migrating."""


class PostgreSQL:
    """The server behind a ``postgresql+psycopg://`` URL."""

    def __init__(self, url: URL) -> None:
        if find_spec("psycopg") is None:
            raise ConfigError(["PostgreSQL needs psycopg: install twogate[postgresql]."])
        settings = {
            "statement_timeout": STATEMENT_MILLISECONDS,
            "lock_timeout": LOCK_MILLISECONDS,
            "idle_in_transaction_session_timeout": IDLE_MILLISECONDS,
        }
        self.writer = create_engine(
            url.set(drivername="postgresql+psycopg"),
            pool_pre_ping=True,
            hide_parameters=True,
            pool_timeout=POOL_SECONDS,
            connect_args={
                "connect_timeout": CONNECT_SECONDS,
                "options": " ".join(f"-c {name}={value}" for name, value in settings.items()),
            },
        )
        self.reader = self.writer.execution_options(postgresql_readonly=True, isolation_level="REPEATABLE READ")

    def write_lock(self) -> AbstractContextManager[None]:
        """Return nothing to hold: rows are locked one by one."""
        return nullcontext()

    @contextmanager
    def migration_lock(self) -> Iterator[None]:
        """Migrate alone, by a lock on a connection of its own."""
        with self.writer.execution_options(isolation_level="AUTOCOMMIT").connect() as connection:
            connection.execute(text(f"SET lock_timeout = '{MIGRATION_SECONDS}s'"))
            connection.execute(text(f"SET statement_timeout = '{MIGRATION_SECONDS}s'"))
            connection.execute(select(func.pg_advisory_lock(_number("migration"))))
            try:
                yield
            finally:
                connection.execute(select(func.pg_advisory_unlock(_number("migration"))))
                connection.invalidate()

    def clock(self, connection: Connection) -> float:
        """Return the server's time."""
        return float(connection.execute(text("SELECT extract(epoch FROM clock_timestamp())")).scalar_one())

    def exclusive(self, connection: Connection, name: str) -> None:
        """Take an advisory lock that ends with the transaction."""
        connection.execute(select(func.pg_advisory_xact_lock(_number(name))))

    def notify(self, connection: Connection) -> None:
        """Send a notice with the commit."""
        connection.execute(select(func.pg_notify(CHANNEL, "")))

    def insert(self, table: Table) -> Insert:
        """Return PostgreSQL's insert, which has the same two conflict clauses as SQLite's."""
        return cast("Insert", insert(table))

    def changes(self, stop: threading.Event) -> Iterator[None]:
        """Yield at each notice, and whenever listening began anew."""
        while not stop.is_set():
            try:
                yield from self._listen(stop)
            except (DBAPIError, self.writer.dialect.loaded_dbapi.Error):
                stop.wait(RECONNECT_SECONDS)

    def _listen(self, stop: threading.Event) -> Iterator[None]:
        connection = self.writer.raw_connection()
        driver: Any = connection.driver_connection
        connection.detach()
        try:
            driver.autocommit = True
            driver.execute(f"LISTEN {CHANNEL}")
            yield
            while not stop.is_set():
                heard = list(driver.notifies(timeout=LISTEN_SECONDS, stop_after=1))
                if heard and not stop.wait(SETTLE_SECONDS):
                    yield
        finally:
            driver.close()


def _number(name: str) -> int:
    return crc32(f"twogate:{name}".encode())
