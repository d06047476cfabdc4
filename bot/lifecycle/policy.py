"""What a repository asks of the bot, resolved: who may do what, which agent does what, which checks hold work back.

The file's keys and limits are in :mod:`.policy_file`.
"""

from __future__ import annotations

import hashlib
import json
from typing import Any, Literal

from pydantic import Field, field_validator, model_validator

from bot.lifecycle.approvers import Approvers
from bot.lifecycle.hooks import HookTerms
from bot.lifecycle.permission import Action, Permission
from bot.lifecycle.policy_faults import PolicyError
from bot.lifecycle.policy_file import read
from bot.lifecycle.policy_keys import INSPECTING, GateSection, OwnAgentSection, PolicyFile, TierSection
from bot.lifecycle.policy_values import BUILT_IN_AGENTS
from bot.lifecycle.states import Frozen
from runner.results import Unit
from runner.terms import (
    AgentSpec,
    Api,
    Budget,
    CheckMode,
    Effort,
    GateSpec,
    LogTerms,
    Network,
    Price,
    SandboxMode,
    Tier,
)

__all__ = ["Action", "Approvers", "CiPolicy", "Permission", "Policy", "PolicyError", "may", "parse_policy"]

DAY = 86_400
CLAUDE = AgentSpec(name="claude")
"""The agent where nothing names one."""


def _everywhere(agent: AgentSpec = CLAUDE) -> dict[Unit, AgentSpec]:
    return dict.fromkeys(Unit, agent)


class CiPolicy(Frozen):
    """What checks of other Apps mean to a plan."""

    require: tuple[str, ...] = ()
    """Names of those that must pass before the diff gate."""
    timeout_seconds: int = 3_600
    """How long they are waited for."""
    fix: int = 0
    """Times that the pull request's failing checks are worked on without a person asking."""


class Summary(Frozen):
    """Where each week's figures are told."""

    issue: int | None = None
    chat: bool = False
    """At the address that the bot's operator set."""


class Policy(Frozen):
    """What a repository asks of the bot. Without a file, these defaults."""

    label: str = "agent"
    agents: dict[Unit, AgentSpec] = Field(default_factory=_everywhere)
    """Resolved: which agent carries out each unit."""
    own_agents: dict[str, AgentSpec] = Field(default_factory=dict)
    """Agents that the repository defines, by name, whether a unit uses them or not."""
    inspector: AgentSpec | None = None
    """Who reads each diff before a person does; None: nobody."""
    approvers: Approvers = Approvers()
    prefix: str | None = None
    """The word that commands must begin with, beside ``twogate``; None: none is needed."""
    max_parallel: int = 4
    overlap: Literal["wait", "warn", "off"] = "wait"
    max_in_review: int = 8
    """Plans that may wait for their diff review before no other is started."""
    ci: CiPolicy = CiPolicy()
    keep_branch_seconds: int = 14 * 86_400
    """How long the branch of a pull request that was closed unmerged stays."""
    paused: bool = False
    """No new work is started."""
    hooks: HookTerms = HookTerms()
    """Which reports from outside of GitHub become issues and plans."""
    sandbox: SandboxMode = SandboxMode.REQUIRED
    network: Network = Network.ON
    budget: Budget = Budget()
    """Of a plan, and of the repository's day, before anything is spent."""
    prepare: tuple[str, ...] = ()
    carry: tuple[str, ...] = ()
    tiers: dict[str, dict[Tier, str]] = Field(default_factory=dict)
    prices: dict[str, Price] = Field(default_factory=dict)
    subscriptions: tuple[str, ...] = ()
    """Agents whose use a subscription covers, where no meter counts it."""
    summary: Summary = Summary()
    logs: LogTerms = LogTerms()
    gates: tuple[GateSpec, ...] | None = None
    """None: recognised from the repository."""
    checks: dict[str, CheckMode] = Field(default_factory=dict)
    """What becomes of what the built-in checks find, where the file says it."""
    protected: tuple[str, ...] = (".github/**",)

    @model_validator(mode="before")
    @classmethod
    def _of_older_releases(cls, data: Any) -> Any:
        """Read a stored policy of a release that knew the approvers' permission alone."""
        if isinstance(data, dict) and "approver_permission" in data:
            data = {"approvers": {"permission": data["approver_permission"]}, **data}
        return data

    @field_validator("agents")
    @classmethod
    def _for_each_unit(cls, agents: dict[Unit, AgentSpec]) -> dict[Unit, AgentSpec]:
        """Leave units that the release of a stored policy did not know to who carries out its plans."""
        return {**_everywhere(agents.get(Unit.EXECUTE_PLAN, CLAUDE)), **agents}

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
            Action.ANSWER: Permission.TRIAGE,
            Action.DECIDE: self.approvers.permission,
            Action.SEE_COSTS: Permission.WRITE,
        }[action]


def may(policy: Policy, permission: Permission, action: Action) -> bool:
    """Whether a person with this permission may do this."""
    return permission >= policy.needs(action)


def parse_policy(text: str, defaults: str = "") -> Policy:
    """Return the policy of a file's text; raises :class:`PolicyError`, which names line and reason.

    ``defaults`` is a valid text, whose keys hold where this one does not have them.
    """
    file = read(text, defaults)
    approvers = file.approvers
    return Policy(
        label=file.label,
        agents={unit: _agent(file, unit) for unit in Unit},
        own_agents={name: _own(name, section) for name, section in file.agents.items()},
        inspector=None if file.inspector is None else _agent(file, Unit(INSPECTING)),
        approvers=Approvers(
            permission=Permission[approvers.permission.upper()], **approvers.model_dump(exclude={"permission"})
        ),
        prefix=file.commands.prefix,
        max_parallel=file.queue.max_parallel,
        overlap=file.queue.overlap,
        max_in_review=file.queue.max_in_review,
        ci=CiPolicy(require=tuple(file.ci.require), timeout_seconds=file.ci.timeout, fix=file.ci.fix),
        keep_branch_seconds=file.branches.keep,
        paused=file.pause,
        hooks=HookTerms(**file.hooks.model_dump()),
        sandbox=SandboxMode(file.sandbox),
        network=Network(file.network),
        budget=_budget(file),
        prepare=tuple(file.prepare),
        carry=tuple(file.carry),
        tiers={name: _tiers(section) for name, section in file.tiers.items()},
        prices={model: Price(**section.model_dump()) for model, section in file.prices.items()},
        subscriptions=tuple(file.subscriptions),
        summary=Summary(issue=file.summary.issue, chat=file.summary.chat),
        logs=LogTerms(keep_days=file.logs.keep // DAY, commit=file.logs.commit),
        gates=None if file.gates is None else tuple(_gate(section) for section in file.gates),
        checks={name: CheckMode(mode) for name, mode in file.checks.model_dump(exclude_unset=True).items()},
        protected=tuple(file.protected),
    )


def _budget(file: PolicyFile) -> Budget:
    return Budget(
        minutes=float(file.budget.minutes),
        attempts=file.budget.attempts,
        usd=file.budget.usd,
        tokens=file.budget.tokens,
        usd_today=file.budget.usd_per_day,
        idle_calls=file.budget.idle_calls,
    )


def _agent(file: PolicyFile, unit: Unit) -> AgentSpec:
    section = file.agent_of(unit.value)
    own = file.agents.get(section.cli)
    spec = _own(section.cli, own) if own else AgentSpec(name=section.cli)
    words = {
        "model": section.model,
        "tier": Tier(section.tier) if section.tier else None,
        "effort": Effort(section.effort) if section.effort else None,
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
