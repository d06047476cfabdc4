"""A model API on loopback that answers as a test says: whole, in pieces, cut, stalled, wrong."""

from __future__ import annotations

import json
import threading
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


KEY = "sk-canary-0123456789-real-key"
"""The only key that it lets in; others get 404, and are no request."""


@dataclass
class Answer:
    """One answer: its pieces are written one by one; ``gate`` is waited for before the last one."""

    pieces: tuple[bytes, ...]
    status: int = 200
    content_type: str = "text/event-stream"
    headers: dict[str, str] = field(default_factory=dict)
    gate: threading.Event | None = None
    cut: bool = False
    """Break the connection off instead of ending the answer."""

    @property
    def whole(self) -> bytes:
        return b"".join(self.pieces)


@dataclass
class Asked:
    """One request that arrived."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes


class Upstream:
    """What a test sets and reads."""

    def __init__(self, answer: Callable[[Asked], Answer]) -> None:
        self.answer = answer
        self.asked: list[Asked] = []
        self.url = ""
        self.under_way = 0
        self.most = 0
        self.changed = threading.Condition()

    def count(self, step: int) -> None:
        with self.changed:
            self.under_way += step
            self.most = max(self.most, self.under_way)
            self.changed.notify_all()

    def wait_for(self, number: int) -> None:
        """Wait until so many requests are under way."""
        with self.changed:
            assert self.changed.wait_for(lambda: self.under_way == number, 10), self.under_way


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    upstream: Upstream

    def log_message(self, *args: object) -> None:
        """Say nothing."""

    def do_GET(self) -> None:
        if not any(KEY in value for value in self.headers.values()):  # another test's agent, which tries every port
            self.send_error(404)
            return
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        asked = Asked(self.command, self.path, {n.lower(): v for n, v in self.headers.items()}, body)
        self.upstream.asked.append(asked)
        self.upstream.count(1)
        try:
            self._answer(self.upstream.answer(asked))
        except OSError:
            self.close_connection = True
        finally:
            self.upstream.count(-1)

    def do_POST(self) -> None:
        self.do_GET()

    def _answer(self, answer: Answer) -> None:
        self.send_response(answer.status)
        self.send_header("Content-Type", answer.content_type)
        for name, value in answer.headers.items():
            self.send_header(name, value)
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        for number, piece in enumerate(answer.pieces):
            if answer.gate is not None and number == len(answer.pieces) - 1:
                answer.gate.wait(20)
            self.wfile.write(b"%x\r\n%b\r\n" % (len(piece), piece))
        if answer.cut:
            self.close_connection = True
            return
        self.wfile.write(b"0\r\n\r\n")


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128


@contextmanager
def upstream(answer: Callable[[Asked], Answer]) -> Iterator[Upstream]:
    """Serve on a free port; the environment of :func:`environment` leads there."""
    made = Upstream(answer)
    server = _Server(("127.0.0.1", 0), type("Handler", (_Handler,), {"upstream": made}))
    made.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield made
    finally:
        server.shutdown()
        server.server_close()
        thread.join(10)


def sse(*events: dict[str, Any] | str, named: bool = False) -> tuple[bytes, ...]:
    """Return server-sent events, a piece each."""
    pieces = []
    for event in events:
        data = event if isinstance(event, str) else json.dumps(event)
        name = f"event: {event['type']}\n" if named and isinstance(event, dict) else ""
        pieces.append(f"{name}data: {data}\n\n".encode())
    return tuple(pieces)


def plain(content: object, status: int = 200) -> Answer:
    """Return a plain JSON answer."""
    return Answer((json.dumps(content).encode(),), status, "application/json")
