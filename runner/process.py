"""Start, watch and end a whole process tree."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

MARKER = "TWOGATE_RUN"
"""Environment variable by which the processes of a run are found again after a crash."""

Reason = Literal["exited", "timed_out", "output_flood", "stopped", "silent"]


class StartError(Exception):
    """The command could not be started; the message says why."""


@dataclass(frozen=True)
class Limits:
    """Resource limits of each process of the tree; None leaves the system's."""

    file_bytes: int | None = None
    processes: int | None = None
    open_files: int | None = None


@dataclass(frozen=True)
class Ended:
    """How a run ended. ``returncode`` is negative for a signal; only ``reason`` says whether the runner ended it."""

    returncode: int
    reason: Reason
    seconds: float
    left_behind: int
    """Processes that outlived the command and were ended by the runner."""
    output_bytes: int
    stop_reason: str | None = None
    """What ``stop`` answered."""


def run(
    command: Sequence[str],
    *,
    cwd: Path,
    env: Mapping[str, str],
    stdout_path: Path,
    stderr_path: Path | None = None,
    deadline_seconds: float,
    output_limit_bytes: int = 50_000_000,
    on_line: Callable[[bytes], None] | None = None,
    on_tick: Callable[[], None] | None = None,
    stop: Callable[[], str | None] | None = None,
    no_output_seconds: float | None = None,
    grace_seconds: float = 5.0,
    limits: Limits | None = None,
) -> Ended:
    """Run a command to its end and leave no process of it alive; stdin is ``/dev/null``, stderr joins stdout unless named.

    ``env`` is the whole environment (put :data:`MARKER` in it so that a restart finds leftovers). ``on_line`` gets each
    line of standard output without its end. Raises StartError.
    """
    raise NotImplementedError


def kill_leftovers(marker: str) -> int:
    """End every process whose environment holds ``TWOGATE_RUN=<marker>``; return how many there were."""
    raise NotImplementedError
