"""A plan job: an agent reads the code at the base commit and returns a plan, or its parts; nothing may change."""

from __future__ import annotations

from typing import TYPE_CHECKING

from runner.contract import Outcome
from runner.gates.detect import detect, reading
from runner.material import why_no_original
from runner.results import PlanDocument, SplitDocument, Unit, Verdict
from runner.steps.agent import Conversation
from runner.steps.prompt import prompt_of
from runner.steps.reading import ask_to_read
from runner.watch import Ending
from runner.worktree import Workspace

if TYPE_CHECKING:
    from runner.agents.result import Result
    from runner.contract import JobSpec
    from runner.steps.context import Job


def run(job: Job) -> Ending:
    """Carry out a job of kind ``plan``."""
    spec = job.spec
    if spec.detect_gates:
        job.ledger.fields["detected_gates"] = detect(reading(job.store, spec.base))
    workspace = Workspace.open(
        job.store, plan_uid=spec.plan_uid, branch=spec.branch, base=spec.base, owner=job.sandbox.owner, job=spec.job
    )
    try:
        return _ask(job, workspace)
    finally:
        workspace.remove()


def _ask(job: Job, workspace: Workspace) -> Ending:
    unit = job.spec.unit or Unit.CREATE_PLAN
    talk = Conversation(job, unit, workspace.mounts(read_only=True), lambda plan: objection(job.spec, plan))
    parts = prompt_of(job, talk)
    if unit is Unit.SPLIT_PLAN:
        split = ask_to_read(job, workspace, talk, parts, SplitDocument)
        return Ending(Outcome.PLANNED, f"The plan is split into {len(split.children)} plans.", split=split)
    plan = ask_to_read(job, workspace, talk, parts, PlanDocument)
    talk.keep()
    return Ending(Outcome.PLANNED, f"The plan is written: {plan.title}", plan=plan)


def objection(spec: JobSpec, plan: Result) -> str:
    """Return why the plan is none for this job, empty where it is."""
    if not isinstance(plan, PlanDocument):
        return ""
    if plan.verdict is Verdict.DUPLICATE:
        return _no_duplicate(spec, plan)
    if spec.unit is Unit.EXPAND_PLAN and plan.verdict is Verdict.PLAN and spec.plan is not None:
        return _other_scope(spec.plan, plan)
    return ""


def _no_duplicate(spec: JobSpec, plan: PlanDocument) -> str:
    original = next((known for known in spec.known if known.issue == plan.duplicate_of), None)
    if original is None:
        return f"duplicate_of: issue {plan.duplicate_of} is not among the plans you were told of. Plan this issue."
    unfit = why_no_original(original)
    return f"duplicate_of: #{original.issue} can't be named: {unfit} Plan this issue." if unfit else ""


def _other_scope(before: PlanDocument, plan: PlanDocument) -> str:
    """Return how the scope differs: more detail is no more work, and no less."""
    told = []
    for name in ("files", "weakens"):
        old, new = set(getattr(before, name)), set(getattr(plan, name))
        told += [f"{name}: {path!r} is new." for path in sorted(new - old)]
        told += [f"{name}: {path!r} is missing." for path in sorted(old - new)]
    return f"The scope must stay as it was. {' '.join(told)}" if told else ""
