"""A scripted model API on loopback that speaks enough of Anthropic Messages to drive a real agent.

A test gives turns; each request that offers tools takes the next one, side requests (titles, probes) get a canned
answer. What was asked is kept, so that a test can look at it.
"""

from __future__ import annotations

import json
import threading
import uuid
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


@dataclass(frozen=True)
class Turn:
    """One answer of the model: tool calls (name, input) or text, and what it is to have used."""

    text: str = ""
    tools: tuple[tuple[str, dict[str, Any]], ...] = ()
    input_tokens: int = 1000
    output_tokens: int = 50
    cache_read: int = 0
    cache_write: int = 0
    status: int = 200

    def usage(self) -> dict[str, int]:
        return {
            "input_tokens": self.input_tokens,
            "output_tokens": self.output_tokens,
            "cache_read_input_tokens": self.cache_read,
            "cache_creation_input_tokens": self.cache_write,
        }

    def blocks(self, number: int) -> list[dict[str, Any]]:
        text = [{"type": "text", "text": self.text}] if self.text else []
        return text + [
            {"type": "tool_use", "id": f"toolu_{number}_{i}", "name": name, "input": given}
            for i, (name, given) in enumerate(self.tools)
        ]


SIDE = Turn(text="ok", input_tokens=1, output_tokens=1)


@dataclass
class ModelApi:
    """The running server: its address and every request body it got."""

    url: str
    turns: Sequence[Turn]
    asked: list[dict[str, Any]] = field(default_factory=list)
    main: list[dict[str, Any]] = field(default_factory=list)
    keys: set[str] = field(default_factory=set)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def answer(self, body: dict[str, Any]) -> tuple[Turn, int]:
        with self.lock:
            self.asked.append(body)
            if not body.get("tools"):
                return SIDE, len(self.asked)
            self.main.append(body)
            return self.turns[min(len(self.main), len(self.turns)) - 1], len(self.asked)


def _events(turn: Turn, number: int, model: str) -> Iterator[dict[str, Any]]:
    start = {**turn.usage(), "output_tokens": 1}
    message = {"id": f"msg_{uuid.uuid4().hex}", "type": "message", "role": "assistant", "model": model, "content": []}
    yield {"type": "message_start", "message": {**message, "stop_reason": None, "stop_sequence": None, "usage": start}}
    for index, block in enumerate(turn.blocks(number)):
        if block["type"] == "text":
            empty: dict[str, Any] = {"type": "text", "text": ""}
            delta = {"type": "text_delta", "text": block["text"]}
        else:
            empty = {**block, "input": {}}
            delta = {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}
        yield {"type": "content_block_start", "index": index, "content_block": empty}
        yield {"type": "content_block_delta", "index": index, "delta": delta}
        yield {"type": "content_block_stop", "index": index}
    stop = "tool_use" if turn.tools else "end_turn"
    yield {"type": "message_delta", "delta": {"stop_reason": stop, "stop_sequence": None}, "usage": turn.usage()}
    yield {"type": "message_stop"}


class _Handler(BaseHTTPRequestHandler):
    api: ModelApi

    def log_message(self, *args: object) -> None:
        """Say nothing."""

    def do_HEAD(self) -> None:
        self._json(200, {})

    def do_GET(self) -> None:
        self._error(404, "not_found_error", "no such path")

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers.get("Content-Length") or 0)) or b"{}")
        self.api.keys.add(self.headers.get("x-api-key") or "")
        if not self.path.split("?")[0].endswith("/messages"):
            self._json(200, {"input_tokens": 1})
            return
        turn, number = self.api.answer(body)
        if turn.status != 200:
            self._error(turn.status, "api_error", turn.text)
        elif body.get("stream"):
            self._stream(turn, number, body["model"])
        else:
            whole = {"id": f"msg_{uuid.uuid4().hex}", "type": "message", "role": "assistant", "model": body["model"]}
            stop = {"stop_reason": "end_turn", "stop_sequence": None}
            self._json(200, {**whole, **stop, "content": turn.blocks(number), "usage": turn.usage()})

    def _error(self, status: int, kind: str, message: str) -> None:
        self._json(status, {"type": "error", "error": {"type": kind, "message": message}})

    def _json(self, status: int, body: dict[str, Any]) -> None:
        data = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def _stream(self, turn: Turn, number: int, model: str) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        self.end_headers()
        for event in _events(turn, number, model):
            self.wfile.write(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode())
        self.close_connection = True


@contextmanager
def model_api(*turns: Turn) -> Iterator[ModelApi]:
    """Serve ``turns`` on a free loopback port."""
    api = ModelApi("", turns)
    server = ThreadingHTTPServer(("127.0.0.1", 0), type("Handler", (_Handler,), {"api": api}))
    api.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    try:
        yield api
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
