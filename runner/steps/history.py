"""What would be pushed besides the files: commits on the way to them, and their messages.

A secret that an attempt committed and the next took out again stands in the history for good once that is pushed. Such
commits are never pushed: one commit with the same files takes their place.
"""

from __future__ import annotations

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
