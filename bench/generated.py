"""A generated repository for the measures of the runner: as large as a big project, the same each time."""

from __future__ import annotations

import os
import subprocess
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

FILES = 20_000
"""Files of the generated repository; about 70 MB checked out."""
LINES = 60
"""Lines of each file, so that contents differ and compress as source code does."""
BRANCHES = 20
"""Branches of other plans, every other one in conflict with the first."""
ENVIRONMENT = {
    "PATH": os.defpath,
    "HOME": "/nonexistent",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_AUTHOR_NAME": "A",
    "GIT_AUTHOR_EMAIL": "a@example.org",
    "GIT_COMMITTER_NAME": "A",
    "GIT_COMMITTER_EMAIL": "a@example.org",
}
"""Of every git that is measured as a baseline: no settings of this machine."""


def git(cwd: Path, *arguments: str, given: bytes = b"") -> str:
    """Run git as a person would, and return what it printed."""
    command = ["git", *arguments]
    return subprocess.run(
        command, cwd=cwd, env=ENVIRONMENT, input=given, capture_output=True, check=True
    ).stdout.decode()


def make(origin: Path, files: int = FILES) -> str:
    """Make a bare repository with so many files on ``trunk``; return its commit."""
    origin.mkdir(parents=True)
    git(origin, "init", "-q", "--bare", "-b", "trunk")
    return grow(origin, None, files)


def grow(origin: Path, parent: str | None, files: int = FILES) -> str:
    """Add so many files to ``trunk``; return its new commit."""
    blobs = b"".join(_blob(number) for number in range(files))
    tree = b"".join(b"M 100644 :%d %s\n" % (number + 1, _path(number)) for number in range(files))
    start = parent.encode() if parent else None
    git(origin, "fast-import", "--quiet", given=blobs + _commit(b"trunk", start, tree))
    return git(origin, "rev-parse", "trunk").strip()


def branch_off(origin: Path, base: str) -> dict[str, str]:
    """Make branches ``plan/1`` to ``plan/20``; return their commits."""
    for number in range(1, BRANCHES + 1):
        changed = 0 if number % 2 else number
        text = b"branch %d\n" % number
        change = b"M 100644 inline %s\ndata %d\n%s\n" % (_path(changed), len(text), text)
        git(origin, "fast-import", "--quiet", given=_commit(b"plan/%d" % number, base.encode(), change))
    names = [f"plan/{number}" for number in range(1, BRANCHES + 1)]
    return {name: git(origin, "rev-parse", name).strip() for name in names}


def _path(number: int) -> bytes:
    return b"part%03d/group%d/module%05d.py" % (number % 200, number % 5, number)


def _blob(number: int) -> bytes:
    text = b"".join(b"value_%d_%d = compute(%d)\n" % (number, line, number * line) for line in range(LINES))
    return b"blob\nmark :%d\ndata %d\n%s\n" % (number + 1, len(text), text)


def _commit(branch: bytes, parent: bytes | None, rows: bytes) -> bytes:
    start = b"from %s\n" % parent if parent else b""
    return b"commit refs/heads/%s\ncommitter A <a@example.org> 1700000000 +0000\ndata 1\nx\n%s%s\n" % (
        branch,
        start,
        rows,
    )
