"""The object store of one repository on this runner: the only repository in which the runner itself uses git."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from runner.git import Auth, Change


class StoreError(Exception):
    """A sentence about the repository that cannot be served, and what to do."""


class EmptyRepositoryError(StoreError):
    """The remote repository has no commit yet."""


class PushRejectedError(StoreError):
    """The remote branch is not where it was expected, or the server refused the push."""


@dataclass(frozen=True)
class DiffStat:
    """Added and removed lines of one path, None for a binary file."""

    path: bytes
    added: int | None
    removed: int | None


@dataclass(frozen=True)
class Checkout:
    """A fresh work tree of one commit, for the gates whose verdict counts."""

    sha: str
    tree: Path
    home: Path
    tmp: Path


class ObjectStore:
    """Bare ``repos/<id>.git`` below ``home``, made on first use; every change is made under a lock of its own."""

    def __init__(self, home: Path, repository_id: int) -> None:
        self.home, self.repository_id = home, repository_id
        self.path = home / "repos" / f"{repository_id}.git"

    def fetch(
        self, url: str, branches: Sequence[str], shas: Sequence[str] = (), auth: Auth | None = None
    ) -> dict[str, str]:
        """Fetch branches (kept under ``refs/remotes/origin/``) and single commits; return the tips of those that exist.

        Raises EmptyRepositoryError for a repository without commits, StoreError where a commit cannot be had.
        """
        raise NotImplementedError

    def remote_tip(self, url: str, branch: str, auth: Auth | None = None) -> str | None:
        """Return the commit of a remote branch, None where there is none."""
        raise NotImplementedError

    def push(self, url: str, sha: str, branch: str, *, expect: str | None, auth: Auth | None = None) -> None:
        """Push one commit to one branch that must be at ``expect`` (None: must not exist), and read it back.

        Raises PushRejectedError.
        """
        raise NotImplementedError

    def delete_remote_branch(self, url: str, branch: str, *, expect: str, auth: Auth | None = None) -> None:
        """Delete a remote branch that is still at ``expect``."""
        raise NotImplementedError

    def has(self, sha: str) -> bool:
        """Whether the commit is in the store."""
        raise NotImplementedError

    def tree(self, sha: str) -> str:
        """Return the tree of a commit."""
        raise NotImplementedError

    def is_ancestor(self, ancestor: str, sha: str) -> bool:
        """Whether ``ancestor`` is ``sha`` or lies before it."""
        raise NotImplementedError

    def merge_base(self, one: str, other: str) -> str | None:
        """Return the best common ancestor, None where there is none."""
        raise NotImplementedError

    def count_commits(self, base: str, head: str) -> int:
        """Return how many commits ``head`` has that ``base`` has not."""
        raise NotImplementedError

    def changes(self, base: str, head: str, *, renames: bool = False) -> tuple[Change, ...]:
        """Return the changed paths between two commits."""
        raise NotImplementedError

    def diff_stat(self, base: str, head: str) -> tuple[DiffStat, ...]:
        """Return added and removed lines a path."""
        raise NotImplementedError

    def patch(self, base: str, head: str, cap: int, paths: Sequence[bytes] = ()) -> tuple[bytes, bool]:
        """Return the patch, at most ``cap`` bytes, and whether it was cut."""
        raise NotImplementedError

    def files(self, sha: str, paths: Sequence[bytes] = ()) -> tuple[bytes, ...]:
        """Return the paths of a commit."""
        raise NotImplementedError

    def read(self, sha: str, path: bytes, cap: int = 1_000_000) -> bytes | None:
        """Return a regular file of a commit, None where there is none; StoreError when larger than ``cap``."""
        raise NotImplementedError

    def merge_conflicts(self, base: str, head: str) -> tuple[bytes, ...]:
        """Return the paths that conflict when ``base`` is merged into ``head``, empty for a clean merge."""
        raise NotImplementedError

    def fresh_checkout(self, sha: str, folder: Path, owner: tuple[int, int] | None = None) -> Checkout:
        """Check a commit out into ``folder`` (removed first), for verification; plain files, no path to the store."""
        raise NotImplementedError

    def salvaged(self) -> dict[str, str]:
        """Return the salvage refs: plan uid to commit."""
        raise NotImplementedError

    def drop_salvage(self, plan_uid: str) -> None:
        """Forget a plan's salvaged work."""
        raise NotImplementedError
