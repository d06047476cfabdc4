"""What SQLite and PostgreSQL do differently, as one interface."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    import threading
    from collections.abc import Iterator
    from contextlib import AbstractContextManager

    from sqlalchemy import Connection, Engine, Table
    from sqlalchemy.dialects.sqlite import Insert

CHANNEL = "twogate"
"""The PostgreSQL channel on which a commit says that there is work."""


class Backend(Protocol):
    """One kind of database."""

    @property
    def reader(self) -> Engine:
        """What begins transactions that can't write."""

    @property
    def writer(self) -> Engine:
        """What begins transactions that may write; where there is one writer, they are it from their first moment."""

    def write_lock(self) -> AbstractContextManager[None]:
        """Hold what must be held around a write transaction."""

    def migration_lock(self) -> AbstractContextManager[None]:
        """Keep every other process from migrating."""

    def clock(self, connection: Connection) -> float:
        """Return the seconds since the epoch, from one clock for all who share the database."""

    def exclusive(self, connection: Connection, name: str) -> None:
        """Let one transaction at a time go on from here, until it ends."""

    def notify(self, connection: Connection) -> None:
        """Wake the other processes once this transaction has committed."""

    def insert(self, table: Table) -> Insert:
        """Return an insert that knows ``on_conflict_do_nothing`` and ``on_conflict_do_update``."""

    def changes(self, stop: threading.Event) -> Iterator[None]:
        """Yield soon after others have committed something, until ``stop`` is set. May yield without a cause."""
