"""Questions about commits of one repository; nothing here changes anything, and no attribute file is obeyed.

Comparisons are made between two trees in a bare repository: attributes of the branch itself (``-diff``, a driver)
have no say in what a reviewer is shown, and file contents that git takes for binary are told as such.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from runner.git import BIG_FILES, DIFF, Change, Git, GitError, parse_raw, split

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

FILE = "100"
"""Modes of regular files begin with it."""
ROW = 200
"""Bytes that git says around each file of a stream, at most: its name, kind and length."""


@dataclass(frozen=True)
class DiffStat:
    """Added and removed lines of one path, None for a binary file and for one above a megabyte."""

    path: bytes
    added: int | None
    removed: int | None


@dataclass(frozen=True)
class Entry:
    """One path of a commit."""

    path: bytes
    mode: str
    blob: str


class Commits:
    """A bare repository that one can ask."""

    def __init__(self, path: Path, environment: Mapping[str, str] | None = None) -> None:
        self.path = path
        self.git = Git(path, environment=environment)

    def has(self, sha: str) -> bool:
        """Whether the commit is there."""
        return self.git.call("cat-file", "-e", f"{sha}^{{commit}}").returncode == 0

    def ref(self, name: str) -> str | None:
        """Return what a ref points to, None where there is none."""
        answer = self.git.call("rev-parse", "--verify", "--quiet", "--end-of-options", name)
        return answer.stdout.decode("ascii").strip() or None

    def refs(self, prefix: str) -> dict[str, str]:
        """Return the refs below a prefix: name without it to commit."""
        rows = self.git.run("for-each-ref", "--format=%(refname) %(objectname)", prefix).decode().splitlines()
        return {name.removeprefix(prefix): sha for name, sha in (row.split(" ") for row in rows)}

    def tree(self, sha: str) -> str:
        """Return the tree of a commit."""
        return self.git.run("rev-parse", "--verify", "--end-of-options", f"{sha}^{{tree}}").decode("ascii").strip()

    def is_ancestor(self, ancestor: str, sha: str) -> bool:
        """Whether ``ancestor`` is ``sha`` or lies before it."""
        return self._yes("merge-base", "--is-ancestor", ancestor, sha)

    def is_on_any(self, sha: str, prefix: str) -> bool:
        """Whether a ref below ``prefix`` has the commit."""
        return bool(self.git.run("for-each-ref", "--count=1", f"--contains={sha}", prefix))

    def count_commits(self, base: str, head: str) -> int:
        """Return how many commits ``head`` has that ``base`` has not."""
        return int(self.git.run("rev-list", "--count", head, f"^{base}"))

    def changes(self, base: str, head: str, *, renames: bool = False) -> tuple[Change, ...]:
        """Return the changed paths between two commits or trees; a rename is two rows unless asked for."""
        found = "-M" if renames else "--no-renames"
        return parse_raw(self.git.run("diff-tree", "-r", "-z", "--raw", *DIFF, found, base, head))

    def history(self, base: str, head: str, *others: str) -> tuple[Change, ...]:
        """Return what each commit of ``head`` that none of the others has changes, merges against all their parents."""
        commits = self.git.run("rev-list", head, *(f"^{known}" for known in (base, *others)))
        options = ("--stdin", "-r", "-z", "--raw", "-m", "--no-commit-id", "--no-renames")
        return parse_raw(self.git.run("diff-tree", *options, *DIFF, stdin=commits)) if commits else ()

    def diff_stat(self, base: str, head: str) -> tuple[DiffStat, ...]:
        """Return added and removed lines a path."""
        command = ("diff-tree", "-r", "-z", "--numstat", *DIFF, "--no-renames", base, head)
        rows = split(self.git.run(*command, environment=BIG_FILES))
        return tuple(_stat(*row.split(b"\t", 2)) for row in rows)

    def patch(self, base: str, head: str, cap: int, paths: Sequence[bytes] = ()) -> tuple[bytes, bool]:
        """Return the patch, at most ``cap`` bytes, and whether it was cut."""
        options = ("-r", "-p", *DIFF, "-M")
        answer = self.git.call("diff-tree", *options, base, head, "--", *paths, cap=cap, environment=BIG_FILES)
        if answer.returncode and not answer.cut:
            raise GitError("diff-tree", answer.returncode, answer.stderr)
        return answer.stdout, answer.cut

    def entries(self, sha: str, paths: Sequence[bytes] = ()) -> tuple[Entry, ...]:
        """Return every path of a commit, or those named, with its mode and blob."""
        rows = split(self.git.run("ls-tree", "-r", "-z", "--full-tree", sha, "--", *paths))
        found = []
        for row in rows:
            head, _, path = row.partition(b"\t")
            mode, _, blob = head.decode("ascii").split(" ")
            found.append(Entry(path, mode, blob))
        return tuple(found)

    def files(self, sha: str, paths: Sequence[bytes] = ()) -> tuple[bytes, ...]:
        """Return the paths of a commit."""
        return tuple(entry.path for entry in self.entries(sha, paths))

    def read(self, sha: str, path: bytes, cap: int = 1_000_000) -> bytes | None:
        """Return a regular file of a commit, None where there is none; raise GitError above ``cap`` bytes."""
        entry = next((e for e in self.entries(sha, [path]) if e.path == path and e.mode.startswith(FILE)), None)
        return None if entry is None else self.git.run("cat-file", "blob", entry.blob, cap=cap)

    def contents(self, sha: str, paths: Sequence[bytes], largest: int) -> dict[bytes, bytes]:
        """Return those of the paths that are regular files of a commit, each cut after ``largest`` bytes.

        However long a file is, no more of it is read; the others come in one stream.
        """
        found = [entry for entry in self.entries(sha, paths) if entry.mode.startswith(FILE)] if paths else []
        asked = "".join(f"{entry.blob}\n" for entry in found).encode()
        sizes = list(map(int, self.git.run("cat-file", "--batch-check=%(objectsize)", stdin=asked).split()))
        whole = [(entry, size) for entry, size in zip(found, sizes, strict=True) if size <= largest]
        contents = self._whole(whole)
        for entry in found:
            if entry.path not in contents:
                contents[entry.path] = self.git.call("cat-file", "blob", entry.blob, cap=largest).stdout[:largest]
        return contents

    def _whole(self, found: Sequence[tuple[Entry, int]]) -> dict[bytes, bytes]:
        """Return files of these sizes, each read to its end."""
        asked = "".join(f"{entry.blob}\n" for entry, _ in found).encode()
        room = sum(size + ROW for _, size in found)
        stream, contents, at = self.git.run("cat-file", "--batch", stdin=asked, cap=room), {}, 0
        for entry, size in found:
            start = stream.index(b"\n", at) + 1
            contents[entry.path] = stream[start : start + size]
            at = start + size + 1
        return contents

    def merge(self, ours: str, theirs: str) -> tuple[str, tuple[bytes, ...]]:
        """Merge two commits without a work tree; return the tree, with markers where it conflicts, and those paths.

        Raises GitError for histories without a common ancestor.
        """
        answer = self.git.call("merge-tree", "--write-tree", "-z", "--name-only", "--no-messages", ours, theirs)
        if answer.returncode not in {0, 1}:
            raise GitError("merge-tree", answer.returncode, answer.stderr)
        tree, *paths = split(answer.stdout)
        return tree.decode("ascii"), tuple(dict.fromkeys(paths))

    def fork(self, one: str, other: str) -> str | None:
        """Return the best common ancestor of two commits, None where there is none."""
        answer = self.git.call("merge-base", one, other)
        return answer.stdout.decode("ascii").strip() or None

    def merge_conflicts(self, base: str, head: str) -> tuple[bytes, ...]:
        """Return the paths that conflict when ``base`` is merged into ``head``, empty for a clean merge."""
        return self.merge(head, base)[1]

    def _yes(self, command: str, *arguments: str) -> bool:
        answer = self.git.call(command, *arguments)
        if answer.returncode not in {0, 1}:
            raise GitError(command, answer.returncode, answer.stderr)
        return answer.returncode == 0


def _stat(added: bytes, removed: bytes, path: bytes) -> DiffStat:
    return DiffStat(path, None if added == b"-" else int(added), None if removed == b"-" else int(removed))
