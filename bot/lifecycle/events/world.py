"""What the bot's own effects found, what the queue says, and what others do on GitHub."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from bot.lifecycle.ci import CiCheck
from bot.lifecycle.events.base import BaseEvent
from bot.lifecycle.plan import Person
from bot.lifecycle.policy import Policy
from bot.lifecycle.states import HoldCause, Limit, State, WaitingOn
from runner.results import WaitingLesson


class ChildMade(BaseEvent):
    """One part of a plan that is being split has its issue."""

    type: Literal["child_made"] = "child_made"
    split: int
    """Which splitting of the plan it is of."""
    position: int
    number: int
    issue_id: int


class PlanPosted(BaseEvent):
    """The plan comment is on the issue."""

    type: Literal["plan_posted"] = "plan_posted"
    revision: int
    comment_id: int
    node_id: str
    sha256: str
    posted_at: float


class StatusPosted(BaseEvent):
    """The status comment is on the issue."""

    type: Literal["status_posted"] = "status_posted"
    comment_id: int


class BranchConfirmed(BaseEvent):
    """The pushed branch was read back and is the verified commit."""

    type: Literal["branch_confirmed"] = "branch_confirmed"
    head: str


class CiReported(BaseEvent):
    """What other Apps say of the pushed commit was read."""

    type: Literal["ci_reported"] = "ci_reported"
    head: str
    checks: tuple[CiCheck, ...]
    logs: dict[str, str] = Field(default_factory=dict)
    """The ends of the logs of required checks that failed, by the checks' names."""


class CiDue(BaseEvent):
    """It is time to read it: nobody told of it, or the time for it is up."""

    type: Literal["ci_due"] = "ci_due"
    head: str


class ReviewPosted(BaseEvent):
    """The diff review is on the issue."""

    type: Literal["review_posted"] = "review_posted"
    head: str
    comment_id: int
    node_id: str
    check_run_id: int | None
    posted_at: float


class BaseChecked(BaseEvent):
    """The default branch was compared with the approved head before the pull request."""

    type: Literal["base_checked"] = "base_checked"
    head: str
    clean: bool
    """False where files changed on both sides, so that a runner has to try the merge."""


class PullRequestOpened(BaseEvent):
    """The pull request exists."""

    type: Literal["pull_request_opened"] = "pull_request_opened"
    number: int
    url: str
    record_sha256: str | None = None
    """Hash of the record in its text."""


class ApprovalVoid(BaseEvent):
    """At use, what was approved no longer read the same: the plan's comment, or the policy's gates."""

    type: Literal["approval_void"] = "approval_void"
    what: Literal["plan_comment", "policy"]
    policy: Policy | None = None


class EffectFailed(BaseEvent):
    """GitHub refused an effect for good."""

    type: Literal["effect_failed"] = "effect_failed"
    effect: str
    job: str | None = None
    sentence: str


class SlotGranted(BaseEvent):
    """The queue lets the plan start."""

    type: Literal["slot_granted"] = "slot_granted"
    overlaps: tuple[str, ...] = ()
    """With ``overlap: warn``: issues whose unmerged plans may touch the same files."""
    lessons: tuple[WaitingLesson, ...] = ()
    """What people adopted from rejected plans, of this plan's files: it goes with this plan from now on."""


class QueueWaits(BaseEvent):
    """The queue says what the plan waits for."""

    type: Literal["queue_waits"] = "queue_waits"
    on: Literal[WaitingOn.SLOT, WaitingOn.DEPENDENCY, WaitingOn.OVERLAP, WaitingOn.REVIEWERS]
    waits_for: tuple[str, ...] = ()
    in_vain: tuple[str, ...] = ()
    """Those of them that have ended unmerged."""
    place: int | None = None
    """Its place, where it is one of the first."""
    limit: Limit | None = None
    """Whose slots are taken."""
    most: int | None = None
    """How many the policy allows, of slots or of diffs in review."""


class DependencyEnded(BaseEvent):
    """A plan that this one waits for by a person's word ended unmerged."""

    type: Literal["dependency_ended"] = "dependency_ended"
    issue: int
    how: Literal[State.REJECTED, State.CANCELLED, State.SPLIT]
    children: tuple[int, ...] = ()
    """Of a split: the issues that go on in its place."""


class PlanCommentChanged(BaseEvent):
    """Somebody edited or deleted the current plan comment."""

    type: Literal["plan_comment_changed"] = "plan_comment_changed"
    by: Person | None = None


class IssueEdited(BaseEvent):
    """Title or body changed after the snapshot."""

    type: Literal["issue_edited"] = "issue_edited"
    sha256: str


class BranchMoved(BaseEvent):
    """The plan's branch is not at the commit the bot knows (None: it is gone)."""

    type: Literal["branch_moved"] = "branch_moved"
    head: str | None
    by: Person | None = None
    branch: str | None = None
    """Which one; None: the plan's own."""


class IssueMade(BaseEvent):
    """A recommendation is an issue."""

    type: Literal["issue_made"] = "issue_made"
    job: str
    number: int


class BranchAdvanced(BaseEvent):
    """The pull request's branch was brought to the approved commit of further work."""

    type: Literal["branch_advanced"] = "branch_advanced"
    head: str


class PullRequestMerged(BaseEvent):
    """A person merged it."""

    type: Literal["pull_request_merged"] = "pull_request_merged"
    by: Person | None = None


class PullRequestClosed(BaseEvent):
    """Closed without a merge."""

    type: Literal["pull_request_closed"] = "pull_request_closed"
    by: Person | None = None


class PullRequestReopened(BaseEvent):
    """Opened again by a person."""

    type: Literal["pull_request_reopened"] = "pull_request_reopened"


class PullRequestQueued(BaseEvent):
    """It was put into GitHub's merge queue, or taken out."""

    type: Literal["pull_request_queued"] = "pull_request_queued"
    queued: bool
    reason: str = ""
    """GitHub's word for why it was taken out."""


class BranchExpired(BaseEvent):
    """The time is over for which the branch of a pull request that was closed unmerged is kept."""

    type: Literal["branch_expired"] = "branch_expired"


class HoldPlaced(BaseEvent):
    """Something outside of the plan makes it stand still."""

    type: Literal["hold_placed"] = "hold_placed"
    cause: HoldCause
    by: Person | None = None


class HoldLifted(BaseEvent):
    """That something is gone."""

    type: Literal["hold_lifted"] = "hold_lifted"
    cause: HoldCause


class Gone(BaseEvent):
    """Issue, repository or installation was deleted."""

    type: Literal["gone"] = "gone"
    what: str
