"""The run's tools as a server of the Model Context Protocol, in the words that most agents' settings share.

It is the only server of a run, under one name. An agent starts it in its own sandbox; it does no more than pass bytes
to the runner (:mod:`runner.tools`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from runner.agents.base import AgentRun

SERVER = "twogate"
"""What agents know the server by; part of the names that its tools have for the model."""
PATIENCE_SECONDS = 60
"""Seconds that an agent waits for the server, to start and to answer (some have one setting for both): their own five
or ten are short on a busy machine, and several would wait for hours. The server gives up a call after half of it."""


def servers(run: AgentRun, **more: object) -> dict[str, Any]:
    """Return the servers of ``run`` by name: one, with ``more`` of an agent's own fields, or none."""
    if run.tools is None:
        return {}
    program, *arguments = run.tools.mcp
    return {SERVER: {"type": "stdio", "command": program, "args": arguments, **more}}
