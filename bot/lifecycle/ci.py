"""What other Apps say of a commit: their check runs and commit statuses, read the same way."""

from __future__ import annotations

from enum import StrEnum

from bot.lifecycle.states import Frozen


class CiState(StrEnum):
    """How a check stands."""

    PENDING = "pending"
    PASSED = "passed"
    FAILED = "failed"
    NEUTRAL = "neutral"
    """Ended without a judgement: skipped, neutral, or no longer of interest."""


class CiCheck(Frozen):
    """One check of another App on a commit. Names and texts are anybody's."""

    name: str
    state: CiState
    conclusion: str = ""
    """GitHub's own word: ``success``, ``timed_out``, ``error``."""
    url: str = ""
    app: str = ""
    """The slug of the App that made it; empty for a commit status."""
    job_id: int | None = None
    """The Actions job whose log tells more; None where it is none."""
