"""How each agent is told of the run's tools: one server, waited for in measure. Real agents call it in tests/agents."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from runner.agents import BUILT_IN
from runner.agents.base import ToolAccess
from runner.agents.mcp import PATIENCE_SECONDS
from runner.terms import AgentSpec
from runner.tools import server
from tests.runner.runs import run_in

if TYPE_CHECKING:
    from pathlib import Path

    from runner.agents.base import AgentRun

LAUNCHER = "/exchange/in/bin/twogate-tool"
PATIENCE = {"claude": 2, "codex": 2, "gemini": 1, "opencode": 1, "copilot": 1}
"""How often each is told how long to wait: some know a time to start and a time to answer."""


def _told(name: str, run: AgentRun) -> str:
    """Return everything an agent is started with."""
    agent = BUILT_IN[name]()
    return json.dumps([agent.command(run), agent.environment(run, {}), agent.files(run)])


@pytest.mark.parametrize("name", list(BUILT_IN))
def test_the_tools_of_a_run_are_its_only_server(name: str, tmp_path: Path) -> None:
    run = run_in(tmp_path, spec=AgentSpec(name=name, model="claude-sonnet-4-5"))
    assert LAUNCHER not in _told(name, run)
    access = ToolAccess(tmp_path / "bin", tmp_path / "tools.sock", (LAUNCHER, "mcp"))
    told = _told(name, replace(run, tools=access))
    assert told.count(LAUNCHER) == 1
    seconds, thousandths = told.count(f"={PATIENCE_SECONDS},"), told.count(f"{PATIENCE_SECONDS}000")
    assert seconds + thousandths == PATIENCE[name]


def test_no_agent_gives_up_before_the_runner_does() -> None:
    assert server.CALL_SECONDS < PATIENCE_SECONDS
