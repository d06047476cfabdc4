"""What a job's agents are told: everything the job holds; a unit is given of it what its head names."""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING

from runner.contract import MAX_PROMPTS, Outcome, PromptUsed
from runner.promptware import PromptInput, PromptwareError, Terms, compose, digest
from runner.steps.lessons import chosen
from runner.watch import Ending

if TYPE_CHECKING:
    from runner.contract import JobSpec
    from runner.steps.agent import Conversation
    from runner.steps.context import Job


def prompt_of(job: Job, talk: Conversation) -> PromptInput:
    """Return what the job's specification and its base commit say; the steps add what happens meanwhile."""
    spec = job.spec
    return PromptInput(
        program=talk.program,
        result_file=talk.result_file,
        issue=spec.issue,
        policy=_terms(job, spec),
        lessons=chosen(job, talk.program, _concerned(spec)),
        plan=spec.plan,
        ledger=spec.ledger,
        known=spec.known,
        recommendation=spec.recommendation,
        feedback=spec.feedback,
    )


def _concerned(spec: JobSpec) -> tuple[str, ...]:
    """Return the paths that the job is about, as far as they are known."""
    if spec.recommendation is not None:
        return spec.recommendation.paths
    return spec.plan.files if spec.plan else ()


def _terms(job: Job, spec: JobSpec) -> Terms:
    gates = spec.gates or job.ledger.fields.get("detected_gates", ())
    return Terms(gates, spec.checks, spec.protected, spec.budget)


def composed(job: Job, parts: PromptInput, attempt: int) -> str:
    """Return the prompt of a run, with a marker of its own, and note for the report what it was made of.

    Raises :class:`~runner.watch.Ending` where there can be none.
    """
    marker = secrets.token_hex(8)
    try:
        prompt = compose(parts, marker)
    except PromptwareError as error:
        raise Ending(Outcome.RUNNER_FAILED, str(error)) from error
    used = PromptUsed(
        unit=parts.program.unit,
        attempt=attempt,
        sha256=digest(prompt, parts, marker),
        overridden=parts.program.overridden,
        lessons=() if parts.resumed else tuple(lesson.path for lesson in parts.lessons),
    )
    fields = job.ledger.fields
    fields["prompts"] = (*fields.get("prompts", ()), used)[-MAX_PROMPTS:]
    return prompt
