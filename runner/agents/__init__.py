"""Adapters: how to start an agent and how to read what it printed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from runner.agents.base import AgentError
from runner.agents.claude import Claude
from runner.agents.generic import Generic

if TYPE_CHECKING:
    from runner.agents.base import Agent
    from runner.terms import AgentSpec


def agent_for(spec: AgentSpec) -> Agent:
    """Return the adapter for ``spec``; raise :class:`AgentError` where no adapter has that name."""
    if spec.command is not None:
        return Generic()
    if spec.name == "claude":
        return Claude()
    raise AgentError(
        f"There is no built-in agent {spec.name!r}. Built in is claude; name another one under agents:, "
        "with the command that starts it."
    )
