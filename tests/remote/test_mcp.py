"""The MCP server's tools, before any call."""

from __future__ import annotations

import anyio

from bot.remote.client import Client
from bot.remote.mcp_tools import server
from bot.remote.where import Access


def test_the_tool_that_decides_can_be_left_out() -> None:
    def connect(_headers: object) -> Client:
        return Client(Access("http://127.0.0.1:9", "tok"))

    names = {tool.name for tool in anyio.run(server(connect).list_tools)}
    assert {tool.name for tool in anyio.run(server(connect, decides=False).list_tools)} == names - {"decide"}
