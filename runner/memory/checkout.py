"""The lessons of a checkout, read from one commit; and a branch that removes some, made without touching anything else.

Everything happens in git's objects: the current branch, the work tree and its index stay as they are, so a bare
repository, a detached HEAD and a linked work tree are all the same here.
"""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from runner.commits import Commits
from runner.git import Git, GitError, discover, display, identity
from runner.memory.files import FOLDER, MAX_FILE, LessonFile, read
from runner.memory.staleness import Paths, stale
from runner.program import OVERRIDES, MemoryBudget, memory_of, reader
from runner.results import Unit

if TYPE_CHECKING:
    from collections.abc import Sequence

KEPT = b".gitkeep"
"""A file that keeps an empty folder; no lesson, and no damaged one."""


LINK = "It is no plain file."
"""What is wrong with a link, or another repository, in the place of a lesson."""


class CheckoutError(Exception):
    """What was asked for can't be done here; the message says why, and what to do."""


@dataclass(frozen=True)
class Checkout:
    """A repository at a commit."""

    git_dir: Path
    top: Path | None
    """The root of the work tree, None in a bare repository."""
    commit: str
    lessons: tuple[LessonFile, ...]
    damaged: dict[str, str]
    """Files in the place of lessons that are none: path to what is wrong."""

    @classmethod
    def open(cls, folder: Path, revision: str = "HEAD") -> Checkout:
        """Return the repository that ``folder`` lies in; raises :class:`CheckoutError`."""
        try:
            git_dir, top = discover(folder)
        except (GitError, OSError):
            raise CheckoutError(f"{folder} is in no git repository: run this in a checkout, or name one.") from None
        store = Commits(git_dir)
        commit = None if revision.startswith("-") else store.ref(f"{revision}^{{commit}}")
        if commit is None:
            raise CheckoutError(f"{revision!r} is no commit of {git_dir}: commit something first, or name another.")
        paths = [path for path in store.files(commit, [OVERRIDES.encode()]) if FOLDER in path]
        contents = store.contents(commit, [p for p in paths if not p.endswith(KEPT)], MAX_FILE + 1)
        found: dict[str, LessonFile | str] = {display(p): LINK for p in paths if not p.endswith(KEPT)}
        found |= {display(path): read(display(path), data) for path, data in contents.items()}
        lessons = tuple(lesson for lesson in found.values() if isinstance(lesson, LessonFile))
        damaged = {path: fault for path, fault in found.items() if isinstance(fault, str)}
        return cls(git_dir, top, commit, lessons, damaged)

    def stale(self) -> dict[str, str]:
        """Return the stale lessons: path to reason."""
        return stale(self.lessons, Paths(Commits(self.git_dir).files(self.commit)))

    def budget(self, unit: Unit) -> MemoryBudget:
        """Return what the unit's memory holds, by the commit's instructions; the default where these are not valid."""
        return memory_of(unit, reader(Commits(self.git_dir), self.commit))

    def named(self, name: str) -> str:
        """Return the path of the one lesson or damaged file of that path, name or end of a path."""
        paths = [*(lesson.path for lesson in self.lessons), *self.damaged]
        found = [path for path in paths if path == name or path.endswith(f"/{name}")]
        if len(found) == 1:
            return found[0]
        if found:
            raise CheckoutError(f"{name!r} is the name of several lessons: {', '.join(found)}. Give one whole path.")
        places = [Path(name), *(Path(OVERRIDES) / unit / "Memory" / name for unit in Unit)]
        there = self.top is not None and any((self.top / place).is_file() for place in places)
        more = " It lies in the work tree and is not committed: remove the file itself." if there else ""
        raise CheckoutError(f"{name!r} is no lesson of commit {self.commit[:10]}.{more} See `twogate memory list`.")

    def prune(self, paths: Sequence[str], branch: str, message: str) -> str:
        """Make ``branch`` with one commit that removes ``paths``, and return the commit.

        Raises :class:`CheckoutError`, also where a file is changed in the work tree: what is removed would be another
        text than the one that lies there.
        """
        store, ref = Commits(self.git_dir), f"refs/heads/{branch}"
        if store.git.call("check-ref-format", ref).returncode:
            raise CheckoutError(f"{branch!r} can't be the name of a branch.")
        if store.ref(ref) is not None:
            raise CheckoutError(f"There is a branch {branch} already: delete it, or name another with --branch.")
        for path in paths:
            self._require_unchanged(path)
        try:
            sha = self._commit(paths, message)
            store.git.run("update-ref", ref, sha, "0" * len(sha))
        except GitError as error:
            raise CheckoutError(f"The branch could not be made, and nothing has changed. {error}") from error
        return sha

    def _require_unchanged(self, path: str) -> None:
        """Compare a file with the commit, line ends aside; one that is not there is as good as removed."""
        try:
            there = (self.top / path).read_bytes() if self.top else None
        except OSError:
            return
        committed = Commits(self.git_dir).read(self.commit, path.encode())
        if there is not None and committed is not None and _plain(there) != _plain(committed):
            raise CheckoutError(f"{path} has changes that are not committed: commit or discard them first.")

    def _commit(self, paths: Sequence[str], message: str) -> str:
        with tempfile.TemporaryDirectory() as scratch:
            git = Git(self.git_dir, index=Path(scratch) / "index", environment=identity(self.git_dir))
            git.run("read-tree", self.commit)
            listed = b"".join(b"0 %b\t%b\0" % (b"0" * len(self.commit), path.encode()) for path in paths)
            git.run("update-index", "-z", "--index-info", stdin=listed)
            tree = git.run("write-tree").decode("ascii").strip()
            made = git.run("commit-tree", "-p", self.commit, "-F", "-", tree, stdin=message.encode())
        return made.decode("ascii").strip()


def _plain(data: bytes) -> bytes:
    return data.replace(b"\r\n", b"\n")
