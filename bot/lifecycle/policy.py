"""What a repository asks of the bot, resolved: who may do what, which agent does what, which checks hold work back.

The file's keys and limits are in :mod:`.policy_file`.
"""

from __future__ import annotations

import hashlib
import json
from decimal import Decimal
from enum import IntEnum, StrEnum
from typing import Literal

from pydantic import Field

from bot.lifecycle.policy_file import GateSection, PolicyError, PolicyFile, read
from bot.lifecycle.states import Frozen
from runner.results import Unit
from runner.terms import AgentSpec, GateSpec, SandboxMode

__all__ = ["Action", "Permission", "Policy", "PolicyError", "may", "parse_policy"]


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


CLAUDE = AgentSpec(name="claude")
"""The agent where nothing names one."""


def _everywhere(agent: AgentSpec = CLAUDE) -> dict[Unit, AgentSpec]:
    return dict.fromkeys(Unit, agent)


class Policy(Frozen):
    """What a repository asks of the bot. Without a file, these defaults."""

    label: str = "agent"
    agents: dict[Unit, AgentSpec] = Field(default_factory=_everywhere)
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

    @classmethod
    def default(cls, agent: AgentSpec = CLAUDE) -> Policy:
        """Return the policy of a repository without a file, with this agent for every unit."""
        return cls(agents=_everywhere(agent))

    @property
    def gates_sha256(self) -> str:
        """What an approval of a plan includes: the named checks and the protected paths, in their order."""
        gates = None if self.gates is None else [gate.model_dump(mode="json") for gate in self.gates]
        text = json.dumps({"gates": gates, "protected": self.protected}, sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()

    def is_label(self, name: str) -> bool:
        """Whether a label of this name asks for a plan. GitHub's labels know no case, nor does this."""
        return name.strip().casefold() == self.label.casefold()

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


def parse_policy(text: str) -> Policy:
    """Return the policy of a file's text; raises :class:`PolicyError`, which names line and reason."""
    file = read(text)
    return Policy(
        label=file.label,
        agents={unit: _agent(file, unit) for unit in Unit},
        approver_permission=Permission[file.approvers.permission.upper()],
        max_parallel=file.queue.max_parallel,
        overlap=file.queue.overlap,
        sandbox=SandboxMode(file.sandbox),
        usd=file.budget.usd,
        minutes=float(file.budget.minutes),
        attempts=file.budget.attempts,
        gates=None if file.gates is None else tuple(_gate(section) for section in file.gates),
        protected=tuple(file.protected),
    )


def _agent(file: PolicyFile, unit: Unit) -> AgentSpec:
    """Return who carries out a unit. A model belongs to its agent: another agent does not inherit it."""
    section = file.units.get(unit.value)
    name = (section.cli if section else None) or file.agent.cli
    model = (section.model if section else None) or (file.agent.model if name == file.agent.cli else None)
    own = file.agents.get(name)
    if own is None:
        return AgentSpec(name=name, model=model)
    return AgentSpec(name=name, model=model, command=tuple(own.command), output=own.output)


def _gate(section: GateSection) -> GateSpec:
    return GateSpec(name=section.name, run=section.run, timeout_seconds=section.timeout, blocking=section.blocking)
