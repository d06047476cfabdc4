"""Ask a unit that only reads, until its result can be used: each result that can't goes back, and is an attempt."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

from runner.contract import Outcome, Phase
from runner.results import Message
from runner.watch import Ending

if TYPE_CHECKING:
    from runner.promptware import PromptInput
    from runner.steps.agent import Conversation
    from runner.steps.context import Job
    from runner.worktree import Workspace

R = TypeVar("R", bound=Message)


def ask_to_read(
    job: Job,
    workspace: Workspace,
    talk: Conversation,
    parts: PromptInput,
    kind: type[R],
) -> R:
    """Return the unit's result; raise :class:`~runner.watch.Ending`, also where files were changed."""
    fault = ""
    for attempt in range(1, job.spec.budget.attempts + 1):
        job.ledger.attempts = attempt
        job.enter(Phase.AGENT, f"{talk.name}, attempt {attempt}")
        workspace.freeze()
        reply = talk.ask(replace(parts, resumed=talk.resumed), attempt)
        require_unchanged(workspace)
        if isinstance(reply.result, kind):
            return reply.result
        fault = reply.fault
        parts = replace(parts, fault=fault)
        job.say(f"agent: no valid result: {fault}")
    raise Ending(Outcome.INVALID_RESULT, f"The agent returned no valid result. {fault} Say /retry to try again.")


def require_unchanged(workspace: Workspace) -> None:
    """End the job where a read-only unit changed files, moved refs or broke the repository."""
    head = workspace.head
    inspection = workspace.inspect()
    if inspection.finding is not None or workspace.head != head or not workspace.is_clean_against(head):
        found = " ".join(inspection.sentences)
        raise Ending(
            Outcome.TREE_CHANGED,
            f"The agent was to read only, and changed the work tree. Nothing of it is kept. {found}".strip(),
        )
