"""The repository's policy file as it is written: its keys, their limits, and what is wrong with a text.

:mod:`.policy` makes the resolved policy of it. The JSON Schema for editors is generated from these models.
A key that this release does not honour is an error that says so, never silence.
"""

from __future__ import annotations

import re
from decimal import Decimal
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, WithJsonSchema

from bot.lifecycle.strict_yaml import YamlError, load

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pydantic_core import ErrorDetails

    from bot.lifecycle.strict_yaml import Path

BUILT_IN_AGENTS = ("claude", "codex", "copilot", "gemini", "opencode")
"""Agents that need no command of one's own."""
BUILT_IN_GATES = ("scope", "conflict markers", "secrets", "security", "weakening", "dependencies")
"""Names that the built-in checks have in the table, so that no command is taken for one of them."""
PLACEHOLDERS = ("prompt_file", "result_file", "model", "unit", "attempt", "worktree")
"""What an agent's command may ask for in braces."""
MOST_USD = 100_000
"""Dollars that a limit may name, and that a million tokens may cost."""
MOST_MINUTES = 1_440
"""Minutes that a job may be given."""
MOST_TOKENS = 10_000_000_000
"""Tokens that a limit may name."""
MOST_ATTEMPTS = 10
"""Attempts that a job may be given; the contract with the runner has the same limit."""
MAX_GATE_SECONDS = 7_200
"""The longest that one check may take; the contract with the runner has the same limit."""
LATER: dict[Path, str] = {
    ("approvers", "teams"): "approval by team is not checked by this release; leave the list empty",
    ("approvers", "distinct"): "another approver than the requester is not asked for by this release; only false works",
    ("publish",): "the branch is always pushed before the review in this release; take it out",
    ("stale",): "files that changed since planning are always listed in the review in this release; take it out",
}
"""Keys whose meaning comes later. A limit that is not kept would mislead, so each is refused with its sentence."""
_SECONDS = {"s": 1, "m": 60, "h": 3_600}


class PolicyError(ValueError):
    """What is wrong with a policy file, and on which line (counted from 1)."""

    def __init__(self, line: int, reason: str) -> None:
        super().__init__(f"line {line}: {reason}")
        self.line = line
        self.reason = reason


def _number(value: object) -> object:
    if isinstance(value, bool) or not isinstance(value, int | Decimal):
        raise ValueError("must be a number")  # noqa: TRY004 - pydantic collects ValueErrors alone
    return Decimal(value)


def _duration(value: object) -> int:
    match = re.fullmatch(r"([1-9][0-9]{0,4})([smh])", value) if isinstance(value, str) else None
    if match is None:
        raise ValueError("must be a time such as 90s, 15m or 2h")
    seconds = int(match[1]) * _SECONDS[match[2]]
    if seconds > MAX_GATE_SECONDS:
        raise ValueError("must be at most 2h")
    return seconds


def _glob(value: str) -> str:
    parts = value.split("/")
    if value.startswith(("/", "!")) or ".." in parts or "" in parts[:-1]:
        raise ValueError("must be a path pattern relative to the root, without `..` or `!`")
    return value


def _command_word(value: str) -> str:
    for name in re.findall(r"\{([a-z_]+)\}", value):
        if name not in PLACEHOLDERS:
            raise ValueError(f"{{{name}}} is not known; there is {', '.join(f'{{{p}}}' for p in PLACEHOLDERS)}")
    return value


def _inside(value: str) -> str:
    parts = value.rstrip("/").split("/")
    if not value.isprintable() or {"", ".", "..", ".git"} & set(parts):
        raise ValueError("must be a path within the repository, relative to its root")
    return value.rstrip("/")


Word = Annotated[str, Field(min_length=1, max_length=300, pattern=r"^\S(.*\S)?$")]
Shell = Annotated[str, Field(min_length=1, max_length=4_000, pattern=r"\S")]
Glob = Annotated[str, Field(min_length=1, max_length=300), AfterValidator(_glob)]
_USD = {"type": "number", "exclusiveMinimum": 0, "maximum": MOST_USD}
_PRICE = {"type": "number", "minimum": 0, "maximum": MOST_USD}
_MINUTES = {"type": "number", "exclusiveMinimum": 0, "maximum": MOST_MINUTES}
Usd = Annotated[Decimal, BeforeValidator(_number), Field(gt=0, le=MOST_USD), WithJsonSchema(_USD)]
Price = Annotated[Decimal, BeforeValidator(_number), Field(ge=0, le=MOST_USD), WithJsonSchema(_PRICE)]
Minutes = Annotated[Decimal, BeforeValidator(_number), Field(gt=0, le=MOST_MINUTES), WithJsonSchema(_MINUTES)]
CarriedPath = Annotated[str, Field(min_length=1, max_length=300), AfterValidator(_inside)]
Duration = Annotated[
    int,
    BeforeValidator(_duration),
    WithJsonSchema({"type": "string", "pattern": "^[1-9][0-9]{0,4}[smh]$", "examples": ["90s", "15m", "2h"]}),
]
TierName = Literal["fast", "balanced", "deep"]
EffortName = Literal["low", "medium", "high"]
AgentName = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_-]{0,49}$")]
CommandWord = Annotated[str, Field(min_length=1, max_length=4_000), AfterValidator(_command_word)]


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
    """Who may approve and reject."""

    permission: Literal["write", "maintain", "admin"] = "write"
    """The least permission on the repository."""
    teams: list[str] = Field(default=[], max_length=0)
    """Not in this release: must be empty."""
    distinct: Literal[False] = False
    """Not in this release: must be false."""


