"""The terms of a job: how an agent is chosen and confined, what it may spend, what its work must pass.

Data alone, shared by the repository's policy (:mod:`bot.lifecycle.policy`) and the contract between bot and runner.
"""

from __future__ import annotations

from decimal import Decimal
from enum import StrEnum
from typing import Literal

from pydantic import Field

from runner.results import Line, Message, Text


class SandboxMode(StrEnum):
    """How the agent is confined."""

    REQUIRED = "required"
    AUTO = "auto"
    OFF = "off"


class Network(StrEnum):
    """What of the network a confined agent can reach."""

    ON = "on"
    """All of it."""
    MODEL = "model"
    """Nothing but the model's API, through the meter."""
    OFF = "off"
    """Nothing: for agents that bring their own model."""


class Tier(StrEnum):
    """How able a model is asked for, where no model is named."""

    FAST = "fast"
    BALANCED = "balanced"
    DEEP = "deep"


class Tool(StrEnum):
    """What a run's agent may call beside its own tools: executables on its PATH, and the same over MCP."""

    PROGRESS = "progress"
    """Say what is being done; shown in the status comment, decides nothing."""
    SUBMIT = "submit"
    """Hand in the result; what does not fit the schema comes back with what to mend."""
    REMEMBER = "remember"
    """Keep a lesson."""
    RECOMMEND = "recommend"
    """Name something worth doing that is not part of the task."""
    ASK = "ask"
    """Put a question to the people; nobody answers during the run."""


class Effort(StrEnum):
    """How long a model may think, where the agent lets it be chosen."""

    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"


class Api(StrEnum):
    """The wire format in which an agent speaks to its model."""

    ANTHROPIC = "anthropic"
    """Anthropic Messages."""
    RESPONSES = "openai-responses"
    """OpenAI Responses."""
    CHAT = "openai-chat"
    """OpenAI Chat Completions, and whoever speaks like it."""
    GEMINI = "gemini"
    """Gemini ``generateContent``."""


class CheckMode(StrEnum):
    """What becomes of what a built-in gate finds."""

    BLOCK = "block"
    """It goes back to the agent, and never reaches a reviewer."""
    INFORM = "inform"
    """It is shown to the reviewer."""
    OFF = "off"
    """It is not looked for."""


class GateSpec(Message):
    """A command of the repository that must pass. Comes from the base commit's policy, never from the branch."""

    name: Line
    run: Text
    timeout_seconds: int = Field(default=900, gt=0, le=7_200)
    blocking: bool = True
    detected: bool = False
    """True where no policy file named it and it was recognised from the repository's files."""
    parallel: bool = False
    """Whether it may run beside its neighbours of which the same is said, in the same checkout."""


class AgentSpec(Message):
    """Which command-line agent carries out a unit, by settings alone."""

    name: Line
    """A built-in agent, or a name of one's own under ``agents:``."""
    model: Line | None = None
    tier: Tier | None = None
    """Where no model is named; None: what the unit asks for."""
    effort: Effort | None = None
    command: tuple[Text, ...] | None = None
    """Argument list of a generic agent, None for a built-in one. ``{prompt_file}``, ``{result_file}``, ``{model}``,
    ``{unit}``, ``{attempt}`` and ``{worktree}`` are replaced."""
    output: Literal["text", "jsonl"] = "text"
    api: Api | None = None
    """Of a generic agent: the wire format by which it can be pointed at the meter; None: it can't be."""
    subscription: bool = False
    """A subscription covers what it uses past the meter: that has no price."""


class Price(Message):
    """What a repository says that a model costs, in US dollars a million tokens; wins over the price table."""

    input: Decimal = Field(ge=0)
    output: Decimal = Field(ge=0)
    cache_read: Decimal | None = Field(default=None, ge=0)
    """None: as input."""
    cache_write: Decimal | None = Field(default=None, ge=0)
    """None: as input."""


class Budget(Message):
    """What is left of a plan's budget when a job is claimed; all of it is enforced while the job runs.

    Dollars and tokens are None where no cap was set. Zero is a budget that is spent.
    """

    minutes: float = Field(default=60, gt=0)
    attempts: int = Field(default=3, ge=1, le=10)
    usd: Decimal | None = None
    tokens: int | None = None
    usd_today: Decimal | None = None
    """Dollars that the repository may still spend on this day (UTC)."""
    idle_calls: int = Field(default=15, ge=2, le=1_000)
    """Calls to a model in a row that bring nothing new, after which a run is ended."""


class LogTerms(Message):
    """What becomes of the logs of a job."""

    keep_days: int = Field(default=30, ge=1, le=3_650)
    """Days that a runner keeps them; its disk may end them earlier."""
    commit: bool = False
    """The short log of each run becomes a file on the plan's branch."""
