"""A base check: whether the approved head would merge with the default branch; no agent, no work tree."""

from __future__ import annotations

from typing import TYPE_CHECKING

from runner.contract import MAX_PATHS, Outcome
from runner.git import display
from runner.watch import Ending

if TYPE_CHECKING:
    from runner.steps.context import Job


def run(job: Job) -> Ending:
    """Carry out a job of kind ``check_base``."""
    spec = job.spec
    if spec.head is None:
        return Ending(Outcome.RUNNER_FAILED, "The job names no commit to check. This is a fault of the bot: report it.")
    conflicts = job.store.merge_conflicts(spec.base, spec.head)
    where = f"{spec.repository.default_branch} at {spec.base[:10]}"
    if not conflicts:
        return Ending(Outcome.BASE_CLEAN, f"{spec.head[:10]} merges cleanly with {where}.")
    paths = tuple(display(path) for path in conflicts[:MAX_PATHS])
    return Ending(
        Outcome.BASE_CONFLICT, f"{spec.head[:10]} conflicts with {where} in {len(conflicts)} files.", conflicts=paths
    )
