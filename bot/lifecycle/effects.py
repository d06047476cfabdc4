"""What the bot does towards GitHub, as data. Written with the state change, carried out afterwards by the worker.

``key`` is the identity of an effect: it is unique in the outbox, it is the marker by which its result is found again on
GitHub, and so it is what makes a second try harmless. Effects of one plan are carried out one at a time: first by
``priority``, then in order.
"""

from __future__ import annotations

from enum import IntEnum, StrEnum
from typing import Annotated, Literal

from pydantic import Field

from bot.lifecycle.hooks import Reported
from bot.lifecycle.plan import Person, Repo
from bot.lifecycle.requests import Request
from bot.lifecycle.states import Frozen
from runner.results import IssueText


class Priority(IntEnum):
    """Which effects of a plan go first."""

    DECIDE = 0
    """A person's decision and what it starts or stops: nothing waits in front of it."""
    SAY = 1
    """Comments, reviews, the pull request."""
    SHOW = 2
    """The status, which coalesces: only the newest counts."""


class Topic(StrEnum):
    """What a short answer is about; each has one template in the wording."""

    NEEDS_TRIAGE = "needs_triage"
    NOT_ALLOWED = "not_allowed"
    NEEDS_ANOTHER = "needs_another"
    SAW_ANOTHER = "saw_another"
    WISHED = "wished"
    THROUGH_APP = "through_app"
    APPROVAL_VOID = "approval_void"
    NOTHING_TO_DECIDE = "nothing_to_decide"
    NOT_NOW = "not_now"
    NOT_UNDERSTOOD = "not_understood"
    DEPENDENCY_REFUSED = "dependency_refused"
    DEPENDENCY_ENDED = "dependency_ended"
    PLAN_HELD = "plan_held"
    ISSUE_EDITED = "issue_edited"
    BASE_CONFLICT = "base_conflict"
    BRANCH_MOVED = "branch_moved"
    STATUS = "status"
    HELP = "help"
    NO_PLAN = "no_plan"
    POLICY_INVALID = "policy_invalid"
    UNJUDGED = "unjudged"
    SPLIT_DONE = "split_done"
    WHY_CLOSED = "why_closed"
    ACCEPTED = "accepted"
    ACCEPTED_MADE = "accepted_made"
    ACCEPTED_FAILED = "accepted_failed"
    REMEMBERED = "remembered"


class _Effect(Frozen):
    key: str


class _Settling(_Effect):
    """Goes by what is when it is carried out, so that one that waits stands for every later one of its kind."""

    settle: float = 0.0
    """Seconds that it may wait for things to come to rest, so that a burst of changes is one call or edit."""


class Authorise(_Effect):
    """Ask GitHub who the person is to this repository and what they were looking at; the answer is an event."""

    kind: Literal["authorise"] = "authorise"
    priority: Literal[Priority.DECIDE] = Priority.DECIDE
    request: Request


class Dispatch(_Effect):
    """Start the runner's workflow for the plan's open job."""

    kind: Literal["dispatch"] = "dispatch"
    priority: Literal[Priority.DECIDE] = Priority.DECIDE
    job: str


class StopRun(_Effect):
    """Cancel the Actions run of a job that must not go on."""

    kind: Literal["stop_run"] = "stop_run"
    priority: Literal[Priority.DECIDE] = Priority.DECIDE
    job: str
    run_id: int | None


class ReadBack(_Effect):
    """After a push: read the branch and the default branch, then revoke the push token."""

    kind: Literal["read_back"] = "read_back"
    priority: Literal[Priority.DECIDE] = Priority.DECIDE
    job: str
    head: str


class CheckBase(_Effect):
    """Before the pull request: compare the approved head with the default branch of this moment."""

    kind: Literal["check_base"] = "check_base"
    priority: Literal[Priority.DECIDE] = Priority.DECIDE
    head: str


class OpenPullRequest(_Effect):
    """Open the pull request for the approved head, after reading the branch once more."""

    kind: Literal["open_pull_request"] = "open_pull_request"
    priority: Literal[Priority.DECIDE] = Priority.DECIDE
    head: str


