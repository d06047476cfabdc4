"""Files of a work tree that git opens to learn what to do: an agent can leave one on which git would wait for ever.

``.gitignore``, ``.gitattributes`` and ``.gitmodules`` are opened wherever they lie, and so is what makes a folder with
a ``.git`` a repository. Git reads each without asking what it is: a named pipe holds it up until its deadline, a file
of many gigabytes takes as much memory. Both are removed before git looks, and told.
"""

from __future__ import annotations

import os
import stat
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

NAMES = frozenset({b".gitignore", b".gitattributes", b".gitmodules"})
"""Files that steer git in the folder they lie in, and below."""
STEERING_CAP = 5_000_000
"""Bytes of such a file; the longest known are a hundredth of it."""
REPOSITORY = (b"HEAD", b"commondir")
"""What git opens of a folder to know whether it is a repository."""
NO_FILE = "is neither a file nor a link."


def disarm(tree: bytes) -> dict[bytes, str]:
    """Remove what git would wait for or choke on; return its path relative to ``tree``, and why. Follows no link."""
    faults = {path: fault for path, fault in _traps(tree) if _removed(path)}
    return {os.path.relpath(path, tree): fault for path, fault in faults.items()}


def _traps(tree: bytes) -> Iterator[tuple[bytes, str]]:
    for folder, folders, files in os.walk(tree):
        inside_git = b"/.git/" in folder[len(tree) :] + b"/"
        if folder == tree:
            folders[:] = [name for name in folders if name != b".git"]
            files = [name for name in files if name != b".git"]  # noqa: PLW2901
        for name in files:
            path = os.path.join(folder, name)  # noqa: PTH118 - a path of bytes
            if (inside_git or name in NAMES) and (fault := _fault(path)):
                yield path, fault
        if b".git" in files or b".git" in folders:
            pointer = os.path.join(folder, b".git")  # noqa: PTH118
            if not _is_folder(pointer) and any(_waits(os.path.join(_target(pointer), part)) for part in REPOSITORY):  # noqa: PTH118
                yield pointer, "points to what is no repository."


def _fault(path: bytes) -> str | None:
    found = os.lstat(path)
    if stat.S_ISREG(found.st_mode):
        return f"has {found.st_size} bytes, too many for its kind." if found.st_size > STEERING_CAP else None
    return None if stat.S_ISLNK(found.st_mode) else NO_FILE


def _is_folder(path: bytes) -> bool:
    return stat.S_ISDIR(os.lstat(path).st_mode)


def _target(pointer: bytes) -> bytes:
    """Return the folder that a ``.git`` file or link names, as git reads it."""
    folder = os.path.dirname(pointer)  # noqa: PTH120
    found = os.lstat(pointer)
    if stat.S_ISLNK(found.st_mode):
        return pointer
    if not stat.S_ISREG(found.st_mode):
        return folder
    with os.fdopen(os.open(pointer, os.O_RDONLY | os.O_NOFOLLOW), "rb") as file:
        named = file.read(4_096).removeprefix(b"gitdir:").strip().split(b"\n")[0]
    return os.path.join(folder, named.replace(b"\0", b""))  # noqa: PTH118


def _waits(path: bytes) -> bool:
    try:
        found = os.stat(path).st_mode  # noqa: PTH116
    except OSError:
        return False
    return not stat.S_ISREG(found) and not stat.S_ISDIR(found)


def _removed(path: bytes) -> bool:
    try:
        os.unlink(path)  # noqa: PTH108
    except OSError:
        return False
    return True
