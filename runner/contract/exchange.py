"""What runner and bot say to each other while a job runs: heartbeats, the right to push, what may go."""

from __future__ import annotations

from decimal import Decimal
from enum import StrEnum

from pydantic import Field

from runner.contract.base import MAX_GATES, MAX_RUNS, Sha
from runner.contract.report import MAX_ATTEMPT, GateResult, Usage
from runner.results import Line, Message


class Phase(StrEnum):
    """Where a running job is."""

    PREPARE = "prepare"
    AGENT = "agent"
    GATES = "gates"
    PUBLISH = "publish"
    REPORT = "report"


class Progress(Message):
    """A heartbeat: where the job is."""

    phase: Phase
    attempt: int = Field(default=0, ge=0, le=MAX_ATTEMPT)
    usage: tuple[Usage, ...] = Field(default=(), max_length=MAX_RUNS)
    lines: tuple[Line, ...] = Field(default=(), max_length=20)


class ProgressAnswer(Message):
    """What the bot says to a heartbeat."""

    stop: Line | None = None
    """Set where the job must end now, with the reason."""
    usd_today: Decimal | None = None
    """Dollars that this job may spend in all as the repository's day stands now; None: no limit a day."""


class PushTokenRequest(Message):
    """Asks for the right to push exactly one commit."""

    sha: Sha
    gates: tuple[GateResult, ...] = Field(max_length=MAX_GATES)


class PushToken(Message):
    """A token for one push to one repository; revoked by the bot once the branch has been read back."""

    token: str
    expires_at: float


class EndedPlans(Message):
    """Plans of this repository whose worktrees may go."""

    plan_uids: tuple[str, ...]
