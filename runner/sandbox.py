"""Confine a command: bubblewrap where it runs, another user where the runner is root, and a plain word on what was had.

Three layouts, chosen by what :func:`probe` found to work by trying it:

- the runner is root: bubblewrap prepares the mounts as root, so that folders below closed parents (tools in a home
  folder) can be shown; then ``setpriv`` becomes the agent's user with no capability and no new privileges; then a
  second bubblewrap of that user closes the door to further user namespaces (left out where plain users may make none
  at all). No process of the agent is ever root.
- the runner is a plain user: one unprivileged bubblewrap. Agent and runner are the same user, but the agent sees
  neither its processes nor its files.
- no bubblewrap: ``setpriv`` to the agent's user where the runner is root, else nothing.

Inside are the system's programs, the tools that are named, and what a :class:`Confinement` names; all else does not
exist there. The file system is read-only apart from what is named, and processes outside can't be seen. Of the network
there is all, the model's API through the meter (:mod:`runner.shim`), or nothing but a loopback of its own; without
bubblewrap there is always all of it.
"""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import subprocess
import sys
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from runner.bubblewrap import Confinement, become, bubblewrap
from runner.contract import SandboxReport
from runner.terms import Network, SandboxMode

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

__all__ = ["Capability", "Confinement", "Sandbox", "SandboxUnavailableError", "agent_environment", "probe"]

DEFAULT_USER = "twogate-agent"
"""The user that agents run as where it exists and no other is set."""
NOBODY = 65_534
"""Uid and gid that agents run as where there is no such user."""
PROBE_SECONDS = 20.0
"""For trying one layout."""
CURE = (
    "Install bubblewrap (Debian, Ubuntu: apt install bubblewrap; Fedora: dnf install bubblewrap) and, where the kernel "
    "keeps plain users from user namespaces, allow them for bwrap (Ubuntu 24.04: an AppArmor profile for "
    "/usr/bin/bwrap; a container: run it as root with SYS_ADMIN). Or set `sandbox: auto` in .github/twogate.yml and "
    "accept agents that are less confined."
)
"""What to do where bubblewrap does not run."""
NETWORK_CURE = (
    "On Ubuntu 24.04 and later, give /usr/bin/bwrap an AppArmor profile that allows `userns` and `network`; in a "
    "container, run it with NET_ADMIN. Or set `network: on` in .github/twogate.yml."
)
"""What to do where bubblewrap runs but can't cut the network off."""
NETWORKS = {
    Network.ON: "The network is open to them.",
    Network.MODEL: "Of the network they reach their model alone, through the meter.",
    Network.OFF: "They have no network.",
}
"""How the report says what agents reach."""
LOOK = r"""for d do [ -r "$d" ] && [ -x "$d" ] || printf '%s\0' "$d"; done"""
"""Shell: prints the folders that can't be looked into."""
FIND = """case $1 in */*) test -x "$1"; exit;; esac
IFS=:; for d in $PATH; do test -f "$d/$1" && test -x "$d/$1" && exit; done; exit 1"""
"""Shell: ends well where the program is found as execvp(3) would, and may be executed."""
ALLOWED = ("PATH", "LANG", "TZ")
"""Variables that a confined program gets from the runner's environment, where they are set."""


class SandboxUnavailableError(Exception):
    """The confinement that was asked for cannot be had; the message names the cure."""


@dataclass(frozen=True)
class Capability:
    """What this machine offers."""

    bubblewrap: bool
    can_switch_user: bool
    sentence: str
    can_close: bool = True
    """Whether plain users may make the user namespace in which further ones are forbidden."""
    can_cut: bool = True
    """Whether bubblewrap can cut the network off."""


