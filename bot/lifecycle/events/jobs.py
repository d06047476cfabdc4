"""What a job's life brings: dispatched, claimed, reported, failed, lost."""

from __future__ import annotations

from typing import Literal

from bot.lifecycle.events.base import BaseEvent
from bot.lifecycle.policy import Policy
from runner.contract import Phase, Report


class JobEvent(BaseEvent):
    """Something that happened to a job."""

    job: str


class JobDispatched(JobEvent):
    """GitHub accepted the dispatch."""

    type: Literal["job_dispatched"] = "job_dispatched"
    run_id: int
    policy: Policy
    """The policy at the commit that the job starts from."""


class JobClaimed(JobEvent):
    """A runner took the job."""

    type: Literal["job_claimed"] = "job_claimed"


class JobProgressed(JobEvent):
    """The job entered another phase."""

    type: Literal["job_progressed"] = "job_progressed"
    phase: Phase


class PlanWritten(JobEvent):
    """Planning returned a document."""

    type: Literal["plan_written"] = "plan_written"
    report: Report


class SplitWritten(JobEvent):
    """Splitting returned the plan in parts."""

    type: Literal["split_written"] = "split_written"
    report: Report


class IssueWritten(JobEvent):
    """A recommendation has the text of an issue."""

    type: Literal["issue_written"] = "issue_written"
    report: Report


class WorkVerified(JobEvent):
    """Execution passed every blocking gate and pushed its commit."""

    type: Literal["work_verified"] = "work_verified"
    report: Report


class BaseReported(JobEvent):
    """A runner tried the merge with the default branch."""

    type: Literal["base_reported"] = "base_reported"
    conflicts: tuple[str, ...] = ()


class JobFailed(JobEvent):
    """The job ended in any way that is not success."""

    type: Literal["job_failed"] = "job_failed"
    report: Report


class JobLost(JobEvent):
    """The runner fell silent, or its run ended without a report."""

    type: Literal["job_lost"] = "job_lost"
    sentence: str
