"""The meter's ears: HTTP on loopback and, for sandboxes without network, on a unix socket.

Whoever connects is hostile until its key is known; after that it is an agent, and no less so.
"""

from __future__ import annotations

import json
import socket
import threading
from contextlib import suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any

import httpx

from runner.meter.forward import NOT_FOUND, UNAUTHORIZED, Forward
from runner.meter.refusal import Refusal
from runner.meter.request import Request, key_of, read_body, split_query
from runner.meter.room import Room, most
from runner.meter.wire import WIRES
from runner.sockets import bind
from runner.terms import Api

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from runner.meter.tap import Tap

CLIENT_SECONDS = 120.0
"""Seconds that an agent may take to send the rest of a request, to take a piece of an answer, or to ask again on a
connection that it keeps open."""
MAX_CONNECTIONS = 64
"""Connections at once; further ones are closed."""
WAITING = 128
"""Connections that may wait to be taken."""
MAX_DRAINED = 4_000_000
"""Bytes of a request that are read only to be refused."""
POLL_SECONDS = 0.1
"""How often a server looks whether it is to end."""


@dataclass(frozen=True, slots=True)
class Front:
    """What the servers of one meter share."""

    http: httpx.Client
    tap_of: Callable[[str], Tap | None]
    """Finds a run by its placeholder key."""
    room: Room = field(default_factory=Room)


class _Outlet:
    """The way back to the agent; the length of an answer is not known when it begins."""

    def __init__(self, handler: _Handler) -> None:
        self._handler = handler
        self.link: socket.socket = handler.connection
        self._chunked = handler.request_version != "HTTP/1.0"
        self.begun = False

    def start(self, status: int, headers: Mapping[str, str]) -> None:
        """Send the head of an answer."""
        self.begun = True
        self._handler.head(status, {**headers, **({"Transfer-Encoding": "chunked"} if self._chunked else {})})

    def write(self, chunk: bytes) -> None:
        """Send a piece of its body."""
        if chunk:
            self._handler.wfile.write(b"%x\r\n%b\r\n" % (len(chunk), chunk) if self._chunked else chunk)

    def finish(self) -> None:
        """Send its end."""
        if self._chunked:
            self._handler.wfile.write(b"0\r\n\r\n")


class _Handler(BaseHTTPRequestHandler):
    """One connection of an agent."""

    protocol_version = "HTTP/1.1"
    timeout = CLIENT_SECONDS
    disable_nagle_algorithm = True
    server: Server

    def version_string(self) -> str:
        """Name no versions."""
        return "twogate"

    def log_message(self, *args: object) -> None:
        """Say nothing: the ledger tells what passed."""

    def do_GET(self) -> None:
        """Answer."""
        target, _, query = self.path.partition("?")
        name, _, path = target.lstrip("/").partition("/")
        api = next((each for each in Api if each == name), None)
        outlet = _Outlet(self)
        try:
            self._carry(api, f"/{path}", query, outlet)
        except Refusal as refusal:
            self._refuse(api, refusal, outlet)
        except (OSError, httpx.HTTPError):
            self.close_connection = True  # without the end of the answer: cut off here as it was there

    do_POST = do_HEAD = do_GET  # noqa: N815 - as above

    def _carry(self, api: Api | None, path: str, query: str, outlet: _Outlet) -> None:
        headers = {name.lower(): value for name, value in self.headers.items()}
        in_query, query = split_query(query)
        goes_on = not self.close_connection
        self.close_connection = True  # while the body is not read
        tap = self.server.front.tap_of(key_of(headers, in_query) or "")
        if tap is None or api is not tap.api:
            self._drain(headers)
            raise _misled(tap)
        with self.server.front.room.taken(most(headers)) as come_to:
            body = read_body(headers, self.rfile)
            come_to(len(body))
            self.close_connection = not goes_on
            request = Request(self.command, path, query, headers, body)
            Forward(self.server.front.http, tap, WIRES[tap.api]).carry(request, outlet)

    def _drain(self, headers: Mapping[str, str]) -> None:
        """Read a body that nobody wants: closing before would take the answer from the client."""
        length = headers.get("content-length", "")
        if length.isascii() and length.isdigit():
            self.rfile.read(min(int(length), MAX_DRAINED))

    def _refuse(self, api: Api | None, refusal: Refusal, outlet: _Outlet) -> None:
        if outlet.begun:
            self.close_connection = True
            return
        content: dict[str, Any] = {"error": refusal.sentence}
        body = json.dumps(WIRES[api].error(refusal.status, refusal.sentence) if api else content).encode()
        extra = {} if refusal.retry_after is None else {"Retry-After": str(refusal.retry_after)}
        with suppress(OSError):
            self.head(refusal.status, {"Content-Type": "application/json", "Content-Length": str(len(body)), **extra})
            self.wfile.write(b"" if self.command == "HEAD" else body)

    def head(self, status: int, headers: Mapping[str, str]) -> None:
        """Send the head of an answer."""
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        if self.close_connection:
            self.send_header("Connection", "close")
        self.end_headers()


class _UnixHandler(_Handler):
    disable_nagle_algorithm = False  # there is no such thing


class Server(ThreadingHTTPServer):
    """On loopback, at a port that the system chooses."""

    daemon_threads = True
    request_queue_size = WAITING

    def __init__(self, front: Front) -> None:
        """Begin to listen; raises OSError where that can't be had."""
        self.front = front
        self._room = threading.BoundedSemaphore(MAX_CONNECTIONS)
        self._bind()
        self._thread = threading.Thread(target=self.serve_forever, args=(POLL_SECONDS,), name="meter", daemon=True)
        self._thread.start()

    def _bind(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)

    def process_request(self, request: Any, client_address: Any) -> None:
        """Serve a connection in a thread of its own, or close it where there are too many."""
        if self._room.acquire(blocking=False):
            super().process_request(request, client_address)
        else:
            self.shutdown_request(request)

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        """Serve a connection to its end."""
        try:
            super().process_request_thread(request, client_address)
        finally:
            self._room.release()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing: a connection that broke off is the agent's affair."""

    def stop(self) -> None:
        """Listen no more; connections that are open end by themselves."""
        self.shutdown()
        self.server_close()


class UnixServer(Server):
    """On a unix socket, for whoever may reach the folder it lies in."""

    address_family = socket.AF_UNIX

    def __init__(self, front: Front, path: Path) -> None:
        """Begin to listen at ``path``."""
        self._path = path
        super().__init__(front)

    def _bind(self) -> None:
        ThreadingHTTPServer.__init__(self, str(self._path), _UnixHandler)  # type: ignore[arg-type]

    def server_bind(self) -> None:
        """Bind where whoever reaches the folder may connect: what counts is the key."""
        bind(self.socket, self._path)
        self._path.chmod(0o666)
        self.server_name, self.server_port = "meter", 0


def _misled(tap: Tap | None) -> Refusal:
    if tap is None:
        return Refusal(UNAUTHORIZED, "This is not the key of a run: the meter knows its own runs alone.")
    return Refusal(NOT_FOUND, f"The meter's paths begin with /{tap.api}/ for this run.")
