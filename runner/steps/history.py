"""What would be pushed besides the files: commits on the way to them, and their messages.

A secret that an attempt committed and the next took out again stands in the history for good once that is pushed. Such
commits are never pushed: one commit with the same files takes their place. So it is where a message would act: GitHub
closes the issues that it names, and runs no workflows for a commit that asks for none.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from runner.gates.change import MODE_ABSENT, MODE_FILE, MODE_GITLINK, Change, Changed
from runner.gates.secrets import MAX_CONTENT, secrets

if TYPE_CHECKING:
    from collections.abc import Sequence

    from runner.steps.context import Job
    from runner.worktree import Workspace

MESSAGES = b"messages"
"""Stands for all messages, and who they are by, as one file."""
NOTE = "Commits on the way held what looks like a credential; one commit with the same files took their place."
ACTS = (
    "Messages of the agent's commits would have closed issues or kept checks from running on GitHub; one commit with "
    "the same files took their place."
)
CLOSES = re.compile(
    r"\b(?:close[sd]?|fix(?:e[sd])?|resolve[sd]?):?\s+(?:[\w./-]*#|GH-|https?://\S+/issues/)(?P<number>[0-9]+)",
    re.IGNORECASE,
)
"""What closes an issue when its commit reaches the default branch."""
SKIPS = re.compile(
    r"\[(?:skip[ -](?:ci|actions)|(?:ci|actions)[ -]skip|no ci)\]|^skip-checks: *true", re.IGNORECASE | re.MULTILINE
)
"""What keeps workflows from running for the commit that is pushed."""
REFERS = re.compile(r"[@#](?=\w)|\bGH-(?=[0-9])|\bhttps?://(?=\S)", re.IGNORECASE)
BRACKETS = str.maketrans("[]", "()")


def inert(subject: str) -> str:
    """Return words of others as the first line of a commit, in which they mention, refer to, close and skip nothing."""
    return REFERS.sub(lambda found: f"{found[0].rstrip('-')} ", subject).translate(BRACKETS)


def messages_act(job: Job, workspace: Workspace) -> bool:
    """Whether a message of a commit that was not pushed yet closes another issue, or keeps checks from running."""
    start, head = workspace.unpushed_from, workspace.head
    said = job.store.git.run("log", "--format=%B", head, f"^{start}", f"^{workspace.base}").decode("utf-8", "replace")
    closed = {found["number"] for found in CLOSES.finditer(said)}
    return bool(closed - {str(job.spec.issue.number)}) or SKIPS.search(said) is not None


def holds_secrets(job: Job, workspace: Workspace, carried: Sequence[str]) -> bool:
    """Whether commits that were not pushed yet hold, in files that changed again or in messages, what may not be."""
    store, start, head = job.store, workspace.unpushed_from, workspace.head
    known = {entry.blob for sha in (workspace.base, start, head) for entry in store.entries(sha)}
    rows = {
        row.new_blob.encode(): row for row in store.history(start, head, workspace.base) if row.new_blob not in known
    }
    rows = {blob: row for blob, row in rows.items() if int(row.new_mode, 8) not in {MODE_ABSENT, MODE_GITLINK}}
    old = {row.path: row.old_blob for row in store.changes(workspace.base, head) if int(row.old_mode, 8)}

    def read(name: bytes) -> bytes:
        if name == MESSAGES:
            return store.git.run("log", "--format=%an%n%ae%n%cn%n%ce%n%B", head, f"^{start}", f"^{workspace.base}")
        return store.git.call("cat-file", "blob", name.decode(), cap=MAX_CONTENT + 1).stdout

    def read_base(name: bytes) -> bytes | None:
        return read(old[rows[name].path].encode()) if name in rows and rows[name].path in old else None

    files = (*(Changed(blob, MODE_FILE, MODE_FILE) for blob in rows), Changed(MESSAGES, MODE_ABSENT, MODE_FILE))
    change = Change(files, (), read, read_base, (), carried=tuple(carried))
    return secrets(change).holds_back
