"""The files of a work tree: checked out, judged, and staged, always through an index of the runner's own.

The index is filled from the parent commit each time, so no flag (skip-worktree, assume-unchanged) and no forged time
can hide a change: every file is read. Ignored files are those of the tree's ``.gitignore`` files alone; no exclude file
of a repository, user or system counts. ``text`` and ``eol`` attributes of the tree are obeyed, as every git does that a
contributor uses; where there are none, bytes stay as they are. A file that lies as it was checked out stays as it was
stored, even where its attributes would store it otherwise now (CRLF committed despite ``text``). Filters and drivers
never run: no configuration names any. Submodules are left as they are: not fetched, never staged.
"""

from __future__ import annotations

import hashlib
import os
import stat
from dataclasses import dataclass
from typing import TYPE_CHECKING

from runner.commits import FILE
from runner.filters import ATTRIBUTES, POINTER_BYTES, filtered, refusal
from runner.folders import give, remove
from runner.git import Git, display, split
from runner.steering import NO_FILE, disarm

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from runner.commits import Commits
    from runner.git import Change

FILE_CAP = 100_000_000
"""Bytes of one file; GitHub refuses larger ones."""
GITLINK = "160000"
"""Mode of a submodule."""
MAX_SENTENCES = 20
"""Faults that are told one by one."""


@dataclass(frozen=True)
class Candidates:
    """What can be staged, and why some of what lies there can't."""

    present: tuple[bytes, ...]
    gone: tuple[bytes, ...]
    """Tracked paths where no file or link is any more."""
    refused: tuple[str, ...]
    parent: str
    """The commit that they are compared with."""


