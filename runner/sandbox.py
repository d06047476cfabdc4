"""Confine a command: bubblewrap where it runs, another user where the runner is root, and a plain word on what was had."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from runner.contract import SandboxMode, SandboxReport


class SandboxUnavailableError(Exception):
    """The confinement that was asked for cannot be had; the message names the cure."""


@dataclass(frozen=True)
class Capability:
    """What this machine offers."""

    bubblewrap: bool
    can_switch_user: bool
    sentence: str


@dataclass(frozen=True)
class Confinement:
    """What a confined command may see and do. Everything not named here is hidden under bubblewrap."""

    cwd: Path
    writable: tuple[Path, ...] = ()
    readonly: tuple[Path, ...] = ()
    network: bool = True


def probe(user: str | None = None) -> Capability:
    """Try what works here by running it."""
    raise NotImplementedError


class Sandbox:
    """A choice made once a job: wraps each command of the agent and of the gates."""

    def __init__(
        self, mode: SandboxMode, capability: Capability, *, user: str | None = None, tools: Sequence[Path] = ()
    ) -> None:
        """Raise SandboxUnavailableError where ``mode`` is required and bubblewrap does not run."""
        raise NotImplementedError

    @property
    def owner(self) -> tuple[int, int] | None:
        """The uid and gid that confined commands run as, None for the runner's own."""
        raise NotImplementedError

    def wrap(self, command: Sequence[str], confinement: Confinement) -> list[str]:
        """Return the argument list that runs ``command`` confined."""
        raise NotImplementedError

    def report(self) -> SandboxReport:
        """Return what confinement the run really has."""
        raise NotImplementedError


def agent_environment(
    source: Mapping[str, str],
    *,
    home: Path,
    tmp: Path,
    allow: Sequence[str] = (),
    extra: Mapping[str, str] | None = None,
) -> dict[str, str]:
    """Build an environment from nothing: PATH, HOME, TMPDIR, LANG, TERM and the names in ``allow``; never a secret."""
    raise NotImplementedError
