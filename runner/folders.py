"""Folders of a run: made fresh, given to the agent's user, removed, whatever an agent left in them.

``rm`` and ``chown`` of coreutils walk with file descriptors and follow no link, at any depth.
"""

from __future__ import annotations

import os
import subprocess
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

Owner = tuple[int, int]
"""Uid and gid."""
DEADLINE_SECONDS = 300.0
"""For removing or giving away one folder."""


def remove(*paths: Path) -> None:
    """Remove files and folders, also those that an agent made unreadable; raise OSError where one stays."""
    present = [path for path in paths if os.path.lexists(path)]
    if not present:
        return
    if _run("rm", "-rf", "--one-file-system", "--", *present):
        unlock(*present)
        _run("rm", "-rf", "--one-file-system", "--", *present)
    left = next((path for path in present if os.path.lexists(path)), None)
    if left is not None:
        raise OSError(f"{left} can't be removed; remove it by hand.")


def unlock(*paths: Path) -> None:
    """Let the runner into what an agent of the same user made unreadable."""
    _run("chmod", "-R", "u+rwX", "--", *paths)


def give(owner: Owner | None, *paths: Path) -> None:
    """Give folders with everything in them to a user; nothing where ``owner`` is None."""
    if owner and paths and _run("chown", "-hR", f"{owner[0]}:{owner[1]}", "--", *paths):
        raise OSError(f"{paths[0]} can't be given to user {owner[0]}.")


def fresh(path: Path, mode: int = 0o700) -> Path:
    """Make an empty folder, in place of whatever is there."""
    remove(path)
    path.mkdir(parents=True)
    path.chmod(mode)
    return path


def _run(program: str, *arguments: str | Path) -> int:
    return subprocess.run(
        [program, *arguments],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        timeout=DEADLINE_SECONDS,
        check=False,
        close_fds=False,
    ).returncode
