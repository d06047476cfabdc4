"""SQLite in WAL mode, for one machine: any number of processes, one writer at a time.

Writers queue at a lock on a side file before they ask SQLite: its own busy handler sleeps and retries, so that a busy
worker would starve the web process. The kernel frees the lock of a killed process. Every write transaction is
``IMMEDIATE``: one that begins by reading could not become a writer later.
``synchronous=FULL``: with ``NORMAL`` a power cut may take the last commits.
"""

from __future__ import annotations

import fcntl
import threading
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sqlalchemy import create_engine, event
from sqlalchemy.dialects.sqlite import Insert, insert
from sqlalchemy.exc import TimeoutError as LockTimeout

from bot.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sqlalchemy import URL, Connection, Engine, Table

BUSY_MILLISECONDS = 10_000
"""How long SQLite itself waits for a lock; behind the file lock only a checkpoint or a foreign tool can hold one."""
LOCK_DEADLINE_SECONDS = 30.0
"""How long a writer queues before it gives up: a write transaction takes milliseconds, so something is stuck."""
LOCK_LOOK_SECONDS = 0.001
"""Between two looks at a lock that another process holds."""
CHANGE_LOOK_SECONDS = 0.025
"""Between two looks at ``data_version``, which costs microseconds: how late a worker hears of a new delivery."""


class SQLite:
    """The file behind an ``sqlite:///`` URL."""

    def __init__(self, url: URL) -> None:
        if not url.database or url.database == ":memory:" or url.database.startswith("file:"):
            raise ConfigError(["SQLite needs a file: set a URL such as sqlite:////var/lib/twogate/twogate.db."])
        self.path = Path(url.database)
        self.writer = _engine(url, begin="BEGIN IMMEDIATE", query_only=False)
        self.reader = _engine(url, begin="BEGIN", query_only=True)
        self._queue = threading.Lock()

    @contextmanager
    def write_lock(self) -> Iterator[None]:
        """Queue for the one writer's place. Raises :class:`sqlalchemy.exc.TimeoutError`."""
        deadline = time.monotonic() + LOCK_DEADLINE_SECONDS
        if not self._queue.acquire(timeout=LOCK_DEADLINE_SECONDS):
            raise LockTimeout("another thread has held the write lock for too long")
        try:
            with _locked(self.path.with_name(self.path.name + ".lock"), deadline):
                yield
        finally:
            self._queue.release()

    @contextmanager
    def migration_lock(self) -> Iterator[None]:
        """Migrate alone. Raises :class:`sqlalchemy.exc.TimeoutError`."""
        deadline = time.monotonic() + LOCK_DEADLINE_SECONDS
        self.path.touch(mode=0o600)
        with _locked(self.path.with_name(self.path.name + ".migration"), deadline):
            yield

    def clock(self, connection: Connection) -> float:  # noqa: ARG002 - there is one machine, so its clock will do
        """Return the machine's time."""
        return time.time()

    def exclusive(self, connection: Connection, name: str) -> None:
        """Do nothing: there is one writer."""

    def notify(self, connection: Connection) -> None:
        """Do nothing: ``data_version`` tells."""

    def insert(self, table: Table) -> Insert:
        """Return SQLite's insert."""
        return insert(table)

    def changes(self, stop: threading.Event) -> Iterator[None]:
        """Yield when another connection has committed."""
        connection = self.reader.raw_connection()
        try:
            seen = None
            while not stop.wait(CHANGE_LOOK_SECONDS):
                version = connection.cursor().execute("PRAGMA data_version").fetchone()
                if version != seen:
                    seen = version
                    yield
        finally:
            connection.close()


def _engine(url: URL, *, begin: str, query_only: bool) -> Engine:
    engine = create_engine(url, hide_parameters=True)

    @event.listens_for(engine, "connect")
    def prepare(connection: Any, _record: object) -> None:
        connection.isolation_level = None
        for pragma in (
            f"busy_timeout = {BUSY_MILLISECONDS}",
            "foreign_keys = ON",
            "synchronous = FULL",
            "query_only = ON" if query_only else "journal_mode = WAL",
        ):
            connection.execute(f"PRAGMA {pragma}")

    @event.listens_for(engine, "begin")
    def start(connection: Connection) -> None:
        connection.exec_driver_sql(begin)

    return engine


@contextmanager
def _locked(path: Path, deadline: float) -> Iterator[None]:
    with path.open("ab") as file:
        while True:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if time.monotonic() > deadline:
                    raise LockTimeout(
                        f"another process has held {path} for too long; see who with: fuser {path}"
                    ) from None
                time.sleep(LOCK_LOOK_SECONDS)
        yield
