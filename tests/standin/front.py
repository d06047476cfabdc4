"""The outermost layer of the stand-in's web server: faults, the request log, conformance; in WSGI, so below Flask.

It also answers ``/api/v3/repositories/<id>/...`` (where a 301 of a renamed repository points) by the present name.
"""

from __future__ import annotations

import contextlib
import io
import re
import socket
import struct
import threading
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from werkzeug.wrappers import Response

from tests.standin import auth
from tests.standin.errors import ApiError
from tests.standin.http import NOTE, name_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from wsgiref.types import StartResponse, WSGIApplication, WSGIEnvironment

    from tests.standin.entities import Token
    from tests.standin.faults import Fault, Faults
    from tests.standin.limits import Limits
    from tests.standin.model import Hub

WRITES = {"POST", "PUT", "PATCH", "DELETE"}
NOT_WRITES = {"apps/create-installation-access-token", "apps/revoke-installation-access-token"}
"""POSTs that change nothing anyone sees."""
SERVER_ERROR = b'{"message": "Server Error", "status": "%d"}'


@dataclass
class Entry:
    """One API or git request as the log keeps it; ``status`` 0 means the connection was reset."""

    time: float
    method: str
    path: str
    query: str
    body: str
    actor: str = "anonymous"
    operation: str = ""
    template: str = ""
    status: int = 0
    write: bool = False
    fault: str | None = None


@dataclass
class Journal:
    """The log of requests, with counters."""

    entries: list[Entry] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def add(self, entry: Entry) -> None:
        """Remember a request."""
        with self.lock:
            self.entries.append(entry)

    def listed(self, since: int = 0) -> list[dict[str, Any]]:
        """The entries from an index on."""
        with self.lock:
            return [asdict(entry) for entry in self.entries[since:]]

    def counters(self) -> dict[str, dict[str, int]]:
        """Reads and writes by actor."""
        counts: dict[str, dict[str, int]] = {}
        with self.lock:
            for entry in self.entries:
                mine = counts.setdefault(entry.actor, {"reads": 0, "writes": 0})
                mine["writes" if entry.write else "reads"] += 1
        return counts


@dataclass
class Exchange:
    """A request with its answer, for the conformance check."""

    method: str
    path: str
    query: str
    headers: dict[str, str]
    body: bytes
    status: int
    answer_headers: dict[str, str]
    answer: bytes


