"""Locks that say who is at work: they last as long as their taker, and every program that it started by itself.

A runner that is killed can leave a program behind that has no name yet: between fork(2) and execve(2) it still holds
whatever the runner held. So that a lock that is free means that nobody is at work any more, the programs that the
runner uses (git, rm, cp …) keep its locks until they end: start them with ``close_fds=False``. What runs below a
supervisor gets none (:mod:`runner.process`), for it is found by its mark.
"""

from __future__ import annotations

import fcntl
import os
import time
from contextlib import suppress
from typing import TYPE_CHECKING

from runner import supervise

if TYPE_CHECKING:
    from pathlib import Path

POLL_SECONDS = 0.02
"""Between two looks at a lock that another holds."""
LAST_WORK_SECONDS = 60.0
"""For what a killed runner had begun to end: one command of git, one copy, one removal."""


def flock(handle: int) -> bool:
    """Lock an open file until it is closed, here and by all that is started meanwhile; False where another has it."""
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    os.set_inheritable(handle, True)
    return True


def take(path: Path, patience: float = 0) -> int:
    """Lock the file at ``path`` as this process, and return its descriptor, whose closing lets go.

    Raises BlockingIOError where a living process has it for so many seconds, and TimeoutError where what a dead one
    had begun does not end.
    """
    handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        _wait(handle, patience)
        os.ftruncate(handle, 0)
        with suppress(OSError):  # a full disk
            os.pwrite(handle, b"%d %d" % _me(), 0)
    except BaseException:
        os.close(handle)
        raise
    return handle


def _wait(handle: int, patience: float) -> None:
    begun = time.monotonic()
    while not flock(handle):
        waited = time.monotonic() - begun
        if _taker_lives(handle) and waited >= patience:
            raise BlockingIOError
        if waited >= max(patience, LAST_WORK_SECONDS):
            raise TimeoutError("something that a killed runner began there does not end; look for it with lslocks")
        time.sleep(POLL_SECONDS)


def _taker_lives(handle: int) -> bool:
    """Whether the process that took the lock last is alive; one that has not said yet who it is counts as that."""
    said = os.pread(handle, 64, 0).split()
    return len(said) != len(_me()) or supervise.start_of(int(said[0])) == int(said[1])


def _me() -> tuple[int, int]:
    """Return the id and start of this process, which no other has or will have."""
    return os.getpid(), supervise.start_of(os.getpid()) or 0
