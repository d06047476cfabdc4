"""What can happen to a plan. Each event says when (``at``) and from where (``source``: delivery, reaction, effect).

Events from people have already been authorised: :mod:`bot.lifecycle.requests` turns what they said, their permission
and what was read at that moment into one of these.
"""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from bot.lifecycle.events.jobs import (
    BaseReported,
    IssueWritten,
    JobClaimed,
    JobDispatched,
    JobFailed,
    JobLost,
    JobProgressed,
    PlanWritten,
    SplitWritten,
    WorkVerified,
)
from bot.lifecycle.events.people import (
    AgentChosen,
    Answer,
    Answered,
    Approved,
    BudgetChosen,
    CancelRequested,
    CostsRequested,
    Counted,
    DependsChosen,
    ExpandRequested,
    FixRequested,
    LessonsAdopted,
    PlanRequested,
    PriorityChosen,
    RecommendationsAccepted,
    Rejected,
    ReopenRequested,
    RetryRequested,
    ReviseRequested,
    Shelved,
    SplitRequested,
    StartRequested,
    StatusRequested,
    Thawed,
    UpdateRequested,
)
from bot.lifecycle.events.world import (
    ApprovalVoid,
    BaseChecked,
    BranchAdvanced,
    BranchConfirmed,
    BranchExpired,
    BranchMoved,
    ChildMade,
    CiDue,
    CiReported,
    DependencyEnded,
    EffectFailed,
    Gone,
    HoldLifted,
    HoldPlaced,
    IssueEdited,
    IssueMade,
    PlanCommentChanged,
    PlanPosted,
    PullRequestClosed,
    PullRequestMerged,
    PullRequestOpened,
    PullRequestQueued,
    PullRequestReopened,
    QueueWaits,
    ReviewPosted,
    SlotGranted,
    StatusPosted,
)

__all__ = [
    "AgentChosen",
    "Answer",
    "Answered",
    "ApprovalVoid",
    "Approved",
    "BaseChecked",
    "BaseReported",
    "BranchAdvanced",
    "BranchConfirmed",
    "BranchExpired",
    "BranchMoved",
    "BudgetChosen",
    "CancelRequested",
    "ChildMade",
    "CiDue",
    "CiReported",
    "CostsRequested",
    "Counted",
    "DependencyEnded",
    "DependsChosen",
    "EffectFailed",
    "Event",
    "ExpandRequested",
    "FixRequested",
    "Gone",
    "HoldLifted",
    "HoldPlaced",
    "HumanEvent",
    "IssueEdited",
    "IssueMade",
    "IssueWritten",
    "JobClaimed",
    "JobDispatched",
    "JobEvent",
    "JobFailed",
    "JobLost",
    "JobProgressed",
    "LessonsAdopted",
    "PlanCommentChanged",
    "PlanPosted",
    "PlanRequested",
    "PlanWritten",
    "PriorityChosen",
    "PullRequestClosed",
    "PullRequestMerged",
    "PullRequestOpened",
    "PullRequestQueued",
    "PullRequestReopened",
    "QueueWaits",
    "RecommendationsAccepted",
    "Rejected",
    "ReopenRequested",
    "RetryRequested",
    "ReviewPosted",
    "ReviseRequested",
    "Shelved",
    "SlotGranted",
    "SplitRequested",
    "SplitWritten",
    "StartRequested",
    "StatusPosted",
    "StatusRequested",
    "Thawed",
    "UpdateRequested",
    "WorkVerified",
]

HumanEvent = (
    Approved
    | Rejected
    | UpdateRequested
    | ExpandRequested
    | SplitRequested
    | Answered
    | RetryRequested
    | ReviseRequested
    | FixRequested
    | RecommendationsAccepted
    | LessonsAdopted
    | CancelRequested
    | ReopenRequested
    | StatusRequested
    | CostsRequested
    | Shelved
    | Thawed
    | AgentChosen
    | BudgetChosen
    | PriorityChosen
    | DependsChosen
    | StartRequested
)
"""What a person says to a plan that exists."""
JobEvent = (
    JobDispatched
    | JobClaimed
    | JobProgressed
    | PlanWritten
    | SplitWritten
    | WorkVerified
    | IssueWritten
    | BaseReported
    | JobFailed
    | JobLost
)
"""What a job's life brings; counts only for the plan's open job."""
Event = Annotated[
    PlanRequested
    | HumanEvent
    | JobEvent
    | ChildMade
    | PlanPosted
    | StatusPosted
    | BranchConfirmed
    | CiReported
    | CiDue
    | ReviewPosted
    | BaseChecked
    | PullRequestOpened
    | ApprovalVoid
    | EffectFailed
    | SlotGranted
    | QueueWaits
    | DependencyEnded
    | PlanCommentChanged
    | IssueEdited
    | BranchMoved
    | PullRequestMerged
    | PullRequestClosed
    | PullRequestReopened
    | PullRequestQueued
    | BranchExpired
    | BranchAdvanced
    | IssueMade
    | HoldPlaced
    | HoldLifted
    | Gone,
    Field(discriminator="type"),
]
