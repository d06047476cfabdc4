"""What can happen to a plan. Each event says when (``at``) and from where (``source``: delivery, reaction, effect).

Events from people have already been authorised: :mod:`.requests` turns what they said, their permission and what was
read at that moment into one of these.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from bot.lifecycle.choices import AgentChoice, BudgetChoice, PlanPriority
from bot.lifecycle.plan import IssueSnapshot, Person, Repo
from bot.lifecycle.policy import Policy
from bot.lifecycle.states import Frozen, HoldCause, Via, WaitingOn
from runner.contract import Phase, Report


class _Event(Frozen):
    at: float
    source: str


class _Human(_Event):
    by: Person
    via: Via
    comment_id: int | None = None
    """The comment that said it, for an answer beside it."""


class PlanRequested(_Human):
    """The agent label was set, or ``/plan`` said, by a person with triage."""

    type: Literal["plan_requested"] = "plan_requested"
    repo: Repo
    issue_number: int
    issue: IssueSnapshot
    policy: Policy


class Approved(_Human):
    """A person who may said yes. What was read at that moment comes along; the gate it meets is the state's."""

    type: Literal["approved"] = "approved"
    on_comment: int | None = None
    """The comment that a reaction stands on; None for a command."""
    plan_sha256: str | None = None
    """Hash of the current plan comment as just read; None where it is gone."""
    branch_head: str | None = None
    """The plan branch's commit as just read; None where it is gone."""


class Rejected(_Human):
    """A person who may said no."""

    type: Literal["rejected"] = "rejected"
    reason: str = ""
    on_comment: int | None = None


class UpdateRequested(_Human):
    """``/update``: rewrite the plan with these words."""

    type: Literal["update_requested"] = "update_requested"
    text: str
    issue: IssueSnapshot | None = None
    """The issue as it read when this was said, taken in with the update."""


class RetryRequested(_Human):
    """``/retry``: do what failed again."""

    type: Literal["retry_requested"] = "retry_requested"
    text: str = ""


class CancelRequested(_Human):
    """``/cancel``: stop and end."""

    type: Literal["cancel_requested"] = "cancel_requested"


class ReopenRequested(_Human):
    """``/reopen``: undo a rejection or a cancellation; approval is asked anew."""

    type: Literal["reopen_requested"] = "reopen_requested"


class StatusRequested(_Human):
    """``/status``: say where the plan is."""

    type: Literal["status_requested"] = "status_requested"


class Shelved(_Human):
    """Put in the icebox."""

    type: Literal["shelved"] = "shelved"


class Thawed(_Human):
    """Taken out of the icebox."""

    type: Literal["thawed"] = "thawed"


class AgentChosen(_Human):
    """``/agent``: who does the work of this plan; None: whom the policy says."""

    type: Literal["agent_chosen"] = "agent_chosen"
    agent: AgentChoice | None


class BudgetChosen(_Human):
    """``/budget``: what this plan may spend; None: what the policy says."""

    type: Literal["budget_chosen"] = "budget_chosen"
    budget: BudgetChoice | None


class PriorityChosen(_Human):
    """``/priority``: which plans it starts before."""

    type: Literal["priority_chosen"] = "priority_chosen"
    priority: PlanPriority


class StartRequested(_Human):
    """``/start``: don't wait for plans that may touch the same files."""

    type: Literal["start_requested"] = "start_requested"


class SplitDone(_Event):
    """The plan became child issues."""

    type: Literal["split_done"] = "split_done"
    children: tuple[int, ...]


class _JobEvent(_Event):
    job: str


class JobDispatched(_JobEvent):
    """GitHub accepted the dispatch."""

    type: Literal["job_dispatched"] = "job_dispatched"
    run_id: int
    policy: Policy
    """The policy at the commit that the job starts from."""


class JobClaimed(_JobEvent):
    """A runner took the job."""

    type: Literal["job_claimed"] = "job_claimed"


class JobProgressed(_JobEvent):
    """The job entered another phase."""

    type: Literal["job_progressed"] = "job_progressed"
    phase: Phase


class PlanWritten(_JobEvent):
    """Planning returned a document."""

    type: Literal["plan_written"] = "plan_written"
    report: Report


class WorkVerified(_JobEvent):
    """Execution passed every blocking gate and pushed its commit."""

    type: Literal["work_verified"] = "work_verified"
    report: Report


class BaseReported(_JobEvent):
    """A runner tried the merge with the default branch."""

    type: Literal["base_reported"] = "base_reported"
    conflicts: tuple[str, ...] = ()


class JobFailed(_JobEvent):
    """The job ended in any way that is not success."""

    type: Literal["job_failed"] = "job_failed"
    report: Report


