"""The tools of a run: what each judges, how it is reached, and that a hostile process spoils nothing but its own run."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import anyio
import pytest
from mcp import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

from runner.bubblewrap import become
from runner.program import BUILT_IN, load
from runner.results import MOST_RECOMMENDATIONS, ExecutionSummary, PlanDocument, Unit
from runner.sandbox import Confinement, Sandbox, probe
from runner.terms import Network, SandboxMode, Tool
from runner.tools import Records, Toolbox, ToolServer, furnish, protocol, server, toolbox
from runner.tools.arguments import schema_of
from runner.tools.records import MOST_LESSONS, MOST_QUESTIONS
from tests.runner.lab import wait_until

if TYPE_CHECKING:
    from collections.abc import Iterator

    from runner.agents.base import ToolAccess

DONE = {"status": "done", "summary": "Mended add()."}
PLAN = {"verdict": "plan", "title": "T", "summary": "S", "steps": ["Mend."], "files": ["calc.py"]}
LESSON = {"kind": "fact", "text": "The function add() lives in calc.py."}
ALL = tuple(Tool)


class Run:
    """One run: its toolbox, what it said, and the ways to it."""

    def __init__(self, place: Path, owner: tuple[int, int] | None = None) -> None:
        self.said: list[str] = []
        self.toolbox = Toolbox(Unit.EXECUTE_PLAN, ALL, say=self.said.append)
        own = {"mine": b"#!/bin/sh\necho own\n"}
        self.access: ToolAccess = furnish(place, Unit.EXECUTE_PLAN, ALL, own)
        self.server = ToolServer(self.toolbox, self.access.socket, owner)

    def program(self, name: str, *words: str, say: str = "") -> tuple[int, str]:
        """Call an executable as an agent's shell does, with nothing in the environment but the PATH."""
        env = {"PATH": f"{self.access.folder}:{os.defpath}"}
        done = subprocess.run(
            [name, *words], check=False, input=say, capture_output=True, text=True, env=env, timeout=30
        )
        assert "Traceback" not in done.stderr, done.stderr
        return done.returncode, done.stdout.strip()

    def link(self) -> socket.socket:
        link = socket.socket(socket.AF_UNIX)
        link.settimeout(20)
        folder = os.open(self.access.socket.parent, os.O_PATH)
        try:
            link.connect(f"/proc/self/fd/{folder}/{self.access.socket.name}")
        except OSError:
            link.close()
            raise
        finally:
            os.close(folder)
        return link

    def raw(self, data: bytes) -> bytes:
        """Say something of one's own on the socket, and return what comes back until it is closed."""
        with self.link() as link:
            with suppress(OSError):
                link.sendall(data)
                link.shutdown(socket.SHUT_WR)
            return _all(link)


def _all(link: socket.socket) -> bytes:
    found = b""
    with suppress(ConnectionError):
        while chunk := link.recv(1 << 16):
            found += chunk
    return found


@pytest.fixture
def run(tmp_path: Path) -> Iterator[Run]:
    place = tmp_path / ("long" * 20) / ("path" * 20)
    place.mkdir(parents=True)
    run = Run(place / "run")
    with run.server:
        yield run


def box(unit: Unit = Unit.EXECUTE_PLAN, **more: Any) -> Toolbox:
    return Toolbox(unit, ALL, **more)


def test_a_result_comes_back_with_every_fault_until_it_fits_and_the_last_one_counts():
    tools = box()
    refused = tools.call(Tool.SUBMIT, {"status": "splendid", "sumary": "x"})
    assert not refused.ok
    assert all(fault in refused.text for fault in ("status: Input should be", "summary: Field", "sumary: Extra"))
    assert "blocked_by: say what blocks" in tools.call(Tool.SUBMIT, {"status": "blocked", "summary": ""}).text
    assert tools.result is None
    assert tools.call(Tool.SUBMIT, DONE).ok
    assert tools.call(Tool.SUBMIT, DONE | {"summary": "More."}).ok
    assert not tools.call(Tool.SUBMIT, {}).ok
    assert tools.result == ExecutionSummary(status="done", summary="More.")
    hard = tools.call_json(Tool.SUBMIT, b"[" * 200_000)
    assert not hard.ok


def test_schemas_say_nothing_but_what_fits():
    schemas = [schema_of(tool, unit) for tool in ALL for unit in Unit]
    assert not any('"description": "' in json.dumps(schema) for schema in schemas), "docstrings are for us"
    assert schema_of(Tool.RECOMMEND, Unit.EXECUTE_PLAN)["properties"]["title"]["minLength"] == 1, "a field, no heading"


