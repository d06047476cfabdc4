"""What bot and runner say to each other: versioned, frozen, validated on both sides.

This module is data alone. The bot imports it, :mod:`runner.results` and :mod:`runner.terms`, and nothing else of the
runner; the runner imports nothing of the bot.
Times are seconds since the epoch, durations seconds, commits full hexadecimal object names.
A field that is ``None`` where a number is expected means *unknown*, which is never the same as zero.
"""

from __future__ import annotations

from decimal import Decimal
from enum import StrEnum
from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from runner.results import (
    ExecutionSummary,
    Inspection,
    IssueText,
    Line,
    Message,
    PlanDocument,
    PullRequestText,
    Recommendation,
    SplitDocument,
    Text,
    Unit,
)
from runner.terms import AgentSpec, Budget, CheckMode, GateSpec, Network, Price, SandboxMode, Tier

CONTRACT_VERSION: Literal[1] = 1
"""Raised when a message changes in a way that an older side would misread."""

MAX_TAIL = 4_000
"""Characters of a gate's or an agent's output that travel in a message; the whole stays on the runner."""
MAX_PATCH = 200_000
"""Characters of the patch that travel in a report; what a comment can show of it is decided by the bot."""
MAX_PATHS = 500
"""Paths a report lists by name; beyond it only their number is told."""

MAX_ATTEMPT = 1_000
"""No job makes so many attempts; the policy allows ten."""
MAX_USD = Decimal(10**18)
"""More than any run costs, and a number that can be added up and printed."""

Sha = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{40}([0-9a-f]{24})?$")]
Tail = Annotated[str, StringConstraints(max_length=MAX_TAIL)]
Count = Annotated[int, Field(ge=0, le=2**63 - 1)]
"""As many as an integer of a database holds."""
JobId = Annotated[str, StringConstraints(pattern=r"^[a-z0-9]{8,32}-[0-9]{1,6}$")]


class JobKind(StrEnum):
    """What a job is for; it decides the steps that the runner takes."""

    PLAN = "plan"
    """Read the code at the base commit and write or rewrite the plan; changes nothing."""
    EXECUTE = "execute"
    """Carry out the approved plan on its branch, verify, push."""
    WRITE_ISSUE = "write_issue"
    """Write the text of an issue from a recommendation that a person accepted; changes nothing."""
    CHECK_BASE = "check_base"
    """No agent: try the merge of the approved head with the default branch, and say whether it conflicts."""


class Phase(StrEnum):
    """Where a running job is."""

    PREPARE = "prepare"
    AGENT = "agent"
    GATES = "gates"
    PUBLISH = "publish"
    REPORT = "report"


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


class Repository(Message):
    """The repository a job works on; keyed by the number, the names are for display and addresses."""

    id: int
    owner: Line
    name: Line
    default_branch: Line
    clone_url: Line


class Issue(Message):
    """The issue as it stood when a person with triage labelled it. Untrusted text."""

    number: int
    title: Annotated[str, StringConstraints(max_length=1_024)]
    body: Annotated[str, StringConstraints(max_length=262_144)]
    author: Line


class Feedback(Message):
    """Words of a person, or of a gate, that a job must answer. Untrusted text."""

    kind: Literal[
        "update", "expand", "split", "answer", "annotation", "revise", "review", "retry", "ci", "conflict", "rejection"
    ]
    """``annotation``: on quoted lines of the plan; ``review``: on a line of the diff; ``ci``: the log of a check that
    failed on GitHub."""
    author: Line
    text: Text
    path: Line = ""
    """The file that it is about, where it stands beside one."""
    line: int | None = Field(default=None, ge=1)
    quote: Text = ""
    """The lines of the plan or of the diff that it is about."""


class Ledger(Message):
    """Where the work stands that is to be gone on with: what was said of it when it was shown last."""

    delivered: tuple[Text, ...] = ()
    missing: tuple[Text, ...] = ()
    files: tuple[Text, ...] = Field(default=(), max_length=MAX_PATHS)
    """Paths that it has changed."""


class KnownPlan(Message):
    """Another issue's plan, for the question whether this issue is a duplicate of it. Untrusted text."""

    issue: int
    title: Line
    state: Line
    files: tuple[Line, ...] = ()
    merged_days_ago: float | None = None
    """Since when it is merged; what appears again within :data:`REGRESSION_DAYS` is planned anew."""


REGRESSION_DAYS = 7.0
"""Days after a merge in which the same complaint counts as a regression rather than as a duplicate."""
BRANCH = r"^plan/[0-9]+(-[0-9]+)?(-next)?$"
"""A plan's branch; with ``-next`` the one on which further work for an open pull request waits for its approval."""
MOST_KNOWN = 100
"""Other plans that a planning job is told of, the latest."""


class Branch(Message):
    """Another plan's branch, on which work is under way or waits for a person."""

    issue: int
    name: Annotated[str, StringConstraints(pattern=BRANCH)]
    head: Sha


