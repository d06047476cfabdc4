"""A command of the repository as a gate: run it, keep all it printed, tell what it broke from what was broken."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path  # noqa: TC003 - part of the public fields
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping

    from runner.contract import GateResult, GateSpec


class Ended(Protocol):
    """How a process ended."""

    @property
    def exit_code(self) -> int | None:
        """Exit code, negative for a signal; None where it never started or was ended at its deadline."""

    @property
    def timed_out(self) -> bool:
        """Whether it was ended because its time was up."""

    @property
    def seconds(self) -> float:
        """How long it ran."""


class Execute(Protocol):
    """Start a command in a folder, write all it prints to a file, and end its whole tree at the deadline."""

    def __call__(self, command: list[str], *, cwd: Path, env: Mapping[str, str], seconds: float, output: Path) -> Ended:
        """Return when the process has ended."""


@dataclass(frozen=True, slots=True)
class GateRun:
    """A gate's result and the file with the whole of its output."""

    result: GateResult
    output: Path


def run_gate(gate: GateSpec, worktree: Path, output: Path, env: Mapping[str, str], execute: Execute) -> GateRun:
    """Run ``gate`` in ``worktree``; everything it prints goes to ``output``."""
    raise NotImplementedError


def against_base(now: GateRun, before: GateRun) -> GateResult:
    """Return the result of ``now``, as ``failed_before`` where ``before`` (the base) failed in the same way."""
    raise NotImplementedError
