"""The repository's file -> Policy; who may do what. (Parser follows.)"""

from __future__ import annotations

from decimal import Decimal
from enum import IntEnum, StrEnum
from typing import Literal

from pydantic import Field

from bot.lifecycle.states import Frozen
from runner.contract import AgentSpec, GateSpec, SandboxMode
from runner.results import Unit


class Permission(IntEnum):
    """GitHub's built-in roles in order; a custom role counts as the built-in one below it."""

    NONE = 0
    READ = 1
    TRIAGE = 2
    WRITE = 3
    MAINTAIN = 4
    ADMIN = 5


class Action(StrEnum):
    """Kinds of things people do; the policy says what each needs."""

    ASK = "ask"
    REQUEST_PLAN = "request_plan"
    STEER = "steer"
    DECIDE = "decide"


class Policy(Frozen):
    """What a repository asks of the bot. Without a file, these defaults."""

    label: str = "agent"
    agents: dict[Unit, AgentSpec] = Field(default_factory=dict)
    """Resolved: which agent carries out each unit."""
    approver_permission: Permission = Permission.WRITE
    max_parallel: int = 4
    overlap: Literal["wait", "warn", "off"] = "wait"
    sandbox: SandboxMode = SandboxMode.REQUIRED
    usd: Decimal | None = None
    tokens: int | None = None
    minutes: float = 60
    attempts: int = 3
    gates: tuple[GateSpec, ...] | None = None
    """None: recognised from the repository."""
    protected: tuple[str, ...] = (".github/**",)

    def needs(self, action: Action) -> Permission:
        """Return the least permission for an action."""
        return {
            Action.ASK: Permission.READ,
            Action.REQUEST_PLAN: Permission.TRIAGE,
            Action.STEER: Permission.WRITE,
            Action.DECIDE: self.approver_permission,
        }[action]


def may(policy: Policy, permission: Permission, action: Action) -> bool:
    """Whether a person with this permission may do this."""
    return permission >= policy.needs(action)
