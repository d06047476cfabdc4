"""HOME of an agent: what is put into it before a start, and the session logs that are read from it afterwards.

An agent may have had it before, and may have left anything there: links, pipes, folders without permissions, endless
files. No link is followed, and nothing but a regular file is read. No process of the agent runs meanwhile.
"""

from __future__ import annotations

import os
import re
import stat
from contextlib import ExitStack, contextmanager, suppress
from fnmatch import fnmatchcase
from itertools import islice
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from runner import folders
from runner.agents.base import MAX_LINE, AgentError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from runner.folders import Owner

LOGINS = "logins"
"""The folder below ``TWOGATE_HOME`` in which an operator keeps agents' log-ins, a folder each."""
MAX_LOGIN = 1024 * 1024
"""Bytes of one file of a log-in."""
MAX_LOGIN_FILES = 50
"""Files of one log-in."""
MAX_LOG = 64 * 1024 * 1024
"""Bytes that are read of all session logs of a run."""
SESSION = re.compile(r"[0-9A-Za-z][0-9A-Za-z._-]{0,99}")
"""A name of a session that may become an argument and part of a path; what has another is not gone on with."""
MAX_SESSION = 64 * 1024 * 1024
MAX_SESSION_FILES = 20
"""Bytes and files of a session that is kept; a larger one is not: going on with it would cost more than it saves."""
MAX_ENTRIES = 2_000
"""Entries of one folder that are looked at."""
FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


def put(home: Path, files: Mapping[str, str | bytes], owner: Owner | None) -> None:
    """Write ``files`` below ``home`` in place of whatever is there, for ``owner`` alone."""
    for name, content in files.items():
        with ExitStack() as stack:
            folder, path = stack.enter_context(_opened(home)), home
            for part in PurePosixPath(name).parent.parts:
                path = path / part
                folder = stack.enter_context(_made(folder, path, owner))
            _write(folder, home / name, content.encode() if isinstance(content, str) else content, owner)


@contextmanager
def _opened(path: Path | str, folder: int | None = None) -> Iterator[int]:
    handle = os.open(path, FOLDER, dir_fd=folder)
    try:
        yield handle
    finally:
        os.close(handle)


@contextmanager
def _made(parent: int, path: Path, owner: Owner | None) -> Iterator[int]:
    """Open the folder ``path``, whose parent is open and no link; make it where it is none."""
    with suppress(FileExistsError):
        os.mkdir(path.name, 0o700, dir_fd=parent)
    try:
        handle = os.open(path.name, FOLDER, dir_fd=parent)
    except OSError:
        folders.remove(path)
        os.mkdir(path.name, 0o700, dir_fd=parent)
        handle = os.open(path.name, FOLDER, dir_fd=parent)
    try:
        os.fchmod(handle, 0o700)
        if owner:
            os.fchown(handle, *owner)
        yield handle
    finally:
        os.close(handle)


def _write(folder: int, path: Path, content: bytes, owner: Owner | None) -> None:
    folders.remove(path)
    handle = os.open(path.name, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600, dir_fd=folder)
    with os.fdopen(handle, "wb") as file:
        file.write(content)
        if owner:
            os.fchown(file.fileno(), *owner)


def login(twogate_home: Path, agent: str) -> dict[str, bytes]:
    """Return the files that an operator keeps for ``agent`` under ``logins/<agent>/``, by path relative to HOME.

    They are for an agent that has no API key, and so no meter: it reads them like its own. Raises
    :class:`~runner.agents.base.AgentError` where they are too many or too large to be a log-in.
    """
    root = twogate_home / LOGINS / agent
    paths = sorted(path for path in root.rglob("*") if path.is_file())
    if len(paths) > MAX_LOGIN_FILES or any(path.stat().st_size > MAX_LOGIN for path in paths):
        raise AgentError(
            f"{LOGINS}/{agent} under TWOGATE_HOME holds more than {MAX_LOGIN_FILES} files, or one of more than "
            f"{MAX_LOGIN} bytes. Keep there only the files that make the log-in."
        )
    return {str(path.relative_to(root)): path.read_bytes() for path in paths}


def log_lines(home: Path, pattern: str) -> Iterator[bytes]:
    """Yield the lines of the regular files below ``home`` that match ``pattern``, in the order of their names.

    Each part of the pattern is matched by itself. Reading ends at :data:`MAX_LOG` bytes; what can't be read, or is a
    link, a pipe or a device, is passed over.
    """
    left = MAX_LOG
    for _, handle in _files(home, pattern.split("/")):
        with os.fdopen(handle, "rb") as file:
            while left > 0 and (line := file.readline(min(MAX_LINE + 1, left))):
                left -= len(line)
                yield line


def take(home: Path, patterns: Sequence[str]) -> dict[str, bytes]:
    """Return the regular files below ``home`` that match one of the patterns, by path relative to it.

    None at all where they are more or larger than a session that is kept; a file that has another name elsewhere (a
    hard link) is passed over.
    """
    found: dict[str, bytes] = {}
    left = MAX_SESSION
    for pattern in patterns:
        for name, handle in _files(home, pattern.split("/")):
            with os.fdopen(handle, "rb") as file:
                if os.fstat(handle).st_nlink > 1:
                    continue
                found[name] = file.read(left + 1)
                left -= len(found[name])
            if left < 0 or len(found) > MAX_SESSION_FILES:
                return {}
    return found


def _files(path: Path | str, parts: list[str], parent: int | None = None, above: str = "") -> Iterator[tuple[str, int]]:
    """Yield the path and an open handle of each regular file; whoever takes it closes it."""
    try:
        with _opened(path, parent) as folder:
            for name in sorted(islice(_names(folder), MAX_ENTRIES)):
                if not fnmatchcase(name, parts[0]):
                    continue
                if parts[1:]:
                    yield from _files(name, parts[1:], folder, f"{above}{name}/")
                elif (handle := _regular(name, folder)) is not None:
                    yield above + name, handle
    except OSError:
        return


def _names(folder: int) -> Iterator[str]:
    with os.scandir(folder) as entries:
        for entry in entries:
            yield entry.name


def _regular(name: str, folder: int) -> int | None:
    try:
        handle = os.open(name, FILE, dir_fd=folder)
    except OSError:
        return None
    if stat.S_ISREG(os.fstat(handle).st_mode):
        return handle
    os.close(handle)
    return None
