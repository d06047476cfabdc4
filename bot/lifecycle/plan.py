"""A plan: one issue's way from label to merge, as a value.

A plan is (repository id, issue number, try). It is stored whole with its version; every change is a new value made by
:func:`bot.lifecycle.transitions.transition`. What it is made of is in :mod:`bot.lifecycle.records`, and named here too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import Field

from bot.lifecycle.choices import Choices
from bot.lifecycle.policy import Policy
from bot.lifecycle.records import (
    Approval,
    Child,
    Failure,
    Hold,
    IssueSnapshot,
    Job,
    Learned,
    Part,
    Pending,
    Person,
    Recommended,
    Repo,
    Review,
    Revision,
    Rework,
    Split,
    Unverified,
    Wish,
    posted_before,
)
from bot.lifecycle.states import ENDED, PAUSES, Frozen, Gate, Limit, State, WaitingOn
from runner.contract import Feedback

if TYPE_CHECKING:
    from runner.results import Unit, WaitingLesson
    from runner.terms import AgentSpec, Budget

__all__ = [
    "NEXT",
    "PULL_LANE",
    "Approval",
    "Child",
    "Failure",
    "Hold",
    "IssueSnapshot",
    "Job",
    "Learned",
    "Part",
    "Pending",
    "Person",
    "Plan",
    "Recommended",
    "Repo",
    "Review",
    "Revision",
    "Rework",
    "Split",
    "Unverified",
    "Wish",
    "branch_name",
    "comment_name",
    "lane",
    "posted_before",
    "pull_lane",
    "repository_of",
]


NEXT = "-next"
"""Behind a plan's branch: the one with further work for its open pull request."""


