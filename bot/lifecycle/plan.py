"""A plan: one issue's way from label to merge, as a value.

A plan is (repository id, issue number, try). It is stored whole with its version; every change is a new value made by
:func:`bot.lifecycle.transitions.transition`.
"""

from __future__ import annotations

import hashlib

from pydantic import Field

from bot.lifecycle.approvers import Needed
from bot.lifecycle.choices import Choices
from bot.lifecycle.policy import Policy
from bot.lifecycle.queued import Queued
from bot.lifecycle.states import ENDED, PAUSES, Frozen, Gate, HoldCause, State, Via, WaitingOn
from runner.contract import Feedback, GateResult, JobKind, Outcome, SandboxReport, Work
from runner.results import PlanDocument, Unit
from runner.terms import AgentSpec, Budget, GateSpec


class Person(Frozen):
    """Somebody on GitHub. ``id`` is the identity; ``login`` is how they were called when seen."""

    id: int
    login: str


class Repo(Frozen):
    """A repository under its number, with the names last seen and the installation that gives access."""

    id: int
    owner: str
    name: str
    installation_id: int


class IssueSnapshot(Frozen):
    """Title and body as they were when a person with triage asked for the plan."""

    title: str
    body: str
    author: Person | None

    @property
    def sha256(self) -> str:
        """Identity of the text, to notice later edits."""
        return hashlib.sha256(f"{self.title}\n{self.body}".encode()).hexdigest()


class Revision(Frozen):
    """One version of the written plan and the comment that shows it."""

    number: int
    document: PlanDocument
    gates: tuple[GateSpec, ...] = ()
    """The checks that will hold the work back, as the approver sees them."""
    sha256: str | None = None
    """Hash of the comment's text as posted: what an approval binds to. None until it is posted."""
    comment_id: int | None = None
    node_id: str | None = None
    posted_at: float | None = None
    repeats: int | None = None
    """The revision whose document is posted again here, unchanged, for a decision made anew."""

    @property
    def content_sha256(self) -> str:
        """Identity of what would be carried out, whatever the comment's wording is: document and checks as stored."""
        parts = [self.document.model_dump_json(), *(gate.model_dump_json() for gate in self.gates)]
        return hashlib.sha256("\n".join(parts).encode()).hexdigest()


class Approval(Frozen):
    """A decision at one of the gates and exactly what it covers."""

    gate: Gate
    by: Person
    via: Via
    at: float
    binds_to: str
    """Plan gate: the revision's text hash. Diff gate: the head commit."""
    content_sha256: str | None = None
    """Plan gate: what the text says, as it was stored then."""
    comment_id: int | None = None
    """The comment that said it, or on which the reaction stands."""
    reaction_id: int | None = None
    owns: tuple[str, ...] = ()
    """Names in CODEOWNERS that the person stood for."""
    earlier: tuple[Approval, ...] = ()
    """Those by others that it completes, oldest first; each of them covers the same."""

    @property
    def all(self) -> tuple[Approval, ...]:
        """Return every approval that made this decision."""
        return (*self.earlier, self)


class Pending(Frozen):
    """Approvals of what is under decision that are not enough yet, and what they lack."""

    approvals: tuple[Approval, ...]
    needed: Needed


class Job(Frozen):
    """The plan's open job; a plan never has two."""

    id: str
    kind: JobKind
    unit: Unit | None
    number: int
    lost_before: bool = False
    """The job it replaces was lost; a second loss in a row ends in ``failed``."""
    head: str | None = None
    """The branch's commit to go on from; None starts at the default branch's head."""
    merge_base_in: bool = False
    by: Person | None = None
    """Who asked for it, where that matters when it is done: who has a plan split asks for the parts' plans."""
    run_id: int | None = None
    claimed: bool = False


class Review(Frozen):
    """Verified work as shown at the diff gate."""

    number: int
    work: Work
    gates: tuple[GateResult, ...] = ()
    sandbox: SandboxReport | None = None
    notes: tuple[str, ...] = ()
    attempts: int = 1
    comment_id: int | None = None
    node_id: str | None = None
    check_run_id: int | None = None
    buttons: bool = True
    """False once its check run was concluded: what is pressed after that was pressed late, or is sent again."""
    posted_at: float | None = None


class Failure(Frozen):
    """Why a plan stands in ``failed``."""

    outcome: Outcome
    sentence: str
    during: JobKind
    gates: tuple[GateResult, ...] = ()
    output_tail: str = ""
    notes: tuple[str, ...] = ()
    job: Job | None = None
    """What failed, where it was a job: ``/retry`` does the same again."""


