"""The tools' ears: a unix socket for the agent's user alone, open while the run lasts.

Whoever connects is hostile. Connections, their bytes and their time are bounded; what goes beyond is closed, and harms
nothing but its own run. What is said on a connection: :mod:`runner.tools.client`.
"""

from __future__ import annotations

import importlib
import json
import os
import socket
import threading
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Self

from runner.agents.result import MAX_RESULT
from runner.sockets import bind
from runner.tools.toolbox import Answer

if TYPE_CHECKING:
    from pathlib import Path
    from types import ModuleType

    from runner.folders import Owner
    from runner.tools.toolbox import Toolbox

MAX_CONNECTIONS = 16
"""Connections at once; further ones are closed."""
MOST_CONNECTIONS = 2_000
"""Connections of one run; then nobody listens any more."""
WAITING = 64
"""Connections that may wait to be taken."""
CALL_SECONDS = 30.0
"""Seconds in which a call must have been said and its answer taken."""
LEAVE_SECONDS = 5.0
"""Seconds that the end of a run waits for each connection to be let go."""
MAX_GREETING = 64
"""Bytes of the line that says what a connection is for."""
READ_BYTES = 1 << 16


def prepare() -> None:
    """Load what speaks MCP beside other work: it takes two seconds or more, and agents ask in vain for five at most."""
    threading.Thread(target=_protocol, name="tools-prepared", daemon=True).start()


def _protocol() -> ModuleType:
    return importlib.import_module("runner.tools.protocol")


class ToolServer:
    """Listens for one run, from threads of its own, until the end of its ``with`` block."""

    def __init__(self, toolbox: Toolbox, path: Path, owner: Owner | None) -> None:
        """Begin to listen at ``path`` for the user ``owner``, None: the runner's own. Raises OSError."""
        self._toolbox = toolbox
        self._links: dict[socket.socket, threading.Thread] = {}
        self._lock, self._over = threading.Lock(), False
        self._listener = socket.socket(socket.AF_UNIX)
        try:
            bind(self._listener, path)
            path.chmod(0o600)
            if owner:
                os.chown(path, *owner)
            self._listener.listen(WAITING)
        except OSError:
            self._listener.close()
            raise
        self._thread = threading.Thread(target=self._take, name="tools", daemon=True)
        self._thread.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_exc: object) -> None:
        """Record nothing more, hang up, and let nobody in."""
        self._toolbox.close()
        with self._lock:
            self._over, left = True, dict(self._links)
        for each in (self._listener, *left):
            _hang_up(each)
        for thread in (self._thread, *left.values()):
            thread.join(LEAVE_SECONDS)

    def _take(self) -> None:
        """Take connections until the run is over, or had too many."""
        with self._listener:
            for _ in range(MOST_CONNECTIONS):
                try:
                    link, _ = self._listener.accept()
                except OSError:
                    break
                self._begin(link)

    def _begin(self, link: socket.socket) -> None:
        """Serve a connection in a thread of its own, or close it where that can't be."""
        thread = threading.Thread(target=self._serve, args=(link,), name="tools-call", daemon=True)
        with self._lock:
            if self._over or len(self._links) >= MAX_CONNECTIONS:
                link.close()
                return
            self._links[link] = thread
        try:
            thread.start()
        except RuntimeError:  # the machine has no thread left
            self._end(link)

    def _serve(self, link: socket.socket) -> None:
        try:
            with suppress(Exception):  # whatever a hostile process brings about ends its own connection alone
                self._answer(link)
        finally:
            self._end(link)

    def _end(self, link: socket.socket) -> None:
        with self._lock:
            self._links.pop(link, None)
        link.close()

    def _answer(self, link: socket.socket) -> None:
        deadline = time.monotonic() + CALL_SECONDS
        greeting, rest = _greeting(link, deadline)
        match greeting.split(" "):
            case ["call", tool]:
                data = _read_on(link, rest, deadline)
                answer = self._toolbox.call_json(tool, data) if data is not None else _TOO_LONG
                link.settimeout(CALL_SECONDS)
                link.sendall(json.dumps({"ok": answer.ok, "text": answer.text}).encode())
            case ["mcp"]:
                _protocol().converse(self._toolbox, link, rest)


_TOO_LONG = Answer(ok=False, text=f"That is longer than {MAX_RESULT} bytes, the most that is taken.")


def _greeting(link: socket.socket, deadline: float) -> tuple[str, bytes]:
    """Return the first line and what came with it; raises OSError where there is none."""
    data = b""
    while b"\n" not in data:
        chunk = _receive(link, deadline)
        data += chunk
        if not chunk or (len(data) > MAX_GREETING and b"\n" not in data[:MAX_GREETING]):
            raise ConnectionError
    line, _, rest = data.partition(b"\n")
    return line.decode("ascii", "replace"), rest


def _read_on(link: socket.socket, data: bytes, deadline: float) -> bytes | None:
    """Return everything that is sent, None where it is too much; raises OSError where it takes too long."""
    parts, size = [data], len(data)
    while size <= MAX_RESULT:
        chunk = _receive(link, deadline)
        if not chunk:
            return b"".join(parts)
        parts.append(chunk)
        size += len(chunk)
    return None


def _receive(link: socket.socket, deadline: float) -> bytes:
    rest = deadline - time.monotonic()
    if rest <= 0:
        raise TimeoutError
    link.settimeout(rest)
    return link.recv(READ_BYTES)


def _hang_up(link: socket.socket) -> None:
    with suppress(OSError):
        link.shutdown(socket.SHUT_RDWR)
