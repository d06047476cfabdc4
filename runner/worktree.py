"""One plan's work tree and branch: made, frozen, inspected after the agent, committed, removed.

``worktrees/<repository>/<plan>/`` holds what the agent's user owns (``tree``, its ``repository.git``, ``home`` and
``tmp``) and what the runner keeps for itself (``state.json``, ``index``). The state is written before anything is made,
and again when it is; a lock that dies with the process tells a killed run from a running one. The runner's git never
runs in ``repository.git`` after an agent had it: see :mod:`runner.workrepo`.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING

from runner import folders, process
from runner.filetree import FileTree
from runner.git import GitError
from runner.place import UNNAMED, Lock, Place, State
from runner.store import TRACKING, ObjectStore, StoreError, salvage_ref
from runner.taking import candidates, objection
from runner.workrepo import DamagedError, WorkRepository, WrongBranchError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from runner.filetree import Candidates
    from runner.folders import Owner
    from runner.git import Change

ANCHOR = "refs/twogate/plans/"
"""One ref a plan: the last commit that the runner knows of."""
PATIENCE = 60.0
"""Seconds that a plan's next job waits for another that salvages what a killed one left."""
RUNNER_NAME, RUNNER_EMAIL = "Twogate", "twogate@users.noreply.github.com"
"""Who commits what is salvaged."""


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
    """The worst; None: all as it should be."""
    sentences: tuple[str, ...]
    """What was found and what was done about it, for the report."""
    tip: str | None
    """The commit of the plan's branch as the agent left it, now in the store; None where it is not usable."""


@dataclass(frozen=True)
class Mounts:
    """What a sandbox must show of a workspace."""

    cwd: Path
    home: Path
    tmp: Path
    writable: tuple[Path, ...]
    readonly: tuple[Path, ...]


