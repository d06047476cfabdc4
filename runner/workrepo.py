"""The repository that a work tree belongs to: a run's own, thrown away and made anew before each use.

``git worktree add`` makes the tree in a bare repository of the plan, which borrows the objects of the runner's store
(``objects/info/alternates``) and holds two refs. An agent may do in it what it likes: install hooks, set config, stash,
branch, collect garbage. Nothing of that reaches another plan or the store, and git of the runner never runs in it once
it has been handed out. Read back are three things, as plain bytes: HEAD, the plan's branch, and the objects below it,
which enter the store only through ``index-pack --strict``.
"""

from __future__ import annotations

import os
import re
import tempfile
from dataclasses import dataclass
from typing import TYPE_CHECKING

from runner import snapshot
from runner.folders import fresh, remove
from runner.git import OBJECT_NAME, Git, GitError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from runner.commits import Commits

PACK_CAP = 2_000_000_000
"""Bytes of objects that one run may add to the store."""
ADMIN = "worktrees/tree"
"""Where a repository keeps what belongs to its one work tree."""
OBJECT_FOLDER = re.compile(r"[0-9a-f]{2}|pack|info")
"""What a folder of objects consists of."""


class DamagedError(Exception):
    """The repository of a work tree is not usable any more; the message says what is wrong with it."""


class WrongBranchError(Exception):
    """HEAD is not on the plan's branch; the message says where it is."""


@dataclass(frozen=True)
class WorkRepository:
    """``repository`` and the ``tree`` that it is attached to; ``branch`` is None for a detached HEAD."""

    store: Commits
    repository: Path
    tree: Path
    branch: str | None

    @property
    def objects(self) -> Path:
        """The folder of objects that is borrowed."""
        return self.store.path / "objects"

    def build(self, head: str, base: str, index: Path, merging: str | None = None) -> None:
        """Make the repository anew at ``head``, with a copy of ``index``, and attach the tree as it lies there."""
        remove(self.repository)
        environment = {"GIT_ALTERNATE_OBJECT_DIRECTORIES": str(self.objects)}
        git = Git(self.repository, environment=environment)
        algorithm = "sha1" if len(head) == 40 else "sha256"  # noqa: PLR2004 - hexadecimal digits of SHA-1
        git.run("init", "--quiet", "--bare", "--template=", f"--object-format={algorithm}", str(self.repository))
        (self.repository / "objects/info/alternates").write_text(f"{self.objects}\n")
        git.run("update-ref", "refs/remotes/origin/base", base)
        scratch = fresh(self.repository.parent / "attach")
        what = ["--no-track", "-b", self.branch] if self.branch else ["--detach"]
        git.run("worktree", "add", "--quiet", "--no-checkout", *what, str(scratch / "tree"), head)
        self._attach(scratch, index, merging)

    def _attach(self, scratch: Path, index: Path, merging: str | None) -> None:
        pointer, admin = self.tree / ".git", self.repository / ADMIN
        remove(pointer)
        (scratch / "tree/.git").replace(pointer)
        remove(scratch)
        (admin / "gitdir").write_text(f"{pointer}\n")
        (admin / "index").write_bytes(index.read_bytes())
        if merging:
            (admin / "MERGE_HEAD").write_text(f"{merging}\n")

    def pointers(self) -> snapshot.Snapshot:
        """Return the bytes of what ties tree and repository together."""
        admin = self.repository / ADMIN
        paths = (self.tree / ".git", admin / "gitdir", admin / "commondir", self.repository / "objects/info/alternates")
        return {str(path): snapshot.read(path) for path in paths}

    def is_sparse(self) -> bool:
        """Whether the agent left a part of the files out of its work tree (git-sparse-checkout(1))."""
        return os.path.lexists(self.repository / ADMIN / "info" / "sparse-checkout")

    def tip(self) -> str:
        """Return the commit that the plan's branch is at; raise WrongBranchError, DamagedError."""
        name = f"refs/heads/{self.branch}"
        head = snapshot.read(self.repository / ADMIN / "HEAD")
        if OBJECT_NAME.fullmatch(head.strip()):
            raise WrongBranchError(f"HEAD is detached at {head.strip()[:10]}.")
        if head != f"ref: {name}\n":
            raise WrongBranchError(f"HEAD is at {head.strip()[:200]!r} instead of {name!r}.")
        loose = snapshot.read(self.repository / name).strip()
        if OBJECT_NAME.fullmatch(loose):
            return loose
        packed = snapshot.read(self.repository / "packed-refs").splitlines()
        found = [row.partition(" ")[0] for row in packed if row.partition(" ")[2] == name]
        if len(found) == 1 and OBJECT_NAME.fullmatch(found[0]):
            return found[0]
        raise WrongBranchError(f"The branch {self.branch} does not exist any more.")

    def import_objects(self, tip: str, known: Sequence[str]) -> None:
        """Bring what ``tip`` has beyond the ``known`` commits into the store; raise DamagedError.

        The folder is the agent's: what could lead elsewhere (``info/``, links) is taken out or refused first. The pack
        is rebuilt from contents, checked object by object, and must be complete.
        """
        borrowing = self.repository / "objects"
        _disarm(borrowing)
        places = {"GIT_OBJECT_DIRECTORY": str(borrowing), "GIT_ALTERNATE_OBJECT_DIRECTORIES": str(self.objects)}
        wanted = "".join([f"{tip}\n", *(f"^{sha}\n" for sha in known)]).encode()
        anew = ("--revs", "--stdout", "--quiet", "--no-reuse-delta", "--no-reuse-object")
        git = self.store.git
        try:
            with tempfile.TemporaryFile(dir=self.repository.parent) as pack:
                git.run("pack-objects", *anew, stdin=wanted, stdout=pack, cap=PACK_CAP, environment=places)
                pack.seek(0)
                git.run("index-pack", "--strict", "--stdin", stdin=pack)
            git.run("rev-list", "--objects", "--quiet", "--stdin", stdin=wanted)
        except GitError as error:
            raise DamagedError(f"The objects of commit {tip[:10]} are incomplete or malformed: {error}") from error


def _disarm(objects: Path) -> None:
    """Leave nothing but plain folders and files of objects."""
    if objects.is_symlink() or not objects.is_dir():
        raise DamagedError("The folder of objects was replaced.")
    with os.scandir(objects) as found:
        entries = list(found)
    for entry in entries:
        if not OBJECT_FOLDER.fullmatch(entry.name) or not entry.is_dir(follow_symlinks=False) or entry.name == "info":
            remove(objects / entry.name)
            continue
        with os.scandir(entry) as inside:
            odd = [inner.name for inner in inside if not inner.is_file(follow_symlinks=False)]
        if odd:
            raise DamagedError(f"The folder of objects holds what is no file: {entry.name}/{odd[0]}.")
