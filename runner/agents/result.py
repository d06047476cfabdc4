"""The typed result of an agent: read as hostile, checked against the unit's schema, refused with a sentence."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from runner.results import ExecutionSummary, PlanDocument, PullRequestText, Unit


class InvalidResultError(Exception):
    """There is no valid result; the message says what is wrong in words that can be given back to the agent."""


def read_result(
    path: Path, unit: Unit, final_text: str | None = None
) -> PlanDocument | ExecutionSummary | PullRequestText:
    """Return the validated result of ``unit``; raise :class:`InvalidResultError`."""
    raise NotImplementedError
