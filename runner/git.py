"""The only caller of git in the runner: hardened environment, argument lists, byte paths, a deadline and a cap."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path


class GitError(Exception):
    """A git command failed, ran over its deadline or wrote more than its cap."""

    def __init__(self, command: str, returncode: int, stderr: str) -> None:
        super().__init__(f"git {command} ended with {returncode}: {stderr.strip()[-2_000:] or 'no message'}")
        self.command, self.returncode, self.stderr = command, returncode, stderr


@dataclass(frozen=True)
class Auth:
    """A header that git sends to addresses below ``url`` alone; never in arguments or files."""

    url: str
    header: str


@dataclass(frozen=True)
class Change:
    """One row of ``git diff --raw``; renames are a deletion and an addition unless asked for."""

    path: bytes
    status: str
    old_mode: str
    new_mode: str
    old_blob: str
    new_blob: str
    source: bytes | None = None


class Git:
    """Runs git on one explicit repository; never discovers one."""

    def __init__(
        self,
        git_dir: Path,
        *,
        work_tree: Path | None = None,
        index: Path | None = None,
        environment: Mapping[str, str] | None = None,
    ) -> None:
        raise NotImplementedError

    def run(self, command: str, *arguments: str | bytes, **options: object) -> bytes:
        """Run one git command and return its standard output."""
        raise NotImplementedError


def display(path: bytes) -> str:
    r"""Return the path as UTF-8 text, undecodable bytes escaped as ``\xNN``."""
    return path.decode("utf-8", "backslashreplace")
