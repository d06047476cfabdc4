"""The run's tools are an agent's only server, and whatever becomes of it, a run comes to its end and to its result."""

from __future__ import annotations

import json
import shlex
import socket
import threading
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any

import pytest

from runner.contract import Outcome
from runner.tools import protocol
from tests.agents.clis import CLIS, Cli
from tests.agents.model_api import Own, Shell, Turn
from tests.agents.scenarios import FIT, SCENARIOS
from tests.agents.stage import stage

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from runner.tools import Toolbox

pytestmark = pytest.mark.agents
EDITS, RESUMES, SUBMITS = (
    next(each for each in SCENARIOS if each.name == name) for name in ("edits a file", "resumes", "submits")
)
FOREIGN = ("/bin/sh", "-c", 'touch "started-by-$0"; cat')
"""A server that leaves a file in the work tree, named by what it was started by."""


def _servers(by: str, **more: object) -> str:
    return json.dumps({"mcpServers": {by: {"command": FOREIGN[0], "args": [*FOREIGN[1:], by], **more}}})


def _opencode(by: str) -> str:
    return json.dumps({"mcp": {by: {"type": "local", "command": [*FOREIGN, by], "enabled": True}}})


def _codex(by: str) -> str:
    return f"[mcp_servers.{by}]\ncommand = {json.dumps(FOREIGN[0])}\nargs = {json.dumps([*FOREIGN[1:], by])}\n"


def _settings(place: str) -> dict[str, str]:
    """Return every file by which an agent might be told of a server."""
    return {
        ".mcp.json": _servers(f"{place}-mcp"),
        ".claude.json": _servers(f"{place}-claude"),
        ".claude/settings.json": json.dumps({"enableAllProjectMcpServers": True}),
        ".codex/config.toml": _codex(f"{place}-codex"),
        ".gemini/settings.json": _servers(f"{place}-gemini", trust=True),
        ".gemini/extensions/e/gemini-extension.json": json.dumps(
            {"name": "e", "version": "1.0.0", **json.loads(_servers(f"{place}-gemini-extension"))}
        ),
        "opencode.json": _opencode(f"{place}-opencode"),
        ".opencode/opencode.json": _opencode(f"{place}-dot-opencode"),
        ".config/opencode/opencode.json": _opencode(f"{place}-config-opencode"),
        ".config/opencode/opencode.jsonc": _opencode(f"{place}-config-opencode-jsonc"),
        ".config/opencode/config.json": _opencode(f"{place}-config-opencode-config"),
        ".copilot/mcp-config.json": _servers(f"{place}-copilot", type="local", tools=["*"]),
        ".github/mcp.json": _servers(f"{place}-github", type="local", tools=["*"]),
        ".vscode/mcp.json": json.dumps({"servers": json.loads(_servers(f"{place}-vscode"))["mcpServers"]}),
    }


def _left_in_home() -> Turn:
    """Write the same into HOME, for the agent's own next run.

    A change of its own file Copilot CLI takes up at once; a server is then what its shell is, and gone with the run.
    """
    lines = (
        f'mkdir -p "$HOME/{PurePosixPath(name).parent}"; printf %s {shlex.quote(text)} > "$HOME/{name}"'
        for name, text in _settings("home").items()
        if "copilot" not in name
    )
    return Turn(text="I write into HOME.", tools=(Shell("; ".join(lines)),))


def _known(name: str) -> Cli:
    (cli,) = (cli for cli in CLIS if cli.name == name)
    if cli.program is None:
        pytest.skip(f"not tested: {cli.name} is not installed; run `make test-agents`")
    return cli


every = pytest.mark.parametrize("name", [cli.name for cli in CLIS])


@every
def test_no_other_server_is_started(name: str, tmp_path: Path) -> None:
    def script(path: str) -> tuple[Turn, ...]:
        begun, *goes_on = RESUMES.script(path)
        return begun, _left_in_home(), *goes_on

    with stage(tmp_path, _known(name), script) as played:
        base = played.lab.commit(_settings("repository"), "For agents")
        played.lab.bot.specs[played.job.job] = played.job = played.job.model_copy(update={"base": base})
        report = played.run()
        assert report.outcome is Outcome.VERIFIED, f"{report.sentence}\n{[gate.tail for gate in report.gates]}"
        assert report.attempts == 2, "what the first run left in HOME was there for the second"


@every
def test_a_server_that_dies_is_told_and_harms_nothing(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def script(path: str) -> tuple[Turn, ...]:
        *begun, result, end = EDITS.script(path)
        return *begun, Turn(text="I submit.", tools=(Own("submit", FIT),)), result, end

    monkeypatch.setattr(protocol._Lines, "readline", _until_called(protocol._Lines.readline))
    with stage(tmp_path, _known(name), script) as played:
        report = played.run()
        assert report.outcome is Outcome.VERIFIED, f"{report.sentence}\n{report.output_tail}"
        assert report.attempts == 1
        before, after = (set(_texts(seen.body)) for seen in played.api.main[2:4])
        assert any("closed" in text for text in after - before), f"the model is told: {after - before}"
        played.require_equal_ledger()


@pytest.mark.parametrize(("name", "seconds"), [("claude", 7.0), ("copilot", 12.0)])
def test_a_server_that_comes_late_is_waited_for(
    name: str, seconds: float, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By then the agent has asked for the newest protocol in vain, and shakes hands as of old."""
    converse = protocol.converse

    def late(toolbox: Toolbox, link: socket.socket, begun: bytes) -> None:
        threading.Event().wait(seconds)
        converse(toolbox, link, begun)

    monkeypatch.setattr(protocol, "converse", late)
    with stage(tmp_path, _known(name), SUBMITS.script, **SUBMITS.fields) as played:
        report = played.run()
        assert report.outcome is Outcome.VERIFIED, f"{report.sentence}\n{report.output_tail}"
        SUBMITS.check(played)


def _texts(part: Any) -> Iterator[str]:
    """Return every text in a request."""
    if isinstance(part, str):
        yield part
    for each in part.values() if isinstance(part, dict) else part if isinstance(part, list) else ():
        yield from _texts(each)


def _until_called(readline: Callable[[Any], str]) -> Callable[[Any], str]:
    """Hang up on whoever calls a tool."""

    def read(lines: Any) -> str:
        line = readline(lines)
        if '"tools/call"' not in line:
            return line
        lines._link.shutdown(socket.SHUT_RDWR)
        return ""

    return read
