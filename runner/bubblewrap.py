"""The argument list of bubblewrap: which file system, namespaces and user a confined command finds.

Inside are the system's programs, the tools that are named, and what a :class:`Confinement` names; all else does not
exist there. See bwrap(1), and :mod:`runner.sandbox` for the layouts.
"""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from runner import shim
from runner.terms import Network

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

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
MEMORY_BYTES = 2_000_000_000
"""Bytes that each of these two may hold; where bubblewrap is older than 0.8, half of the machine's memory."""
METER = "/twogate-meter.sock"
"""The meter's socket inside a sandbox without network: short, since such a path may have a hundred bytes only."""
DROP = ("--clear-groups", "--no-new-privs", "--bounding-set=-all", "--inh-caps=-all")
"""What ``setpriv`` takes away on the way to another user (util-linux 2.31 and later)."""


@dataclass(frozen=True)
class Confinement:
    """What a confined command may see and do. Everything not named here is hidden under bubblewrap."""

    cwd: Path
    writable: tuple[Path, ...] = ()
    readonly: tuple[Path, ...] = ()
    network: Network = Network.ON
    meter: Path | None = None
    """The meter's unix socket, which a command without network reaches at ``127.0.0.1:meter_port``."""
    meter_port: int = 0


def become(owner: tuple[int, int]) -> list[str]:
    """Return what goes before a command to run it as another user, without capabilities."""
    return ["setpriv", f"--reuid={owner[0]}", f"--regid={owner[1]}", *DROP]


def bubblewrap(
    command: Sequence[str],
    confinement: Confinement,
    owner: tuple[int, int] | None,
    tools: Sequence[Path],
    *,
    close: bool = True,
) -> list[str]:
    """Return the argument list that runs ``command`` confined; ``close`` forbids further user namespaces inside."""
    isolate = ["--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try", "--die-with-parent"]
    if confinement.network is not Network.ON:
        isolate.append("--unshare-net")
    if _has_meter(confinement):
        command = [sys.executable, "-I", "-S", shim.__file__, str(confinement.meter_port), METER, *command]
    closed = ["--unshare-user", "--disable-userns"]
    cwd = ["--chdir", str(confinement.cwd)]
    mounts = list(_mounts(confinement, tools, sized=owner is None or close))
    if owner is None:
        return ["bwrap", *isolate, *closed, *mounts, *cwd, "--", *command]
    if not close:
        return ["bwrap", *isolate, *mounts, *cwd, "--", *become(owner), *command]
    inner = ["bwrap", *closed, "--bind", "/", "/", "--dev-bind", "/dev", "/dev", *cwd]
    return ["bwrap", *isolate, *mounts, *cwd, "--", *become(owner), *inner, "--", *command]


def _has_meter(confinement: Confinement) -> bool:
    return confinement.network is Network.MODEL and confinement.meter is not None


def _mounts(confinement: Confinement, tools: Sequence[Path], *, sized: bool) -> Iterator[str]:
    """Yield the file system: system and tools read-only, the named folders, empty /tmp, own /proc and /dev."""
    for path in map(Path, SYSTEM):
        if path.is_symlink():
            yield from ("--symlink", os.readlink(path), str(path))  # noqa: PTH115 - the text of the link
        elif path.is_dir():
            yield from ("--ro-bind", str(path), str(path))
    yield from ("--dir", "/etc", "--proc", "/proc", "--dev", "/dev")
    for memory in (SHM, TMP):
        size = ("--size", str(MEMORY_BYTES)) if sized else ()
        yield from ("--perms", "1777", *size, "--tmpfs", memory)
    for name in ETC:
        yield from ("--ro-bind-try", f"/etc/{name}", f"/etc/{name}")
    shown = {*map(Path, ("/", "/etc", "/proc", "/dev", TMP, *SYSTEM))}
    own = (Path(shim.__file__),) if _has_meter(confinement) else ()
    binds = dict.fromkeys((*tools, *own, *confinement.readonly), "--ro-bind")
    binds |= dict.fromkeys(confinement.writable, "--bind")
    for path, option in sorted(binds.items()):
        for parent in reversed(path.parents):
            if parent not in shown and not any(parent.is_relative_to(done) for done in binds if done != path):
                yield from ("--dir", str(parent))
                shown.add(parent)
        yield from (option, str(path), str(path))
    if _has_meter(confinement):
        yield from ("--ro-bind", str(confinement.meter), METER)
    yield from ("--remount-ro", "/")
