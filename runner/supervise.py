"""The process between the runner and one command: adopts every orphan of the command and leaves none alive.

Run by path with ``-I -S`` (standard library alone, starts in some 20 ms): ``supervise.py FD GRACE LIMITS COMMAND…``.
``FD`` is one end of a socket pair. The runner says ``stop`` on it, or vanishes, which closes it and means the same;
the supervisor answers once, with a line of JSON, after the last process of the tree is dead.

Identity: the supervisor is a child subreaper (prctl(2)), so whatever the command starts, ``setsid``, double fork and
emptied environment included, stays a descendant of this one process. Two runs side by side have two supervisors and
can't touch each other's processes. A signal goes through a pidfd, after the start time has been compared, so that a
recycled process id is never hit.
"""

from __future__ import annotations

import ctypes
import json
import os
import resource
import select
import signal
import socket
import subprocess
import sys
import time
from contextlib import suppress

PR_SET_CHILD_SUBREAPER = 36
"""From ``linux/prctl.h``."""
KEYCTL = {"x86_64": 250, "aarch64": 219}
"""Number of keyctl(2) by machine; the C library has no function for it."""
KEYCTL_JOIN_SESSION_KEYRING = 1
"""From ``linux/keyctl.h``; with no name it makes a new, empty one."""
SETTLE_SECONDS = 0.1
"""What a child may take to end by itself after its command did, before it counts as left behind."""
LAST_WORDS_SECONDS = 0.5
"""Between SIGTERM and SIGKILL for what a command left behind."""
KILL_SECONDS = 20.0
"""After this long of SIGKILLs the rest is given up as unkillable (a process in an uninterruptible wait)."""
POLL_SECONDS = 0.02
"""Between two looks at the process table while a tree ends."""
OOM_SCORE = 500
"""Where memory runs out, the kernel ends what runs here before the runner (proc(5), ``oom_score_adj``)."""
WRAPPERS = frozenset({"bwrap"})
"""Programs that take their whole sandbox down on SIGTERM: spared by it, so that what runs inside gets its grace."""

Table = dict[int, tuple[int, int]]
"""Living processes: process id to (parent's id, start time in clock ticks since boot)."""


def processes() -> Table:
    """Return every living process, zombies apart (proc(5), ``/proc/[pid]/stat``)."""
    found = {}
    for entry in os.listdir("/proc"):  # noqa: PTH208
        if entry.isdigit() and (row := _stat(int(entry))):
            found[int(entry)] = row
    return found


def start_of(pid: int) -> int | None:
    """Return when a living process started, in clock ticks since boot; None where there is none of this id."""
    row = _stat(pid)
    return row[1] if row else None


def _stat(pid: int) -> tuple[int, int] | None:
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:  # noqa: PTH123 - pathlib would double the start-up time
            fields = file.read().rpartition(b")")[2].split()
    except OSError:
        return None
    return None if not fields or fields[0] in {b"Z", b"X"} else (int(fields[1]), int(fields[19]))


def descendants(roots: set[int], table: Table) -> set[int]:
    """Return what descends from ``roots``, the roots themselves apart."""
    children: dict[int, list[int]] = {}
    for pid, (parent, _) in table.items():
        children.setdefault(parent, []).append(pid)
    found: set[int] = set()
    queue = list(roots)
    while queue:
        new = [pid for pid in children.get(queue.pop(), []) if pid not in found and pid not in roots]
        found.update(new)
        queue.extend(new)
    return found


def send(pid: int, start: int, number: signal.Signals) -> None:
    """Signal the process that had this id and start time, and no other."""
    try:
        handle = os.pidfd_open(pid)
    except OSError:
        return
    try:
        row = _stat(pid)
        if row and row[1] == start:
            signal.pidfd_send_signal(handle, number)
    except OSError:
        return
    finally:
        os.close(handle)


def _program(pid: int) -> str:
    try:
        with open(f"/proc/{pid}/comm") as file:  # noqa: PTH123
            return file.read().strip()
    except OSError:
        return ""


