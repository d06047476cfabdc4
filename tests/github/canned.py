"""A server on loopback that answers as it is told: for what the stand-in GitHub can't be made to do."""

from __future__ import annotations

import contextlib
import json
import threading
from collections import defaultdict, deque
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

LATER = "2099-01-01T00:00:00Z"
TOKENS = "POST /app/installations/9/access_tokens"


@dataclass
class Answer:
    status: int = 200
    body: Any = None
    headers: dict[str, str] = field(default_factory=dict)
    wait: threading.Event | None = None


@dataclass
class Canned:
    """``answers["GET /path"]`` are given in order, the last one for ever; ``seen`` is what was asked."""

    url: str = ""
    answers: dict[str, deque[Answer]] = field(default_factory=lambda: defaultdict(deque))
    seen: list[tuple[str, dict[str, str], Any]] = field(default_factory=list)

    def on(self, request: str, *answers: Answer) -> None:
        self.answers[request] = deque(answers)

    def asked(self, request: str) -> int:
        return [line for line, _headers, _body in self.seen].count(request)

    def take(self, request: str) -> Answer:
        waiting = self.answers.get(request)
        if not waiting:
            return Answer(404, {"message": "Not Found"})
        return waiting.popleft() if len(waiting) > 1 else waiting[0]


def _said(raw: bytes) -> Any:
    """What a request's body says: JSON, or a form as it is."""
    try:
        return json.loads(raw) if raw else None
    except ValueError:
        return raw.decode()


@contextlib.contextmanager
def canned() -> Iterator[Canned]:
    """Serve until the block ends; an installation 9 with repository 7, ``acme/shop``, is there."""
    told = Canned()
    told.on(TOKENS, Answer(201, {"token": "ghs_1", "expires_at": LATER}))
    told.on("GET /repositories/7", Answer(200, {"id": 7, "name": "shop", "owner": {"login": "acme"}}))
    told.on("GET /app", Answer(200, {"id": 1, "slug": "twogate"}))
    told.on("GET /app/installations", Answer(200, [{"id": 9, "suspended_at": None}]))
    told.on("GET /users/twogate%5Bbot%5D", Answer(200, {"id": 77, "login": "twogate[bot]"}))

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True  # answers are two writes

        def answer(self) -> None:
            length = int(self.headers.get("Content-Length") or 0)
            raw = self.rfile.read(length)
            request = f"{self.command} {self.path.split('?')[0]}"
            told.seen.append((request, dict(self.headers.items()), _said(raw)))
            given = told.take(request)
            if given.wait is not None:
                given.wait.wait(10)
            body = given.body if isinstance(given.body, bytes) else json.dumps(given.body).encode()
            if given.body is None:
                body = b""
            with contextlib.suppress(BrokenPipeError, ConnectionResetError):
                self.send_response(given.status)
                for name, value in {**given.headers, "Content-Length": str(len(body))}.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(body)

        do_GET = do_POST = do_PATCH = do_PUT = do_DELETE = answer  # noqa: N815 - the names http.server looks for

        def log_message(self, *args: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    told.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    try:
        yield told
    finally:
        server.shutdown()
        thread.join(10)
        server.server_close()
