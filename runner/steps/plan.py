"""A plan job: an agent reads the code at the base commit and returns a plan; nothing may change."""

from __future__ import annotations

from typing import TYPE_CHECKING

from runner import memory
from runner.contract import Outcome, Phase
from runner.gates.detect import detect, reading
from runner.git import display
from runner.promptware import PromptInput
from runner.results import PlanDocument, Unit
from runner.steps.agent import Conversation, unusable
from runner.watch import Ending
from runner.worktree import Workspace

if TYPE_CHECKING:
    from collections.abc import Sequence

    from runner.memory import LessonFile
    from runner.steps.context import Job

PROMPTWARE = ".twogate/promptware/"
"""Where a repository keeps its lessons and its own units."""


def run(job: Job) -> Ending:
    """Carry out a job of kind ``plan``."""
    spec = job.spec
    if spec.detect_gates:
        job.ledger.fields["detected_gates"] = detect(reading(job.store, spec.base))
    workspace = Workspace.open(
        job.store, plan_uid=spec.plan_uid, branch=spec.branch, base=spec.base, owner=job.sandbox.owner, job=spec.job
    )
    try:
        plan = _ask(job, workspace)
    finally:
        workspace.remove()
    return Ending(Outcome.PLANNED, f"The plan is written: {plan.title}", plan=plan)


def _ask(job: Job, workspace: Workspace) -> PlanDocument:
    spec = job.spec
    talk = Conversation(job, spec.unit or Unit.CREATE_PLAN, workspace.mounts(read_only=True))
    lessons = memory.choose(lessons_of(job), Unit.CREATE_PLAN, spec.plan.files if spec.plan else ())
    facts: tuple[str, ...] = ()
    fault = ""
    for attempt in range(1, spec.budget.attempts + 1):
        job.ledger.attempts = attempt
        job.enter(Phase.AGENT, f"{talk.name}, attempt {attempt}")
        parts = PromptInput(
            program=talk.program,
            result_file=talk.result_file,
            issue=spec.issue,
            lessons=lessons,
            plan=spec.plan,
            feedback=spec.feedback,
            facts=facts,
            resumed=talk.resumed,
        )
        workspace.freeze()
        reply = talk.ask(parts, attempt)
        require_unchanged(workspace, spec.base)
        if isinstance(reply.result, PlanDocument):
            return reply.result
        fault, facts = reply.fault, (unusable(reply),)
        job.say(f"agent: no valid result: {fault}")
    raise Ending(Outcome.INVALID_RESULT, f"The agent returned no valid plan. {fault} Say /retry to try again.")


def require_unchanged(workspace: Workspace, sha: str) -> None:
    """End the job where a read-only unit changed files, moved refs or broke the repository."""
    inspection = workspace.inspect()
    if inspection.finding is not None or not workspace.is_clean_against(sha):
        found = " ".join(inspection.sentences)
        raise Ending(
            Outcome.TREE_CHANGED,
            f"The agent was to read only, and changed the work tree. Nothing of it is kept. {found}".strip(),
        )


def lessons_of(job: Job) -> tuple[LessonFile, ...]:
    """Return the valid lessons of the base commit."""
    return memory.parse(lesson_sources(job))


def lesson_sources(job: Job) -> dict[str, bytes]:
    """Return the files of the base commit that may be lessons, by path."""
    store, base = job.store, job.spec.base
    paths: Sequence[bytes] = [path for path in store.files(base) if path.startswith(PROMPTWARE.encode())]
    found = {display(path): store.read(base, path) for path in paths if b"/Memory/" in path}
    return {path: content for path, content in found.items() if content is not None}
