"""What a job answers: how it ended, what was verified, and what it cost."""

from __future__ import annotations

from decimal import Decimal
from enum import StrEnum
from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from runner.contract.base import (
    CONTRACT_VERSION,
    MAX_GATES,
    MAX_PATHS,
    MAX_RUNS,
    Count,
    JobId,
    Moment,
    Seconds,
    Sha,
    Tail,
)
from runner.results import (
    ExecutionSummary,
    Inspection,
    IssueText,
    Lesson,
    Line,
    Message,
    PlanDocument,
    PullRequestText,
    SplitDocument,
    Text,
    Unit,
    WrittenLesson,
)
from runner.terms import GateSpec, Network, SandboxMode

MAX_PATCH = 200_000
"""Characters of the patch that travel in a report; what a comment can show of it is decided by the bot."""

MAX_ATTEMPT = 1_000
"""No job makes so many attempts; the policy allows ten."""
MAX_LESSONS = 100
"""Lessons in one prompt, and lessons of one report."""
MAX_PROMPTS = 100
"""Prompts of one job of which the report tells."""
MAX_REACHED = 20
"""Addresses of model APIs of which a report tells."""
MAX_USD = Decimal(10**18)
"""More than any run costs, and a number that can be added up and printed."""


class Outcome(StrEnum):
    """How a job ended. Each has one meaning and one sentence; success is never inferred from words in the output."""

    PLANNED = "planned"
    VERIFIED = "verified"
    ISSUE_WRITTEN = "issue_written"
    BASE_CLEAN = "base_clean"
    BASE_CONFLICT = "base_conflict"
    BLOCKED = "blocked"
    """The agent says, in its typed result, that it can't go on and why."""
    NOTHING_CHANGED = "nothing_changed"
    GATES_FAILED = "gates_failed"
    AGENT_FAILED = "agent_failed"
    INVALID_RESULT = "invalid_result"
    TIMED_OUT = "timed_out"
    OVER_BUDGET = "over_budget"
    NO_PROGRESS = "no_progress"
    """The agent called its model again and again without getting further."""
    OUTPUT_FLOOD = "output_flood"
    TREE_CHANGED = "tree_changed"
    """A read-only unit changed files."""
    WRONG_BRANCH = "wrong_branch"
    """The agent's commits are on another branch, or refs that are not its own moved."""
    WORKSPACE_DAMAGED = "workspace_damaged"
    BRANCH_MOVED = "branch_moved"
    """Somebody else pushed to the plan's branch while the job ran; their commits are kept."""
    SANDBOX_UNAVAILABLE = "sandbox_unavailable"
    STOPPED = "stopped"
    RUNNER_FAILED = "runner_failed"
    """Not the agent's fault: git, network or disk of the runner."""
    LOST = "lost"
    """The runner fell silent, or was killed, which it says at its next start: tried once more."""

    @property
    def is_success(self) -> bool:
        """Whether the plan goes on from here without a person."""
        return self in {
            Outcome.PLANNED,
            Outcome.VERIFIED,
            Outcome.ISSUE_WRITTEN,
            Outcome.BASE_CLEAN,
            Outcome.BASE_CONFLICT,
        }


class GateStatus(StrEnum):
    """How a gate ended."""

    PASSED = "passed"
    FAILED = "failed"
    TIMED_OUT = "timed_out"
    FAILED_BEFORE = "failed_before"
    """Failed in the same way on the base commit, before the agent: shown, and not held against the change."""
    FLAKY = "flaky"
    """Failed, then passed on the same commit: not held against the change, and never called passed."""
    SKIPPED = "skipped"


class GateResult(Message):
    """One row of the gates table."""

    name: Line
    blocking: bool
    status: GateStatus
    seconds: Seconds
    summary: Line
    tail: Tail = ""
    first_error: Line = ""
    """The first line of the output that names an error, where one could be told."""
    detected: bool = False

    @property
    def holds_back(self) -> bool:
        """Whether this result keeps the work from a reviewer."""
        return self.blocking and self.status in {GateStatus.FAILED, GateStatus.TIMED_OUT}


class UsdSource(StrEnum):
    """Where the dollars of a usage record come from."""

    METERED = "metered"
    """Each call counted by the runner's meter, and priced by the price table."""
    REPORTED = "reported"
    """The agent's own figure."""
    PRICES = "prices"
    """The agent's own count of tokens, priced by the price table."""
    SUBSCRIPTION = "subscription"
    """None: a subscription covers the run, as the policy says of the agent."""
    UNKNOWN = "unknown"


