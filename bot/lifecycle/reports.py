"""What a runner's report means to its plan."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bot.lifecycle.events import BaseReported, IssueWritten, JobFailed, JobLost, PlanWritten, SplitWritten, WorkVerified
from runner.contract import JobKind, Outcome

if TYPE_CHECKING:
    from runner.contract import Report

SUCCESSES = {
    JobKind.PLAN: frozenset({Outcome.PLANNED}),
    JobKind.EXECUTE: frozenset({Outcome.VERIFIED}),
    JobKind.WRITE_ISSUE: frozenset({Outcome.ISSUE_WRITTEN}),
    JobKind.CHECK_BASE: frozenset({Outcome.BASE_CLEAN, Outcome.BASE_CONFLICT}),
}
"""How a job of each kind ends when all went well."""
Ended = PlanWritten | SplitWritten | WorkVerified | IssueWritten | BaseReported | JobLost | JobFailed
UNNAMED = "(the runner named no paths)"
"""Stands for the paths of a conflict that came without any: no path at all would read as no conflict."""


def can_end(kind: JobKind, outcome: Outcome) -> bool:
    """Tell whether a runner may report this outcome of such a job."""
    return outcome in SUCCESSES[kind] or not outcome.is_success


def event_of(report: Report, at: float, source: str) -> Ended:  # noqa: PLR0911 - a case an outcome
    """Return the event that a report is; whatever is not a success is a failure."""
    match report.outcome:
        case Outcome.PLANNED:
            written = PlanWritten if report.split is None else SplitWritten
            return written(at=at, source=source, job=report.job, report=report)
        case Outcome.VERIFIED:
            return WorkVerified(at=at, source=source, job=report.job, report=report)
        case Outcome.ISSUE_WRITTEN:
            return IssueWritten(at=at, source=source, job=report.job, report=report)
        case Outcome.BASE_CLEAN:
            return BaseReported(at=at, source=source, job=report.job)
        case Outcome.BASE_CONFLICT:
            return BaseReported(at=at, source=source, job=report.job, conflicts=report.conflicts or (UNNAMED,))
        case Outcome.LOST:
            return JobLost(at=at, source=source, job=report.job, sentence=report.sentence)
        case _:
            return JobFailed(at=at, source=source, job=report.job, report=report)
