"""Work trees that are nobody's any more: of runs that were killed, and of plans that have ended."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from runner import folders, sessions
from runner.git import GitError
from runner.place import Place
from runner.store import ObjectStore, StoreError
from runner.worktree import clear, forget

if TYPE_CHECKING:
    from pathlib import Path


def clean_leftovers(home: Path) -> tuple[str, ...]:
    """At start: salvage and remove the workspaces of killed runs; return a sentence for each.

    One that can't be salvaged stays as it is, and holds up no other plan.
    """
    sentences = []
    for folder in sorted((home / "worktrees").glob("[0-9]*/*")):
        try:
            sentences.append(clean_leftover(home, int(folder.parent.name), folder.name))
        except (ValueError, OSError, GitError, StoreError) as error:
            sentences.append(f"{folder} was left as it is, since it can't be salvaged: {error}")
    return tuple(sentence for sentence in sentences if sentence)


def clean_leftover(home: Path, repository_id: int, plan_uid: str) -> str | None:
    """Salvage and remove a plan's workspace where a killed run left one; return a sentence, None where it did not.

    Raises GitError, StoreError, OSError.
    """
    place = Place(home, repository_id, plan_uid)
    if not os.path.lexists(place.folder):
        return None
    lock = place.hold()
    if lock is None:
        return None
    with lock:
        state = place.state()
        if state and state.step == "closed":
            return None
        saved = clear(ObjectStore(home, repository_id), plan_uid, lock)
    kept = f" Its unpushed work is kept as {saved[:10]}." if saved else ""
    return f"Plan {plan_uid} was interrupted; its work tree was removed.{kept}"


def remove_workspace(home: Path, repository_id: int, plan_uid: str) -> bool:
    """Remove all that is kept of a plan that has ended: folder, refs, salvage, sessions.

    False where a job is still at work on it.
    """
    lock = Place(home, repository_id, plan_uid).hold()
    if lock is None:
        return False
    with lock:
        store = ObjectStore(home, repository_id)
        forget(store, plan_uid)
        store.drop_salvage(plan_uid)
        folders.remove(sessions.place(home, repository_id, plan_uid))
    return True
