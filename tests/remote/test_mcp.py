"""The MCP server's tools as an agent sees them before any call, and what it is told of a call that can't be made."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import anyio
import pytest
from mcp.client import Client as McpClient

from bot.remote import mcp_tools
from bot.remote.client import Client
from bot.remote.mcp_shapes import CUT, LONGEST, MOST_LISTED, _cut, _listed
from bot.remote.where import Access

if TYPE_CHECKING:
    from collections.abc import Iterator


def connect(_headers: object) -> Client:
    return Client(Access("http://127.0.0.1:9", "tok"), sleep=lambda _: None)


async def offered(*, decides: bool = True) -> dict[str, dict[str, Any]]:
    async with McpClient(mcp_tools.server(connect, decides=decides)) as client:
        return {tool.name: tool.model_dump(by_alias=True) for tool in (await client.list_tools()).tools}


def test_the_tool_that_decides_can_be_left_out() -> None:
    names = anyio.run(offered).keys()
    assert anyio.run(lambda: offered(decides=False)).keys() == names - {"decide"}


def arguments(schema: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    assert schema["additionalProperties"] is False
    yield from schema["properties"].items()


def test_every_tool_and_every_argument_is_described() -> None:
    tools = anyio.run(offered)
    for name, tool in tools.items():
        assert tool["description"].count(".") >= 1, name
        assert tool["title"], name
        for argument, schema in arguments(tool["inputSchema"]):
            assert schema["description"], f"{name}: {argument}"
        assert tool["annotations"]["readOnlyHint"] is (name not in {"create_plan", "decide"}), name
    assert [name for name, tool in tools.items() if tool["annotations"].get("destructiveHint")] == ["decide"]
    assert "up.saw" in tools["decide"]["inputSchema"]["properties"]["saw"]["description"]


@pytest.mark.parametrize(
    ("tool", "given", "told"),
    [
        ("plan_status", {"repository": "shop", "issue": 0}, ["`repository`: ", "OWNER/NAME", "`issue`: "]),
        ("plan_status", {"issue": 3}, ["`repository`: Field required"]),
        ("list_plans", {"status": "draft"}, ["`status` is no argument of it", "`state` (optional)"]),
        ("list_plans", {"state": "open"}, ["'draft'", "'in_review'"]),
        ("decide", {"repository": "a/b", "issue": 1, "verb": "merge"}, ["'approve' or 'reject'"]),
        ("decide", {"repository": "a/b", "issue": 1, "verb": "approve", "saw": "HEAD"}, ["`saw`: ", "up.saw"]),
        ("approve", {}, ["no tool 'approve'", "decide"]),
        ("plan_status", {"repository": "a/b", "issue": 1}, ["http://127.0.0.1:9 does not answer", "try again"]),
    ],
)
def test_a_call_that_cant_be_made_is_told_in_words(tool: str, given: dict[str, Any], told: list[str]) -> None:
    async def call() -> Any:
        async with McpClient(mcp_tools.server(connect)) as client:
            return await client.call_tool(tool, given)

    answer = anyio.run(call)
    assert answer.is_error
    (said,) = [part.text for part in answer.content]
    assert all(words in said for words in told), said
    assert not any(words in said for words in ("pydantic", "validation error", "Error executing", "input_value")), said


def test_a_fault_of_our_own_tells_nothing_of_its_inside(capfd: pytest.CaptureFixture[str]) -> None:
    def broken(_headers: object) -> Client:
        raise RuntimeError("secret detail")

    async def call() -> Any:
        async with McpClient(mcp_tools.server(broken)) as client:
            return await client.call_tool("list_plans", {})

    answer = anyio.run(call)
    assert answer.is_error
    assert "fault of this server" in answer.content[0].text
    assert "secret" not in answer.content[0].text


def test_what_is_cut_says_so() -> None:
    assert (_cut("x" * LONGEST), len(_cut("x" * LONGEST * 2))) == ("x" * LONGEST, LONGEST)
    assert _cut("x" * (LONGEST + 1)).endswith(CUT)
    assert _listed(["a"] * MOST_LISTED) == ["a"] * MOST_LISTED
    assert _listed(["a"] * (MOST_LISTED + 2))[-1] == f"… and 2 more{CUT}"
