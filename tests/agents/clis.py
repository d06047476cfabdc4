"""The agents under test: which model each is asked for, and where its program is."""

from __future__ import annotations

import os
import shutil
import subprocess
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from runner.agents import BUILT_IN, agent_for
from runner.terms import AgentSpec, Api

FOLDER = Path(os.environ.get("TWOGATE_TEST_CLIS") or Path(__file__).parent) / "node_modules"
"""Where ``make test-agents`` installs them."""
NODE = 20
"""The oldest major version of Node.js that all of them run on."""
COPILOT = FOLDER / ".copilot"
"""Where it lets Copilot CLI unpack itself, once for all."""


@dataclass(frozen=True)
class Cli:
    """One agent, with a model whose tools it offers to the model one by one."""

    name: str
    model: str

    @property
    def spec(self) -> AgentSpec:
        return AgentSpec(name=self.name, model=self.model)

    @property
    def api(self) -> Api | None:
        return agent_for(self.spec).api(self.spec)

    @property
    def program(self) -> str | None:
        """The executable, None where it is not installed, or the Node that it runs on is none or too old."""
        found = shutil.which(BUILT_IN[self.name]().program, path=str(FOLDER / ".bin"))
        return found if found and (not _runs_on_node(found) or node_version() >= NODE) else None


CLIS = (
    Cli("claude", "claude-sonnet-4-5"),
    Cli("codex", "gpt-5.5"),
    Cli("gemini", "gemini-2.5-pro"),
    Cli("opencode", "anthropic/claude-sonnet-4-5"),
    Cli("copilot", "claude-sonnet-4-5"),
)


def _runs_on_node(program: str) -> bool:
    with Path(program).open("rb") as file:
        return file.read(100).startswith(b"#!/usr/bin/env node")


@cache
def node_version() -> int:
    """Return the major version of the Node.js on PATH, 0 where there is none."""
    node = shutil.which("node")
    said = subprocess.run([node, "--version"], capture_output=True, text=True, check=True).stdout if node else "v0."
    return int(said.removeprefix("v").partition(".")[0])


def tools() -> list[Path]:
    """Return the folders that the sandbox must show: the agents, and the Node that some of them run on."""
    node = shutil.which("node")
    prefix = [Path(node).resolve().parents[1]] if node else []
    return [FOLDER, *(path for path in prefix if not path.is_relative_to("/usr"))]