class QueueSection(_Section):
    """How many plans run at once, and what becomes of those that touch the same files."""

    max_parallel: int = Field(default=4, ge=1, le=64)
    """Plans executed at the same time."""
    overlap: Literal["wait", "warn", "off"] = "wait"
    """A plan whose files overlap those of one under way: waits, starts with a warning, or starts."""


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
    units: dict[Literal["CreatePlan", "UpdatePlan", "ExecutePlan", "CreatePr"], UnitSection] = {}
    """Another agent or model for single units."""
    agents: dict[AgentName, OwnAgentSection] = {}
    """Agents of one's own, by name."""
    approvers: ApproversSection = ApproversSection()
    queue: QueueSection = QueueSection()
    sandbox: Literal["required", "auto", "off"] = "required"
    """Confinement of the agent: required, as much as there is, or none."""
    network: Literal["on", "model", "off"] = "on"
    """What agents and checks reach: all; agents their model's API and checks nothing; nothing."""
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
    checks: ChecksSection = ChecksSection()
    protected: list[Glob] = Field(default=[".github/**"], max_length=200)
    """Paths that change only where an approved plan names them."""


def read(text: str) -> PolicyFile:
    """Return the file's content; raises :class:`PolicyError` for the first line with a fault. Empty means defaults."""
    try:
        document = load(text)
    except YamlError as error:
        raise PolicyError(error.line, error.reason) from None
    data = {} if document.data is None else document.data
    faults = [(path, "has no value; take the key out to keep the default") for path in _without_value(data)]
    if not faults:
        try:
            file = PolicyFile.model_validate(data)
        except ValidationError as error:
            faults = [_fault(e) for e in error.errors(include_url=False)]
        else:
            faults = list(_contradictions(file))
            if not faults:
                return file
    path, reason = min(faults, key=lambda fault: document.line(fault[0]))
    raise PolicyError(document.line(path), f"{_named(path)} {reason}")


def _without_value(data: object, path: Path = ()) -> Iterator[Path]:
    if data is None:
        yield path
    elif isinstance(data, dict | list):
        items = data.items() if isinstance(data, dict) else enumerate(data)
        for key, value in items:
            yield from _without_value(value, (*path, key))


def _named(path: Path) -> str:
    """Return a path as people write it: ``gates[2].run``."""
    text = "".join(f"[{part + 1}]" if isinstance(part, int) else f".{part}" for part in path)
    return f"`{text.removeprefix('.')}`" if text else "the file"


def _fault(error: ErrorDetails) -> tuple[Path, str]:
    """Return where and what is wrong, in words."""
    path = tuple(part for part in error["loc"] if part != "[key]")
    kind, context = error["type"], error.get("ctx", {})
    if path[:2] in LATER and (kind == "extra_forbidden" or len(path) > 1):
        return path, f"is not available: {LATER[path[:2]]}"
    match kind:
        case "extra_forbidden":
            return path, f"is not a known key; known here are {', '.join(_known(path[:-1]))}"
        case "literal_error" | "enum":
            return path, f"must be one of {context['expected']}"
        case "value_error":
            return path, str(context["error"])
    return path, _REASONS.get(kind, error["msg"]).format(**context)


_REASONS = {
    "missing": "is missing",
    "string_type": "must be text; put it in quotes",
    "string_pattern_mismatch": "must match {pattern}",
    "string_too_short": "must not be empty",
    "string_too_long": "must have at most {max_length} characters",
    "bool_type": "must be true or false",
    "int_type": "must be a whole number",
    "greater_than": "must be more than {gt}",
    "greater_than_equal": "must be at least {ge}",
    "less_than_equal": "must be at most {le}",
    "list_type": "must be a list",
    "too_short": "must not be empty",
    "too_long": "must have at most {max_length} entries",
    "dict_type": "must be keys with values",
    "model_type": "must be keys with values",
}
"""What is wrong, by pydantic's name for it."""


def _known(path: Path) -> list[str]:
    """Return the keys of the section at a path."""
    sections: dict[str, type[BaseModel]] = {
        "agent": AgentSection,
        "units": UnitSection,
        "agents": OwnAgentSection,
        "approvers": ApproversSection,
        "queue": QueueSection,
        "budget": BudgetSection,
        "gates": GateSection,
        "checks": ChecksSection,
        "prices": PriceSection,
        "tiers": TierSection,
    }
    section = sections[str(path[0])] if path else PolicyFile
    return [f"`{name}`" for name in section.model_fields]


def _contradictions(file: PolicyFile) -> Iterator[tuple[Path, str]]:
    """Yield what each key alone can't show."""
    known = {*BUILT_IN_AGENTS, *file.agents}
    for name in BUILT_IN_AGENTS:
        if name in file.agents:
            yield ("agents", name), "has the name of a built-in agent; choose another"
    chosen: list[tuple[Path, str | None]] = [(("agent", "cli"), file.agent.cli)]
    chosen += [(("units", unit, "cli"), section.cli) for unit, section in file.units.items()]
    for path, cli in chosen:
        if cli is not None and cli not in known:
            yield path, f"names no known agent; there is {', '.join(sorted(known))}, or define it under `agents`"
    if file.sandbox == "off" and file.network != "on":
        yield ("network",), "can't be kept with `sandbox: off`, which leaves the network open; choose another sandbox"
    for name in file.tiers:
        if name not in known:
            yield ("tiers", name), f"names no known agent; there is {', '.join(sorted(known))}"
    seen = {name.casefold() for name in BUILT_IN_GATES}
    for index, gate in enumerate(file.gates or ()):
        if gate.name.casefold() in seen:
            yield ("gates", index, "name"), "is the name of another check; each needs its own"
        seen.add(gate.name.casefold())


def json_schema() -> dict[str, Any]:
    """Return the JSON Schema (draft 2020-12) of the file, for editors."""
    schema = PolicyFile.model_json_schema()
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema, "title": "Twogate policy"}
