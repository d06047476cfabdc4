"""The MCP server over HTTP: each request stands for itself and brings its person's token, of which nothing is kept."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import uvicorn
from mcp.server.transport_security import TransportSecuritySettings

from bot.errors import UserError
from bot.remote import where
from bot.remote.client import Client
from bot.remote.mcp_tools import server

if TYPE_CHECKING:
    from collections.abc import Mapping

    from starlette.applications import Starlette

LARGEST_CALL = 256 * 1024
"""Bytes of one call: an issue's text, and what is around it."""
BEARER = "Bearer "
UNPROVED = "This call came without a token of GitHub: have your client send `Authorization: Bearer` and yours."


def serve(url: str, host: str, port: int, *, decides: bool = True) -> None:
    """Serve until SIGTERM or SIGINT, for the bot at ``url``."""
    names = (f"{host}:{port}", urlsplit(url).netloc)
    uvicorn.run(app(url, names, decides=decides), host=host, port=port, log_level="warning", server_header=False)


def app(url: str, names: tuple[str, ...], *, decides: bool = True) -> Starlette:
    """Return the application; ``names`` are those under which it may be addressed, so that no page of another can."""

    def connect(headers: Mapping[str, str] | None) -> Client:
        given = (headers or {}).get("authorization", "")
        if not given.startswith(BEARER):
            raise UserError(UNPROVED)
        return Client(where.Access(url, given.removeprefix(BEARER).strip()), via="mcp")

    return server(connect, decides=decides).streamable_http_app(
        json_response=True,
        stateless_http=True,
        max_request_body_size=LARGEST_CALL,
        transport_security=TransportSecuritySettings(allowed_hosts=list(names)),
    )
