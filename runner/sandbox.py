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
exist there. The file system is read-only apart from what is named, and processes outside can't be seen.
"""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from runner.contract import SandboxReport
from runner.terms import SandboxMode

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

DEFAULT_USER = "twogate-agent"
"""The user that agents run as where it exists and no other is set."""
NOBODY = 65_534
"""Uid and gid that agents run as where there is no such user."""
PROBE_SECONDS = 20.0
"""For trying one layout."""
SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/nix/store")
"""Where the system's programs and libraries are; links among them are kept as links."""
ETC = (
    *("passwd", "group", "nsswitch.conf", "hosts", "resolv.conf", "localtime", "ld.so.cache", "ld.so.conf"),
    *("ld.so.conf.d", "ssl", "pki", "ca-certificates", "alternatives", "mime.types", "services", "protocols"),
)
"""What programs need of ``/etc``; nothing in it is secret."""
TMP = "/tmp"  # noqa: S108 - a fresh one inside the sandbox, never the machine's
"""For programs that do not look at TMPDIR; lies in memory and ends with the command."""
SHM = "/dev/shm"  # noqa: S108 - likewise
"""Shared memory and named semaphores (shm_overview(7)): Python's multiprocessing needs them."""
CURE = (
    "Install bubblewrap (Debian, Ubuntu: apt install bubblewrap; Fedora: dnf install bubblewrap) and, where the kernel "
    "keeps plain users from user namespaces, allow them for bwrap (Ubuntu 24.04: an AppArmor profile for "
    "/usr/bin/bwrap; a container: run it as root with SYS_ADMIN). Or set `sandbox: auto` in .github/twogate.yml and "
    "accept agents that are less confined."
)
"""What to do where bubblewrap does not run."""
ALLOWED = ("PATH", "LANG", "TZ")
"""Variables that a confined program gets from the runner's environment, where they are set."""
DROP = ("--clear-groups", "--no-new-privs", "--bounding-set=-all", "--inh-caps=-all")
"""What ``setpriv`` takes away on the way to another user (util-linux 2.31 and later)."""


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


@dataclass(frozen=True)
class Confinement:
    """What a confined command may see and do. Everything not named here is hidden under bubblewrap."""

    cwd: Path
    writable: tuple[Path, ...] = ()
    readonly: tuple[Path, ...] = ()
    network: bool = True


def probe(user: str | None = None) -> Capability:
    """Try what works here by running it. Raises SandboxUnavailableError where ``user`` does not exist."""
    owner = _owner(user) if os.geteuid() == 0 and shutil.which("setpriv") else None
    can_switch = owner is not None and _runs([*_become(owner), "true"]) is None
    who = f"as uid {owner[0]}" if owner and can_switch else "as the runner's own user"
    if shutil.which("bwrap") is None:
        return Capability(False, can_switch, f"bubblewrap is not installed; agents run {who}.")
    become = owner if can_switch else None
    faults = {close: _runs(_bubblewrap(["true"], Confinement(Path("/")), become, (), close)) for close in (True, False)}
    for close, fault in faults.items():
        if fault is None and (close or become):
            return Capability(True, can_switch, f"Agents run in bubblewrap, {who}.", close)
    return Capability(False, can_switch, f"bubblewrap does not run here ({faults[True]}); agents run {who}.")


