"""After the agent: judge what it left of the repository, and commit. The runner commits, never the agent's word."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from runner.contract import Outcome
from runner.folders import Owner, give
from runner.steps.history import ACTS, NOTE, holds_secrets, inert, messages_act
from runner.steps.lessons import to_write
from runner.steps.prepare import TRAILER
from runner.watch import Ending
from runner.worktree import Author, Finding

if TYPE_CHECKING:
    from collections.abc import Sequence

    from runner.memory import Written
    from runner.results import Lesson
    from runner.steps.context import Job
    from runner.worktree import Workspace

AUTHOR = Author("Twogate", "twogate[bot]@users.noreply.github.com")
"""Who the runner's commits are by; the App's own user merges nothing and approves nothing."""
MAX_SUBJECT = 100
"""Characters of the plan's title in a commit's first line."""
OUTCOMES = {
    Finding.DAMAGED: Outcome.WORKSPACE_DAMAGED,
    Finding.WRONG_BRANCH: Outcome.WRONG_BRANCH,
    Finding.FOREIGN_REFS: Outcome.WRONG_BRANCH,
}
SENTENCES = {
    Outcome.WORKSPACE_DAMAGED: "The agent damaged its work tree's repository, so nothing of this run is trusted.",
    Outcome.WRONG_BRANCH: "The agent left its branch or moved others, so nothing of this run is trusted.",
}


def inspect(job: Job, workspace: Workspace) -> tuple[str, ...]:
    """End the job where the agent left its branch, moved others' refs, or broke the repository.

    Files that git can't carry are left out of the commit and noted: the gates judge what is left. Returns a sentence
    for each, for the agent.
    """
    inspection = workspace.inspect()
    if inspection.finding not in OUTCOMES:
        job.ledger.note(*inspection.sentences)
        return inspection.sentences
    outcome = OUTCOMES[inspection.finding]
    raise Ending(outcome, " ".join((SENTENCES[outcome], *inspection.sentences, "Say /retry to start anew.")))


def commit_work(job: Job, workspace: Workspace) -> None:
    """Commit the tree as the agent left it."""
    workspace.commit(message(job, _subject(job)), AUTHOR, when=job.now())


def commit_afresh(job: Job, workspace: Workspace, carried: Sequence[str]) -> None:
    """Put one commit in the place of all that were not pushed, where these hold a secret that the files do not.

    The same where an agent's own messages would act on GitHub once they are pushed or merged.
    """
    note = NOTE if holds_secrets(job, workspace, carried) else ACTS if messages_act(job, workspace) else ""
    if note:
        job.ledger.note(note)
        workspace.commit(message(job, _subject(job)), AUTHOR, when=job.now(), afresh=True)


def commit_lessons(job: Job, workspace: Workspace, lessons: Sequence[Lesson]) -> Written:
    """Write what waited and what was learned, validated, and commit it by itself; return what was written."""
    written = to_write(job, workspace.head, lessons)
    job.ledger.note(*written.refused)
    for path, content in written.files:
        write_inside(workspace.tree, path, content, job.sandbox.owner)
    if written.files:
        words = message(job, f"Note what was learned (#{job.spec.issue.number})")
        workspace.add(dict(written.files), words, AUTHOR, when=job.now())
    return written


def one_line(text: str, length: int) -> str:
    """Return untrusted ``text`` as one line of printable characters."""
    return " ".join("".join(c if c.isprintable() else " " for c in text).split())[:length]


def _subject(job: Job) -> str:
    title = job.spec.plan.title if job.spec.plan else "Work on the issue"
    return f"{inert(one_line(title, MAX_SUBJECT))} (#{job.spec.issue.number})"


def message(job: Job, subject: str) -> str:
    """Return a commit message of the runner's; ``subject`` is its first line."""
    return f"{subject}\n\n{TRAILER}: {job.spec.plan_uid}\n"


def write_inside(tree: Path, path: str, content: bytes, owner: Owner | None) -> None:
    """Write a new file below ``tree``, in which an agent may have planted links."""
    folder = tree
    for part in Path(path).parent.parts:
        folder /= part
        if folder.is_symlink() or (folder.exists() and not folder.is_dir()):
            raise Ending(Outcome.WORKSPACE_DAMAGED, f"{path} can't be written: {part} is no folder. Say /retry.")
        if not folder.exists():
            folder.mkdir()
            give(owner, folder)
    target = folder / Path(path).name
    target.unlink(missing_ok=True)
    handle = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o644)
    with os.fdopen(handle, "wb") as file:
        file.write(content)
    give(owner, target)
