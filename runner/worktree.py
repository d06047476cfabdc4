"""One plan's work tree and branch: made, frozen, inspected after the agent, committed, removed."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from runner.git import Change
from runner.store import DiffStat, ObjectStore


class Finding(StrEnum):
    """What an inspection can find wrong, worst first."""

    DAMAGED = "damaged"
    WRONG_BRANCH = "wrong_branch"
    FOREIGN_REFS = "foreign_refs"
    REFUSED_FILES = "refused_files"


@dataclass(frozen=True)
class Author:
    """Who a commit is by."""

    name: str
    email: str


@dataclass(frozen=True)
class Inspection:
    """What the agent left behind, read without running git in anything that it could write."""

    finding: Finding | None
    """None: all as it should be."""
    sentences: tuple[str, ...]
    """What was found and what was done about it, for the report."""
    tip: str | None
    """The commit of the plan's branch as the agent left it, already in the store; None where it is not usable."""


@dataclass(frozen=True)
class Mounts:
    """What a sandbox must show of a workspace."""

    cwd: Path
    home: Path
    tmp: Path
    writable: tuple[Path, ...]
    readonly: tuple[Path, ...]


class Workspace:
    """A plan's folder ``worktrees/<repository>/<plan>/``: ``tree``, ``home``, ``tmp`` and what the runner keeps."""

    plan_uid: str
    branch: str
    base: str
    folder: Path
    tree: Path
    home: Path
    tmp: Path
    head: str
    """Tip of the branch as the runner knows it."""

    @classmethod
    def open(
        cls,
        store: ObjectStore,
        *,
        plan_uid: str,
        branch: str,
        base: str,
        head: str | None = None,
        owner: tuple[int, int] | None = None,
    ) -> Workspace:
        """Make the work tree at ``head`` (or ``base``), after clearing and salvaging what an earlier run left.

        ``owner`` is the uid and gid that the tree, HOME and TMP are given to. Raises StoreError, GitError.
        """
        raise NotImplementedError

    def mounts(self, *, read_only: bool = False) -> Mounts:
        """Return what the sandbox must show; with ``read_only`` the tree and repository can't be written."""
        raise NotImplementedError

    def freeze(self) -> None:
        """Remember the bytes of everything an agent must not change; call right before the agent starts."""
        raise NotImplementedError

    def inspect(self) -> Inspection:
        """Judge what the agent left and repair what it broke, so that the files survive; call after it has ended."""
        raise NotImplementedError

    def commit(self, message: str, author: Author, *, when: float | None = None) -> str | None:
        """Commit the tree as it lies on disk on top of the branch; None where nothing changed."""
        raise NotImplementedError

    def is_clean_against(self, sha: str) -> bool:
        """Whether the files on disk, ignored ones apart, are exactly those of the commit."""
        raise NotImplementedError

    def changes(self) -> tuple[Change, ...]:
        """Return the changed paths between base and the branch."""
        raise NotImplementedError

    def diff_stat(self) -> tuple[DiffStat, ...]:
        """Return added and removed lines a path between base and the branch."""
        raise NotImplementedError

    def patch(self, cap: int) -> tuple[bytes, bool]:
        """Return the patch from base to the branch, at most ``cap`` bytes, and whether it was cut."""
        raise NotImplementedError

    def merge_base_in(self, base: str) -> tuple[bytes, ...]:
        """Merge ``base`` into the tree; the conflicting paths hold markers for the agent, the next commit has two parents."""
        raise NotImplementedError

    def salvage(self) -> str | None:
        """Keep unpushed work under ``refs/twogate/salvage/<plan_uid>``; return its commit, None where there is none."""
        raise NotImplementedError

    def remove(self) -> None:
        """Remove the folder and the plan's refs, salvage apart."""
        raise NotImplementedError


def clean_leftovers(home: Path) -> tuple[str, ...]:
    """At start: salvage and remove half-made workspaces of killed runs; return a sentence for each."""
    raise NotImplementedError


def list_workspaces(home: Path, repository_id: int) -> tuple[str, ...]:
    """Return the plan uids that have a folder on this runner."""
    raise NotImplementedError


def remove_workspace(home: Path, repository_id: int, plan_uid: str) -> None:
    """Remove the folder and refs of a plan that has ended."""
    raise NotImplementedError