class Child(Frozen):
    """One part of a plan that is being split, on its way to an issue and a plan of its own."""

    document: PlanDocument
    depends_on: tuple[int, ...] = ()
    """Positions, counted from 1, of the parts that must be merged before it starts."""
    number: int | None = None
    """Its issue; None until that is made."""
    issue_id: int | None = None
    """GitHub's own number of that issue."""


class Split(Frozen):
    """A plan in parts. From the first issue made to the last, nobody steers the plan; anybody may end it."""

    number: int
    """The number of the job that cut it, which names the issues' marks."""
    by: Person
    summary: str
    gates: tuple[GateSpec, ...] = ()
    children: tuple[Child, ...]

    @property
    def numbers(self) -> tuple[str, ...]:
        """The issues of the parts that have one, as ``#12``."""
        return tuple(f"#{child.number}" for child in self.children if child.number is not None)


class Part(Frozen):
    """Of which plan a plan is a part, and what it starts with."""

    of: int
    """The issue that was split."""
    position: int
    total: int
    document: PlanDocument
    gates: tuple[GateSpec, ...] = ()
    depends_on: tuple[int, ...] = ()
    """Issues whose plans have to be merged before this one starts."""


class Unverified(Frozen):
    """Commits on the pull request's branch that have passed neither our checks nor a decision."""

    head: str
    by: Person | None = None


class Hold(Frozen):
    """A plan that stands still: since when, by whom, and the work that was stopped for it, or not begun."""

    causes: tuple[HoldCause, ...]
    """Every cause that still stands, the latest first; the plan goes on when none is left."""
    at: float
    by: Person | None = None
    interrupted: Job | None = None

    @property
    def pauses(self) -> bool:
        """Whether it only keeps new work from being begun: what runs ends, and people still decide."""
        return PAUSES.issuperset(self.causes)


