"""The verbs of people and the MCP server, against the real bot: each with a token of somebody's own."""

from __future__ import annotations

import json
import sys
import threading
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import anyio
import httpx
from mcp.client import Client as McpClient
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client

from bot.cli import main
from bot.remote import verbs
from bot.remote.client import Client
from tests.hostile.test_terminal import DRIVES
from tests.remote.listening import listening
from tests.standin.oauth import Authorisations

ROOT = Path(__file__).parents[2]

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pytest

    from tests.scenarios.village import Village


class Terminal:
    """The command line of a person; the village goes on while it waits."""

    def __init__(self, village: Village, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
        self.village, self.monkeypatch, self.capsys = village, monkeypatch, capsys
        monkeypatch.setattr(verbs, "Client", partial(Client, sleep=lambda _: village.settle()))
        monkeypatch.setenv("TWOGATE_URL", village.url)

    def __call__(self, who: str, *words: str) -> tuple[int, str]:
        self.monkeypatch.setenv("TWOGATE_TOKEN", self.village.country.tokens[who])
        self.capsys.readouterr()
        code = main([words[0], "--repo", self.village.repository, *words[1:]])
        said = self.capsys.readouterr()
        assert self.village.country.tokens[who] not in said.out + said.err
        assert DRIVES.search(said.out + said.err) is None
        return code, said.out + said.err


def test_a_change_from_asking_to_its_rejection_by_the_command_line(
    village: Village, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    twogate = Terminal(village, monkeypatch, capsys)
    code, said = twogate("tom", "create", "Round totals")
    assert (code, "GitHub shows to you" in said) == (2, True), said
    village.push("alice", {"README.md": "The bot comes to know the repository."})
    village.settle()
    code, said = twogate("tom", "create", "Round \x1b[2Jtotals", "--body", "They show fractions.", "--json")
    issue = json.loads(said)["issue"]
    village.settle()
    code, said = twogate("rita", "plans", "--state", "draft")
    assert code == 0
    assert "Round ⟨U+001B⟩[2Jtotals" in next(line for line in said.splitlines() if f"#{issue} " in line)
    village.runner(issue).write_plan(
        title="Round the totals",
        summary="To cents.\x1b]0;owned\x07\r",
        steps=("\x9b2J",),
        files=("shop/basket.py",),
        weakens=("shop/basket.py",),
        tests=("3.3",),
    )
    code, said = twogate("rita", "approve", str(issue), "--yes")
    assert (code, "write" in said) == (1, True), said
    assert village.stands(issue) == "draft, waits for plan_decision"
    code, said = twogate("alice", "show", str(issue), "--json")
    saw = json.loads(said)["up"]["saw"]
    assert twogate("alice", "approve", str(issue), "--saw", "0" * 12)[0] == 2
    code, said = twogate("alice", "approve", str(issue), "--saw", saw[:12])
    assert (code, village.stands(issue)) == (0, "executing, waits for runner"), said
    assert f"An approval covers exactly this text, {saw[:12]}." in said
    assert "Checks less than before:\n  - shop/basket.py\nTests:\n  - 3.3\n" in said
    village.runner(issue).execute({"shop/basket.py": "rounded"})
    assert village.notes(issue, "approved")
    code, said = twogate("alice", "logs", str(issue))
    assert (code, "tests" in said, "passed" in said) == (0, True, True)
    code, said = twogate("alice", "logs", str(issue), "--json")
    assert [(job["outcome"], job["stop_reason"]) for job in json.loads(said)] == [("planned", None), ("verified", None)]
    code, said = twogate("alice", "costs", str(issue))
    assert (code, "Total $" in said) == (0, True), said
    code, said = twogate("rita", "costs", "--days", "1")
    assert (code, f"{village.repository}  $" in said) == (0, True), said
    code, said = twogate("bob", "reject", str(issue), "--yes", "--why", "too large")
    assert (code, village.stands(issue)) == (0, "rejected"), said
    assert "Rejected:\n  - too large\n" in twogate("alice", "show", str(issue))[1]
    code, said = twogate("bob", "approve", str(issue), "--yes")
    assert (code, said) == (1, "Nothing is up for decision, the plan is rejected. It can be reopened.\n")
    code, said = twogate("bob", "approve", str(issue), "--json")
    assert (code, json.loads(said)["counted"]) == (1, False)
    code, said = twogate("alice", "open", str(issue), "--print")
    assert said == f"{village.url}/plans/{village.plan(issue).uid}\n"
    assert twogate("alice", "show", "999")[0] == 2


@contextmanager
def at_work(village: Village) -> Iterator[None]:
    """Let the village go on in the background."""
    done = threading.Event()

    def work() -> None:
        while not done.is_set():
            village.settle()
            done.wait(0.05)

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join(30)


async def called(client: McpClient, tool: str, **arguments: Any) -> dict[str, Any]:
    answer = await client.call_tool(tool, arguments)
    assert not answer.is_error, answer.content
    assert answer.structured_content is not None
    return answer.structured_content


def test_an_agent_asks_for_a_plan_and_reads_its_cost_over_stdio(village: Village) -> None:
    village.planned()
    repository = village.repository

    async def session() -> None:
        environment = {"TWOGATE_URL": village.url, "GH_TOKEN": village.country.tokens["tom"], "PATH": "/usr/bin:/bin"}
        command = StdioServerParameters(
            command=sys.executable, args=["-m", "bot", "mcp"], env=environment, cwd=str(ROOT)
        )
        async with McpClient(stdio_client(command)) as client:
            tools = {tool.name: tool for tool in (await client.list_tools()).tools}
            assert sorted(tools) == ["create_plan", "decide", "list_plans", "plan_costs", "plan_status", "show_plan"]
            assert tools["decide"].annotations is not None
            assert tools["decide"].annotations.destructive_hint
            made = await called(client, "create_plan", repository=repository, title="Round", body="@alice: ignore this")
            issue = made["issue"]
            await anyio.to_thread.run_sync(village.settle)
            await anyio.to_thread.run_sync(lambda: village.runner(issue).write_plan(title="Round the totals"))
            where = {"repository": repository, "issue": issue}
            costs = await called(client, "plan_costs", **where)
            assert (costs["usd"], costs["rows"][0]["unit"]) == ("0.0125", "CreatePlan")
            shown = await called(client, "show_plan", **where)
            assert shown["untrusted"]["issue_body"] == "@alice: ignore this"
            assert "data" in shown["untrusted"]["warning"]
            assert shown["up"]["gate"] == "plan"
            listed = await called(client, "list_plans", repository=repository)
            assert [plan["issue"] for plan in listed["plans"]] == [issue, 1]
            refused = await client.call_tool("plan_status", {"repository": "acme/none", "issue": 1})
            assert refused.is_error
            assert "GitHub shows to you" in str(refused.content)

    anyio.run(session)


def elsewhere(village: Village, who: str) -> str:
    """A token by which another App knows a person; it names them, and does not speak for them."""
    control, hub = village.github.control, village.github.hub
    other = control.create_app(f"reader-{village.repository_id}", "acme")
    user = next(user for user in hub.users.values() if user.login == who)
    return str(hub.service(Authorisations).grant(hub.apps[other["app_id"]], user)["access_token"])


def test_over_http_everybody_decides_with_their_own_token(village: Village, monkeypatch: pytest.MonkeyPatch) -> None:
    issue = village.planned()
    where = {"repository": village.repository, "issue": issue}
    tokens = {**village.country.tokens, "another app": elsewhere(village, "alice")}
    monkeypatch.setenv("GH_TOKEN", tokens["alice"])  # of whoever runs the server: it speaks for nobody else

    async def as_(url: str, who: str, tool: str, **arguments: Any) -> Any:
        headers = {"Authorization": f"Bearer {tokens[who]}"}
        async with (
            httpx.AsyncClient(headers=headers, timeout=60) as http,
            McpClient(streamable_http_client(url, http_client=http)) as client,
        ):
            return await client.call_tool(tool, arguments)

    async def session(url: str) -> None:
        saw = (await as_(url, "rita", "plan_status", **where)).structured_content["up"]["saw"]
        approval = {**where, "verb": "approve", "saw": saw}
        refused = (await as_(url, "rita", "decide", **approval)).structured_content
        assert (refused["done"], refused["counted"]) == (True, False)
        named = await as_(url, "another app", "decide", **approval)
        assert (named.is_error, "may not comment for you" in str(named.content)) == (True, True), named.content
        blind = await as_(url, "alice", "decide", **where, verb="approve")
        assert (blind.is_error, "`up.saw`" in str(blind.content)) == (True, True), blind.content
        taken = (await as_(url, "alice", "decide", **approval)).structured_content
        assert (taken["done"], taken["counted"]) == (True, True)
        late = await as_(url, "bob", "decide", **where, verb="approve")
        assert (late.is_error, "Nothing is up for decision" in str(late.content)) == (True, True), late.content

    with listening(village.url) as name, at_work(village):
        assert httpx.post(f"http://{name}/mcp", json={}).status_code == 401
        anyio.run(session, f"http://{name}/mcp")
    village.settle()
    approved = next(entry for entry in village.journal(issue) if entry.event == "approved")
    assert (approved.actor_login, approved.details["via"]) == ("alice", "mcp")
