"""Locks outlive a killed taker for as long as something that it started by itself is at work."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from runner import locks

if TYPE_CHECKING:
    from pathlib import Path

TAKER = """
import subprocess, sys
from pathlib import Path
from runner import locks
locks.take(Path(sys.argv[1]))
helper = subprocess.Popen(["sleep", "600"], close_fds=False)
stranger = subprocess.Popen(["sleep", "600"])
print(helper.pid, stranger.pid, flush=True)
sys.stdin.read()
"""


def test_a_lock_is_free_when_its_taker_and_all_that_it_uses_are_gone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lock = tmp_path / "lock"
    command = [sys.executable, "-c", TAKER, str(lock)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as taker:
        assert taker.stdout is not None
        helper, stranger = map(int, taker.stdout.readline().split())
        with pytest.raises(BlockingIOError):
            locks.take(lock)
        taker.kill()
    monkeypatch.setattr(locks, "LAST_WORK_SECONDS", 0.1)
    with pytest.raises(TimeoutError, match="does not end"):
        locks.take(lock)
    os.kill(helper, signal.SIGKILL)
    monkeypatch.setattr(locks, "LAST_WORK_SECONDS", 20.0)
    os.close(locks.take(lock))
    os.kill(stranger, signal.SIGKILL)
