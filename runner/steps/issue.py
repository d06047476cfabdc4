"""A job that writes an issue from a recommendation which a person accepted; nothing may change."""

from __future__ import annotations

from typing import TYPE_CHECKING

from runner.contract import Outcome
from runner.results import IssueText, Unit
from runner.steps.agent import Conversation
from runner.steps.prompt import prompt_of
from runner.steps.reading import ask_to_read
from runner.watch import Ending
from runner.worktree import Workspace

if TYPE_CHECKING:
    from runner.steps.context import Job


def run(job: Job) -> Ending:
    """Carry out a job of kind ``write_issue``: on the plan's work where it is named, else on the base."""
    spec = job.spec
    if spec.recommendation is None:
        return Ending(Outcome.RUNNER_FAILED, "The job names no recommendation. This is a fault of the bot: report it.")
    workspace = Workspace.open(
        job.store,
        plan_uid=spec.plan_uid,
        branch=spec.branch,
        base=spec.base,
        head=spec.head,
        owner=job.sandbox.owner,
        job=spec.job,
    )
    try:
        talk = Conversation(job, Unit.CREATE_ISSUE, workspace.mounts(read_only=True))
        issue = ask_to_read(job, workspace, talk, prompt_of(job, talk), IssueText)
    finally:
        workspace.remove()
    return Ending(Outcome.ISSUE_WRITTEN, f"The issue is written: {issue.title}", issue=issue)
