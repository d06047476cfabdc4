"""The MCP server over HTTP: each request stands for itself and brings its person's token, of which nothing is kept.

    request ──▶ own name (Host, Origin) ──▶ a token, by its shape ──▶ size ──▶ the tool, which asks the bot with it

A browser's page elsewhere can make a browser send requests here, also under a name of its own that points here. It can
neither choose the header ``Host`` nor leave out ``Origin``, so both have to name this server.
"""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import uvicorn
from mcp.server.transport_security import TransportSecuritySettings
from mcp_types import INVALID_REQUEST
from starlette.datastructures import Headers
from starlette.responses import JSONResponse

from bot.errors import UserError
from bot.remote import where
from bot.remote.client import Client
from bot.remote.mcp_tools import server
from bot.settings import LOOPBACK
from bot.wire import is_token

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from starlette.applications import Starlette
    from starlette.types import ASGIApp, Receive, Scope, Send

LARGEST_CALL = 256 * 1024
"""Bytes of one call: an issue's text, and what is around it."""
LARGEST_HEAD = 256 * 1024
"""Bytes of a request's head that are read, so that whoever sends some file as a token is told what is wrong."""
STOP_SECONDS = 70
"""For calls under way when the server is asked to end: longer than a decision is waited for."""
PATH = "/mcp"
ALLOW = {"Allow": "POST"}
UNPROVED = (
    "This call came without anything that can be a token of GitHub: have your client send the header `Authorization: "
    "Bearer TOKEN`, with a user token such as `gh auth token` prints."
)
MISNAMED = "This server does not go by the name in the header Host: address it as {}."
ELSEWHERE = "A page of another site sent this: this server answers programs, and no page but its own."


def serve(url: str, host: str, port: int, *, decides: bool = True) -> None:
    """Serve until SIGTERM or SIGINT, for the bot at ``url``."""
    uvicorn.Server(served(app(url, names_of(url, host, port), decides=decides), host, port)).run()


def served(application: Starlette, host: str, port: int) -> uvicorn.Config:
    """Return how the application is served."""
    return uvicorn.Config(
        application,
        host=host,
        port=port,
        log_level="warning",
        server_header=False,
        http="h11",
        ws="none",
        h11_max_incomplete_event_size=LARGEST_HEAD,
        timeout_graceful_shutdown=STOP_SECONDS,
    )


def names_of(url: str, host: str, port: int) -> tuple[str, ...]:
    """Return the names by which a server may be addressed: where the bot is, and where it listens itself."""
    listens = {host, *(LOOPBACK if host in LOOPBACK else ())}
    own = sorted(f"[{each}]:{port}" if ":" in each else f"{each}:{port}" for each in listens)
    return tuple(dict.fromkeys((urlsplit(url).netloc, *own)))


def app(url: str, names: Iterable[str], *, decides: bool = True) -> Starlette:
    """Return the application for the bot at ``url``; it answers under ``names`` alone."""

    def connect(headers: Mapping[str, str] | None) -> Client:
        token = _token((headers or {}).get("authorization", ""))
        if token is None:
            raise UserError(UNPROVED)
        return Client(where.Access(url, token), via="mcp")

    made = server(connect, decides=decides).streamable_http_app(
        streamable_http_path=PATH,
        json_response=True,
        stateless_http=True,
        max_request_body_size=LARGEST_CALL,
        transport_security=TransportSecuritySettings(enable_dns_rebinding_protection=False),  # the door does it
    )
    made.add_middleware(Door, names=names)
    return made


class Door:
    """Turns away, in a sentence and before anything else looks at it, what is not meant for us or brings no token."""

    def __init__(self, within: ASGIApp, names: Iterable[str]) -> None:
        self._within = within
        self._names = [name.casefold() for name in names]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or let it in."""
        if scope["type"] != "http":
            await self._within(scope, receive, send)
            return
        refusal = self._refusal(Headers(scope=scope)) or _misaddressed(scope["method"], scope["path"])
        await (self._within if refusal is None else refusal)(scope, receive, send)

    def _refusal(self, headers: Headers) -> JSONResponse | None:
        hosts, origins, proofs = (headers.getlist(name) for name in ("host", "origin", "authorization"))
        if len(hosts) != 1 or hosts[0].casefold() not in self._names:
            return _refused(421, MISNAMED.format(self._names[0]))
        if not all(self._is_own(origin) for origin in origins):
            return _refused(403, ELSEWHERE)
        if len(proofs) != 1 or _token(proofs[0]) is None:
            return _refused(401, UNPROVED, {"WWW-Authenticate": 'Bearer realm="twogate"'})
        return None

    def _is_own(self, origin: str) -> bool:
        scheme, _, name = origin.casefold().partition("://")
        return scheme in {"http", "https"} and name in self._names


def _misaddressed(method: str, path: str) -> JSONResponse | None:
    """Refuse what is no call; a stream of news, which GET would open, would be held for ever, since there are none."""
    if path.rstrip("/") != PATH:
        return _refused(404, f"There is nothing here: the server is at {PATH}.")
    if method != "POST":
        return _refused(405, "This server is called with POST: it keeps no session, and has no news to stream.", ALLOW)
    return None


def _token(proof: str) -> str | None:
    """Return the token that a header brings; None where there is none."""
    scheme, _, token = proof.partition(" ")
    token = token.strip()
    return token if scheme.casefold() == "bearer" and is_token(token) else None


def _refused(status: int, sentence: str, headers: Mapping[str, str] | None = None) -> JSONResponse:
    """Return a refusal as clients of the protocol show it: an error of JSON-RPC, of no call in particular."""
    said = {"jsonrpc": "2.0", "id": None, "error": {"code": INVALID_REQUEST, "message": sentence}}
    return JSONResponse(said, status, headers)