@dataclass(frozen=True)
class FileTree:
    """``tree`` as seen from ``store``, through ``index``."""

    store: Commits
    tree: Path
    index: Path

    @property
    def git(self) -> Git:
        """Git with the runner's repository and index, and the work tree."""
        return Git(self.store.path, work_tree=self.tree, index=self.index)

    def read_index(self, sha: str) -> None:
        """Fill the index from a commit or tree, knowing nothing of the files; a killed git's lock is no hindrance."""
        remove(self.index, self.index.with_name(f"{self.index.name}.lock"))
        self.git.run("read-tree", sha)

    def check_out(self, sha: str) -> None:
        """Make the tracked files those of a commit or tree; changes of files that differ are lost."""
        self.git.run("read-tree", "--reset", "-u", sha)

    def candidates(self, sha: str, *, unfiltered: bool = False) -> Candidates:
        """Fill the index from ``sha`` and return what can be staged on top of it.

        ``unfiltered`` takes files as well that only a filter may store: for what is kept here and never pushed.
        """
        self.read_index(sha)
        traps = disarm(os.fsencode(self.tree))
        entries = {e.path: e for e in self.store.entries(sha)}
        links = [path + b"/" for path, entry in entries.items() if entry.mode == GITLINK]
        tracked = {path: entry.blob for path, entry in entries.items() if entry.mode != GITLINK}
        untracked = split(self.git.run("ls-files", "-o", "-z", "--exclude-standard"))
        new = [path for path in untracked if not path.startswith(tuple(links))]
        look = _Look(os.fsencode(self.tree))
        gone = tuple(path for path in tracked if look.is_gone(path) and path not in traps)
        left = frozenset(gone) | traps.keys()
        there = [*(path for path in tracked if path not in left), *new]
        faults = {path: fault for path in there if (fault := look.fault(path, tracked.get(path)))}
        faults |= dict(_collisions(entries.keys() - left, new)) | traps
        if not unfiltered:
            faults |= self._filtered([path for path in there if path not in faults], tracked)
        sentences = [f"{display(path)}: {fault}" for path, fault in sorted(faults.items())]
        more = [f"{len(sentences) - MAX_SENTENCES} more."] if len(sentences) > MAX_SENTENCES else []
        present = tuple(path for path in there if path not in faults)
        return Candidates(present, gone, (*sentences[:MAX_SENTENCES], *more), sha)

    def put_back(self, paths: Sequence[bytes]) -> None:
        """Check files of the index out again, for whom the tree belongs to."""
        self.git.run("checkout-index", "-f", "-z", "--stdin", stdin=b"".join(path + b"\0" for path in paths))
        owner = self.tree.stat()
        give((owner.st_uid, owner.st_gid) if os.geteuid() == 0 else None, self.tree)

    def _filtered(self, paths: Sequence[bytes], tracked: Mapping[bytes, str]) -> dict[bytes, str]:
        """Return the files that a filter would store, and whose content is not one that the parent commit has."""
        if not any(os.path.basename(path) == ATTRIBUTES for path in paths):  # noqa: PTH119 - a path of bytes
            return {}
        known = frozenset(tracked.values())
        found = filtered(self.git, paths)
        return {path: refusal(name) for path, name in found.items() if not self._is_known(path, tracked, known)}

    def _is_known(self, path: bytes, tracked: Mapping[bytes, str], known: frozenset[str]) -> bool:
        """Whether the parent commit has the file's content: at this path, or a pointer of another."""
        place = os.path.join(os.fsencode(self.tree), path)  # noqa: PTH118 - a path of bytes
        if os.path.islink(place):  # noqa: PTH114
            return True
        with os.fdopen(os.open(place, os.O_RDONLY | os.O_NOFOLLOW), "rb") as file:
            content = file.read(FILE_CAP)
        here = tracked.get(path, "")
        blob = _blob_name(content, here or next(iter(known), "1" * 40))
        return blob == here or (len(content) < POINTER_BYTES and blob in known)

    def smuggled(self, base: str, tip: str) -> tuple[bytes, ...]:
        """Return the paths to which commits since ``base`` gave contents that only a filter may store.

        The attributes are those of ``tip``, with which the index is filled.
        """
        rows = self.store.history(base, tip)
        if not rows or not any(os.path.basename(p) == ATTRIBUTES for p in self.store.files(tip)):  # noqa: PTH119
            return ()
        known = {entry.blob for entry in self.store.entries(base)}
        new = {row.path for row in rows if row.new_mode.startswith(FILE) and row.new_blob not in known}
        self.read_index(tip)
        return tuple(filtered(self.git, sorted(new)))

    def stage(self, candidates: Candidates) -> str:
        """Put the candidates as they lie on disk into the index; return the resulting tree."""
        for option, paths in (("--force-remove", candidates.gone), ("--add", candidates.present)):
            listed = b"".join(path + b"\0" for path in paths)
            self.git.run("update-index", option, "--replace", "-z", "--stdin", stdin=listed)
        kept = [
            b"%b %b\t%b\0" % (c.new_mode.encode(), c.old_blob.encode(), c.path) for c in self._untouched(candidates)
        ]
        if kept:
            self.git.run("update-index", "-z", "--index-info", stdin=b"".join(kept))
        return self._write_tree()

    def with_files(self, sha: str, files: Mapping[bytes, bytes]) -> str:
        """Return the tree of ``sha`` with these regular files put in, byte for byte."""
        self.read_index(sha)
        for path, content in files.items():
            blob = self.git.run("hash-object", "-w", "--no-filters", "--stdin", stdin=content).strip()
            self.git.run("update-index", "-z", "--index-info", stdin=b"100644 %b\t%b\0" % (blob, path))
        return self._write_tree()

    def _write_tree(self) -> str:
        return self.git.run("write-tree").decode("ascii").strip()

    def _untouched(self, candidates: Candidates) -> Iterator[Change]:
        """Yield the files that only the attributes would change, not what lies on disk."""
        for change in self.store.changes(candidates.parent, self._write_tree()):
            regular = change.old_mode.startswith(FILE) and change.new_mode.startswith(FILE)
            if regular and change.old_blob != change.new_blob and self._is_as_checked_out(change):
                yield change

    def _is_as_checked_out(self, change: Change) -> bool:
        with open(os.path.join(os.fsencode(self.tree), change.path), "rb") as file:  # noqa: PTH118, PTH123 - bytes
            content = file.read()
        if b"\r" not in content:
            return False
        if _blob_name(content, change.old_blob) == change.old_blob:
            return True
        shown = self.git.call("cat-file", "--filters", b"--path=" + change.path, change.old_blob, cap=FILE_CAP)
        return shown.returncode == 0 and not shown.cut and shown.stdout == content


