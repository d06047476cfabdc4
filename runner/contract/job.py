"""What a job is told: the answer to a claim, and everything it is made of."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from runner.contract.base import CONTRACT_VERSION, MAX_PATHS, JobId, Sha
from runner.results import MOST_WAITING, Line, Message, PlanDocument, Recommendation, Text, Unit, WaitingLesson
from runner.terms import AgentSpec, Budget, CheckMode, GateSpec, LogTerms, Network, Price, SandboxMode, Tier


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
    lessons: tuple[WaitingLesson, ...] = Field(default=(), max_length=MOST_WAITING)
    """For ``execute``: what becomes part of the branch beside what this job learns."""
    logs: LogTerms = LogTerms()
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

    @property
    def plan_name(self) -> str:
        """What people call the plan: ``owner/name#12``."""
        return f"{self.repository.owner}/{self.repository.name}#{self.issue.number}"


class Claim(Message):
    """A claimed job: its specification and the key for everything that follows."""

    spec: JobSpec
    job_key: str
    """Bearer secret for this job alone; the bot stores only its hash."""