def probe(user: str | None = None) -> Capability:
    """Try what works here by running it. Raises SandboxUnavailableError where ``user`` does not exist."""
    owner = _owner(user) if os.geteuid() == 0 and shutil.which("setpriv") else None
    can_switch = owner is not None and _runs([*become(owner), "true"]) is None
    who = f"as uid {owner[0]}" if owner and can_switch else "as the runner's own user"
    if shutil.which("bwrap") is None:
        return Capability(False, can_switch, f"bubblewrap is not installed; agents run {who}.")
    switch = owner if can_switch else None
    nothing = Confinement(Path("/"))
    faults = {close: _runs(bubblewrap(["true"], nothing, switch, (), close=close)) for close in (True, False)}
    for close, fault in faults.items():
        if fault is None and (close or switch):
            cut = _runs(bubblewrap(["true"], replace(nothing, network=Network.OFF), switch, (), close=close)) is None
            return Capability(True, can_switch, f"Agents run in bubblewrap, {who}.", close, cut)
    return Capability(False, can_switch, f"bubblewrap does not run here ({faults[True]}); agents run {who}.")


def _runs(command: list[str], path: str | None = None, cwd: Path | None = None) -> str | None:
    """Return None where the command ends well, else the last line of what it said."""
    try:
        ended = _tried(command, path or os.defpath, cwd)
    except (OSError, subprocess.TimeoutExpired) as error:
        return str(error)
    if ended.returncode == -signal.SIGKILL:
        return f"it did not end within {PROBE_SECONDS:.0f} seconds"
    said = ended.stderr.decode("utf-8", "replace").strip().splitlines()
    return None if ended.returncode == 0 else (said[-1] if said else f"status {ended.returncode}")


def _tried(command: list[str], path: str, cwd: Path | None) -> subprocess.CompletedProcess[bytes]:
    """Run a command to its end, by a program that has the deadline.

    So none outlives a runner that is killed: bubblewrap's own child, when bubblewrap dies before it told it to begin,
    would wait for that for ever.
    """
    return subprocess.run(
        [shutil.which("timeout") or "timeout", "-s", "KILL", str(PROBE_SECONDS), *command],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=2 * PROBE_SECONDS,
        check=False,
        env={"PATH": path},
        cwd=cwd,
    )


def _owner(user: str | None) -> tuple[int, int]:
    try:
        entry = pwd.getpwnam(user or DEFAULT_USER)
    except KeyError:
        if user:
            raise SandboxUnavailableError(f"User {user!r} does not exist; make it, or name another one.") from None
        return NOBODY, NOBODY
    if entry.pw_uid == 0:
        raise SandboxUnavailableError(f"Agents may not run as {entry.pw_name}; name a user without privileges.")
    return entry.pw_uid, entry.pw_gid


