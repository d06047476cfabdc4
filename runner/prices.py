"""Dollars from tokens."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from runner.agents.base import AgentResult, AgentRun
    from runner.contract import Usage


def usage_of(run: AgentRun, result: AgentResult, seconds: float) -> Usage:
    """Return the row of the cost table for one run."""
    raise NotImplementedError
