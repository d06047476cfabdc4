"""The keys of the policy file. Their docstrings are the meanings on the reference page and in the schema."""

from __future__ import annotations

from decimal import Decimal
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from bot.lifecycle.policy_values import (
    MOST_APPROVALS,
    MOST_ATTEMPTS,
    MOST_FIXES,
    MOST_GENERATIONS,
    MOST_IN_REVIEW,
    MOST_ISSUE,
    MOST_NAMES,
    MOST_TOKENS,
    AgentName,
    Bot,
    CarriedPath,
    CommandWord,
    Duration,
    EffortName,
    Glob,
    Keeping,
    Login,
    LogKeeping,
    Minutes,
    Patience,
    Prefix,
    Price,
    Shell,
    Team,
    TierName,
    Usd,
    Word,
)

UnitName = Literal[
    "CreatePlan", "ExpandPlan", "UpdatePlan", "SplitPlan", "ExecutePlan", "InspectDiff", "CreatePr", "CreateIssue"
]
INSPECTING: UnitName = "InspectDiff"
"""The unit that `inspector` turns on."""
EXECUTING: UnitName = "ExecutePlan"
"""The unit that writes the change."""


class _Section(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, use_attribute_docstrings=True)


class AgentSection(_Section):
    """Which agent carries out every unit that `units` does not name."""

    cli: AgentName = "claude"
    """A built-in agent, or one defined under `agents`."""
    model: Word | None = None
    """The model to ask the agent for; without it, the one of the tier."""
    tier: TierName | None = None
    """How able a model is asked for where none is named; without it, what each unit asks for."""
    effort: EffortName | None = None
    """How long the model may think, where the agent lets it be chosen."""


class UnitSection(_Section):
    """Another agent or model for one unit."""

    cli: AgentName | None = None
    """A built-in agent, or one defined under `agents`."""
    model: Word | None = None
    """The model to ask the agent for."""
    tier: TierName | None = None
    """How able a model is asked for where none is named."""
    effort: EffortName | None = None
    """How long the model may think, where the agent lets it be chosen."""


class OwnAgentSection(_Section):
    """A command-line agent of one's own."""

    command: list[CommandWord] = Field(min_length=1, max_length=100)
    """Its argument list; filled in: `{prompt_file}`, `{result_file}`, `{model}`, `{unit}`, `{attempt}`, `{worktree}`"""
    output: Literal["text", "jsonl"] = "text"
    """What it prints."""
    api: Literal["anthropic", "openai-responses", "openai-chat", "gemini"] | None = None
    """The wire format in which it speaks to its model, so that it can be metered; without it, it can't be."""


class ApproversSection(_Section):
    """Who may approve and reject, at both gates, and how many are needed. All that is given must be met."""

    permission: Literal["write", "maintain", "admin"] = "write"
    """The least permission on the repository."""
    teams: list[Team] = Field(default=[], max_length=MOST_NAMES)
    """Only members of one of these teams (`core`, `acme/core`), beside `users`."""
    users: list[Login] = Field(default=[], max_length=MOST_NAMES)
    """Only these people, beside members of `teams`."""
    codeowners: bool = False
    """Whether each touched file that CODEOWNERS names needs one of its owners among those who approve."""
    distinct: bool = False
    """Whether those who asked for the plan, or whose words it was last written from, are kept from approving it."""
    count: int = Field(default=1, ge=1, le=MOST_APPROVALS)
    """How many different people must approve."""
    bots: list[Bot] = Field(default=[], max_length=MOST_NAMES)
    """Bots and Apps (`renovate`, `renovate[bot]`) whose words count as a person's, within their permission."""


class CommandsSection(_Section):
    """How commands are written here."""

    prefix: Prefix | None = None
    """With `tg`, only `/tg approve` and `/twogate approve` count; for repositories whose other bots know the words."""