class AdvanceBranch(_Effect):
    """Bring the pull request's branch from the head that it is known to have on to the approved one."""

    kind: Literal["advance_branch"] = "advance_branch"
    priority: Literal[Priority.DECIDE] = Priority.DECIDE
    head: str
    expected: str


class MakeIssue(_Effect):
    """Open the issue that a recommendation becomes."""

    kind: Literal["make_issue"] = "make_issue"
    priority: Literal[Priority.SAY] = Priority.SAY
    job: str
    number: int
    """Of the recommendation."""
    text: IssueText
    again: bool
    """An earlier job may have made it already: it is looked for first."""


class OpenReported(_Effect):
    """Open the issue of a report that a hook brought, if the policy still lets it in, and ask for its plan."""

    kind: Literal["open_reported"] = "open_reported"
    priority: Literal[Priority.SAY] = Priority.SAY
    repo: Repo
    report: Reported
    generation: int
    """Of the secret that it came with."""


class UpdatePull(_Effect):
    """Bring the record in the pull request's text up to date: decisions, checks, recommendations, costs."""

    kind: Literal["update_pull"] = "update_pull"
    priority: Literal[Priority.SHOW] = Priority.SHOW


class DeleteNext(_Effect):
    """Remove the branch of further work that joined the pull request or was dropped, if nobody else pushed to it."""

    kind: Literal["delete_next"] = "delete_next"
    priority: Literal[Priority.SHOW] = Priority.SHOW
    branch: str


class Acknowledge(_Effect):
    """Put the eyes on the issue: seen. Earlier releases asked for it; now it comes with the first status."""

    kind: Literal["acknowledge"] = "acknowledge"
    priority: Literal[Priority.SAY] = Priority.SAY


class PostPlan(_Effect):
    """Post one revision of the plan as a comment of its own."""

    kind: Literal["post_plan"] = "post_plan"
    priority: Literal[Priority.SAY] = Priority.SAY
    revision: int


class MarkSuperseded(_Effect):
    """Write over an old revision's comment that a newer one counts, or the plan's parts."""

    kind: Literal["mark_superseded"] = "mark_superseded"
    priority: Literal[Priority.SHOW] = Priority.SHOW
    revision: int


class FoldReview(_Effect):
    """Write over a diff review's comment that it is no longer up for decision, and fold it away."""

    kind: Literal["fold_review"] = "fold_review"
    priority: Literal[Priority.SHOW] = Priority.SHOW
    number: int
    comment_id: int


class MakeChild(_Effect):
    """Open the issue of one part of a plan that is being split."""

    kind: Literal["make_child"] = "make_child"
    priority: Literal[Priority.SAY] = Priority.SAY
    position: int
    again: bool = False
    """It may have been made for an earlier effect: it is looked up first."""


class OpenChild(_Effect):
    """Hang a part's issue under its parent's, and have the part's plan opened there."""

    kind: Literal["open_child"] = "open_child"
    priority: Literal[Priority.SAY] = Priority.SAY
    position: int


class ReadCi(_Settling):
    """Ask what other Apps say of the commit that was pushed last; coalesces, however many of them have spoken."""

    kind: Literal["read_ci"] = "read_ci"
    priority: Literal[Priority.SHOW] = Priority.SHOW


class RefreshReview(_Settling):
    """Bring the diff review to what is known of its commit when this is carried out."""

    kind: Literal["refresh_review"] = "refresh_review"
    priority: Literal[Priority.SHOW] = Priority.SHOW


class PostReview(_Effect):
    """Post the diff review and its check run."""

    kind: Literal["post_review"] = "post_review"
    priority: Literal[Priority.SAY] = Priority.SAY
    head: str


class ConcludeCheck(_Effect):
    """Tell the check run what was decided about its commit."""

    kind: Literal["conclude_check"] = "conclude_check"
    priority: Literal[Priority.SHOW] = Priority.SHOW
    check_run_id: int
    head: str = ""
    """The commit that it stands on."""
    conclusion: Literal["success", "failure", "cancelled", "neutral"]
    sentence: str