class JobLost(_JobEvent):
    """The runner fell silent, or its run ended without a report."""

    type: Literal["job_lost"] = "job_lost"
    sentence: str


class PlanPosted(_Event):
    """The plan comment is on the issue."""

    type: Literal["plan_posted"] = "plan_posted"
    revision: int
    comment_id: int
    node_id: str
    sha256: str
    posted_at: float


class StatusPosted(_Event):
    """The status comment is on the issue."""

    type: Literal["status_posted"] = "status_posted"
    comment_id: int


class BranchConfirmed(_Event):
    """The pushed branch was read back and is the verified commit."""

    type: Literal["branch_confirmed"] = "branch_confirmed"
    head: str


class ReviewPosted(_Event):
    """The diff review is on the issue."""

    type: Literal["review_posted"] = "review_posted"
    head: str
    comment_id: int
    node_id: str
    check_run_id: int | None
    posted_at: float


class BaseChecked(_Event):
    """The default branch was compared with the approved head before the pull request."""

    type: Literal["base_checked"] = "base_checked"
    head: str
    clean: bool
    """False where files changed on both sides, so that a runner has to try the merge."""


class PullRequestOpened(_Event):
    """The pull request exists."""

    type: Literal["pull_request_opened"] = "pull_request_opened"
    number: int
    url: str


class ApprovalVoid(_Event):
    """At use, what was approved no longer read the same: the plan's comment, or the policy's gates."""

    type: Literal["approval_void"] = "approval_void"
    what: Literal["plan_comment", "policy"]
    policy: Policy | None = None


class EffectFailed(_Event):
    """GitHub refused an effect for good."""

    type: Literal["effect_failed"] = "effect_failed"
    effect: str
    job: str | None = None
    sentence: str


class SlotGranted(_Event):
    """The queue lets the plan start."""

    type: Literal["slot_granted"] = "slot_granted"
    overlaps: tuple[str, ...] = ()
    """With ``overlap: warn``: issues whose unmerged plans may touch the same files."""


class QueueWaits(_Event):
    """The queue says what the plan waits for."""

    type: Literal["queue_waits"] = "queue_waits"
    on: Literal[WaitingOn.SLOT, WaitingOn.DEPENDENCY, WaitingOn.OVERLAP]
    waits_for: tuple[str, ...] = ()


class PlanCommentChanged(_Event):
    """Somebody edited or deleted the current plan comment."""

    type: Literal["plan_comment_changed"] = "plan_comment_changed"
    by: Person | None = None


class IssueEdited(_Event):
    """Title or body changed after the snapshot."""

    type: Literal["issue_edited"] = "issue_edited"
    sha256: str


class BranchMoved(_Event):
    """The plan's branch is not at the commit the bot knows (None: it is gone)."""

    type: Literal["branch_moved"] = "branch_moved"
    head: str | None
    by: Person | None = None


class PullRequestMerged(_Event):
    """A person merged it."""

    type: Literal["pull_request_merged"] = "pull_request_merged"
    by: Person | None = None


class PullRequestClosed(_Event):
    """Closed without a merge."""

    type: Literal["pull_request_closed"] = "pull_request_closed"
    by: Person | None = None


class PullRequestReopened(_Event):
    """Opened again by a person."""

    type: Literal["pull_request_reopened"] = "pull_request_reopened"


class HoldPlaced(_Event):
    """Something outside of the plan makes it stand still."""

    type: Literal["hold_placed"] = "hold_placed"
    cause: HoldCause
    by: Person | None = None


class HoldLifted(_Event):
    """That something is gone."""

    type: Literal["hold_lifted"] = "hold_lifted"
    cause: HoldCause


class Gone(_Event):
    """Issue, repository or installation was deleted."""

    type: Literal["gone"] = "gone"
    what: str


HumanEvent = (
    Approved
    | Rejected
    | UpdateRequested
    | RetryRequested
    | CancelRequested
    | ReopenRequested
    | StatusRequested
    | Shelved
    | Thawed
    | AgentChosen
    | BudgetChosen
    | PriorityChosen
    | StartRequested
)
JobEvent = JobDispatched | JobClaimed | JobProgressed | PlanWritten | WorkVerified | BaseReported | JobFailed | JobLost

Event = Annotated[
    PlanRequested
    | HumanEvent
    | SplitDone
    | JobEvent
    | PlanPosted
    | StatusPosted
    | BranchConfirmed
    | ReviewPosted
    | BaseChecked
    | PullRequestOpened
    | ApprovalVoid
    | EffectFailed
    | SlotGranted
    | QueueWaits
    | PlanCommentChanged
    | IssueEdited
    | BranchMoved
    | PullRequestMerged
    | PullRequestClosed
    | PullRequestReopened
    | HoldPlaced
    | HoldLifted
    | Gone,
    Field(discriminator="type"),
]
