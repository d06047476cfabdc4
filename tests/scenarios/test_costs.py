"""Each week's figures, where the policy asks for them."""

from __future__ import annotations

import json
import threading
from contextlib import contextmanager
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING

import pytest

from bot import serving
from bot.chat import Chat
from bot.errors import Permanent
from bot.lifecycle.periods import WEEK, aligned

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.scenarios.village import Village


@contextmanager
def chat(status: int = 200) -> Iterator[tuple[str, list[str]]]:
    """A chat on loopback: its address, and what it was told."""
    told: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            told.append(json.loads(self.rfile.read(int(self.headers["Content-Length"])))["text"])
            self.send_response(status)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/services/secret", told
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def test_a_week_is_told_of_once_where_the_policy_says(village: Village) -> None:
    told_in = village.opened("board")
    village.set_policy(f"summary: {{issue: {told_in}, chat: true}}")
    village.planned()
    with chat() as (url, told):
        settings = replace(village.parts.settings, chat_webhook=url)
        village.worker = serving.worker(replace(village.parts, settings=settings))
        village.periodically("summaries")
        assert (village.thread(told_in), told) == ([], []), "nothing had happened in the week before"
        village.periodically("summaries", after=aligned(village.clock(), WEEK) + WEEK - village.clock() + 60)
        village.periodically("summaries", after=3_600)
        assert village.thread(told_in) == ["week"]
        assert "### Twogate's week" in village.text(told_in, "week")
        (message,) = told
    assert message.startswith(f"*Twogate, {village.repository}*: ")
    assert "• Cost per merged pull request: none was merged; denied: 0 of 0" in message


def test_what_a_chat_refuses_is_said_without_its_address() -> None:
    with chat(status=404) as (url, _), pytest.raises(Permanent, match="it answered 404") as refused:
        Chat(url).say("x")
    with pytest.raises(Permanent, match="can't be reached: ConnectError") as away:
        Chat(url).say("x")
    assert "secret" not in f"{refused.value}{away.value}{Chat(url)!r}"