class Workspace:
    """A plan's folder, held by one job."""

    def __init__(self, store: ObjectStore, plan_uid: str, state: State, lock: Lock, owner: Owner | None) -> None:
        self.store, self.plan_uid, self.owner = store, plan_uid, owner
        self._place = Place(store.home, store.repository_id, plan_uid)
        self.folder = self._place.folder
        self.tree, self.home, self.tmp = self.folder / "tree", self.folder / "home", self.folder / "tmp"
        self._state, self._lock = state, lock
        self._files = FileTree(store, self.tree, self.folder / "index")
        self._repository = WorkRepository(store, self.folder / "repository.git", self.tree, state.branch)
        self._pointers = self._repository.pointers()

    @property
    def branch(self) -> str:
        """The plan's branch."""
        return self._state.branch

    @property
    def base(self) -> str:
        """The commit that the work is compared with."""
        return self._state.base

    @property
    def head(self) -> str:
        """Tip of the branch as the runner knows it."""
        return self._state.head

    @classmethod
    def open(
        cls,
        store: ObjectStore,
        *,
        plan_uid: str,
        branch: str,
        base: str,
        head: str | None = None,
        owner: Owner | None = None,
        job: str = UNNAMED,
    ) -> Workspace:
        """Make the work tree at ``head`` (or ``base``), after salvaging and clearing what an earlier run left.

        ``owner`` is the uid and gid that the tree, HOME and TMP are given to, ``job`` what the salvage is named after.
        Raises StoreError, GitError.
        """
        for sha in (base, head or base):
            if not store.has(sha):
                raise StoreError(f"Commit {sha} is not in the object store; it has to be fetched first.")
        lock = Place(store.home, store.repository_id, plan_uid).wait(PATIENCE)
        clear(store, plan_uid, lock)
        begun = head or base
        workspace = cls(store, plan_uid, State("making", branch, base, begun, job=job, begun=begun), lock, owner)
        workspace._make()
        return workspace

    def _make(self) -> None:
        self.folder.mkdir(parents=True)
        for folder in (self.folder, self.folder.parent, self.folder.parent.parent):
            folder.chmod(0o711)
        self._save(self._state)
        self.store.set_ref(ANCHOR + self.plan_uid, self.head)
        folders.fresh(self.tree)
        self.empty_home()
        self._files.check_out(self.head)
        folders.give(self.owner, self.tree)
        self.freeze()
        self._save(replace(self._state, step="open"))

    def empty_home(self) -> None:
        """Make HOME and TMP anew: what one agent left there is not for another."""
        for path in (self.home, self.tmp):
            folders.give(self.owner, folders.fresh(path))

    def _save(self, state: State) -> None:
        self._place.save(state)
        self._state = state

    def mounts(self, *, read_only: bool = False) -> Mounts:
        """Return what the sandbox must show; with ``read_only`` the tree and repository can't be written."""
        work, scratch = (self.tree, self._repository.repository), (self.home, self.tmp)
        writable, readonly = (scratch, work) if read_only else ((*work, *scratch), ())
        return Mounts(self.tree, self.home, self.tmp, writable, (*readonly, self.store.objects))

    def freeze(self) -> None:
        """Give the agent a fresh repository and remember what it must not change; call right before it starts."""
        self._repository.build(self.head, self.base, self._files.index, self._state.merging)
        folders.give(self.owner, self._repository.repository, self.tree / ".git")
        self._pointers = self._repository.pointers()

    def inspect(self) -> Inspection:
        """Judge what the agent left and repair what it broke, so that the files survive; call after it has ended."""
        moved = self.store.tampered()
        found = [(Finding.FOREIGN_REFS, f"{name} of the store was changed; it was put back.") for name in moved]
        tip = None
        try:
            self._check_pointers()
            tip = self._without_smuggling(self._take_tip(), found)
            found += [(Finding.REFUSED_FILES, fault) for fault in self._candidates(tip or self.head).refused]
        except DamagedError as error:
            found.append((Finding.DAMAGED, f"{error} The files were kept."))
        except WrongBranchError as error:
            found.append((Finding.WRONG_BRANCH, f"{error} The files were kept, the branch stays at {self.head[:10]}."))
        except GitError as error:
            found.append((Finding.REFUSED_FILES, f"The files can't be read by git: {error}"))
        if tip:
            self._advance(tip)
        else:
            self._repair()
        worst = min((kind for kind, _ in found), key=list(Finding).index, default=None)
        return Inspection(worst, tuple(sentence for _, sentence in found), tip)

    def _check_pointers(self) -> None:
        if self.tree.is_symlink() or not self.tree.is_dir():
            raise DamagedError("The work tree was removed or replaced.")
        if self._repository.pointers() != self._pointers:
            raise DamagedError("What ties the work tree to its repository (.git and what it points to) was changed.")

    def _take_tip(self) -> str:
        """Bring the agent's own commits into the store; return the tip of the branch."""
        tip = self._repository.tip()
        if tip == self.head:
            return tip
        self._repository.import_objects(tip, [self.base, self.head])
        if not self.store.is_ancestor(self.unpushed_from, tip):
            raise WrongBranchError(f"The branch was moved to {tip[:10]}, which does not build on {self.unpushed_from}.")
        return tip

    def _without_smuggling(self, tip: str, found: list[tuple[Finding, str]]) -> str | None:
        """Return ``tip``, or None where commits of the agent hold what may not be pushed: the files are kept."""
        said = objection(self._files, self.head, tip, self._state.kept_out)
        if said:
            found.append((Finding.REFUSED_FILES, said))
        return None if said else tip

    def keep_out(self, paths: Sequence[str]) -> None:
        """Never commit ``paths`` nor what lies below them: files that the runner brought along."""
        self._save(replace(self._state, kept_out=tuple(paths)))

    def _candidates(self, sha: str, *, unfiltered: bool = False) -> Candidates:
        sparse = self._repository.is_sparse()
        return candidates(self._files, sha, self._state.kept_out, unfiltered=unfiltered, sparse=sparse)

    @property
    def unpushed_from(self) -> str:
        """What the branch must go on from: what was pushed of it, or the commit that it was begun from."""
        pushed, begun = self.store.ref(TRACKING + self.branch), self._state.begun or self.base
        onward = pushed and self.store.is_ancestor(begun, pushed) and self.store.is_ancestor(pushed, self.head)
        return pushed if pushed and onward else begun

    def _advance(self, tip: str) -> None:
        if tip != self.head:
            merged = self._state.merging and self.store.is_ancestor(self._state.merging, tip)
            self._save(replace(self._state, head=tip, merging=None if merged else self._state.merging))
            self.store.set_ref(ANCHOR + self.plan_uid, tip)
        self._files.read_index(tip)

    def _repair(self) -> None:
        if self.tree.is_symlink() or not self.tree.is_dir():
            folders.fresh(self.tree)
            self._files.read_index(self.head)
            self._files.check_out(self.head)
            folders.give(self.owner, self.tree)
        self._files.read_index(self.head)
        self.freeze()

    def commit(self, message: str, author: Author, *, when: float | None = None, afresh: bool = False) -> str | None:
        """Commit the tree as it lies on disk on top of the branch; None where nothing changed.

        ``when`` is the commit's time in epoch seconds, the clock's where it is None. Refused files are left out.
        ``afresh`` puts it in the place of all that was not pushed. Raises GitError.
        """
        tree = self._files.stage(self._candidates(self.head))
        merging = self._state.merging
        if tree == self.store.tree(self.head) and merging is None and not afresh:
            return None
        parents = [self.unpushed_from if afresh else self.head, *([merging] if merging else [])]
        if afresh and not self.store.is_ancestor(self.base, parents[0]):
            parents = [parents[0], self.base]
        return self._record(tree, parents, message, author, when)

    def add(self, files: Mapping[str, bytes], message: str, author: Author, *, when: float | None = None) -> str:
        """Commit these files of the runner's own and nothing else; the caller puts them into the tree as well.

        No rule of the tree has a say: neither what it ignores nor how it would store them. Raises GitError.
        """
        tree = self._files.with_files(self.head, {path.encode(): content for path, content in files.items()})
        return self._record(tree, [self.head], message, author, when)

    def _record(self, tree: str, parents: list[str], message: str, author: Author, when: float | None) -> str:
        sha = self._commit_tree(tree, parents, message, author, when)
        self.store.set_ref(ANCHOR + self.plan_uid, sha)
        self._save(replace(self._state, head=sha, merging=None))
        self.freeze()
        return sha

    def _commit_tree(self, tree: str, parents: list[str], message: str, author: Author, when: float | None) -> str:
        who = {f"GIT_{role}_NAME": author.name for role in ("AUTHOR", "COMMITTER")}
        who |= {f"GIT_{role}_EMAIL": author.email for role in ("AUTHOR", "COMMITTER")}
        if when is not None:
            who |= {f"GIT_{role}_DATE": f"@{int(when)} +0000" for role in ("AUTHOR", "COMMITTER")}
        options = [option for parent in parents for option in ("-p", parent)]
        made = self.store.git.run("commit-tree", *options, "-F", "-", tree, stdin=message.encode(), environment=who)
        return made.decode("ascii").strip()

    def is_clean_against(self, sha: str) -> bool:
        """Whether the files on disk, ignored ones apart, are exactly those of the commit."""
        files = FileTree(self.store, self.tree, self.folder / "index.check")
        found = candidates(files, sha, self._state.kept_out)
        return not found.refused and files.stage(found) == self.store.tree(sha)

    def changes(self) -> tuple[Change, ...]:
        """Return the changed paths between base and the branch."""
        return self.store.changes(self.base, self.head)

    def merge_base_in(self, base: str) -> tuple[bytes, ...]:
        """Merge ``base`` into the tree and compare with it from now on.

        Returns the paths that conflict: they hold markers for the agent. The next commit has two parents. Raises
        GitError for histories without a common ancestor.
        """
        if self.store.is_ancestor(base, self.head):
            self._save(replace(self._state, base=base))
            return ()
        tree, conflicts = self.store.merge(self.head, base)
        self._files.check_out(tree)
        folders.give(self.owner, self.tree)
        self._save(replace(self._state, base=base, merging=base))
        self.freeze()
        return conflicts

    def salvage(self) -> str | None:
        """Keep unpushed work under :attr:`salvage_ref`; return its commit, None where there is none.

        What is no work goes first: it may be what filled the disk.
        """
        folders.remove(self.home, self.tmp)
        try:
            self._check_pointers()
            head = self._take_tip()
        except (DamagedError, WrongBranchError, GitError):
            head = self.head
        tree = self._stage_whatever_there_is(head)
        begun = self._state.begun or self.base
        known = self.store.is_ancestor(head, begun) or self.store.is_on_any(head, TRACKING)
        if known and tree == self.store.tree(head):
            return None
        # A commit of the runner's own in any case: its time says when the salvage may go, an agent's could be forged.
        author = Author(RUNNER_NAME, RUNNER_EMAIL)
        saved = self._commit_tree(tree, [head], "Unfinished work, kept by Twogate\n", author, None)
        self.store.set_ref(self.salvage_ref, saved)
        return saved

    def _stage_whatever_there_is(self, head: str) -> str:
        """Stage the files on top of ``head``, those made unreadable included; return the tree."""
        if self.tree.is_symlink() or not self.tree.is_dir():
            return self.store.tree(head)
        try:
            return self._files.stage(self._candidates(head, unfiltered=True))
        except (GitError, OSError):
            folders.unlock(self.tree)
            return self._files.stage(self._candidates(head, unfiltered=True))

    @property
    def salvage_ref(self) -> str:
        """The ref that keeps this job's unpushed work, once there is any."""
        return salvage_ref(self.plan_uid, self._state.job)

    def close(self) -> None:
        """Keep the folder for the plan's next job and let go of it."""
        self._save(replace(self._state, step="closed"))
        self._lock.close()

    def remove(self) -> None:
        """Remove the folder and the plan's refs, salvage apart."""
        forget(self.store, self.plan_uid)
        self._lock.close()


def clear(store: ObjectStore, plan_uid: str, lock: Lock) -> str | None:
    """End what still works there, salvage, and remove the folder; return what was salvaged. The lock must be held."""
    place = Place(store.home, store.repository_id, plan_uid)
    if not os.path.lexists(place.folder):
        return None
    saved, state = None, place.state()
    if state:
        process.kill_leftovers(state.job)
    if state and state.step in {"open", "closed"} and store.has(state.head):
        saved = Workspace(store, plan_uid, state, lock, None).salvage()
    forget(store, plan_uid)
    return saved


def forget(store: ObjectStore, plan_uid: str) -> None:
    """Remove a plan's folder and its anchor; what was salvaged stays. The lock must be held."""
    place = Place(store.home, store.repository_id, plan_uid)
    place.forget_state()  # a removal that is cut off must not be taken for an agent's deletions
    folders.remove(place.folder)
    store.drop_refs(ANCHOR + plan_uid)
