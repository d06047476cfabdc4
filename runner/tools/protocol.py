"""The tools over the Model Context Protocol: a connection has an event loop of its own.

The ``mcp`` package speaks; lines, bytes and messages are bounded before it sees them, and what its log says of hostile
ones is not printed: a line on the runner's output may be taken for a workflow command.

A session speaks the version of the protocol that its first request is of. Agents that know several ask first by the
newest (``server/discover``), wait five or ten seconds, and then say ``initialize`` on the same connection. The package
refuses that where it has heard both, after which Copilot CLI goes on without tools; so ``initialize`` always begins a
session of its own.
"""

from __future__ import annotations

import json
import logging
from typing import TYPE_CHECKING, Any, TextIO, cast

import anyio
import mcp_types as types
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server

from runner.agents.result import MAX_RESULT
from runner.tools.arguments import DESCRIPTIONS, schema_of

if TYPE_CHECKING:
    import socket

    from runner.tools.toolbox import Toolbox

MAX_LINE = 2 * MAX_RESULT
"""Bytes of one message: a result, and what is around it."""
MAX_BYTES = 16 * MAX_RESULT
"""Bytes that may be said on one connection in all."""
MOST_MESSAGES = 3_000
"""Messages of one connection."""
for name in ("mcp", "asyncio"):
    logging.getLogger(name).addHandler(logging.NullHandler())
    logging.getLogger(name).propagate = False


def converse(toolbox: Toolbox, link: socket.socket, begun: bytes) -> None:
    """Speak until the other side, or the run, has ended; ``begun`` has been read already. Raises nothing of ours."""
    link.settimeout(None)
    lines = _Lines(link, begun)
    while lines.begin():
        anyio.run(_session, toolbox, lines)


async def _session(toolbox: Toolbox, lines: _Lines) -> None:
    file = anyio.wrap_file(cast("TextIO", lines))
    server = _server(toolbox)
    async with stdio_server(file, file) as (heard, said):
        await server.run(heard, said, server.create_initialization_options())


def _server(toolbox: Toolbox) -> Server[Any]:
    async def listed(_ctx: Any, _params: Any) -> types.ListToolsResult:
        return types.ListToolsResult(
            tools=[
                types.Tool(name=tool, description=DESCRIPTIONS[tool], input_schema=schema_of(tool, toolbox.unit))
                for tool in toolbox.allowed
            ]
        )

    async def called(_ctx: Any, params: types.CallToolRequestParams) -> types.CallToolResult:
        answer = await anyio.to_thread.run_sync(toolbox.call, params.name, params.arguments or {})
        return types.CallToolResult(content=[types.TextContent(text=answer.text)], is_error=not answer.ok)

    return Server("twogate", on_list_tools=listed, on_call_tool=called)


class _Lines:
    """A socket as a file of lines, which ends where too much is said."""

    def __init__(self, link: socket.socket, begun: bytes) -> None:
        self._link, self._data = link, bytearray(begun)
        self._bytes, self._messages = len(begun), 0
        self._next: str | None = ""
        """What the next session begins with, None where there is none."""
        self._heard = False
        """Whether this session has heard anything."""

    def begin(self) -> bool:
        """Return whether a session begins: the first, or one that ended the one before it."""
        self._heard = False
        return self._next is not None

    def readline(self) -> str:
        """Return the session's next line, an empty one where no further is taken."""
        line, self._next = self._next or self._read(), None
        if self._heard and _is_handshake(line):
            self._next = line
            return ""
        self._heard = True
        return line

    def _read(self) -> str:
        self._messages += 1
        while (end := self._data.find(b"\n")) < 0 and self._room():
            if not (chunk := self._receive()):
                return ""
            self._data += chunk
            self._bytes += len(chunk)
        if end < 0 or self._messages > MOST_MESSAGES:
            return ""
        line = bytes(self._data[: end + 1])
        del self._data[: end + 1]
        return line.decode("utf-8", "replace")

    def _room(self) -> bool:
        return len(self._data) <= MAX_LINE and self._bytes <= MAX_BYTES

    def _receive(self) -> bytes:
        try:
            return self._link.recv(1 << 16)
        except OSError:
            return b""

    def write(self, text: str) -> int:
        """Send a line; raises OSError where it is not taken in time."""
        self._link.sendall(text.encode())
        return len(text)

    def flush(self) -> None:
        """Do nothing: it has been sent."""


def _is_handshake(line: str) -> bool:
    try:
        message = json.loads(line) if '"initialize"' in line else None
    except (ValueError, RecursionError):
        return False
    return isinstance(message, dict) and message.get("method") == "initialize"