class Front:
    """Wraps the Flask application."""

    def __init__(
        self,
        app: WSGIApplication,
        hub: Hub,
        faults: Faults,
        limits: Limits,
        observe: Callable[[Exchange], None] | None = None,
    ) -> None:
        self._app = app
        self._hub = hub
        self._faults = faults
        self._limits = limits
        self._observe = observe
        self.journal = Journal()
        self.stopping = threading.Event()

    def __call__(self, environ: WSGIEnvironment, start: StartResponse) -> Iterable[bytes]:
        """Serve one request."""
        path = environ["PATH_INFO"]
        if path.startswith("/api/"):
            return self._api(environ, start)
        if ".git/" not in path and path != "/login/oauth/access_token":
            return self._app(environ, start)
        actor = name_of(self._token(environ))
        fault = self._faults.for_request(environ["REQUEST_METHOD"], path, actor)
        early = self._before(environ, fault)
        return early(environ, start) if early is not None else self._app(environ, start)

    def _api(self, environ: WSGIEnvironment, start: StartResponse) -> Iterable[bytes]:
        body = environ["wsgi.input"].read(int(environ.get("CONTENT_LENGTH") or 0))
        asked = environ["PATH_INFO"]
        entry = Entry(
            self._hub.clock(),
            environ["REQUEST_METHOD"],
            asked,
            environ.get("QUERY_STRING", ""),
            body.decode(errors="replace"),
        )
        fault = self._faults.for_request(entry.method, asked, name_of(self._token(environ)))
        entry.fault, entry.write = fault.kind if fault else None, entry.method in WRITES
        self.journal.add(entry)
        response = self._answer(environ, entry, fault, body)
        entry.status = response.status_code
        return response(environ, start)

    def _answer(self, environ: WSGIEnvironment, entry: Entry, fault: Fault | None, body: bytes) -> Response:
        environ["wsgi.input"] = io.BytesIO(body)
        note: dict[str, Any] = {"token": self._token(environ)}
        environ[NOTE] = note
        entry.actor = name_of(note["token"])
        environ["PATH_INFO"] = self._by_name(environ["PATH_INFO"])
        early = self._before(environ, fault)
        if early is None and self._limits.state(note["token"])["remaining"] == 0:
            early = self._spent(environ, self._limits.state(note["token"])["reset"])
        if early is not None:
            return early
        response = Response.from_app(self._app, environ, buffered=True)
        _take(note, entry)
        if self._observe is not None:
            self._observe(_exchange(environ, entry, body, response))
        return self._after(environ, fault, response)

    def _by_name(self, path: str) -> str:
        found = re.match(r"/api/v3/repositories/(\d+)(?=/|$)", path)
        repo = self._hub.repo_by_id(int(found[1])) if found else None
        return f"/api/v3/repos/{repo.full_name}{path[found.end() :]}" if found and repo else path

    def _before(self, environ: WSGIEnvironment, fault: Fault | None) -> Response | None:
        kind = fault.kind if fault else None
        if fault is None:
            return None
        if kind == "error":
            return Response(SERVER_ERROR % fault.status, fault.status, mimetype="application/json")
        if kind == "primary":
            return self._spent(environ, int(self._hub.clock() + fault.seconds))
        if kind == "secondary":
            return _secondary(fault)
        if kind == "reset":
            _reset(environ)
        if kind == "slow":
            self.stopping.wait(fault.seconds)
        return None

    def _after(self, environ: WSGIEnvironment, fault: Fault | None, response: Response) -> Response:
        if fault is not None and fault.kind == "error_after":
            return Response(SERVER_ERROR % fault.status, fault.status, mimetype="application/json")
        if fault is not None and fault.kind == "reset_after":
            _reset(environ)
        token = environ[NOTE].get("token")
        self._limits.count(token)
        response.headers.update(self._limits.headers(token))
        response.headers["X-GitHub-Request-Id"] = f"{self._hub.random.getrandbits(64):016X}"
        return response

    def _token(self, environ: WSGIEnvironment) -> Token | None:
        try:
            return auth.authenticate(self._hub, environ.get("HTTP_AUTHORIZATION"))
        except ApiError:
            return None

    def _spent(self, environ: WSGIEnvironment, reset: int) -> Response:
        limit = str(self._limits.hourly)
        headers = {"X-RateLimit-Limit": limit, "X-RateLimit-Remaining": "0", "X-RateLimit-Reset": str(reset)}
        if environ["PATH_INFO"].endswith("/graphql"):
            body = '{"errors": [{"type": "RATE_LIMITED", "message": "API rate limit exceeded"}]}'
            return Response(body, 200, headers, "application/json")
        body = '{"message": "API rate limit exceeded", "status": "403"}'
        return Response(body, 403, headers, "application/json")


def _take(note: dict[str, Any], entry: Entry) -> None:
    entry.operation = note.get("operation", "")
    entry.template = note.get("template", "")
    entry.write = note.get("write", entry.write and entry.operation not in NOT_WRITES)


def _secondary(fault: Fault) -> Response:
    status = fault.status if fault.status in {403, 429} else 403
    body = f'{{"message": "You have exceeded a secondary rate limit.", "status": "{status}"}}'
    return Response(body, status, {"Retry-After": str(int(fault.seconds))}, "application/json")


def _reset(environ: WSGIEnvironment) -> None:
    """Close the client's connection so that it sees a reset; raises ConnectionResetError to end the request."""
    sock: socket.socket = environ["werkzeug.socket"]
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    with contextlib.suppress(OSError):
        sock.shutdown(socket.SHUT_RD)
    sock.close()
    raise ConnectionResetError("reset on demand")


def _exchange(environ: WSGIEnvironment, entry: Entry, body: bytes, response: Response) -> Exchange:
    names = {k[5:].replace("_", "-").lower(): str(v) for k, v in environ.items() if k.startswith("HTTP_")}
    names["content-type"] = environ.get("CONTENT_TYPE", "")
    answer = {key.lower(): value for key, value in response.headers.items()}
    path = environ["PATH_INFO"]
    return Exchange(entry.method, path, entry.query, names, body, response.status_code, answer, response.get_data())