class JobSpec(Message):
    """Everything a runner needs for one job; the answer to a claim."""

    version: Literal[1] = CONTRACT_VERSION
    job: JobId
    kind: JobKind
    unit: Unit | None
    """None for a job without an agent."""
    repository: Repository
    plan_uid: Annotated[str, StringConstraints(pattern=r"^[a-z0-9]{8,32}$")]
    revision: int
    base: Sha
    """The commit of the default branch that the work starts from and is compared with."""
    branch: Annotated[str, StringConstraints(pattern=BRANCH)]
    head: Sha | None = None
    """The commit to go on from; None starts at ``base``. It lies on the plan's branch, or on its pull request's."""
    shown: Sha | None = None
    """The commit that people have approved before, in an open pull request: what is new is shown from there."""
    branch_head: Sha | None = None
    """Where the remote's plan branch must stand at the push; None: it must not exist. Anything else is somebody's."""
    merge_base_in: bool = False
    """Merge ``base`` into ``head`` first and let the agent settle the conflicts."""
    issue: Issue
    plan: PlanDocument | None = None
    feedback: tuple[Feedback, ...] = ()
    ledger: Ledger | None = None
    """With ``head``: where the work stands."""
    known: tuple[KnownPlan, ...] = Field(default=(), max_length=MOST_KNOWN)
    """For a first plan: what other issues of the repository have plans."""
    recommendation: Recommendation | None = None
    """For ``write_issue``: what the issue is to be about."""
    inspector: AgentSpec | None = None
    """Who reads the verified change beside its plan; None: nobody."""
    agents: dict[Unit, AgentSpec]
    gates: tuple[GateSpec, ...] = ()
    detect_gates: bool = False
    """The policy names no gates: a plan job recognises the repository's checks at the base commit and reports them."""
    protected: tuple[Line, ...] = ()
    checks: dict[Line, CheckMode] = Field(default_factory=dict)
    """What the policy makes of built-in gates, by name, within what :mod:`runner.gates.registry` allows."""
    prepare: tuple[Text, ...] = ()
    """Commands that make a fresh work tree ready to run the gates, once a state of the lock files."""
    carry: tuple[Line, ...] = ()
    """Paths, relative to the root and outside git, that a fresh work tree gets: from the runner's own ``carry`` folder,
    else as ``prepare`` left them."""
    sandbox: SandboxMode = SandboxMode.REQUIRED
    network: Network = Network.ON
    budget: Budget = Budget()
    tiers: dict[Line, dict[Tier, Line]] = Field(default_factory=dict)
    """The repository's own models, by agent and tier; they win over the built-in table."""
    prices: dict[Line, Price] = Field(default_factory=dict)
    """The repository's own prices, by model."""
    in_flight: tuple[Branch, ...] = Field(default=(), max_length=200)
    """The branches of other plans, for the forecast of conflicts."""


class Claim(Message):
    """A claimed job: its specification and the key for everything that follows."""

    spec: JobSpec
    job_key: str
    """Bearer secret for this job alone; the bot stores only its hash."""


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
    seconds: float = Field(ge=0)
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
    seconds: float = Field(ge=0)
    complete: bool = True
    """False where the run was cut off, so that the figures read "at least"."""

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
    added: int | None
    removed: int | None


class Collision(Message):
    """Another plan's branch that conflicts with this one: whichever is merged second has to be merged by hand."""

    issue: int
    branch: Line
    head: Sha
    paths: tuple[Text, ...] = Field(max_length=20)
    paths_total: int


class Work(Message):
    """What was verified and pushed. From here on only ``head`` counts."""

    base: Sha
    head: Sha
    tree: Sha
    commits: int
    files: tuple[FileChange, ...] = Field(max_length=MAX_PATHS)
    files_total: int
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


class SandboxReport(Message):
    """What confinement the run really had."""

    asked: SandboxMode
    got: Literal["bubblewrap", "none"]
    separate_user: bool
    network: Network = Network.ON
    """What agents could reach; without bubblewrap always all of it."""
    sentence: Text


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
    gates: tuple[GateResult, ...] = ()
    detected_gates: tuple[GateSpec, ...] = ()
    """Where the policy names none: the checks recognised at the base commit, for the approver of the plan to see."""
    usage: tuple[Usage, ...] = ()
    attempts: int = 0
    sandbox: SandboxReport | None = None
    notes: tuple[Text, ...] = ()
    """Things a reviewer should know: processes left behind and ended, output that was cut, a mended test run."""
    output_tail: Tail = ""
    salvaged: Sha | None = None
    """The commit under which the runner keeps work that was not pushed."""
    runner: Line
    started_at: float
    ended_at: float


class Progress(Message):
    """A heartbeat: where the job is."""

    phase: Phase
    attempt: int = 0
    usage: tuple[Usage, ...] = ()
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
    gates: tuple[GateResult, ...]


class PushToken(Message):
    """A token for one push to one repository; revoked by the bot once the branch has been read back."""

    token: str
    expires_at: float


class EndedPlans(Message):
    """Plans of this repository whose worktrees may go."""

    plan_uids: tuple[str, ...]
