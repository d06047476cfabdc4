"""What was pushed, for the reviewer: files, patch, and the text of a pull request written by unit CreatePr.

The push has happened: nothing that fails here may fail the work.
"""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING

from runner.contract import MAX_LESSONS, MAX_PATCH, MAX_PATHS, Collision, FileChange, Outcome, Work
from runner.forecast import bring, forecast
from runner.git import GitError, display
from runner.globs import any_match
from runner.results import PullRequestText, Unit
from runner.steps.agent import Conversation
from runner.steps.commit import one_line
from runner.steps.prompt import prompt_of
from runner.steps.reading import require_unchanged
from runner.watch import Ending

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Literal

    from runner.git import Change
    from runner.steps.context import Job
    from runner.steps.execute import Execution
    from runner.store import DiffStat, ObjectStore

    Status = Literal["added", "modified", "deleted", "renamed", "mode"]

LETTERS: dict[str, Status] = {"A": "added", "D": "deleted", "R": "renamed"}
INSTRUCTIONS = (b".twogate/promptware/", b"promptware/")
"""Where a repository keeps what agents are told; the second is Twogate's own."""
MAX_TITLE = 256
MAX_STAT_LINES = 200
"""Files of the diffstat that unit CreatePr is told."""

FROM_PLAN = "The text of the pull request was made from the plan."
"""The note where unit CreatePr wrote none that could be used."""


def describe(job: Job, execution: Execution) -> Work:
    """Return the work as it was pushed: what is new since people saw it last, where that can be told apart."""
    store, head = job.store, execution.workspace.head
    since = _since(job, execution)
    start = since or execution.base
    changes = store.changes(start, head)
    patch, cut = store.patch(start, head, MAX_PATCH)
    text = patch.decode("utf-8", "backslashreplace")
    return Work(
        base=execution.base,
        head=head,
        tree=store.tree(head),
        commits=store.count_commits(start, head),
        files=_files(store, start, head, changes),
        files_total=len(changes),
        patch=text[:MAX_PATCH],
        patch_cut=cut or len(text) > MAX_PATCH,
        summary=execution.summary,
        pull_request=_pull_request(job, execution),
        moved_base_paths=_moved(job, execution),
        collisions=_collisions(job, execution),
        since=since,
        lessons=execution.lessons[:MAX_LESSONS],
    )


def _since(job: Job, execution: Execution) -> str | None:
    """Return the commit of the open pull request from which to show the work; None: the whole of it, from its base.

    Where the default branch was merged in since, a difference from that commit would hold others' work.
    """
    shown, store = job.spec.shown, job.store
    if shown is None:
        return None
    if store.is_ancestor(execution.base, shown) and store.is_ancestor(shown, execution.workspace.head):
        return shown
    branch = job.spec.repository.default_branch
    job.ledger.note(f"{branch} was merged in, so the whole change is shown, not only what is new since {shown[:10]}.")
    return None


def instructions_first(changes: Sequence[Change]) -> list[Change]:
    """Return changes with those of what agents are told at the front: they must not be what a long list leaves out."""
    return sorted(changes, key=lambda change: not change.path.startswith(INSTRUCTIONS))


def _files(store: ObjectStore, start: str, head: str, changes: Sequence[Change]) -> tuple[FileChange, ...]:
    stats = {stat.path: stat for stat in store.diff_stat(start, head)}
    return tuple(_file(change, stats.get(change.path)) for change in instructions_first(changes)[:MAX_PATHS])


def _file(change: Change, stat: DiffStat | None) -> FileChange:
    same = change.old_blob == change.new_blob and change.status == "M"
    return FileChange(
        path=display(change.path),
        status="mode" if same else LETTERS.get(change.status, "modified"),
        added=stat.added if stat else None,
        removed=stat.removed if stat else None,
    )


def _moved(job: Job, execution: Execution) -> tuple[str, ...]:
    """Return the plan's files that changed on the default branch since the work's base."""
    tip, plan = execution.tip, job.spec.plan
    if plan is None or job.store.is_ancestor(tip, execution.workspace.head):
        return ()
    moved = job.store.changes(execution.base, tip)
    return tuple(display(change.path) for change in moved if any_match(plan.files, change.path))[:MAX_PATHS]


def _collisions(job: Job, execution: Execution) -> tuple[Collision, ...]:
    """Return the branches of other plans that this one will not merge with."""
    spec, branches = job.spec, job.spec.in_flight
    if not branches:
        return ()
    job.say(f"publish: trying merges with {len(branches)} branches of other plans")
    fault = bring(job.store, spec.repository.clone_url, branches, job.read_auth)
    try:
        found = forecast(job.store, execution.base, execution.workspace.head, branches, time.monotonic)
    except GitError as error:
        job.ledger.note(f"Merges with other plans' branches could not be tried: {error}")
        return ()
    job.ledger.note(*([fault] if fault else []), *found.notes)
    return found.collisions


def _pull_request(job: Job, execution: Execution) -> PullRequestText | None:
    """Return the text of the pull request to be opened; one that is open has its text."""
    if job.spec.shown is not None:
        return None
    try:
        return _asked(job, execution)
    except Ending as ending:
        job.ledger.note(f"{FROM_PLAN} {ending.sentence}")
        return _from_plan(job, execution)


def _asked(job: Job, execution: Execution) -> PullRequestText:
    spec, workspace = job.spec, execution.workspace
    if Unit.CREATE_PR not in spec.agents:
        raise Ending(Outcome.RUNNER_FAILED, "No agent is set for unit CreatePr.")
    talk = Conversation(job, Unit.CREATE_PR, workspace.mounts(read_only=True))
    job.say(f"agent: {talk.name}")
    workspace.freeze()
    reply = talk.ask(replace(prompt_of(job, talk), facts=facts_of(execution)), 1)
    require_unchanged(workspace)
    if not isinstance(reply.result, PullRequestText):
        raise Ending(Outcome.INVALID_RESULT, reply.fault)
    return reply.result


def facts_of(execution: Execution) -> tuple[str, ...]:
    """Tell an agent that only reads what the change is."""
    store, base, head = execution.job.store, execution.base, execution.workspace.head
    files = _files(store, base, head, store.changes(base, head))
    stat = [f"{file.path}: {file.status}, +{file.added or 0} -{file.removed or 0}" for file in files]
    told = (f"The change is base {base}, head {head}.", *stat[:MAX_STAT_LINES])
    return (*told, f"What the agent said it did: {execution.summary.summary}") if execution.summary else told


def _from_plan(job: Job, execution: Execution) -> PullRequestText | None:
    plan = job.spec.plan
    if plan is None:
        return None
    said = execution.summary.summary if execution.summary else ""
    return PullRequestText(title=one_line(plan.title, MAX_TITLE) or "Change", body=f"{plan.summary}\n\n{said}".strip())
