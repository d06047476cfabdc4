"""What a repository asks of the bot, resolved: who may do what, which agent does what, which checks hold work back.

The file's keys and limits are in :mod:`.policy_file`.
"""

from __future__ import annotations

import hashlib
import json
from enum import IntEnum, StrEnum
from typing import Literal

from pydantic import Field

from bot.lifecycle.policy_file import (
    BUILT_IN_AGENTS,
    AgentSection,
    GateSection,
    OwnAgentSection,
    PolicyError,
    PolicyFile,
    TierSection,
    UnitSection,
    read,
)
from bot.lifecycle.states import Frozen
from runner.results import Unit
from runner.terms import AgentSpec, Api, Budget, CheckMode, Effort, GateSpec, Network, Price, SandboxMode, Tier

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
    ANSWER = "answer"
    """Answer the plan's questions; the author of the issue may, whatever their permission."""
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
    own_agents: dict[str, AgentSpec] = Field(default_factory=dict)
    """Agents that the repository defines, by name, whether a unit uses them or not."""
    approver_permission: Permission = Permission.WRITE
    max_parallel: int = 4
    overlap: Literal["wait", "warn", "off"] = "wait"
    sandbox: SandboxMode = SandboxMode.REQUIRED
    network: Network = Network.ON
    budget: Budget = Budget()
    """Of a plan, and of the repository's day, before anything is spent."""
    prepare: tuple[str, ...] = ()
    carry: tuple[str, ...] = ()
    tiers: dict[str, dict[Tier, str]] = Field(default_factory=dict)
    prices: dict[str, Price] = Field(default_factory=dict)
    gates: tuple[GateSpec, ...] | None = None
    """None: recognised from the repository."""
    checks: dict[str, CheckMode] = Field(default_factory=dict)
    """What becomes of what the built-in checks find, where the file says it."""
    protected: tuple[str, ...] = (".github/**",)

    @classmethod
    def default(cls, agent: AgentSpec = CLAUDE) -> Policy:
        """Return the policy of a repository without a file, with this agent for every unit."""
        return cls(agents=_everywhere(agent))

    @property
    def gates_sha256(self) -> str:
        """What an approval of a plan includes: the named checks, what prepares them, and the protected paths."""
        gates = None if self.gates is None else [gate.model_dump(mode="json") for gate in self.gates]
        bound = {
            "gates": gates,
            "checks": self.checks,
            "protected": self.protected,
            "prepare": self.prepare,
            "carry": self.carry,
        }
        text = json.dumps(bound, sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()

    @property
    def known_agents(self) -> tuple[str, ...]:
        """Names of every agent that can be chosen here."""
        return (*BUILT_IN_AGENTS, *self.own_agents)

    def is_label(self, name: str) -> bool:
        """Whether a label of this name asks for a plan. GitHub's labels know no case, nor does this."""
        return name.strip().casefold() == self.label.casefold()

    def needs(self, action: Action) -> Permission:
        """Return the least permission for an action."""
        return {
            Action.ASK: Permission.READ,
            Action.REQUEST_PLAN: Permission.TRIAGE,
            Action.STEER: Permission.WRITE,
            Action.ANSWER: Permission.WRITE,
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
        own_agents={name: _own(name, section) for name, section in file.agents.items()},
        approver_permission=Permission[file.approvers.permission.upper()],
        max_parallel=file.queue.max_parallel,
        overlap=file.queue.overlap,
        sandbox=SandboxMode(file.sandbox),
        network=Network(file.network),
        budget=Budget(
            minutes=float(file.budget.minutes),
            attempts=file.budget.attempts,
            usd=file.budget.usd,
            tokens=file.budget.tokens,
            usd_today=file.budget.usd_per_day,
            idle_calls=file.budget.idle_calls,
        ),
        prepare=tuple(file.prepare),
        carry=tuple(file.carry),
        tiers={name: _tiers(section) for name, section in file.tiers.items()},
        prices={model: Price(**section.model_dump()) for model, section in file.prices.items()},
        gates=None if file.gates is None else tuple(_gate(section) for section in file.gates),
        checks={name: CheckMode(mode) for name, mode in file.checks.model_dump(exclude_unset=True).items()},
        protected=tuple(file.protected),
    )


def _agent(file: PolicyFile, unit: Unit) -> AgentSpec:
    """Return who carries out a unit. Model and tier belong to their agent: another agent does not inherit them."""
    section = file.units.get(unit.value, UnitSection())
    name = section.cli or file.agent.cli
    general = file.agent if name == file.agent.cli else AgentSection()
    chosen = section if section.model or section.tier else general
    own = file.agents.get(name)
    spec = _own(name, own) if own else AgentSpec(name=name)
    effort = section.effort or general.effort
    words = {
        "model": chosen.model,
        "tier": Tier(chosen.tier) if chosen.tier else None,
        "effort": Effort(effort) if effort else None,
    }
    return spec.model_copy(update=words)


def _own(name: str, section: OwnAgentSection) -> AgentSpec:
    return AgentSpec(
        name=name, command=tuple(section.command), output=section.output, api=Api(section.api) if section.api else None
    )


def _tiers(section: TierSection) -> dict[Tier, str]:
    return {Tier(name): model for name, model in section.model_dump(exclude_none=True).items()}


def _gate(section: GateSection) -> GateSpec:
    return GateSpec(
        name=section.name,
        run=section.run,
        timeout_seconds=section.timeout,
        blocking=section.blocking,
        parallel=section.parallel,
    )