class QueueSection(_Section):
    """How many plans run at once, and what becomes of those that touch the same files."""

    max_parallel: int = Field(default=4, ge=1, le=64)
    """Plans executed at the same time."""
    overlap: Literal["wait", "warn", "off"] = "wait"
    """A plan whose files overlap those of one under way: waits, starts with a warning, or starts."""
    max_in_review: int = Field(default=8, ge=1, le=MOST_IN_REVIEW)
    """Plans that may wait for their diff review; where so many wait, no other starts."""


class CiSection(_Section):
    """What the checks of other Apps on a plan's branch mean here."""

    require: list[Word] = Field(default=[], max_length=MOST_NAMES)
    """Names of checks and statuses that must pass before anybody is asked to look at the diff."""
    timeout: Patience = 3_600
    """The longest they are waited for. Without it, `1h`."""
    fix: int = Field(default=0, ge=0, le=MOST_FIXES)
    """How often failing checks of the pull request are worked on without a person asking."""


class BranchesSection(_Section):
    """What becomes of a plan's branch."""

    keep: Keeping = 14 * 86_400
    """How long the branch of a pull request that was closed unmerged is kept. Without it, `14d`."""


class LogsSection(_Section):
    """What becomes of the logs of jobs."""

    keep: LogKeeping = 30 * 86_400
    """How long runners keep them, where their disks allow it. Without it, `30d`."""
    commit: bool = False
    """Whether the short log of each run becomes a file on the plan's branch, which the diff review shows."""


class HooksSection(_Section):
    """Which reports from outside of GitHub become issues here, for each of which a plan is written at once."""

    jam: bool = False
    """Bug reports of jam.dev, sent to `/hooks/jam/OWNER/NAME` of the bot."""
    issue: bool = False
    """Reports of any other tracker, sent to `/hooks/issue/OWNER/NAME`."""
    generation: int = Field(default=1, ge=1, le=MOST_GENERATIONS)
    """Counted up, it makes the secret of these addresses another one: the one before is refused from then on."""


class SummarySection(_Section):
    """Where each week's figures are told, on Mondays."""

    issue: int | None = Field(default=None, ge=1, le=MOST_ISSUE)
    """Number of the issue that gets them as a comment."""
    chat: bool = False
    """Whether they go to the chat whose address the bot's operator set (`TWOGATE_CHAT_WEBHOOK`)."""


class BudgetSection(_Section):
    """Where an agent is stopped."""

    usd: Usd | None = None
    """Dollars a plan, over all its jobs; without it, no limit."""
    usd_per_day: Usd | None = None
    """Dollars a day (UTC) for the whole repository; without it, no limit."""
    tokens: int | None = Field(default=None, ge=1, le=MOST_TOKENS)
    """Tokens of every kind a plan, over all its jobs; without it, no limit."""
    idle_calls: int = Field(default=15, ge=2, le=1_000)
    """Calls to a model in a row that bring nothing new, after which a run is ended."""
    minutes: Minutes = Decimal(60)
    """Minutes that a job may take."""
    attempts: int = Field(default=3, ge=1, le=MOST_ATTEMPTS)
    """How often the agent may try to pass the checks."""


class GateSection(_Section):
    """A command that must pass before anybody looks at the work."""

    name: Annotated[str, Field(min_length=1, max_length=60, pattern=r"^\S(.*\S)?$")]
    """How it is called in the table."""
    run: Shell
    """The command line, run by a shell in the root of the repository."""
    timeout: Duration = 900
    """The longest it may take: `90s`, `15m`, `2h`. Without it, `15m`."""
    blocking: bool = True
    """Whether a failure keeps the work from a reviewer."""
    parallel: bool = False
    """Whether it may run beside its neighbours of which the same is said, in the same checkout."""


class ChecksSection(_Section):
    """What becomes of what the built-in checks find. Scope, conflict markers and secrets always block."""

    security: Literal["block", "inform", "off"] = "inform"
    """Injection sinks, unsafe use of what a model or a user said, widened rights."""
    dependencies: Literal["block", "inform", "off"] = "inform"
    """New and changed packages that need a second look."""
    weakening: Literal["block", "inform"] = "block"
    """Tests and checks that became weaker without the plan asking for it."""