class Plan(Queued):
    """The whole of what is known about a plan. See the module's docstring."""

    uid: str
    """Random lowercase hexadecimal, made once: names folders, jobs and effects without naming the repository."""
    repo: Repo
    issue_number: int
    try_number: int = 1
    version: int = 0
    state: State = State.DRAFT
    waiting_on: WaitingOn | None = WaitingOn.RUNNER
    hold: Hold | None = None
    policy: Policy = Field(default_factory=Policy)
    choices: Choices = Choices()
    """What people chose for this plan alone; wins over the policy."""
    issue: IssueSnapshot
    issue_stale: bool = False
    """The issue was edited after planning; its new text is not part of the plan until ``/update``."""
    requester: Person
    requested_at: float
    label: str | None = None
    """The label that asked for it, and by whose removal it is held; None where words asked."""
    revisions: tuple[Revision, ...] = ()
    feedback: tuple[Feedback, ...] = ()
    """Not yet answered; emptied when the job that carries it reports."""
    heard: tuple[str, ...] = ()
    """Comments that have travelled to an agent, by kind and number (``commit_comment:7``): each is used once."""
    split: Split | None = None
    part_of: int | None = None
    """The issue whose plan this one is a part of."""
    pending: Pending | None = None
    """As it was stored; :attr:`halfway` says whether it still counts."""
    updated_by: tuple[Person, ...] = ()
    """Whose words the last rewrite of the plan was made of."""
    plan_approval: Approval | None = None
    diff_approval: Approval | None = None
    rejected_at_gate: Gate | None = None
    rejections: tuple[Feedback, ...] = ()
    """Why people with a right to decide said no; later attempts are told."""
    job: Job | None = None
    jobs_opened: int = 0
    branch_head: str | None = None
    """The commit of the plan's branch as the bot read it back last."""
    carry_on: bool = False
    """The next execution goes on from ``branch_head`` rather than from the default branch."""
    review: Review | None = None
    failure: Failure | None = None
    status_comment_id: int | None = None
    pull_request: int | None = None
    pull_request_url: str | None = None
    merged_at: float | None = None
    unverified: Unverified | None = None
    """What somebody pushed to the pull request; None while it is at what was approved."""
    in_merge_queue: bool = False
    """The pull request stands in GitHub's own queue."""
    reason_asked: bool = False
    """Why the pull request was closed unmerged has been asked; it is asked once."""
    keep_branch_until: float | None = None
    """When the branch of a pull request that was closed unmerged goes."""
    overlaps: tuple[str, ...] = ()
    """Issues whose unmerged plans may touch the same files, where the policy only warns of it."""

    @property
    def lane(self) -> str:
        """Everything about one issue happens in order, in this lane."""
        return lane(self.repo.id, self.issue_number)

    @property
    def branch(self) -> str:
        """The plan's own branch; from the second try on it carries the try's number."""
        return branch_name(self.issue_number, self.try_number)

    @property
    def revision(self) -> Revision | None:
        """The current version of the written plan, if there is one."""
        return self.revisions[-1] if self.revisions else None

    @property
    def text_origin(self) -> Revision | None:
        """The revision that showed the current text first: what was said of it since then is said of this one."""
        current = self.revision
        number = current.repeats or current.number if current else 0
        return next((revision for revision in self.revisions if revision.number == number), current)

    @property
    def questions(self) -> tuple[str, ...]:
        """What the current revision asks."""
        return self.revision.document.questions if self.revision else ()

    @property
    def open_questions(self) -> tuple[tuple[int, str], ...]:
        """The questions that nobody has answered yet, by their numbers."""
        answered = {words.quote for words in self.feedback if words.kind == "answer"}
        return tuple((n, asked) for n, asked in enumerate(self.questions, 1) if asked not in answered)

    @property
    def splitting(self) -> bool:
        """Whether the issues of its parts are being made."""
        return self.split is not None and self.state is State.DRAFT

    @property
    def asked(self) -> tuple[Gate, str, float] | None:
        """Return what is up for decision: the gate, what an approval would bind to, and since when people see it."""
        revision, review = self.revision, self.review
        if self.waiting_on is WaitingOn.DIFF_DECISION and review is not None and review.posted_at is not None:
            return Gate.DIFF, review.work.head, review.posted_at
        if self.waiting_on is WaitingOn.PLAN_DECISION and revision is not None and revision.posted_at is not None:
            return Gate.PLAN, revision.sha256 or "", revision.posted_at
        return None

    @property
    def halfway(self) -> Pending | None:
        """Return the approvals given so far, where all of them were given to what is up for decision now."""
        if self.pending is None or self.asked is None:
            return None
        gate, binds_to, since = self.asked
        given = self.pending.approvals
        counts = all(a.gate is gate and a.binds_to == binds_to and a.at >= since for a in given)
        return self.pending if counts else None

    @property
    def agents(self) -> dict[Unit, AgentSpec]:
        """Who carries out each unit."""
        return self.choices.agents(self.policy)

    @property
    def budget(self) -> Budget:
        """What the plan may spend over all its jobs."""
        return self.choices.limits(self.policy)

    @property
    def frozen(self) -> bool:
        """Whether it is held in a way that lets nobody steer it and nothing of it run."""
        return self.hold is not None and not self.hold.pauses

    @property
    def approved_head(self) -> str | None:
        """The commit that the diff gate let through to the pull request."""
        return self.review.work.head if self.review else None

    @property
    def thread(self) -> int:
        """The number of the issue or pull request where the plan is talked about now."""
        here = self.pull_request if self.state is State.PR_OPEN else None
        return here or self.issue_number

    @property
    def ended(self) -> bool:
        """Whether nothing more happens without a person reopening it."""
        return self.state in ENDED


def posted_before(shown: Revision | Review, at: float, comment_id: int | None) -> bool:
    """Return whether who said something at ``at``, in that comment, can have seen what is shown.

    GitHub's times are whole seconds; within one, the comments' numbers tell which of two was written first.
    """
    if shown.posted_at is None or shown.comment_id is None or at < shown.posted_at:
        return False
    return comment_id is None or comment_id > shown.comment_id


def comment_name(comment_id: int) -> str:
    """Return how a comment on an issue is remembered as heard."""
    return f"comment:{comment_id}"


def lane(repository_id: int, issue_number: int) -> str:
    """Return the key under which deliveries and effects of one issue keep their order; 0 is the repository itself."""
    return f"{repository_id}:{issue_number}"


PULL_LANE = "pull:"
"""How the lanes of pull requests begin."""


def pull_lane(repository_id: int, number: int) -> str:
    """Return the key under which what happens to a pull request of people keeps its order."""
    return f"{PULL_LANE}{repository_id}:{number}"


def branch_name(issue_number: int, try_number: int) -> str:
    """Return the branch of a plan, ``plan/<issue>`` or ``plan/<issue>-<try>``."""
    return f"plan/{issue_number}" if try_number == 1 else f"plan/{issue_number}-{try_number}"