class JudgeHead(_Effect):
    """Tell in a check run that a commit of the pull request was not verified."""

    kind: Literal["judge_head"] = "judge_head"
    priority: Literal[Priority.SHOW] = Priority.SHOW
    head: str


class JudgeGroup(_Effect):
    """Answer a merge queue: whether what it would merge holds nothing of plans but what was approved."""

    kind: Literal["judge_group"] = "judge_group"
    priority: Literal[Priority.DECIDE] = Priority.DECIDE
    repo: Repo
    head: str
    pull_request: int | None
    """The last pull request in it, as its branch is called."""


class DeleteBranch(_Effect):
    """Remove the plan's branch, if it still is at the commit the bot knows."""

    kind: Literal["delete_branch"] = "delete_branch"
    priority: Literal[Priority.SHOW] = Priority.SHOW
    branch: str
    head: str


class LookAtPolicy(_Effect):
    """Read the policy file at a commit: of a pull request that may change it, or that the default branch moved to."""

    kind: Literal["look_at_policy"] = "look_at_policy"
    priority: Literal[Priority.SAY] = Priority.SAY
    repo: Repo
    head: str
    base: str
    """The commit or branch that the pull request goes to, or the default branch itself."""
    pushed: bool = False
    """The commit is the default branch's."""


class ShowPolicyCheck(_Effect):
    """Say on the commit, in a check run, whether its policy file can be used."""

    kind: Literal["show_policy_check"] = "show_policy_check"
    priority: Literal[Priority.SAY] = Priority.SAY
    repo: Repo
    head: str
    line: int = 0
    """Of the fault."""
    reason: str = ""
    """Empty where it can be used."""


class Say(_Effect):
    """Answer with one short comment."""

    kind: Literal["say"] = "say"
    priority: Literal[Priority.SAY] = Priority.SAY
    repo: Repo
    issue_number: int
    topic: Topic
    to: Person | None = None
    details: dict[str, str] = Field(default_factory=dict)


class TellCosts(_Effect):
    """Say what the repository's plans cost in a month and what came of it, up to when this is carried out."""

    kind: Literal["tell_costs"] = "tell_costs"
    priority: Literal[Priority.SAY] = Priority.SAY
    repo: Repo
    issue_number: int
    to: Person
    month: float
    """When it began."""


class TellWeek(_Effect):
    """Say in an issue what the repository's plans cost in a week, where its policy still asks for that."""

    kind: Literal["tell_week"] = "tell_week"
    priority: Literal[Priority.SAY] = Priority.SAY
    repo: Repo
    issue_number: int
    week: float
    """When it began."""


class SendWeek(_Effect):
    """Say the same in a chat, which nothing can be looked up in: once at most."""

    kind: Literal["send_week"] = "send_week"
    priority: Literal[Priority.SAY] = Priority.SAY
    repo: Repo
    week: float
    """When it began."""


class ShowStatus(_Settling):
    """Bring the status comment and the state label to what the plan is when this is carried out."""

    kind: Literal["show_status"] = "show_status"
    priority: Literal[Priority.SAY, Priority.SHOW] = Priority.SHOW
    """``SAY`` where it must stand above what is said next."""


Effect = Annotated[
    Authorise
    | Dispatch
    | StopRun
    | ReadBack
    | CheckBase
    | OpenPullRequest
    | AdvanceBranch
    | DeleteNext
    | MakeIssue
    | OpenReported
    | UpdatePull
    | Acknowledge
    | PostPlan
    | MarkSuperseded
    | FoldReview
    | MakeChild
    | OpenChild
    | ReadCi
    | PostReview
    | RefreshReview
    | ConcludeCheck
    | JudgeHead
    | JudgeGroup
    | DeleteBranch
    | LookAtPolicy
    | ShowPolicyCheck
    | Say
    | TellCosts
    | TellWeek
    | SendWeek
    | ShowStatus,
    Field(discriminator="kind"),
]
Settling = ReadCi | RefreshReview | ShowStatus
"""Effects of which a lane keeps one that waits."""
