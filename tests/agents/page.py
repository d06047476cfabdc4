"""The generated parts of docs/reference/agents.md: made of the code and of the suite, so they can't drift."""

from __future__ import annotations

import json
from pathlib import Path

from runner.agents import BUILT_IN
from runner.agents.tiers import MODELS
from runner.terms import AgentSpec, Tier
from tests.agents.differences import DIFFERENCES
from tests.agents.scenarios import SCENARIOS

PACKAGES = {
    "claude": "@anthropic-ai/claude-code",
    "codex": "@openai/codex",
    "gemini": "@google/gemini-cli",
    "opencode": "opencode-ai",
    "copilot": "@github/copilot",
}
"""Where npm has each agent from."""


def agents() -> str:
    """Each agent: its package, the version under test, its wire format, whether a session can be resumed."""
    pinned = json.loads(Path(__file__).with_name("package.json").read_text())["dependencies"]
    rows = []
    for name, make in BUILT_IN.items():
        adapter = make()
        spec = AgentSpec(name=name, model=MODELS[name][Tier.BALANCED])
        package = PACKAGES[name]
        resumes = "yes" if adapter.resumes else "no"
        cells = (f"`{name}`", f"`{adapter.program}`", f"`{package}`", pinned[package], f"{adapter.api(spec)}", resumes)
        rows.append(" | ".join(cells))
    return _table("agent | program | npm package | tested version | wire format of its tiers | resumes", rows)


def tiers() -> str:
    """Each agent's models by tier."""
    rows = [" | ".join((f"`{name}`", *(f"`{models[tier]}`" for tier in Tier))) for name, models in MODELS.items()]
    return _table(f"agent | {' | '.join(Tier)}", rows)


def sessions() -> str:
    """What is kept of each agent's session."""
    rows = [f"`{name}` | {', '.join(f'`{pattern}`' for pattern in make().keeps)}" for name, make in BUILT_IN.items()]
    return _table("agent | kept of its HOME", rows)


def scenarios() -> str:
    """Each scenario with the outcome that every agent must give."""
    rows = [f"{scenario.name} | {scenario.what} | `{scenario.outcome}`" for scenario in SCENARIOS]
    return _table("scenario | what happens | outcome", rows)


def differences() -> str:
    """What an agent can't do, or does otherwise."""
    rows = [f"`{cli}` | {scenario} | `{row.outcome}` | {row.why}" for (cli, scenario), row in DIFFERENCES.items()]
    return _table("agent | scenario | outcome | why", rows) if rows else "None: all five give every outcome above."


def _table(head: str, rows: list[str]) -> str:
    rule = "|".join("---" for _ in head.split("|"))
    return "\n".join([f"| {head} |", f"|{rule}|", *(f"| {row} |" for row in rows)])


PARTS = {
    "agents": agents,
    "tiers": tiers,
    "sessions": sessions,
    "scenarios": scenarios,
    "differences": differences,
}
"""The parts by the names of their markers."""
