"""What the demo sees of a repository at its head, without a work tree: its plain files, and what may be added."""

from __future__ import annotations

import re
import subprocess
import tempfile
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path, PurePosixPath

from tests.town.repository import AUTHOR, git

README = re.compile(r"readme(\.[a-z0-9]+)?", re.IGNORECASE)
PACKAGE = re.compile(r"(?:src/)?([A-Za-z]\w*)(?:/__init__)?\.py", re.ASCII)
"""A module or package at the top of a project, or below ``src``."""
TEST = re.compile(r"(?:.*/)?(?:test_[^/]*|[^/]*_test|tests?)\.py")
IMPORT = re.compile(r"^[ \t]*(?:from|import)[ \t]+([A-Za-z]\w*)", re.MULTILINE)
MOST_TESTS = 200
"""Files of tests in which imports are looked for."""
LARGEST = 1_000_000
"""Bytes of a file that is read."""


@dataclass(frozen=True)
class Sight:
    """A bare repository's head; paths are those of regular files whose names are UTF-8."""

    repository: Path

    @cached_property
    def paths(self) -> frozenset[str]:
        """Every regular file."""
        return frozenset(path for path, mode in self._tree if mode.startswith("100"))

    @cached_property
    def _tree(self) -> list[tuple[str, str]]:
        rows = [row.partition(b"\t") for row in self._ask("ls-tree", "-r", "-z", "HEAD").split(b"\0")[:-1]]
        return [(path.decode("utf-8", "replace"), head.decode().split(" ")[0]) for head, _, path in rows]

    @cached_property
    def _names(self) -> frozenset[str]:
        """Every path and every folder above one, case-folded."""
        every = [PurePosixPath(path) for path, _ in self._tree]
        return frozenset(str(name).casefold() for path in every for name in (path, *path.parents))

    def read(self, path: str) -> bytes | None:
        """Return a regular file's content, None where there is none."""
        if path not in self.paths:
            return None
        content = self._ask("cat-file", "blob", f"HEAD:{path}")
        return content if len(content) <= LARGEST else None

    def _ask(self, *question: str) -> bytes:
        command = ["git", f"--git-dir={self.repository}", *question]
        return subprocess.run(command, env=AUTHOR, capture_output=True, check=True).stdout

    def readme(self) -> str | None:
        """Return the README at the top, whatever it is called; None where there is none that is text."""
        found = sorted(path for path in self.paths if README.fullmatch(path))
        return next((path for path in found if b"\0" not in (self.read(path) or b"\0")), None)

    def module(self) -> str | None:
        """Return a module of the project that its tests import, None where none is recognised."""
        tests = sorted(path for path in self.paths if TEST.fullmatch(path))[:MOST_TESTS]
        imported = {
            name for path in tests for name in IMPORT.findall((self.read(path) or b"").decode("utf-8", "replace"))
        }
        found = {path: match[1] for path in sorted(self.paths - set(tests)) if (match := PACKAGE.fullmatch(path))}
        return next((path for path, name in found.items() if name in imported and name not in {"tests", "test"}), None)

    def free(self, name: str) -> str:
        """Return a path at which a page can be added: in ``docs`` where that is a folder of pages, else at the top."""
        in_docs = any(path.startswith("docs/") for path in self.paths)
        places = [f"{folder}{name}{number}.md" for number in ("", *range(2, 100)) for folder in ("docs/", "")]
        usable = (p for p in places if (in_docs or "/" not in p) and p.casefold() not in self._names)
        return next(path for path in usable if not self._is_ignored(path))

    def _is_ignored(self, path: str) -> bool:
        with tempfile.TemporaryDirectory() as scratch:
            folder = Path(scratch)
            git(folder, "init", "--quiet")
            for ignore in {".gitignore", f"{PurePosixPath(path).parent}/.gitignore"}:
                if (content := self.read(ignore)) is not None:
                    (folder / ignore).parent.mkdir(exist_ok=True)
                    (folder / ignore).write_bytes(content)
            asked = subprocess.run(["git", "check-ignore", "-q", path], cwd=folder, env=AUTHOR, check=False)
            return asked.returncode == 0