class Usage(Message):
    """One run of one agent: a row of the cost table. Input is without cache reads and writes, output with reasoning."""

    unit: Unit
    agent: Line
    model: Line | None
    attempt: int = Field(ge=1, le=MAX_ATTEMPT)
    input_tokens: Count | None = None
    output_tokens: Count | None = None
    cache_read_tokens: Count | None = None
    cache_write_tokens: Count | None = None
    reasoning_tokens: Count | None = None
    usd: Decimal | None = Field(default=None, ge=0, le=MAX_USD)
    usd_source: UsdSource = UsdSource.UNKNOWN
    price_date: Line | None = None
    seconds: Seconds
    complete: bool = True
    """False where the run was cut off, so that the figures read "at least"."""
    calls: Count | None = None
    """How often it called its model; what each call cost stays in the log of the runner."""

    @property
    def tokens(self) -> int:
        """All tokens that are known; reasoning is part of the output."""
        kinds = (self.input_tokens, self.output_tokens, self.cache_read_tokens, self.cache_write_tokens)
        return sum(kind for kind in kinds if kind)


class FileChange(Message):
    """One changed path. ``added`` and ``removed`` are None for a binary file."""

    path: Text
    """UTF-8 with undecodable bytes escaped as ``\\xNN``."""
    status: Literal["added", "modified", "deleted", "renamed", "mode"]
    added: Count | None
    removed: Count | None


class Collision(Message):
    """Another plan's branch that conflicts with this one: whichever is merged second has to be merged by hand."""

    issue: Count
    branch: Line
    head: Sha
    paths: tuple[Text, ...] = Field(max_length=20)
    paths_total: Count


class Work(Message):
    """What was verified and pushed. From here on only ``head`` counts."""

    base: Sha
    head: Sha
    tree: Sha
    commits: Count
    files: tuple[FileChange, ...] = Field(max_length=MAX_PATHS)
    files_total: Count
    patch: Annotated[str, StringConstraints(max_length=MAX_PATCH)]
    patch_cut: bool
    summary: ExecutionSummary | None
    pull_request: PullRequestText | None
    moved_base_paths: tuple[Text, ...] = ()
    """Files the plan names that changed on the default branch since planning."""
    collisions: tuple[Collision, ...] = Field(default=(), max_length=200)
    """Other plans' branches that this one does not merge with."""
    since: Sha | None = None
    """The commit from which ``files`` and ``patch`` show the change, where that is not ``base``: what an open pull
    request had before."""
    lessons: tuple[WrittenLesson, ...] = Field(default=(), max_length=MAX_LESSONS)
    """Those that the runner wrote into the branch in this job: what it learned, and what had waited."""


class SandboxReport(Message):
    """What confinement the run really had."""

    asked: SandboxMode
    got: Literal["bubblewrap", "none"]
    separate_user: bool
    network: Network = Network.ON
    """What agents could reach; without bubblewrap always all of it."""
    sentence: Text


class PromptUsed(Message):
    """What one run of an agent was told; the text itself stays with the runner."""

    unit: Unit
    attempt: int = Field(ge=1, le=MAX_ATTEMPT)
    sha256: Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]
    """Of the composed prompt, without the marker of the run: the same instructions and material hash alike."""
    overridden: bool = False
    """The repository's own version of the unit, or sections of it, counted."""
    lessons: tuple[Text, ...] = Field(default=(), max_length=MAX_LESSONS)
    """Paths of the lessons in it."""


class Report(Message):
    """How the job ended. Written to disk first, sent until accepted; the first complete one wins."""

    version: Literal[1] = CONTRACT_VERSION
    job: JobId
    outcome: Outcome
    sentence: Text
    """What happened and what a person can do about it."""
    plan: PlanDocument | None = None
    split: SplitDocument | None = None
    issue: IssueText | None = None
    work: Work | None = None
    inspection: Inspection | None = None
    conflicts: tuple[Text, ...] = ()
    """Paths in conflict, for ``base_conflict`` and conflict jobs."""
    gates: tuple[GateResult, ...] = Field(default=(), max_length=MAX_GATES)
    detected_gates: tuple[GateSpec, ...] = Field(default=(), max_length=MAX_GATES)
    """Where the policy names none: the checks recognised at the base commit, for the approver of the plan to see."""
    usage: tuple[Usage, ...] = Field(default=(), max_length=MAX_RUNS)
    prompts: tuple[PromptUsed, ...] = Field(default=(), max_length=MAX_PROMPTS)
    lessons: tuple[Lesson, ...] = Field(default=(), max_length=MAX_LESSONS)
    """What a job without a branch learned, validated: it waits on the plan."""
    asked: tuple[Text, ...] = Field(default=(), max_length=MAX_LESSONS)
    """Questions that agents put to the people."""
    attempts: int = Field(default=0, ge=0, le=MAX_ATTEMPT)
    check_seconds: Seconds | None = None
    """In the repository's checks: on the base, and on what each attempt left."""
    sandbox: SandboxReport | None = None
    notes: tuple[Text, ...] = ()
    """Things a reviewer should know: processes left behind and ended, output that was cut, a mended test run."""
    output_tail: Tail = ""
    reached: tuple[Line, ...] = Field(default=(), max_length=MAX_REACHED)
    """The model APIs that agents were pointed at through the meter: scheme, host and port, as this machine has them."""
    salvaged: Sha | None = None
    """The commit under which the runner keeps work that was not pushed."""
    runner: Line
    started_at: Moment
    ended_at: Moment
