"""The verified change as unit InspectDiff reads it: by another agent than the one that wrote it, for the reviewer.

The work is verified and pushed: nothing that fails here may fail it. What is found is shown, and decides nothing.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from runner.contract import Outcome
from runner.git import GitError
from runner.results import Inspection, Unit
from runner.steps.agent import Conversation
from runner.steps.describe import facts_of
from runner.steps.prompt import prompt_of
from runner.steps.reading import require_unchanged
from runner.store import StoreError
from runner.watch import Ending

if TYPE_CHECKING:
    from runner.steps.context import Job
    from runner.steps.execute import Execution

TRIES = 2
"""How often an inspector is asked: once more where its result can't be used."""


def inspected(job: Job, execution: Execution, sha: str) -> Inspection | None:
    """Return what the inspector says of the verified commit; None where there is none, or a note says why not."""
    if job.spec.inspector is None:
        return None
    try:
        job.watch.check()
        _require_as_verified(execution, sha)
        return _asked(job, execution)
    except (Ending, GitError, StoreError, OSError) as fault:
        said = fault.sentence if isinstance(fault, Ending) else str(fault)
        job.ledger.note(f"The change was not inspected; its checks and its review stand without. {said}")
        return None


def _require_as_verified(execution: Execution, sha: str) -> None:
    """Let the inspector find the verified commit, and nothing that another agent left for it."""
    workspace = execution.workspace
    workspace.empty_home()
    if workspace.head != sha or not workspace.is_clean_against(sha):
        raise Ending(Outcome.TREE_CHANGED, "The work tree was changed after the commit was verified.")


def _asked(job: Job, execution: Execution) -> Inspection:
    workspace = execution.workspace
    talk = Conversation(job, Unit.INSPECT_DIFF, workspace.mounts(read_only=True))
    job.say(f"agent: {talk.name}")
    job.heartbeat.line(f"{talk.name} reads the change")
    checks = tuple(f"Check {gate.name}: {gate.status}. {gate.summary}" for gate in execution.gates)
    facts = (*checks, *facts_of(execution))
    parts = replace(prompt_of(job, talk), facts=facts)
    for attempt in range(1, TRIES + 1):
        workspace.freeze()
        reply = talk.ask(parts, attempt)
        require_unchanged(workspace)
        if isinstance(reply.result, Inspection):
            return reply.result
        parts = replace(parts, fault=reply.fault, facts=() if talk.resumed else facts, resumed=talk.resumed)
    raise Ending(Outcome.INVALID_RESULT, reply.fault)