class Tree:
    """Everything below this process; ``status`` is the command's wait status once it has ended."""

    def __init__(self, command: int) -> None:
        self.command = command
        self.status: int | None = None

    def alive(self) -> Table:
        """Reap what has ended and return what lives."""
        try:
            while (ended := os.waitpid(-1, os.WNOHANG))[0]:
                if ended[0] == self.command:
                    self.status = ended[1]
        except ChildProcessError:
            return {}
        table = processes()
        return {pid: table[pid] for pid in descendants({os.getpid()}, table)}

    def wait(self, seconds: float) -> Table:
        """Wait for the tree to end by itself; return what lives after ``seconds``."""
        end = time.monotonic() + seconds
        while (left := self.alive()) and time.monotonic() < end:
            time.sleep(POLL_SECONDS)
        return left

    def ask(self) -> None:
        """Send SIGTERM to all but the wrappers, which would take what runs inside down without a grace."""
        for pid, (_, start) in self.alive().items():
            if _program(pid) not in WRAPPERS:
                send(pid, start, signal.SIGTERM)

    def kill(self) -> int:
        """Send SIGKILL until nothing lives; return how many can't be killed."""
        end = time.monotonic() + KILL_SECONDS
        while (left := self.alive()) and time.monotonic() < end:
            for pid, (_, start) in left.items():
                send(pid, start, signal.SIGKILL)
            time.sleep(POLL_SECONDS)
        return len(left)

    def end(self, grace: float | None) -> dict[str, int]:
        """End what lives, after ``grace`` seconds where the command is being stopped; return the report."""
        left = self.wait(SETTLE_SECONDS if grace is None else 0)
        if left:
            self.ask()
            rest = self.wait(LAST_WORDS_SECONDS if grace is None else grace)
            left = left if grace is None else rest
        unkillable = self.kill()
        code = -signal.SIGKILL if self.status is None else os.waitstatus_to_exitcode(self.status)
        return {"returncode": code, "left": len(left), "unkillable": unkillable}


def _be_scored(score: int) -> int:
    """Set what the kernel thinks of this process, and of those it starts from now on; return what it thought."""
    before = 0
    with suppress(OSError), open("/proc/self/oom_score_adj", "r+") as file:  # noqa: PTH123
        before = int(file.read())
        file.seek(0)
        file.write(str(score))
    return before


def _start(command: list[str], limits: dict[str, int]) -> int:
    for name, value in limits.items():
        number = getattr(resource, name)
        hard = resource.getrlimit(number)[1]
        capped = value if hard == resource.RLIM_INFINITY else min(value, hard)
        resource.setrlimit(number, (capped, capped))
    own = _be_scored(OOM_SCORE)
    try:
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, start_new_session=True)
    finally:
        _be_scored(own)
    process.returncode = 0  # its finalizer would reap a command that has ended already, and its exit code with it
    return process.pid


def _stopped(command: int, runner: socket.socket) -> bool:
    """Wait for the command's end or the runner's word, whichever is first."""
    handle = os.pidfd_open(command)
    ready, _, _ = select.select([handle, runner.fileno()], [], [])
    return handle not in ready


def _is_gone(runner: socket.socket) -> bool:
    """Whether the runner died before this process was born: it may be thought of as cleaned up already."""
    return bool(select.select([runner], [], [], 0)[0]) and not runner.recv(1, socket.MSG_PEEK)


def _leave_keyring() -> None:
    """Get a session keyring of our own (session-keyring(7)): what the runner's holds is no business of the tree's."""
    number = KEYCTL.get(os.uname().machine)
    if number is not None:  # a kernel without keyrings says so, and has nothing to leave
        ctypes.CDLL(None).syscall(number, KEYCTL_JOIN_SESSION_KEYRING, None)


def main(arguments: list[str]) -> int:
    """Start the command, wait, end the tree, report."""
    runner = socket.socket(fileno=int(arguments[0]))
    grace, limits, command = float(arguments[1]), json.loads(arguments[2]), arguments[3:]
    if ctypes.CDLL(None, use_errno=True).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0):
        raise OSError(ctypes.get_errno(), "prctl(PR_SET_CHILD_SUBREAPER)")
    _leave_keyring()
    if _is_gone(runner):
        return 1
    try:
        pid = _start(command, limits)
    except OSError as error:
        report: dict[str, int | str] = {"error": f"{command[0]}: {error.strerror}"}
    else:
        report = dict(Tree(pid).end(grace if _stopped(pid, runner) else None))
    try:
        runner.sendall(json.dumps(report).encode() + b"\n")
    except OSError:
        return 1  # the runner is gone, and now its tree is, too
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