class PriceSection(_Section):
    """What a model costs, in US dollars a million tokens."""

    input: Price
    """Input that is not read from or written to a cache."""
    output: Price
    """Output, reasoning included."""
    cache_read: Price | None = None
    """Without it, as input."""
    cache_write: Price | None = None
    """Without it, as input."""


class TierSection(_Section):
    """Models of an agent, by tier; a tier left out keeps the built-in model."""

    fast: Word | None = None
    """The model for what is quick to do."""
    balanced: Word | None = None
    """The model for the work itself."""
    deep: Word | None = None
    """The model for planning."""


class PolicyFile(_Section):
    """The policy of a repository for Twogate, `.github/twogate.yml` on the default branch."""

    label: Annotated[str, Field(min_length=1, max_length=50, pattern=r"^\S(.*\S)?$")] = "agent"
    """The label that asks for a plan; compared without regard to case."""
    agent: AgentSection = AgentSection()
    units: dict[UnitName, UnitSection] = {}
    """Another agent or model for single units."""
    agents: dict[AgentName, OwnAgentSection] = {}
    """Agents of one's own, by name."""
    inspector: UnitSection | None = None
    """A second agent that reads each diff beside its plan before a person does; without this key there is none."""
    approvers: ApproversSection = ApproversSection()
    commands: CommandsSection = CommandsSection()
    queue: QueueSection = QueueSection()
    ci: CiSection = CiSection()
    branches: BranchesSection = BranchesSection()
    hooks: HooksSection = HooksSection()
    pause: bool = False
    """Whether no new work is started: no plan is written, none is carried out."""
    sandbox: Literal["required", "auto", "off"] = "required"
    """Confinement of the agent: required, as much as there is, or none."""
    network: Literal["on", "model", "off"] = "on"
    """What agents and checks reach: all; agents their model's API and checks nothing; nothing."""
    logs: LogsSection = LogsSection()
    summary: SummarySection = SummarySection()
    budget: BudgetSection = BudgetSection()
    gates: list[GateSection] | None = Field(default=None, max_length=30)
    """The checks in their order. Without this key they are recognised from the repository; an empty list means none."""
    prepare: list[Shell] = Field(default=[], max_length=20)
    """Commands that make a fresh work tree ready, run once a state of the lock files: `npm ci`."""
    carry: list[CarriedPath] = Field(default=[], max_length=50)
    """Ignored paths that a fresh work tree gets: from the runner's `carry` folder, else as `prepare` left them."""
    tiers: dict[AgentName, TierSection] = {}
    """Models of one's own for the tiers, by agent; a tier left out keeps the built-in model."""
    prices: dict[Word, PriceSection] = {}
    """Prices of one's own, by model, in US dollars a million tokens; they win over the built-in table."""
    subscriptions: list[AgentName] = Field(default=[], max_length=MOST_NAMES)
    """Agents that runners have no key for and a subscription pays: their use is told in tokens, and has no dollars."""
    checks: ChecksSection = ChecksSection()
    protected: list[Glob] = Field(default=[".github/**"], max_length=200)
    """Paths that change only where an approved plan names them."""

    def agent_of(self, unit: UnitName) -> AgentSection:
        """Return who carries out a unit. Model, tier and effort belong to their agent, no other inherits them."""
        layers: list[AgentSection | UnitSection] = [self.agent]
        if unit in self.units:
            layers.append(self.units[unit])
        if unit == INSPECTING and self.inspector is not None:
            layers.append(self.inspector)
        name, named = "", []
        for layer in layers:
            name = layer.cli or name
            named.append((name, layer))
        its = [layer for owner, layer in reversed(named) if owner == name]
        chosen = next((layer for layer in its if layer.model or layer.tier), None)
        return AgentSection(
            cli=name,
            model=chosen.model if chosen else None,
            tier=chosen.tier if chosen else None,
            effort=next((layer.effort for layer in its if layer.effort), None),
        )