def _runs(command: list[str]) -> str | None:
    """Return None where the command ends well, else the last line of what it said."""
    try:
        ended = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            timeout=PROBE_SECONDS,
            check=False,
            env={"PATH": os.defpath},
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return str(error)
    said = ended.stderr.decode("utf-8", "replace").strip().splitlines()
    return None if ended.returncode == 0 else (said[-1] if said else f"status {ended.returncode}")


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
        self, mode: SandboxMode, capability: Capability, *, user: str | None = None, tools: Sequence[Path] = ()
    ) -> None:
        """Raise SandboxUnavailableError where ``mode`` is required and bubblewrap does not run."""
        if mode is SandboxMode.REQUIRED and not capability.bubblewrap:
            raise SandboxUnavailableError(f"{capability.sentence} The policy requires the sandbox. {CURE}")
        self._mode, self._capability = mode, capability
        self._bubblewrap = capability.bubblewrap and mode is not SandboxMode.OFF
        self._owner = _owner(user) if capability.can_switch_user and mode is not SandboxMode.OFF else None
        self._tools = (*tools, Path(sys.prefix), Path(sys.base_prefix))

    @property
    def owner(self) -> tuple[int, int] | None:
        """The uid and gid that confined commands run as, None for the runner's own."""
        return self._owner

    def wrap(self, command: Sequence[str], confinement: Confinement) -> list[str]:
        """Return the argument list that runs ``command`` confined; its environment is that of whoever starts it."""
        if self._bubblewrap:
            return _bubblewrap(command, confinement, self._owner, self._tools, self._capability.can_close)
        return [*_become(self._owner), *command] if self._owner else list(command)

    def report(self) -> SandboxReport:
        """Return what confinement the run really has."""
        return SandboxReport(
            asked=self._mode,
            got="bubblewrap" if self._bubblewrap else "none",
            separate_user=self._owner is not None,
            sentence="The sandbox is switched off: agents run as the runner's own user and can read what it can."
            if self._mode is SandboxMode.OFF
            else self._capability.sentence,
        )


def _become(owner: tuple[int, int]) -> list[str]:
    return ["setpriv", f"--reuid={owner[0]}", f"--regid={owner[1]}", *DROP]


def _bubblewrap(
    command: Sequence[str],
    confinement: Confinement,
    owner: tuple[int, int] | None,
    tools: Sequence[Path],
    close: bool,  # noqa: FBT001 - handed through
) -> list[str]:
    isolate = ["--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try", "--die-with-parent"]
    if not confinement.network:
        isolate.append("--unshare-net")
    closed = ["--unshare-user", "--disable-userns"]
    cwd = ["--chdir", str(confinement.cwd)]
    mounts = list(_mounts(confinement, tools))
    if owner is None:
        return ["bwrap", *isolate, *closed, *mounts, *cwd, "--", *command]
    if not close:
        return ["bwrap", *isolate, *mounts, *cwd, "--", *_become(owner), *command]
    inner = ["bwrap", *closed, "--bind", "/", "/", "--dev-bind", "/dev", "/dev", *cwd]
    return ["bwrap", *isolate, *mounts, *cwd, "--", *_become(owner), *inner, "--", *command]


def _mounts(confinement: Confinement, tools: Sequence[Path]) -> Iterator[str]:
    """Yield the file system: system and tools read-only, the named folders, empty /tmp, own /proc and /dev."""
    for path in map(Path, SYSTEM):
        if path.is_symlink():
            yield from ("--symlink", os.readlink(path), str(path))  # noqa: PTH115 - the text of the link
        elif path.is_dir():
            yield from ("--ro-bind", str(path), str(path))
    yield from ("--dir", "/etc", "--proc", "/proc", "--dev", "/dev")
    for memory in (SHM, TMP):
        yield from ("--perms", "1777", "--tmpfs", memory)
    for name in ETC:
        yield from ("--ro-bind-try", f"/etc/{name}", f"/etc/{name}")
    shown = {*map(Path, ("/", "/etc", "/proc", "/dev", TMP, *SYSTEM))}
    binds = dict.fromkeys((*tools, *confinement.readonly), "--ro-bind")
    binds |= dict.fromkeys(confinement.writable, "--bind")
    for path, option in sorted(binds.items()):
        for parent in reversed(path.parents):
            if parent not in shown and not any(parent.is_relative_to(done) for done in binds if done != path):
                yield from ("--dir", str(parent))
                shown.add(parent)
        yield from (option, str(path), str(path))
    yield from ("--remount-ro", "/")


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