def test_a_result_must_keep_the_rules_beyond_its_schema():
    tools = box(Unit.CREATE_PLAN, objection=lambda plan: "title: no." if plan.title == "No" else "")
    assert "title: no." in tools.call(Tool.SUBMIT, PLAN | {"title": "No"}).text
    assert "`weakens` at most" in tools.call(Tool.SUBMIT, PLAN | {"files": ["*a" * 100] * 2_000}).text
    assert tools.call(Tool.SUBMIT, PLAN).ok


def test_records_are_kept_once_and_within_their_limits():
    records = Records()
    tools = box(records=records, judge=lambda lesson: "it is a bad one" if "bad" in lesson.text else None)
    assert (
        tools.call(Tool.REMEMBER, LESSON | {"text": "A bad lesson."}).text == "The lesson is not kept: it is a bad one."
    )
    for number in range(20):
        tools.call(Tool.REMEMBER, LESSON | {"text": f"Lesson {number}."})
        tools.call(Tool.RECOMMEND, {"title": f"Thing {number}", "reason": "Seen."})
        tools.call(Tool.ASK, {"text": f"Question {number}?"})
    kept = [len(found) for found in (records.lessons, records.recommendations, records.asked)]
    assert kept == [MOST_LESSONS, MOST_RECOMMENDATIONS, MOST_QUESTIONS]
    assert records.lessons[0].unit is Unit.EXECUTE_PLAN
    later = box(records=records)
    for again in (
        later.call(Tool.REMEMBER, LESSON | {"text": "lesson  1."}),
        later.call(Tool.RECOMMEND, {"title": "THING 1", "reason": "Else."}),
        later.call(Tool.ASK, {"text": "question 1?"}),
    ):
        assert "recorded already" in again.text
    assert "No more than" in later.call(Tool.ASK, {"text": "Another?"}).text
    summary = ExecutionSummary.model_validate(DONE | {"recommendations": [{"title": "thing 1", "reason": "By file."}]})
    assert len(records.added_to(summary).recommendations) == MOST_RECOMMENDATIONS
    plan = records.asked_in(PlanDocument.model_validate(PLAN | {"questions": ["QUESTION 1?", "Mine?"]}))
    assert sorted(plan.questions) == ["Mine?", *(f"Question {number}?" for number in range(MOST_QUESTIONS))]


def test_what_the_unit_may_not_call_and_what_comes_too_late_does_nothing():
    said: list[str] = []
    tools = Toolbox(Unit.CREATE_PR, (Tool.PROGRESS,), say=said.append)
    assert tools.call(Tool.ASK, {"text": "Which?"}).text == "There is no such tool. This run has: progress."
    assert "text: String should have at most 300" in tools.call(Tool.PROGRESS, {"text": "x" * 301}).text
    for number in range(toolbox.MOST_CALLS):
        tools.call(Tool.PROGRESS, {"text": str(number)})
    assert len(said) == toolbox.MOST_CALLS - 2
    tools.close()
    assert tools.call(Tool.PROGRESS, {"text": "x"}).text == toolbox.ENDED


@pytest.mark.parametrize("unit", Unit)
def test_a_unit_has_an_executable_for_each_tool_of_its_head(unit: Unit):
    folder = BUILT_IN / unit / "Tools"
    assert {path.name for path in folder.iterdir()} == set(load(unit, lambda _: None).front.tools)
    assert all(os.access(path, os.X_OK) for path in folder.iterdir())


def test_a_run_finds_its_own_tools_alone(tmp_path: Path):
    access = furnish(tmp_path / "run", Unit.CREATE_PR, (Tool.SUBMIT,), {})
    assert sorted(path.name for path in access.folder.iterdir()) == ["submit", "twogate-tool"]


