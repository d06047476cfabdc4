"""The MCP server over HTTP, really served."""

from __future__ import annotations

import socket
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING

import uvicorn

from bot.remote import mcp_http

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextmanager
def listening(bot: str) -> Iterator[str]:
    """Serve as ``twogate mcp --http`` does, on a free port of loopback; lends its name."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
        names = ("Twogate.example.com", *mcp_http.names_of(bot, "127.0.0.1", port))
        server = uvicorn.Server(mcp_http.served(mcp_http.app(bot, names), "127.0.0.1", port))
        thread = threading.Thread(target=server.run, args=([free],), daemon=True)
        thread.start()
        while not server.started:
            assert thread.is_alive()
            thread.join(0.02)
        try:
            yield f"127.0.0.1:{port}"
        finally:
            server.should_exit = True
            thread.join(20)
