"""The door of the MCP server over HTTP: what is turned away asks the bot nothing, and is told why."""

from __future__ import annotations

from importlib.metadata import version
from typing import TYPE_CHECKING, Any

import anyio
import httpx
import pytest
from flask import Flask, Response, request
from mcp import MCPError
from mcp.client import Client as McpClient
from mcp.client.streamable_http import streamable_http_client

from bot.remote import mcp_http
from tests.remote.listening import listening
from tests.web.lab import served

if TYPE_CHECKING:
    from collections.abc import Iterator

OURS = "gho_of-whoever-runs-the-server"
CALL = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "tools/call",
    "params": {"name": "list_plans", "arguments": {}},
}
ACCEPTS = {"Accept": "application/json, text/event-stream", "Content-Type": "application/json"}
GOOD = ("Authorization", b"Bearer gho_mine")


class Door:
    """A server that is really listening, and what the bot behind it was asked."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.name = ""

    @property
    def url(self) -> str:
        return f"http://{self.name}/mcp"

    def call(self, *headers: tuple[str, bytes], method: str = "POST") -> httpx.Response:
        told = [*ACCEPTS.items(), *headers]
        return httpx.request(method, self.url, headers=told, json=CALL if method == "POST" else None, timeout=20)  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def open_door() -> Iterator[Door]:
    app = Flask("bot")

    def answer(path: str) -> Response:
        door.asked.append(f"{path} {request.headers['Authorization']}")
        return Response('{"items": [], "next": null}', content_type="application/json")

    app.add_url_rule("/api/v1/<path:path>", view_func=answer)
    door = Door()
    with served(lambda _: app) as bot, listening(bot) as door.name:
        yield door


@pytest.fixture
def door(open_door: Door, monkeypatch: pytest.MonkeyPatch) -> Door:
    """The server, started by somebody who has a token of their own."""
    for name in ("TWOGATE_TOKEN", "GH_TOKEN", "GITHUB_TOKEN"):
        monkeypatch.setenv(name, OURS)
    open_door.asked.clear()
    return open_door


@pytest.mark.parametrize("method", ["POST", "GET", "DELETE"])
@pytest.mark.parametrize(
    "headers",
    [
        [],
        [("Authorization", b"")],
        [("Authorization", b"Bearer")],
        [("Authorization", b"Bearer gho_\xc3\xa4\xff\xfe")],
        [("Authorization", b"Bearer " + b"x" * 100_000)],
        [("Authorization", b"Bearer gho_a gho_b")],
        [("Authorization", b"Basic Z2hvX21pbmU6")],
        [GOOD, ("Authorization", b"Bearer gho_another")],
    ],
    ids=["none", "empty", "nothing", "bytes", "100 kB", "two in one", "another scheme", "two"],
)
def test_what_brings_no_token_is_refused_in_a_sentence(
    door: Door, method: str, headers: list[tuple[str, bytes]]
) -> None:
    answer = door.call(*headers, method=method)
    assert (answer.status_code, answer.headers["WWW-Authenticate"]) == (401, 'Bearer realm="twogate"')
    assert answer.json()["error"]["message"] == mcp_http.UNPROVED
    assert door.asked == []


def test_what_is_no_call_is_not_held(door: Door) -> None:
    for method in ("GET", "DELETE", "PUT"):
        answer = door.call(GOOD, method=method)
        assert (answer.status_code, answer.headers["Allow"]) == (405, "POST")
        assert "called with POST" in answer.json()["error"]["message"]
    elsewhere = httpx.post(f"http://{door.name}/", headers=[GOOD], json=CALL)  # type: ignore[arg-type]
    assert (elsewhere.status_code, "at /mcp" in elsewhere.json()["error"]["message"]) == (404, True)
    assert door.asked == []


def test_a_name_of_somebody_elses_leads_nowhere(door: Door) -> None:
    for host in (
        "evil.example",
        f"{door.name}.evil.example",
        f"evil.example:{door.name}",
        "127.0.0.1",
        "twogate.example",
    ):
        answer = door.call(GOOD, ("Host", host.encode()))
        assert (answer.status_code, "address it as" in answer.json()["error"]["message"]) == (421, True), host
    for origin in (
        "http://evil.example",
        "null",
        f"http://{door.name}@evil.example",
        f"http://evil.example#{door.name}",
    ):
        answer = door.call(GOOD, ("Origin", origin.encode()))
        assert (answer.status_code, answer.json()["error"]["message"]) == (403, mcp_http.ELSEWHERE), origin
    assert door.asked == []
    for mine in (
        ("Host", b"twogate.EXAMPLE.com"),
        ("Host", door.name.replace("127.0.0.1", "localhost").encode()),
        ("Origin", f"http://{door.name}".encode()),
    ):
        assert door.call(GOOD, mine).status_code == 200, mine
    assert door.asked == ["plans Bearer gho_mine"] * 3


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_clients_learn_what_they_need(door: Door, mode: Any) -> None:
    async def session(token: str | None) -> dict[str, Any]:
        headers = {"Authorization": f"bearer {token}"} if token else {}
        async with (
            httpx.AsyncClient(headers=headers, timeout=20) as http,
            McpClient(streamable_http_client(door.url, http_client=http), mode=mode) as client,
        ):
            assert client.server_info is not None
            assert (client.server_info.name, client.server_info.version) == ("twogate", version("twogate"))
            assert "a person's" in str(client.instructions)
            answer = await client.call_tool("list_plans", {})
            assert not answer.is_error
            return answer.structured_content or {}

    for token in ("gho_ann", "gho_bob"):
        assert anyio.run(session, token) == {"plans": [], "next": None}
    assert door.asked == ["plans Bearer gho_ann", "plans Bearer gho_bob"]
    shown = pytest.RaisesExc(MCPError, match="can be a token of GitHub")
    with pytest.RaisesGroup(shown, flatten_subgroups=True):
        anyio.run(session, None)
    assert len(door.asked) == 2


@pytest.mark.parametrize(
    ("host", "names"),
    [
        ("127.0.0.1", ["b.example:8443", "127.0.0.1:8090", "[::1]:8090", "localhost:8090"]),
        ("::", ["b.example:8443", "[::]:8090"]),
        ("10.0.0.7", ["b.example:8443", "10.0.0.7:8090"]),
    ],
)
def test_the_names_are_the_bots_and_where_it_listens(host: str, names: list[str]) -> None:
    assert list(mcp_http.names_of("https://b.example:8443/bot", host, 8090)) == names