def test_the_executables_print_the_answer_and_end_by_it(run: Run):
    assert run.program("progress", "reading") == (0, "Noted.")
    assert run.said == ["reading"]
    code, said = run.program("submit", "-", say='{"status": "done"}')
    assert (code, "summary: Field required" in said) == (1, True)
    result = run.access.folder.parent / "result.json"
    result.write_text(json.dumps(DONE))
    assert run.program("submit", str(result))[0] == 0
    words = ("--kind", "fact", "--path", "calc.py", "--unit", "CreatePlan", "--replaces", "2026-01-01-old.md")
    assert run.program("remember", *words, "-", say=LESSON["text"])[0] == 0
    assert run.program("recommend", "--title", "Test it", "--path", "test.py", "No test.")[0] == 0
    assert run.program("ask", "Which one?")[0] == 0
    assert run.toolbox.result == ExecutionSummary.model_validate(DONE)
    (lesson,), (seen,) = run.toolbox.records.lessons, run.toolbox.records.recommendations
    assert (lesson.unit, lesson.paths, seen.paths) == (Unit.CREATE_PLAN, ("calc.py",), ("test.py",))
    assert lesson.replaces == "2026-01-01-old.md"
    assert run.toolbox.records.asked == ["Which one?"]
    assert run.program("mine") == (0, "own")
    assert run.program("submit", "/nothing")[1].startswith("/nothing can't be read")
    assert run.program("remember", "text")[0] == 2
    assert "hand in the result" in run.program("submit", "--help")[1].lower()
    with run.server:
        pass
    code, said = run.program("progress", "too late")
    assert (code, "can't be reached" in said) == (1, True)


async def _speak(command: list[str]) -> tuple[dict[str, Any], list[tuple[bool, str]]]:
    """Speak to the run's server as the official client does: list, submit what does not fit, mend it, remember."""
    parameters = StdioServerParameters(command=command[0], args=command[1:])
    async with Client(stdio_client(parameters)) as client:
        listed = {tool.name: tool.input_schema for tool in (await client.list_tools()).tools}
        calls = (
            ("submit", {"status": "splendid"}),
            ("submit", DONE),
            ("remember", LESSON),
            ("elsewhere", {}),
        )
        results = [await client.call_tool(name, arguments) for name, arguments in calls]
        return listed, [(result.is_error, result.content[0].text) for result in results]


DISCOVER = {
    "jsonrpc": "2.0",
    "id": "probe",
    "method": "server/discover",
    "params": {
        "_meta": {
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientInfo": {"name": "c", "version": "1"},
            "io.modelcontextprotocol/clientCapabilities": {},
        }
    },
}
INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "c", "version": "1"}},
}
"""What agents say that waited in vain for an answer to :data:`DISCOVER`."""


@pytest.mark.parametrize("between", [b"", b'{"jsonrpc":"2.0","method":"notifications/cancelled"}\n'])
def test_who_was_not_answered_in_time_may_shake_hands_all_the_same(run: Run, between: bytes):
    first, second = (json.dumps(message).encode() + b"\n" for message in (DISCOVER, INITIALIZE))
    listing = b'{"jsonrpc":"2.0","id":2,"method":"tools/list"}\n'
    with run.link() as link, link.makefile("rb") as answers:
        link.sendall(b"mcp\n" + first + between + second)
        answered = {}
        while 1 not in answered:
            answer = json.loads(answers.readline())
            answered[answer["id"]] = answer
        assert answered[1]["result"]["protocolVersion"] == "2025-11-25"
        link.sendall(b'{"jsonrpc":"2.0","method":"notifications/initialized"}\n' + listing)
        tools = json.loads(answers.readline())["result"]["tools"]
    assert [tool["name"] for tool in tools] == list(run.toolbox.allowed)


def _require_spoken(run: Run, command: list[str]) -> None:
    listed, answers = anyio.run(_speak, command)
    assert listed == {tool: schema_of(tool, Unit.EXECUTE_PLAN) for tool in run.toolbox.allowed}
    assert [bad for bad, _ in answers] == [True, False, False, True]
    assert "Mend it and submit again" in answers[0][1]
    assert run.toolbox.result == ExecutionSummary.model_validate(DONE)
    assert len(run.toolbox.records.lessons) == 1


def test_the_same_tools_answer_an_mcp_client(run: Run):
    _require_spoken(run, list(run.access.mcp))


def test_the_runners_own_command_is_the_same_server(run: Run):
    env = {"PATH": os.defpath, "TWOGATE_TOOLBOX": str(run.access.socket)}
    call = '{"jsonrpc": "2.0", "id": 1, "method": "ping"}\n'
    command = [sys.executable, "-m", "runner", "mcp"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=env) as program:
        assert program.stdin is not None
        assert program.stdout is not None
        program.stdin.write(call)
        program.stdin.flush()
        assert json.loads(program.stdout.readline())["id"] == 1
        program.stdin.close()
        assert program.wait(20) == 0


CAPABILITY = probe()


