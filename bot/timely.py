"""gunicorn's threads, none of which waits without end for whoever is at the other end of its connection.

A request that does not arrive, or an answer that nobody takes, would hold one of few threads for ever: a client on
purpose, or a machine that lost its network halfway.
"""

from __future__ import annotations

import socket
import time
from contextlib import suppress
from typing import Any

from gunicorn.workers.gthread import ThreadWorker

ARRIVAL_SECONDS = 60.0
"""In which a request has to arrive whole, as 8 MB do at a megabit a second; what is missing then is not read."""
ANSWERED_SECONDS = 180.0
"""In which its answer has to be taken too, twice as long as any takes to be made; then the connection is closed."""


class Timely(ThreadWorker):  # type: ignore[misc]  # gunicorn has no types
    """A worker that looks every second, beside its threads, for connections that are too slow."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._since: dict[Any, float] = {}

    def handle(self, conn: Any) -> Any:
        """Read a request and answer it, in one of the threads."""
        self._since[conn] = time.monotonic()
        try:
            return super().handle(conn)
        finally:
            del self._since[conn]

    def murder_pending(self) -> None:
        """End, at every look, what keeps a thread waiting."""
        super().murder_pending()
        now = time.monotonic()
        for conn, since in list(self._since.items()):
            if now - since >= ARRIVAL_SECONDS:
                whole = now - since >= ANSWERED_SECONDS
                with suppress(OSError):
                    conn.sock.shutdown(socket.SHUT_RDWR if whole else socket.SHUT_RD)