class Sandbox:
    """A choice made once a job: wraps each command of the agent and of the gates."""

    def __init__(
        self,
        mode: SandboxMode,
        capability: Capability,
        *,
        user: str | None = None,
        tools: Sequence[Path] = (),
        network: Network = Network.ON,
    ) -> None:
        """Raise SandboxUnavailableError where ``mode`` is required and what is asked for can't be had."""
        self._mode, self._capability, self._asked = mode, capability, network
        self._bubblewrap = capability.bubblewrap and mode is not SandboxMode.OFF
        self._owner = _owner(user) if capability.can_switch_user and mode is not SandboxMode.OFF else None
        self._named, self._tools = tuple(tools), (*tools, Path(sys.prefix), Path(sys.base_prefix))
        if mode is SandboxMode.REQUIRED and not capability.bubblewrap:
            raise SandboxUnavailableError(f"{capability.sentence} The policy requires the sandbox. {CURE}")
        if mode is SandboxMode.REQUIRED and self.network is not network:
            asked = f"The policy requires the sandbox and `network: {network}`, and bubblewrap can't cut the network"
            raise SandboxUnavailableError(f"{asked} off here. {NETWORK_CURE}")

    @property
    def owner(self) -> tuple[int, int] | None:
        """The uid and gid that confined commands run as, None for the runner's own."""
        return self._owner

    @property
    def network(self) -> Network:
        """What of the network agents reach; without bubblewrap all of it, whatever was asked for."""
        return self._asked if self._bubblewrap and self._capability.can_cut else Network.ON

    @property
    def network_of_checks(self) -> Network:
        """What the repository's checks reach: all where agents do, else their own loopback."""
        return Network.ON if self.network is Network.ON else Network.OFF

    @property
    def network_of_preparation(self) -> Network:
        """What ``prepare`` reaches, which as a rule downloads: all but where the policy says ``network: off``."""
        return Network.OFF if self.network is Network.OFF else Network.ON

    @cached_property
    def closed_tools(self) -> tuple[Path, ...]:
        """Folders of ``TWOGATE_TOOLS``, and those of the runner's Python, that confined commands can't look into."""
        look = ["sh", "-c", LOOK, "sh", *map(str, dict.fromkeys(self._tools))]
        ended = _tried(self.wrap(look, Confinement(Path("/"))), os.defpath, Path("/"))
        return tuple(Path(os.fsdecode(path)) for path in ended.stdout.split(b"\0")[:-1])

    def fault_of_tools(self) -> str | None:
        """Return the sentence that says which named tools agents can't reach, and the cure; None: they reach all."""
        closed = [str(path) for path in self.closed_tools if path in self._named]
        if not closed:
            return None
        return f"{self._who} can't look into {', '.join(closed)}, which TWOGATE_TOOLS names. {self._opening}"

    def fault_of_program(self, program: str, confinement: Confinement, environment: Mapping[str, str]) -> str | None:
        """Return the sentence that says that a confined command can't be started, and the cure; None where it can."""
        path = environment.get("PATH", os.defpath)
        find = self.wrap(["sh", "-c", FIND, "sh", program], confinement)
        if _runs(find, path, confinement.cwd) is None:
            return None
        there = shutil.which(program, path=path)
        where = f", though it is there for the runner: {there}. {self._opening}" if there else " on its PATH."
        return f"{self._who} finds no program {program}{where}"

    @property
    def _who(self) -> str:
        return f"The agent, which runs as uid {self._owner[0]}," if self._owner else "The agent"

    @property
    def _opening(self) -> str:
        if self._bubblewrap:
            return "Name its folder in TWOGATE_TOOLS, and let other users read it (chmod o+rx)."
        return "A folder above it is closed to other users: move it to where all can read, or install bubblewrap."

    def wrap(self, command: Sequence[str], confinement: Confinement) -> list[str]:
        """Return the argument list that runs ``command`` confined; its environment is that of whoever starts it."""
        if self._bubblewrap:
            if not self._capability.can_cut:
                confinement = replace(confinement, network=Network.ON)
            return bubblewrap(command, confinement, self._owner, self._tools, close=self._capability.can_close)
        return [*become(self._owner), *command] if self._owner else list(command)

    def report(self) -> SandboxReport:
        """Return what confinement the run really has."""
        return SandboxReport(
            asked=self._mode,
            got="bubblewrap" if self._bubblewrap else "none",
            separate_user=self._owner is not None,
            network=self.network,
            sentence=" ".join(self._sentences()),
        )

    def _sentences(self) -> Iterator[str]:
        if self._mode is SandboxMode.OFF:
            yield "The sandbox is switched off: agents run as the runner's own user and can read what it can."
        else:
            yield self._capability.sentence
        yield NETWORKS[self.network]
        if self.network is not self._asked:
            yield f"The policy asks for `network: {self._asked}`, which can't be kept here."
        if self._owner and (pythons := [str(path) for path in self.closed_tools if path not in self._named]):
            yield f"Their user can't use the Python in {' and '.join(pythons)}."


def agent_environment(
    source: Mapping[str, str],
    *,
    home: Path,
    tmp: Path,
    allow: Sequence[str] = (),
    extra: Mapping[str, str] | None = None,
) -> dict[str, str]:
    """Build an environment from nothing: PATH, LANG, TZ and the names in ``allow`` of ``source``, and the run's own.

    What is not named does not get in, so no secret of the runner does.
    """
    taken = {name: source[name] for name in (*ALLOWED, *allow) if name in source}
    own = {"HOME": str(home), "TMPDIR": str(tmp), "TERM": "dumb", "GIT_CEILING_DIRECTORIES": str(home.parent)}
    return {"PATH": os.defpath, "LANG": "C.UTF-8"} | taken | own | dict(extra or {})