@pytest.mark.skipif(not CAPABILITY.bubblewrap, reason=f"confinement was not tested: {CAPABILITY.sentence}")
@pytest.mark.parametrize("network", Network)
def test_both_ways_lead_out_of_every_sandbox(tmp_path: Path, network: Network):
    sandbox = Sandbox(SandboxMode.REQUIRED, CAPABILITY, network=network)
    run = Run(tmp_path / "run", sandbox.owner)
    confinement = Confinement(run.access.folder, readonly=(tmp_path / "run",), network=network)
    with run.server:
        inside = sandbox.wrap(["sh", "-c", f"PATH={run.access.folder}:$PATH; progress inside"], confinement)
        done = subprocess.run(inside, check=False, capture_output=True, text=True, timeout=60)
        assert (done.returncode, run.said) == (0, ["inside"]), done.stderr
        _require_spoken(run, sandbox.wrap(run.access.mcp, confinement))


@pytest.mark.skipif(not CAPABILITY.can_switch_user, reason="not root: another user was not tested")
def test_the_socket_is_for_the_agents_user_alone():
    with TemporaryDirectory() as name:  # every folder above a test's own is closed to other users
        folder = Path(name)
        folder.chmod(0o755)
        run = Run(folder / "run", (65_533, 65_533))
        call = [str(run.access.folder / "progress"), "hello"]
        with run.server:
            ended = [
                subprocess.run([*become((uid, uid)), *call], check=False, capture_output=True).returncode
                for uid in (65_532, 65_533)
            ]
    assert (ended, run.said) == ([1, 0], ["hello"])


HOSTILE = {
    "nothing": b"",
    "garbage": bytes(range(256)) * 100,
    "a line without an end": b"call submit" * 100_000,
    "an unknown greeting": b"GET / HTTP/1.1\n\n",
    "no tool": b"call\n{}",
    "a tool with blanks": b"call submit now\n{}",
    "more than is taken": b"call submit\n" + b"x" * 2_000_000,
    "deep JSON": b"call ask\n" + b'{"text":' * 50_000,
    "deep JSON over MCP": b"mcp\n" + b'{"jsonrpc":"2.0","id":1,"method":' + b"[" * 100_000 + b"\n",
    "a long line over MCP": b"mcp\n" + b"x" * (protocol.MAX_LINE + 100_000),
    "garbage over MCP": b"mcp\n" + bytes(range(256)) * 1_000 + b"\n::warning::x\n",
    "calls out of order over MCP": b'mcp\n{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":1}}\n' * 2,
    "answers to nothing over MCP": b'mcp\n{"jsonrpc":"2.0","id":7,"result":{}}\n' * 2,
}


def test_whatever_is_said_ends_its_own_connection_alone(run: Run, capfd: pytest.CaptureFixture[str]):
    for name, data in HOSTILE.items():
        answer = run.raw(data)
        assert b'"ok": true' not in answer, name
        assert run.toolbox.result is None
    assert run.program("progress", "still here") == (0, "Noted.")
    assert capfd.readouterr() == ("", "")


def test_connections_are_bounded_at_once_and_in_all(run: Run):
    idle = [run.link() for _ in range(server.MAX_CONNECTIONS)]
    wait_until(lambda: len(run.server._links) == server.MAX_CONNECTIONS)
    assert run.raw(b'call progress\n{"text": "x"}') == b""
    for link in idle:
        link.close()
    wait_until(lambda: not run.server._links)
    assert run.program("progress", "room again")[0] == 0
    while run.server._thread.is_alive():
        with suppress(BlockingIOError, ConnectionRefusedError):
            run.link().close()
    assert run.program("progress", "no more")[0] == 1


def test_who_never_comes_to_an_end_is_hung_up_on(run: Run, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(server, "CALL_SECONDS", 0.2)
    for begun in (b"", b"call", b"call submit\n{"):
        with run.link() as link:
            link.sendall(begun)
            assert _all(link) == b""


def test_the_end_of_a_run_hangs_up_on_everybody(tmp_path: Path):
    run = Run(tmp_path / "run")
    with run.server:
        links = [run.link() for _ in range(3)]
        for link, begun in zip(links, (b"", b"call submit\n{", b"mcp\n"), strict=True):
            link.sendall(begun)
        wait_until(lambda: len(run.server._links) == len(links))
        threads = [*run.server._links.values(), run.server._thread]
    assert not any(thread.is_alive() for thread in threads)
    assert [_all(link) for link in links] == [b""] * 3
    for link in links:
        link.close()
    with pytest.raises(ConnectionRefusedError):
        run.link()


def test_a_session_says_no_more_than_its_measure(run: Run, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(protocol, "MOST_MESSAGES", 5)
    ping = b'{"jsonrpc":"2.0","id":1,"method":"ping"}\n'
    assert run.raw(b"mcp\n" + ping * 50).count(b"result") <= 5