class Plan(Frozen):
    """The whole of what is known about a plan. See the module's docstring."""

    uid: str
    """Random lowercase hexadecimal, made once: names folders, jobs and effects without naming the repository."""
    repo: Repo
    issue_number: int
    try_number: int = 1
    version: int = 0
    state: State = State.DRAFT
    waiting_on: WaitingOn | None = WaitingOn.RUNNER
    since: float | None = None
    """When it came to this state, or began to wait for this; None in a row of an older release."""
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
    speakers: tuple[Person, ...] = ()
    """Whose words ``feedback`` holds."""
    heard: tuple[str, ...] = ()
    """Comments that have travelled to an agent, by kind and number (``commit_comment:7``): each is used once."""
    split: Split | None = None
    part_of: int | None = None
    """The issue whose plan this one is a part of."""
    pending: Pending | None = None
    """As it was stored; :attr:`halfway` says whether it still counts."""
    wishes: tuple[Wish, ...] = ()
    """As they were stored; :attr:`wished` says which still count."""
    updated_by: tuple[Person, ...] = ()
    """Whose words the plan's text was last written from."""
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
    record_sha256: str | None = None
    """Hash of the record in the pull request's text, as it was opened with."""
    merged_at: float | None = None
    rework: Rework | None = None
    fixes: int = 0
    """Times that failing checks of the pull request were worked on without a person asking, over its whole life."""
    recommended: tuple[Recommended, ...] = ()
    """What its agents recommended so far, by number."""
    lessons: tuple[Learned, ...] = ()
    """What was learned on the way, by number."""
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
    waits_for: tuple[str, ...] = ()
    """What the queue names: issue numbers or paths, for the status line."""
    in_vain: tuple[str, ...] = ()
    """Those of ``waits_for`` that have ended unmerged: the wait goes on until a person says otherwise."""
    place: int | None = None
    """Its place in the queue, counted from 1, where it is one of the first."""
    limit: Limit | None = None
    """Whose slots are taken, where it waits for one."""
    most: int | None = None
    """How many the policy allows, of slots or of diffs in review."""

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
    def bound(self) -> bool:
        """Whether its work goes by an approval that covers agent and budget, and no text of it is asked about anew."""
        return self.plan_approval is not None and self.state not in {State.DRAFT, State.APPROVED, *ENDED}

    @property
    def wished(self) -> tuple[Wish, ...]:
        """Return what some people would have changed of what is approved, where more have to ask for it."""
        return self.wishes if self.bound else ()

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
    def pause(self) -> Hold | None:
        """What of its hold stands on where the pull request is open: a pause, since it keeps further work back."""
        causes = tuple(cause for cause in self.hold.causes if cause in PAUSES) if self.hold else ()
        return self.hold.model_copy(update={"causes": causes}) if self.hold and causes else None

    @property
    def mends_itself(self) -> bool:
        """Whether failing checks of the pull request are still worked on without a person asking."""
        as_approved = self.state is State.PR_OPEN and self.unverified is None and self.branch_head == self.approved_head
        return as_approved and self.fixes < self.policy.ci.fix

    @property
    def accepted(self) -> tuple[tuple[int, Recommended], ...]:
        """The recommendations that are issues or on their way to be, by their numbers."""
        return tuple((n, each) for n, each in enumerate(self.recommended, 1) if each.issue or each.job or each.making)

    @property
    def acceptable(self) -> tuple[tuple[int, Recommended], ...]:
        """The recommendations that nobody has accepted yet, by their numbers."""
        taken = dict(self.accepted)
        return tuple((n, each) for n, each in enumerate(self.recommended, 1) if n not in taken)

    @property
    def keepable(self) -> tuple[tuple[int, Learned], ...]:
        """The lessons that nobody has kept yet, by their numbers; those in its branch came with its merge."""
        merged = self.state is State.MERGED
        return tuple((n, each) for n, each in enumerate(self.lessons, 1) if not (each.given or (merged and each.path)))

    @property
    def leaves_lessons(self) -> bool:
        """Whether there are, or were, lessons for a person to keep."""
        return bool(self.keepable) or any(each.given for each in self.lessons)

    @property
    def waiting(self) -> tuple[WaitingLesson, ...]:
        """The lessons that wait for this plan's branch."""
        return tuple(each.what for each in self.lessons if not each.path and not each.given)

    @property
    def open_jobs(self) -> tuple[Job, ...]:
        """The plan's own job, and those that write issues beside it."""
        own = () if self.job is None else (self.job,)
        return (*own, *(each.job for each in self.recommended if each.job is not None))

    @property
    def approved_head(self) -> str | None:
        """The commit that the diff gate let through to the pull request."""
        review = self.rework.review if self.rework else self.review
        return review.work.head if review else None

    @property
    def work_branch(self) -> str:
        """The branch that jobs push to: the plan's own, or the one on which further work waits for its approval."""
        return f"{self.branch}{NEXT}" if self.rework else self.branch

    @property
    def work_head(self) -> str | None:
        """Where that branch is, as the bot read it back last."""
        return self.rework.head if self.rework else self.branch_head

    @property
    def thread(self) -> int:
        """The number of the issue or pull request where the plan is talked about now."""
        here = self.pull_request if self.rework or self.state is State.PR_OPEN else None
        return here or self.issue_number

    @property
    def ended(self) -> bool:
        """Whether nothing more happens without a person reopening it."""
        return self.state in ENDED


def comment_name(comment_id: int) -> str:
    """Return how a comment on an issue is remembered as heard."""
    return f"comment:{comment_id}"


def lane(repository_id: int, issue_number: int) -> str:
    """Return the key under which deliveries and effects of one issue keep their order; 0 is the repository itself."""
    return f"{repository_id}:{issue_number}"


def repository_of(lane: str) -> int | None:
    """Return the number of the repository that a lane belongs to; None where it belongs to none."""
    number = lane.removeprefix(PULL_LANE).partition(":")[0]
    return int(number) if number.isdecimal() else None


PULL_LANE = "pull:"
"""How the lanes of pull requests begin."""


def pull_lane(repository_id: int, number: int) -> str:
    """Return the key under which what happens to a pull request of people keeps its order."""
    return f"{PULL_LANE}{repository_id}:{number}"


def branch_name(issue_number: int, try_number: int) -> str:
    """Return the branch of a plan, ``plan/<issue>`` or ``plan/<issue>-<try>``."""
    return f"plan/{issue_number}" if try_number == 1 else f"plan/{issue_number}-{try_number}"
