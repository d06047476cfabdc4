"""Adapters: how to start an agent and how to read what it printed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from runner.agents.base import AgentError
from runner.agents.claude import Claude
from runner.agents.codex import Codex
from runner.agents.copilot import Copilot
from runner.agents.gemini import Gemini
from runner.agents.generic import Generic
from runner.agents.opencode import OpenCode

if TYPE_CHECKING:
    from collections.abc import Callable

    from runner.agents.base import Agent
    from runner.terms import AgentSpec

BUILT_IN: dict[str, Callable[[], Agent]] = {
    "claude": Claude,
    "codex": Codex,
    "gemini": Gemini,
    "opencode": OpenCode,
    "copilot": Copilot,
}
"""The agents that need no command of one's own, by the names that a policy file gives them."""


def agent_for(spec: AgentSpec) -> Agent:
    """Return the adapter for ``spec``; raise :class:`AgentError` where no adapter has that name."""
    if spec.command is not None:
        return Generic()
    if spec.name in BUILT_IN:
        return BUILT_IN[spec.name]()
    raise AgentError(
        f"There is no built-in agent {spec.name!r}. Built in are {', '.join(BUILT_IN)}; name another one under "
        "agents:, with the command that starts it."
    )
