"""The store: one database, its transactions, and the time in them.

    store = open_store("sqlite:////var/lib/twogate/twogate.db")
    with store.write() as tx:
        deliveries.add(tx, ...)

A write transaction is one whole: it commits when its block ends and leaves no trace when it raises. On SQLite it is
alone from its first statement (``BEGIN IMMEDIATE`` behind a file lock); on PostgreSQL rows are locked one by one.
"""

from __future__ import annotations

from contextlib import contextmanager
from functools import cached_property
from typing import TYPE_CHECKING, Any

from sqlalchemy import CursorResult, make_url
from sqlalchemy.exc import ArgumentError, DBAPIError, InterfaceError, OperationalError
from sqlalchemy.exc import TimeoutError as PoolTimeoutError

from bot.errors import ConfigError, Transient
from bot.store.postgresql import PostgreSQL
from bot.store.sqlite import SQLite

if TYPE_CHECKING:
    import threading
    from collections.abc import Callable, Iterator

    from sqlalchemy import Connection, Executable, Table
    from sqlalchemy.dialects.sqlite import Insert

    from bot.store.backend import Backend


class StoreUnavailable(Transient):
    """The database does not answer, or another process keeps it locked. Worth another try."""


SQLITE_TROUBLE = frozenset({5, 6, 7, 8, 10, 13, 14, 15})
"""Primary result codes: busy, locked, no memory, read-only, I/O error, full, not to be opened (sqlite.org/rescode)."""
POSTGRESQL_TROUBLE = ("08", "53", "57P", "58")
"""How an SQLSTATE begins: no connection, no room, shut down, system error (PostgreSQL, appendix A)."""


def is_trouble(error: BaseException) -> bool:
    """Whether the database itself is in trouble, away, locked or its disk full, whatever was asked of it."""
    found = error.__cause__ if isinstance(error, StoreUnavailable) else error
    if not isinstance(found, DBAPIError) or found.orig is None:
        return isinstance(found, PoolTimeoutError)
    if isinstance(code := getattr(found.orig, "sqlite_errorcode", None), int):
        return code & 0xFF in SQLITE_TROUBLE
    state = getattr(found.orig, "sqlstate", None)
    return state.startswith(POSTGRESQL_TROUBLE) if isinstance(state, str) else found.connection_invalidated


class Tx:
    """A transaction in progress. The modules of this package take it as their first argument."""

    def __init__(
        self, connection: Connection, backend: Backend, now: Callable[[], float] | None, *, writes: bool
    ) -> None:
        self.connection = connection
        self.writes = writes
        self._backend = backend
        self._now = now

    @cached_property
    def now(self) -> float:
        """Seconds since the epoch; the same throughout the transaction."""
        return self._now() if self._now else self._backend.clock(self.connection)

    def execute(self, statement: Executable, **values: object) -> CursorResult[*tuple[Any, ...]]:
        """Execute a statement of SQLAlchemy Core, with the values of its named parameters."""
        result = self.connection.execute(statement, values or None)
        assert isinstance(result, CursorResult)  # noqa: S101 - what Core returns for every statement used here
        return result

    def insert(self, table: Table) -> Insert:
        """Return an insert into ``table`` that knows what to do on a conflict."""
        return self._backend.insert(table)

    def exclusive(self, name: str) -> None:
        """Wait until no other transaction is past this point with the same name."""
        self._backend.exclusive(self.connection, name)

    def wake(self) -> None:
        """Let the workers look for work once this has committed."""
        self._backend.notify(self.connection)


class Store:
    """A database that is ready for use. One for each process, shared by its threads; made after any fork."""

    def __init__(self, backend: Backend, now: Callable[[], float] | None) -> None:
        self.backend = backend
        self._now = now

    @contextmanager
    def read(self) -> Iterator[Tx]:
        """Open a transaction that sees one state of the database and can't change it."""
        with translated(), self.backend.reader.begin() as connection:
            yield Tx(connection, self.backend, self._now, writes=False)

    @contextmanager
    def write(self) -> Iterator[Tx]:
        """Open a transaction that may write; committed at the end of the block, rolled back where it raises."""
        with translated(), self.backend.write_lock(), self.backend.writer.begin() as connection:
            yield Tx(connection, self.backend, self._now, writes=True)

    def changes(self, stop: threading.Event) -> Iterator[None]:
        """Yield soon after anybody has committed something, until ``stop`` is set. May yield without a cause."""
        return self.backend.changes(stop)

    def dispose(self) -> None:
        """Close all connections that are not in use."""
        self.backend.reader.dispose()
        self.backend.writer.dispose()


def open_store(url: str, *, now: Callable[[], float] | None = None) -> Store:
    """Return the store at an SQLAlchemy URL; connects at first use.

    ``now`` gives the time in seconds since the epoch; without it the database's clock counts, so that machines whose
    clocks differ agree. Raises :class:`~bot.errors.ConfigError` for a URL that can't be used.
    """
    return Store(choose_backend(url), now)


def choose_backend(url: str) -> Backend:
    """Return what serves the URL's kind of database. Raises :class:`~bot.errors.ConfigError`."""
    try:
        parsed = make_url(url)
    except ArgumentError as error:
        raise ConfigError(["The database URL can't be read; it looks like sqlite:////absolute/path.db."]) from error
    match parsed.get_backend_name():
        case "sqlite":
            return SQLite(parsed)
        case "postgresql":
            return PostgreSQL(parsed)
        case other:
            raise ConfigError([f"The database {other!r} is not supported: use sqlite or postgresql+psycopg."])


@contextmanager
def translated() -> Iterator[None]:
    """Turn what a database that does not answer makes SQLAlchemy raise into :class:`StoreUnavailable`."""
    try:
        yield
    except (OperationalError, InterfaceError, PoolTimeoutError) as error:
        cause = getattr(error, "orig", None) or error
        raise StoreUnavailable(f"The database can't be used just now: {cause}") from error
