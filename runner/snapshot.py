"""The bytes of what steers a repository: everything but its objects. Read and compared without running git.

Config, hooks, ``info/``, refs, HEAD, packed-refs and what points to other object folders are small files; whoever
changes one of them changes what git does. They are kept as they are, so that they can be put back.
"""

from __future__ import annotations

import json
import os
import stat
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


FILE_CAP = 50_000_000
"""Bytes of one such file that are compared; the rest of a larger one steers nothing that this program reads."""

Snapshot = dict[str, str]
"""Path below the repository to what it is: its bytes (as Latin-1 text, which keeps each), or its kind if no file."""


def take(repository: Path) -> Snapshot:
    """Read every steering file of a bare repository."""
    found: Snapshot = {}
    for folder, names, files in os.walk(repository):
        below = os.path.relpath(folder, repository)
        if below == "objects":
            names[:] = [name for name in names if name == "info"]
            files = []  # noqa: PLW2901 - loose files among the objects steer nothing
        for name in [*files, *(n for n in names if os.path.islink(os.path.join(folder, n)))]:  # noqa: PTH114, PTH118
            path = repository / below / name
            found[os.path.normpath(f"{below}/{name}")] = read(path)
    return found


def read(path: Path) -> str:
    """Return a regular file's bytes as Latin-1, or a word for what else there is; never follows a link or waits."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        return "<absent>"
    except OSError:
        return "<not a readable file>"
    try:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            return "<not a readable file>"
        return os.read(handle, FILE_CAP).decode("latin-1")
    finally:
        os.close(handle)


def differences(before: Snapshot, after: Snapshot) -> tuple[str, ...]:
    """Return the paths that came, went or changed."""
    return tuple(sorted(name for name in before.keys() | after.keys() if before.get(name) != after.get(name)))


def restore(repository: Path, before: Snapshot) -> None:
    """Make the steering files what they were."""
    for name in differences(before, take(repository)):
        path = repository / name
        if os.path.lexists(path):
            path.unlink()
        if name in before:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(before[name].encode("latin-1"))


def save(path: Path, snapshot: Snapshot) -> None:
    """Write a snapshot so that it is there whole or not at all."""
    draft = path.with_suffix(".draft")
    draft.write_text(json.dumps(snapshot), encoding="utf-8")
    draft.replace(path)


def load(path: Path) -> Snapshot | None:
    """Read a saved snapshot, None where there is none."""
    try:
        snapshot: Snapshot = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    return snapshot
