"""What an agent can't do, or does otherwise than the rest: by agent and scenario, each with the outcome it gives.

The page docs/reference/agents.md shows these rows; a test keeps the two the same.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from runner.contract import Outcome


@dataclass(frozen=True)
class Difference:
    """One row."""

    outcome: Outcome
    why: str


DIFFERENCES: dict[tuple[str, str], Difference] = {}
