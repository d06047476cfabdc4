"""Where a plan's workspace lies on this runner: its folder, its lock, and the state that survives a crash."""

from __future__ import annotations

import json
import os
import re
import time
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Self

from runner.locks import POLL_SECONDS, flock
from runner.store import StoreError

if TYPE_CHECKING:
    from pathlib import Path

PLAN_UID = re.compile(r"[a-z0-9]{1,64}")
"""What may become the name of a folder and a ref."""

UNNAMED = "work"
"""Stands for a job that has no name of its own."""


class Lock:
    """A lock on a plan until it is closed, forgotten, or the process dies: then nobody is at work on the plan."""

    def __init__(self, handle: int) -> None:
        self._handle: int | None = handle

    def close(self) -> None:
        """Let go; once more does nothing."""
        if self._handle is not None:
            os.close(self._handle)
            self._handle = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __del__(self) -> None:
        self.close()


@dataclass(frozen=True)
class State:
    """What ``state.json`` says."""

    step: str
    """``making``, then ``open``, ``closed`` once a job ended in good order."""
    branch: str
    base: str
    head: str
    """Tip of the branch as the runner knows it."""
    merging: str | None = None
    """A commit that is being merged in: the next commit's second parent."""
    job: str = UNNAMED
    """Whose workspace it is; names the salvage."""
    begun: str = ""
    """The commit that the work tree was made at, which the branch may not go behind: it is others' or was shown."""
    kept_out: tuple[str, ...] = ()
    """Paths that the runner brought along (``carry``): never committed, neither they nor what lies below."""


@dataclass(frozen=True)
class Place:
    """One plan of one repository below ``home``. Raises StoreError for a name that could lead elsewhere."""

    home: Path
    repository_id: int
    plan_uid: str

    def __post_init__(self) -> None:
        if not PLAN_UID.fullmatch(self.plan_uid):
            raise StoreError(f"{self.plan_uid!r} is not the identifier of a plan.")

    @property
    def folder(self) -> Path:
        """Everything of the workspace."""
        return self.home / "worktrees" / str(self.repository_id) / self.plan_uid

    def hold(self) -> Lock | None:
        """Take the plan's lock, None where another job has it."""
        path = self._lock_file
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o600)
        if not flock(handle):
            os.close(handle)
            return None
        if not path.exists() or not os.path.samestat(os.fstat(handle), path.stat()):
            os.close(handle)  # forgotten by whoever held it before
            return self.hold()
        return Lock(handle)

    def wait(self, seconds: float) -> Lock:
        """Take the plan's lock, waiting for it; raises StoreError where another job keeps it."""
        end = time.monotonic() + seconds
        while (lock := self.hold()) is None:
            if time.monotonic() > end:
                raise StoreError(f"Another job of plan {self.plan_uid} is at work on this machine; say /retry later.")
            time.sleep(POLL_SECONDS)
        return lock

    def forget(self) -> None:
        """Remove the lock's file where nobody holds it and nothing is left to lock."""
        if (lock := self.hold()) is not None:
            with lock:
                if not os.path.lexists(self.folder):
                    self._lock_file.unlink()

    @property
    def _lock_file(self) -> Path:
        return self.home / "locks" / f"{self.repository_id}-{self.plan_uid}.lock"

    def save(self, state: State) -> None:
        """Write the state so that it is there whole or not at all."""
        draft = self.folder / "state.draft"
        draft.write_text(json.dumps(asdict(state)), encoding="utf-8")
        draft.replace(self.folder / "state.json")

    def forget_state(self) -> None:
        """Remove the state, which needs no room on the disk: without it nothing here is anybody's work."""
        (self.folder / "state.json").unlink(missing_ok=True)

    def state(self) -> State | None:
        """Read the state, None where there is none that can be read."""
        try:
            return State(**json.loads((self.folder / "state.json").read_text(encoding="utf-8")))
        except (OSError, ValueError, TypeError):
            return None


def list_workspaces(home: Path, repository_id: int) -> tuple[str, ...]:
    """Return the plan uids that have a folder on this runner."""
    return tuple(sorted(folder.name for folder in (home / "worktrees" / str(repository_id)).glob("*")))
