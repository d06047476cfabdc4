"""The bot's commands as processes of their own, in an environment that is all theirs."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

import httpx

from tests.town.machine import free_port

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

DEADLINE = 30.0
"""Seconds that a start, an end or a short command may take."""

__all__ = ["DEADLINE", "answers", "free_port", "run", "started", "until"]


def environment(settings: Mapping[str, str]) -> dict[str, str]:
    return {"PATH": os.environ["PATH"], "HOME": "/nonexistent", **settings}


def run(*command: str, settings: Mapping[str, str], cwd: Path) -> subprocess.CompletedProcess[str]:
    """Run ``twogate`` with these arguments to its end."""
    return subprocess.run(
        [sys.executable, "-m", "bot", *command],
        env=environment(settings),
        cwd=cwd,
        capture_output=True,
        text=True,
        timeout=DEADLINE,
        check=False,
    )


@contextmanager
def started(*command: str, settings: Mapping[str, str], log: Path) -> Iterator[subprocess.Popen[bytes]]:
    """Run Python with these arguments in the background; killed at the end if it still runs."""
    with log.open("wb") as file:
        process = subprocess.Popen(
            [sys.executable, *command],
            env=environment(settings),
            cwd=log.parent,
            stdin=subprocess.DEVNULL,
            stdout=file,
            stderr=file,
            start_new_session=True,
        )
    try:
        yield process
    finally:
        if process.poll() is None:
            os.killpg(process.pid, 9)
            process.wait(DEADLINE)


def until(condition: Callable[[], object], what: str, log: Path) -> None:
    """Wait until something holds."""
    deadline = time.monotonic() + DEADLINE
    while not condition():
        assert time.monotonic() < deadline, f"not {what}:\n{log.read_text()}"
        time.sleep(0.05)


def answers(url: str) -> Callable[[], bool]:
    """Whether an address answers well."""

    def ask() -> bool:
        try:
            return httpx.get(url, timeout=5).is_success
        except httpx.TransportError:
            return False

    return ask
