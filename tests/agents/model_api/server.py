"""The server: takes requests of four wire formats, answers the next turn, and keeps what was asked."""

from __future__ import annotations

import gzip
import json
import secrets
import threading
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any

from runner.terms import Api
from tests.agents.model_api import anthropic, chat, gemini, responses
from tests.agents.model_api.script import Cut, Fault, Reply, Tokens, Turn
from tests.agents.model_api.tools import call_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import ModuleType

WIRES: dict[Api, ModuleType] = {
    Api.ANTHROPIC: anthropic,
    Api.RESPONSES: responses,
    Api.CHAT: chat,
    Api.GEMINI: gemini,
}
SIDE = Turn(text="ok", tokens=Tokens(input=40, output=4))
"""What a request gets that offers no tools."""
MAX_REQUESTS = 300
"""Requests that are answered; an agent that asks more often is told to go, and the test fails."""
MESSAGES = {401: "invalid api key", 402: "the budget is spent", 429: "rate limit reached", 500: "internal error"}


@dataclass(frozen=True)
class Seen:
    """One request, and what its answer billed."""

    number: int
    api: Api
    model: str
    key: str
    body: dict[str, Any] = field(repr=False)
    turn: int | None
    """Which turn it took, counted from 0; None for a request on the side."""
    tokens: Tokens | None
    """None where the answer was an error, or broke off."""


@dataclass
class ModelApi:
    """The running server."""

    turns: tuple[Turn, ...]
    cwd: str = ""
    """The work tree, in which relative paths of the script lie."""
    port: int = 0
    path: str = field(default_factory=lambda: f"/{secrets.token_hex(8)}")
    """What every address begins with: a stranger who finds an old acquaintance's port is told to go."""
    key: str | None = None
    """The only key that is let in; None lets in any."""
    seen: list[Seen] = field(default_factory=list)
    answer: Callable[[dict[str, Any]], Turn] | None = None
    """Makes the turn from the request, where there is no script."""
    ending: threading.Event = field(default_factory=threading.Event)
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _taken: int = 0

    @property
    def url(self) -> str:
        """The base address, without ``/v1`` or ``/v1beta``."""
        return f"http://127.0.0.1:{self.port}{self.path}"

    @property
    def main(self) -> list[Seen]:
        """The requests that took a turn."""
        return [seen for seen in self.seen if seen.turn is not None]

    @property
    def billed(self) -> list[Seen]:
        """The requests whose answers cost something."""
        return [seen for seen in self.seen if seen.tokens is not None]

    def take(self, api: Api, model: str, key: str, body: dict[str, Any]) -> tuple[Turn, int]:
        """Choose the turn for a request, and keep the request."""
        with self._lock:
            number, turn, index = len(self.seen) + 1, SIDE, None
            if number > MAX_REQUESTS:
                turn = Turn(fault=Fault(400))
            elif self.key is not None and key != self.key:
                turn = Turn(fault=Fault(401))
            elif WIRES[api].offered(body):
                index, self._taken = self._taken, self._taken + 1
                turn = self.answer(body) if self.answer else self.turns[min(index, len(self.turns) - 1)]
            tokens = None if turn.fault else turn.tokens
            self.seen.append(Seen(number, api, model, key, body, index, tokens))
            return turn, number


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    api: ModelApi

    def log_message(self, *args: object) -> None:
        """Say nothing."""

    def do_HEAD(self) -> None:
        self._json(200, {})

    def do_GET(self) -> None:
        if self.path.split("?")[0].endswith("/models"):
            self._json(200, {"object": "list", "data": [], "models": []})
        else:
            self._json(404, {"error": {"message": "no such path"}})

    def do_POST(self) -> None:
        body, path = self._body(), self.path.split("?")[0]
        wire = _wire(path) if path.startswith(f"{self.api.path}/") else None
        if path.endswith(("/count_tokens", ":countTokens")):
            self._json(200, {"input_tokens": 100, "totalTokens": 100})
        elif wire is None or not isinstance(body, dict):
            self._json(404, {"error": {"message": "no such path"}})
        else:
            model = body.get("model") or path.rsplit("/models/")[-1].split(":")[0]
            with suppress(BrokenPipeError, ConnectionResetError):
                self._answer(wire, path, model, body)

    def _answer(self, api: Api, path: str, model: str, body: dict[str, Any]) -> None:
        turn, number = self.api.take(api, model, self._key(), body)
        wire, fault = WIRES[api], turn.fault
        if turn.delay:
            self.api.ending.wait(turn.delay)
        if fault and fault.status:
            again = {} if fault.retry_after is None else {"Retry-After": str(fault.retry_after)}
            self._json(fault.status, wire.error(fault.status, MESSAGES.get(fault.status, "refused")), again)
            return
        if fault and fault.cut is Cut.OVERFLOW:
            self._json(400, wire.overflow())
            return
        calls = tuple(call_of(tool, wire.offered(body), self.api.cwd) for tool in turn.tools)
        reply = Reply(number, model, turn.text, turn.reasoning, calls, turn.tokens)
        cut = fault is not None and fault.cut is Cut.STREAM
        if wire.streams(self.path, body):
            self._stream(list(wire.events(reply)), cut=cut)
        else:
            self._json(200, wire.whole(reply), cut=cut)

    def _body(self) -> Any:
        if self.headers.get("Transfer-Encoding", "").lower() == "chunked":
            data = b""
            while size := int(self.rfile.readline().split(b";")[0], 16):
                data += self.rfile.read(size)
                self.rfile.readline()
            self.rfile.readline()
        else:
            data = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        return json.loads(gzip.decompress(data) if self.headers.get("Content-Encoding") == "gzip" else data or b"{}")

    def _key(self) -> str:
        bearer = (self.headers.get("Authorization") or "").removeprefix("Bearer ")
        return self.headers.get("x-api-key") or self.headers.get("x-goog-api-key") or bearer

    def _json(
        self, status: int, body: dict[str, Any], headers: dict[str, str] | None = None, *, cut: bool = False
    ) -> None:
        data = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.end_headers()
        self.close_connection = self.close_connection or cut
        self.wfile.write(data[: len(data) // 2] if cut else data)

    def _stream(self, events: list[tuple[str, str]], *, cut: bool) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        for name, data in events[: len(events) // 2] if cut else events:
            line = (f"event: {name}\n" if name else "") + f"data: {data}\n\n"
            self.wfile.write(b"%x\r\n%b\r\n" % (len(line.encode()), line.encode()))
        if cut:
            self.close_connection = True
        else:
            self.wfile.write(b"0\r\n\r\n")


def _wire(path: str) -> Api | None:
    if path.endswith("/messages"):
        return Api.ANTHROPIC
    if path.endswith("/responses"):
        return Api.RESPONSES
    if path.endswith("/chat/completions"):
        return Api.CHAT
    return Api.GEMINI if path.lower().endswith("generatecontent") else None


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 64

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing: agents that are killed leave connections behind."""


@contextmanager
def model_api(*turns: Turn, cwd: str = "", key: str | None = None) -> Iterator[ModelApi]:
    """Serve ``turns`` on a free loopback port."""
    api = ModelApi(turns, cwd=cwd, key=key)
    server = _Server(("127.0.0.1", 0), type("Handler", (_Handler,), {"api": api}))
    api.port = server.server_address[1]
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    try:
        yield api
    finally:
        api.ending.set()
        server.shutdown()
        server.server_close()
        thread.join()