class _Look:
    """Looks at files of a tree without following a link, also of their folders."""

    def __init__(self, tree: bytes) -> None:
        self._tree = tree
        self._folders: dict[bytes, bool] = {b"": True}

    def _stat(self, path: bytes) -> os.stat_result | None:
        try:
            return os.lstat(os.path.join(self._tree, path))  # noqa: PTH118 - a path of bytes
        except (FileNotFoundError, NotADirectoryError):
            return None

    def _is_folder(self, path: bytes) -> bool:
        """Whether all of ``path`` are real folders."""
        if path not in self._folders:
            found = self._stat(path) if self._is_folder(os.path.dirname(path)) else None  # noqa: PTH120
            self._folders[path] = found is not None and stat.S_ISDIR(found.st_mode)
        return self._folders[path]

    def is_gone(self, path: bytes) -> bool:
        """Whether a tracked file was deleted, or a folder took its place, or a link that of one of its folders."""
        found = self._stat(path) if self._is_folder(os.path.dirname(path)) else None  # noqa: PTH120
        return found is None or stat.S_ISDIR(found.st_mode)

    def fault(self, path: bytes, blob: str | None) -> str | None:
        """Return why the file can't be committed; ``blob`` is what the parent commit has there."""
        if path.endswith(b"/"):
            return "is a repository of its own, whose files git would leave out. Remove its .git folder."
        found = self._stat(path)
        if found is None:
            return "vanished."
        if stat.S_ISLNK(found.st_mode):
            return _link_fault(path, os.readlink(os.path.join(self._tree, path)), blob)  # noqa: PTH115, PTH118
        return _kind_fault(found)


def _kind_fault(found: os.stat_result) -> str | None:
    if stat.S_ISREG(found.st_mode) and found.st_size > FILE_CAP:
        return f"has {found.st_size} bytes; files of more than {FILE_CAP} can't be pushed."
    return None if stat.S_ISREG(found.st_mode) else NO_FILE


def _link_fault(path: bytes, target: bytes, blob: str | None) -> str | None:
    """Refuse a link that leads out of the tree, unless the parent commit has the very same."""
    folder = os.path.dirname(path)  # noqa: PTH120
    leads = os.path.normpath(os.path.join(folder, target))  # noqa: PTH118
    inside = not os.path.isabs(target) and leads != b".." and not leads.startswith(b"../")  # noqa: PTH117
    if inside or (blob and _blob_name(target, blob) == blob):
        return None
    return f"is a link out of the repository, to {display(target)}."


def _blob_name(content: bytes, like: str) -> str:
    algorithm = "sha1" if len(like) == 40 else "sha256"  # noqa: PLR2004 - hexadecimal digits of SHA-1
    return hashlib.new(algorithm, b"blob %d\0" % len(content) + content, usedforsecurity=False).hexdigest()


def _collisions(known: Iterable[bytes], new: Iterable[bytes]) -> Iterator[tuple[bytes, str]]:
    """Find new paths that differ from another by case alone: they can't both be checked out everywhere."""
    seen = {display(path).casefold(): path for path in known}
    for path in new:
        other = seen.setdefault(display(path).casefold(), path)
        if other != path:
            yield path, f"differs from {display(other)} by upper and lower case alone."
