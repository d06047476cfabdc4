"""What a plan is made of: people and places, revisions, decisions, jobs, reviews, parts."""

from __future__ import annotations

import hashlib

from bot.lifecycle.approvers import Needed
from bot.lifecycle.ci import CiCheck, CiFailure
from bot.lifecycle.states import PAUSES, Frozen, Gate, HoldCause, Via
from runner.contract import GateResult, JobKind, Outcome, SandboxReport, Work
from runner.results import Inspection, PlanDocument, Recommendation, Unit, WaitingLesson
from runner.terms import GateSpec


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


BESIDE_THE_WORK = {"duplicate_of", "changes"}
"""Fields of a document by which nothing is carried out: an approval of a release without them still counts."""


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
    used: tuple[str, ...] = ()
    """Files of the lessons that its agent was told."""

    @property
    def content_sha256(self) -> str:
        """Identity of what would be carried out, whatever the comment's wording is: document and checks as stored."""
        parts = [
            self.document.model_dump_json(exclude=BESIDE_THE_WORK),
            *(gate.model_dump_json() for gate in self.gates),
        ]
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


class Wish(Pending):
    """Another agent or budget than the approved one, asked for by fewer people than it needs."""

    command: str
    """What each of them said, without its slash: ``budget 8usd``."""

    @property
    def name(self) -> str:
        """What it is about: of two wishes with the same name the later counts."""
        return self.command.partition(" ")[0]


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
    thread: int | None = None
    """The pull request whose further work it is, where it is shown; None: the issue."""
    comment_id: int | None = None
    node_id: str | None = None
    check_run_id: int | None = None
    used: tuple[str, ...] = ()
    """Files of the lessons that its agents were told."""
    asked: tuple[str, ...] = ()
    """Questions that its agents put to the people."""
    inspection: Inspection | None = None
    """What an agent that did not write the change says of it."""
    ci: tuple[CiCheck, ...] = ()
    """What other Apps say of the commit."""
    ci_until: float | None = None
    """Until when the required ones are waited for, in seconds since the epoch."""
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
    asked: tuple[str, ...] = ()
    """Questions that its agents put to the people."""
    ci: tuple[CiFailure, ...] = ()
    """Required checks of other Apps that failed."""
    awaited: tuple[str, ...] = ()
    """Required ones that did not end in time; ``/retry`` without words waits for them once more."""
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
    authors: tuple[Person, ...] = ()
    """Whose words the parts are made of."""
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
    authors: tuple[Person, ...] = ()
    """Whose words it is made of."""
    depends_on: tuple[int, ...] = ()
    """Issues whose plans have to be merged before this one starts."""
    lessons: tuple[WaitingLesson, ...] = ()
    """What was learned for the whole and touches this part first."""


class Rework(Frozen):
    """Further work for an open pull request, and what stood there before it."""

    on: str
    """The head of the pull request's branch that it goes on from: only from there may the branch move."""
    head: str | None = None
    """Where its own branch is, as the bot read it back last; None until something was pushed."""
    review: Review | None
    """What was approved of the pull request before."""
    diff_approval: Approval | None
    by_itself: bool = False
    """Nobody asked for it: checks failed, and the policy has them mended."""


class Recommended(Frozen):
    """Something that the agent recommends beside its task. Its place in the plan's list is its number."""

    what: Recommendation
    job: Job | None = None
    """What writes its issue now."""
    making: str | None = None
    """The job whose text is being made an issue."""
    tries: int = 0
    issue: int | None = None
    """What it became."""


class Learned(Frozen):
    """A lesson of a plan. Its place in the plan's list is its number."""

    what: WaitingLesson
    path: str = ""
    """Its file in the plan's branch; empty while it waits for one."""
    given: bool = False
    """It waits in the repository for another plan, since a person adopted it or this plan was cancelled."""


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


def posted_before(shown: Revision | Review, at: float, comment_id: int | None) -> bool:
    """Return whether who said something at ``at``, in that comment, can have seen what is shown.

    GitHub's times are whole seconds; within one, the comments' numbers tell which of two was written first.
    """
    if shown.posted_at is None or shown.comment_id is None or at < shown.posted_at:
        return False
    return comment_id is None or comment_id > shown.comment_id
