"""Versions of a unit's instructions: of the work tree, of a revision, of a file, or those that come with Twogate."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

from runner.git import Git, GitError
from runner.program import BUILT_IN, OVERRIDES, load

if TYPE_CHECKING:
    from pathlib import Path

    from runner.results import Unit

WORK_TREE, SHIPPED = "work-tree", "built-in"
"""Words that name a version beside files and revisions."""


class VersionError(Exception):
    """A version can't be had; the message says why."""


@dataclass(frozen=True)
class Version:
    """One version of a Program.md."""

    name: str
    data: bytes

    @property
    def sha256(self) -> str:
        """Return the hash of the file."""
        return hashlib.sha256(self.data).hexdigest()


def root_of(folder: Path) -> Path:
    """Return the root of the checkout that ``folder`` lies in; raises :class:`VersionError` outside of one."""
    found = next((path for path in (folder, *folder.parents) if (path / ".git").exists()), None)
    if found is None:
        raise VersionError(f"{folder} is in no checkout of git: run this in the repository whose units are measured.")
    return found


def version_of(word: str, root: Path, unit: Unit) -> Version:
    """Return the version that ``word`` names: a file, ``work-tree``, ``built-in``, else a revision.

    Where the repository has no version of its own there, it is the one that comes with Twogate: that is what would
    run. Raises :class:`VersionError`, also where the version is not valid.
    """
    found = Version(word, _data(word, root, unit) or (BUILT_IN / unit / "Program.md").read_bytes())
    try:
        load(unit, lambda path: found.data if path == place(unit) else None)
    except Exception as error:
        raise VersionError(f"{word}: {error}") from error
    return found


def place(unit: Unit) -> str:
    """Return where a repository keeps its own version of ``unit``."""
    return f"{OVERRIDES}/{unit}/Program.md"


def _data(word: str, root: Path, unit: Unit) -> bytes | None:
    ours = f"promptware/{unit}/Program.md"
    places = (place(unit), ours) if (root / "promptware" / "schemas").is_dir() else (place(unit),)
    if word == SHIPPED:
        return None
    if word == WORK_TREE:
        files = [root / path for path in places]
    elif (root / word).is_file():
        files = [root / word]
    else:
        return _at(word, root, places)
    try:
        return next((file.read_bytes() for file in files if file.is_file()), None)
    except OSError as error:
        raise VersionError(f"{error.filename} can't be read: {error.strerror}.") from None


def _at(revision: str, root: Path, places: tuple[str, ...]) -> bytes | None:
    """Return the file of a revision, None where it has none."""
    git = Git(root / ".git")
    try:
        commit = git.run("rev-parse", "--verify", "--end-of-options", f"{revision}^{{commit}}").decode().strip()
    except GitError:
        raise VersionError(
            f"{revision!r} is neither a file nor a revision of {root}; {WORK_TREE} and {SHIPPED} are known words."
        ) from None
    answers = (git.call("cat-file", "blob", f"{commit}:{path}") for path in places)
    return next((answer.stdout for answer in answers if answer.returncode == 0), None)
