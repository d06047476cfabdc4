"""The processes of the town: the bot's, started as an operator starts them, and killed as fate kills them."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import httpx

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

READY_SECONDS = 30.0
"""A bot that does not answer within this time after its start is broken."""


def free_port() -> int:
    """Return a port of 127.0.0.1 that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


class Process:
    """One process of the bot with its log; a session of its own, so that a kill takes all of it.

    ``command`` are Python's arguments.
    """

    def __init__(self, command: Sequence[str], environment: Mapping[str, str], log: Path) -> None:
        self._command = [sys.executable, *command]
        self._environment = dict(environment)
        self.log = log
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start it, appending to its log."""
        with self.log.open("ab") as log:
            self._process = subprocess.Popen(
                self._command,
                env=self._environment,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )

    @property
    def running(self) -> bool:
        """Whether it is alive."""
        return self._process is not None and self._process.poll() is None

    def kill(self, sig: signal.Signals = signal.SIGKILL) -> None:
        """Kill the whole of it and wait until it is gone."""
        if self._process is None:
            return
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, sig)
        self._process.wait(READY_SECONDS)

    def terminate(self) -> int:
        """Ask it to end, as an operator does, and return its exit code."""
        if self._process is None:
            return 0
        self._process.terminate()
        return self._process.wait(READY_SECONDS)

    def tail(self, lines: int = 40) -> str:
        """The end of its log."""
        return "\n".join(self.log.read_text(errors="replace").splitlines()[-lines:])


def until_ready(url: str, process: Process) -> None:
    """Wait until the bot answers ``/healthz``."""
    deadline = time.monotonic() + READY_SECONDS
    while time.monotonic() < deadline:
        try:
            if httpx.get(f"{url}/healthz", timeout=2).is_success:
                return
        except httpx.TransportError:
            pass
        if not process.running:
            break
        time.sleep(0.05)
    raise RuntimeError(f"The bot did not become ready:\n{process.tail()}")
