"""What a run may do: what GitHub says of it, held against the job.

A valid token proves which run speaks. Whether that run is the job's own is decided here, from numbers and names that
the bot stored when it dispatched the job.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from bot.web.refusal import Refused
from runner.contract import JobKind, Phase

if TYPE_CHECKING:
    from bot.store.jobs import Job
    from bot.web.oidc import Claims
    from runner.contract import JobSpec, PushTokenRequest

NOT_YET_SECONDS = 2
"""When a runner is to ask again whose run the bot does not know yet: the dispatch's answer is being stored."""
DISPATCH = "workflow_dispatch"
"""The event of the runs that the bot starts."""


def check_run(claims: Claims, job: Job, spec: JobSpec | None, *, workflow: str, bot_user_id: int) -> JobSpec:
    """Return the specification where the run is the job's own. Raises :class:`~bot.web.refusal.Refused`."""
    if claims.repository_id != job.repository_id:
        raise Refused(
            403, f"Job {job.id} belongs to another repository than this run. Only its own run may ask for it."
        )
    if spec is None or job.run_id is None:
        raise over(job) or Refused(
            409, f"Job {job.id} is being dispatched, its run is not known yet.", retry_after=NOT_YET_SECONDS
        )
    for holds, sentence in _facts(claims, job, spec, workflow, bot_user_id):
        if not holds:
            raise Refused(403, sentence)
    return spec


def _facts(claims: Claims, job: Job, spec: JobSpec, workflow: str, bot_user_id: int) -> list[tuple[bool, str]]:
    """Return what must hold of a run, each with what is said where it does not."""
    ref = f"refs/heads/{spec.repository.default_branch}"
    path = f".github/workflows/{workflow}"
    retry = "Say /retry on the issue to start the job anew."
    return [
        (claims.run_id == job.run_id, f"Another run was dispatched for job {job.id}. Let that one do it. {retry}"),
        (claims.run_attempt == 1, f"This is a re-run, and a job is carried out by its first run alone. {retry}"),
        (claims.event_name == DISPATCH, f"This run was started by {claims.event_name} and not by the bot. {retry}"),
        (claims.ref == ref, f"This run is of {claims.ref}, the job's is of {ref}. {retry}"),
        (
            any(_is_workflow(claims.workflow_ref, name, f"/{path}@{ref}") for name in _names(claims, spec)),
            f"This run is of {claims.workflow_ref}, the job's is of {path} on {ref}. {retry}",
        ),
        (claims.actor_id == bot_user_id, f"This run was started by somebody else than the bot. {retry}"),
    ]


def _names(claims: Claims, spec: JobSpec) -> set[str]:
    """Return the repository's name at the dispatch and now: it may be renamed while its job waits or runs."""
    then = f"{spec.repository.owner}/{spec.repository.name}"
    return {then, claims.repository or then}


def _is_workflow(found: str, names: str, rest: str) -> bool:
    """Compare a workflow's reference; the names of owner and repository come in any case."""
    return found[: len(names)].casefold() == names.casefold() and found[len(names) :] == rest


def over(job: Job) -> Refused | None:
    """Return what is said of a job that needs no runner any more; None while it does."""
    if job.is_open and job.stop_reason is None:
        return None
    why = job.stop_reason or "The plan no longer waits for it."
    return Refused(409, f"Job {job.id} is over: {why} Nothing is left to do here; the issue says how the plan stands.")


def check_unclaimed(job: Job) -> None:
    """Raise :class:`~bot.web.refusal.Refused` unless the job is there to be claimed."""
    if refusal := over(job):
        raise refusal
    if job.claimed_at is not None:
        raise Refused(409, f"Job {job.id} has been claimed already. Say /retry on the issue to start it anew.")


def check_push(job: Job, spec: JobSpec, request: PushTokenRequest) -> None:
    """Raise :class:`~bot.web.refusal.Refused` unless this job may push now: verified work, at the end, one commit."""
    if refusal := over(job):
        raise refusal
    if job.claimed_at is None:
        raise Refused(409, f"Job {job.id} has not been claimed: claim it first.")
    if job.kind != JobKind.EXECUTE:
        raise Refused(403, f"Job {job.id} is of kind {job.kind}, which pushes nothing.")
    if job.push_sha not in {None, request.sha}:
        raise Refused(409, f"Job {job.id} was given its token to push already, for another commit: it pushes one.")
    if failed := [gate.name for gate in request.gates if gate.holds_back]:
        raise Refused(403, f"Nothing is pushed, since blocking checks failed: {', '.join(failed)}.")
    if unjudged := {gate.name for gate in spec.gates if gate.blocking} - {gate.name for gate in request.gates}:
        raise Refused(403, f"Nothing is pushed, since blocking checks did not run: {', '.join(sorted(unjudged))}.")
    if job.phase != Phase.PUBLISH:
        sentence = f"Job {job.id} is not in phase {Phase.PUBLISH} as far as the bot knows: report that first."
        raise Refused(409, sentence, retry_after=NOT_YET_SECONDS)
