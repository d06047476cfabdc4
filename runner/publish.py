"""Push exactly one verified commit, with a token minted for it at that moment, and read it back."""

from __future__ import annotations

from typing import TYPE_CHECKING

from runner.client import ClientError
from runner.contract import Outcome, Phase, PushTokenRequest
from runner.steps.prepare import basic, moved_sentence, over_network
from runner.store import PushRejectedError, salvage_ref
from runner.watch import Ending

if TYPE_CHECKING:
    from runner.contract import GateResult
    from runner.git import Auth
    from runner.steps.context import Job


def publish(job: Job, sha: str, gates: tuple[GateResult, ...], expected: str | None) -> None:
    """Push ``sha`` to the plan's branch, which must still stand at ``expected``; others' commits are never replaced."""
    spec = job.spec
    job.enter(Phase.PUBLISH, f"pushing {sha[:10]} to {spec.branch}")
    try:
        token = job.bot.push_token(spec.job, PushTokenRequest(sha=sha, gates=gates)).token
    except ClientError as error:
        raise Ending(
            Outcome.RUNNER_FAILED, f"Nothing was pushed, since the bot gave no token for it: {error}"
        ) from error
    auth = basic(spec.repository.clone_url, token)
    try:
        if expected and not job.store.is_ancestor(expected, sha):
            _make_room(job, expected, auth)
            expected = None
        over_network(lambda: _push(job, sha, expected, auth))
    except PushRejectedError as error:
        _judge_rejection(job, sha, expected, error)


def _push(job: Job, sha: str, expected: str | None, auth: Auth) -> None:
    job.store.push(job.spec.repository.clone_url, sha, job.spec.branch, expect=expected, auth=auth)


def _make_room(job: Job, abandoned: str, auth: Auth) -> None:
    """Delete the branch of an earlier try of this plan, on which the new work does not build."""
    branch = job.spec.branch
    job.say(f"publish: {branch} at {abandoned[:10]} is of an earlier try; it makes room")
    kept = salvage_ref(job.spec.plan_uid, f"before-{job.spec.job}")
    job.store.set_ref(kept, abandoned)
    job.ledger.note(f"{branch} was at {abandoned[:10]}, of an earlier try; the runner keeps that as {kept}.")
    over_network(
        lambda: job.store.delete_remote_branch(job.spec.repository.clone_url, branch, expect=abandoned, auth=auth)
    )


def _judge_rejection(job: Job, sha: str, expected: str | None, error: PushRejectedError) -> None:
    """Tell a branch that somebody moved from a server that refuses; a push that arrived all the same is a push."""
    tip = job.store.remote_tip(job.spec.repository.clone_url, job.spec.branch, job.read_auth)
    if tip == sha:
        return
    if tip != expected:
        raise Ending(Outcome.BRANCH_MOVED, moved_sentence(job.spec.branch, tip)) from error
    raise Ending(
        Outcome.RUNNER_FAILED,
        f"The server refused the push of {job.spec.branch}: {error} See to the repository's rules and say /retry.",
    ) from error
