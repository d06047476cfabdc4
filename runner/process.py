"""Start, watch and end a whole process tree.

:func:`run` starts the command below a process of its own (:mod:`runner.supervise`), which adopts every orphan and dies
last; that is how one run's descendants are told from another's in the same runner. Here are the things to look at
while it runs: deadline, silence, amount of output, and whoever wants it stopped. These are real clocks and real
signals, so time is not injected.

Output travels through a pipe into a file, up to a cap: memory stays the same however much is written, and the end of
the run is the end of the processes, never the closing of a pipe that a daemon holds open.
"""

from __future__ import annotations

import ctypes
import json
import os
import selectors
import signal
import socket
import subprocess
import sys
import time
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, Literal, Protocol

from runner import supervise

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

PR_SET_DUMPABLE = 4
"""From ``linux/prctl.h``."""
MARKER = "TWOGATE_RUN"
"""Environment variable by which the processes of a run are found again after a crash."""
MAX_LINE = 64_000_000
"""Bytes of one line that ``on_line`` gets; the rest of a longer line is left out."""
TICK_SECONDS = 0.2
"""How often a run is looked at, at least."""
READ_BYTES = 1 << 18
"""Read from a pipe at once."""
OVERDUE_SECONDS = supervise.KILL_SECONDS + 10.0
"""After the grace, this long may the supervisor take before it is given up itself."""

Reason = Literal["exited", "timed_out", "output_flood", "stopped", "silent"]


class StartError(Exception):
    """The command could not be started; the message says why."""


@dataclass(frozen=True)
class Limits:
    """Resource limits of each process of the tree (setrlimit(2)); None leaves the system's."""

    file_bytes: int | None = None
    processes: int | None = None
    open_files: int | None = None

    def as_resources(self) -> dict[str, int]:
        """Return those that are set by their names in :mod:`resource`."""
        named = {
            "RLIMIT_FSIZE": self.file_bytes,
            "RLIMIT_NPROC": self.processes,
            "RLIMIT_NOFILE": self.open_files,
            "RLIMIT_CORE": 0,
        }
        return {name: value for name, value in named.items() if value is not None}


MAX_FILE_BYTES = 8_000_000_000
"""Bytes of one file that an agent or a check may write."""
MAX_PROCESSES = 8_192
"""Processes and threads that the user of agents and checks may have, over all its runs."""
MAX_OPEN_FILES = 16_384
"""Files that one process of an agent or a check may hold open."""
CONFINED = Limits(MAX_FILE_BYTES, MAX_PROCESSES, MAX_OPEN_FILES)


@dataclass(frozen=True)
class Ended:
    """How a run ended. ``returncode`` is negative for a signal; only ``reason`` says whether the runner ended it."""

    returncode: int
    reason: Reason
    seconds: float
    left_behind: int
    """Processes that outlived the command (or, when it was stopped, the grace) and were killed."""
    output_bytes: int
    stop_reason: str | None = None
    """What ``stop`` answered."""


class Filter(Protocol):
    """What stands between a stream and its file, so that nothing it takes out ever lies on the disk."""

    def feed(self, chunk: bytes) -> bytes:
        """Take what came; return what can be written now."""

    def close(self) -> bytes:
        """Return what was held back, at the end of the stream."""


class _Lines:
    """Cuts a stream into lines for a callback."""

    def __init__(self, on_line: Callable[[bytes], None]) -> None:
        self._on_line, self._part = on_line, bytearray()

    def feed(self, chunk: bytes) -> None:
        """Take the next bytes; call back for each line they complete."""
        first, *others = chunk.split(b"\n")
        self._add(first)
        if others:
            self.flush(always=True)
            self._part += others.pop()
        for line in others:
            self._on_line(line)

    def _add(self, part: bytes) -> None:
        self._part += part[: MAX_LINE - len(self._part)]

    def flush(self, *, always: bool = False) -> None:
        """Hand on what is there: at the end of the stream a last line without its end."""
        if self._part or always:
            line, self._part = bytes(self._part), bytearray()
            self._on_line(line)


class _Stream:
    """One output pipe on its way into a file."""

    def __init__(self, target: BinaryIO, lines: _Lines | None, sieve: Filter | None, aside: BinaryIO | None) -> None:
        self.reader, self.writer = os.pipe()
        os.set_blocking(self.reader, False)
        self._target, self.lines, self._sieve, self._aside = target, lines, sieve, aside

    def read(self, room: int) -> int:
        """Move what the pipe holds, keep at most ``room`` bytes; return how many there were, -1 at its end."""
        try:
            chunk = os.read(self.reader, READ_BYTES)
        except BlockingIOError:
            return 0
        if not chunk:
            return -1
        kept = chunk[: max(room, 0)]
        self._target.write(self._sieve.feed(kept) if self._sieve else kept)
        if self._aside:
            self._aside.write(kept)
        if self.lines and kept:
            self.lines.feed(kept)
        return len(chunk)

    def finish(self) -> None:
        """Close the pipe, and write what the filter held back."""
        os.close(self.reader)
        if self._sieve:
            self._target.write(self._sieve.close())


@dataclass
class _Watch:
    """Why a run has to end before the command does."""

    deadline_seconds: float
    output_limit_bytes: int
    no_output_seconds: float | None
    stop: Callable[[], str | None] | None

    def __post_init__(self) -> None:
        self.started = self.heard = time.monotonic()
        self.output = 0
        self.stop_reason: str | None = None

    def verdict(self) -> Reason | None:
        """Return the reason to end now, if there is one."""
        now = time.monotonic()
        if self.output > self.output_limit_bytes:
            return "output_flood"
        if now - self.started > self.deadline_seconds:
            return "timed_out"
        if self.no_output_seconds is not None and now - self.heard > self.no_output_seconds:
            return "silent"
        self.stop_reason = self.stop() if self.stop else None
        return None if self.stop_reason is None else "stopped"


def run(
    command: Sequence[str],
    *,
    cwd: Path,
    env: Mapping[str, str],
    stdout_path: Path,
    stderr_path: Path | None = None,
    sieve: Callable[[], Filter] | None = None,
    aside: BinaryIO | None = None,
    deadline_seconds: float,
    output_limit_bytes: int = 50_000_000,
    on_line: Callable[[bytes], None] | None = None,
    on_tick: Callable[[], None] | None = None,
    stop: Callable[[], str | None] | None = None,
    no_output_seconds: float | None = None,
    grace_seconds: float = 5.0,
    limits: Limits = CONFINED,
) -> Ended:
    """Run a command to its end and leave no process of it alive.

    Standard input is ``/dev/null``; standard error joins standard output unless it has a path of its own. ``env`` is
    the whole environment: put :data:`MARKER` in it so that a restart finds what a killed runner left. ``on_line`` gets
    each line of standard output without its end, ``aside`` all of it as it came; into the paths goes what ``sieve``,
    one a stream, lets pass. ``on_tick`` and ``stop`` are called at least every
    :data:`TICK_SECONDS`. Where a callback raises, the tree is ended first. Raises StartError.
    """
    watch = _Watch(deadline_seconds, output_limit_bytes, no_output_seconds, stop)
    with ExitStack() as stack:
        streams = []
        for path, lines, tee in ((stdout_path, _Lines(on_line) if on_line else None, aside), (stderr_path, None, None)):
            if path is not None:
                target = stack.enter_context(path.open("wb", buffering=0))
                streams.append(_Stream(target, lines, sieve() if sieve else None, tee))
                stack.callback(streams[-1].finish)
        ours = _start(command, cwd, env, streams, grace_seconds, limits, stack)
        run_ = _Run(streams, ours, watch, on_tick)
        reason = run_.follow(grace_seconds)
        report = run_.report
        if "error" in report:
            raise StartError(f"The command could not be started: {report['error']}.")
        if not report:  # the supervisor was killed: what bears the mark of the run is still found
            kill_leftovers(env.get(MARKER, ""))
    return Ended(
        returncode=int(report.get("returncode", -signal.SIGKILL)),
        reason=reason,
        seconds=time.monotonic() - watch.started,
        left_behind=int(report.get("left", 0)),
        output_bytes=min(watch.output, output_limit_bytes),
        stop_reason=watch.stop_reason if reason == "stopped" else None,
    )


def _start(
    command: Sequence[str],
    cwd: Path,
    env: Mapping[str, str],
    streams: list[_Stream],
    grace: float,
    limits: Limits,
    stack: ExitStack,
) -> socket.socket:
    ours, theirs = socket.socketpair()
    stack.enter_context(ours)
    arguments = [str(theirs.fileno()), str(grace), json.dumps(limits.as_resources()), *command]
    try:
        supervisor = subprocess.Popen(
            [sys.executable, "-I", "-S", supervise.__file__, *arguments],
            cwd=cwd,
            env=dict(env),
            stdin=subprocess.DEVNULL,
            stdout=streams[0].writer,
            stderr=streams[-1].writer,
            pass_fds=[theirs.fileno()],
            start_new_session=True,
        )
    except OSError as error:
        raise StartError(f"The command could not be started in {cwd}: {error.strerror}.") from error
    finally:
        theirs.close()
        for stream in streams:
            os.close(stream.writer)
    stack.callback(_end_supervisor, supervisor, ours, grace)
    return ours


def _end_supervisor(supervisor: subprocess.Popen[bytes], ours: socket.socket, grace: float) -> None:
    """Close the line to the supervisor, which tells it to end its tree, and wait for it."""
    ours.close()
    try:
        supervisor.wait(grace + OVERDUE_SECONDS)
    except subprocess.TimeoutExpired:
        supervisor.kill()
        supervisor.wait()


class _Run:
    """The loop between start and end."""

    def __init__(
        self, streams: list[_Stream], ours: socket.socket, watch: _Watch, on_tick: Callable[[], None] | None
    ) -> None:
        self._streams, self._ours, self._watch, self._on_tick = streams, ours, watch, on_tick
        self._answer = bytearray()
        self._selector = selectors.DefaultSelector()

    @property
    def report(self) -> dict[str, int | str]:
        """What the supervisor said, empty where it was killed."""
        report: dict[str, int | str] = json.loads(self._answer) if self._answer.endswith(b"\n") else {}
        return report

    def follow(self, grace: float) -> Reason:
        """Watch until the supervisor answers; return why the run ended."""
        reason: Reason | None = None
        give_up = float("inf")
        with self._selector:
            for stream in self._streams:
                self._selector.register(stream.reader, selectors.EVENT_READ, stream)
            self._selector.register(self._ours, selectors.EVENT_READ)
            while self._step() and time.monotonic() < give_up:
                reason_now = None if reason else self._watch.verdict()
                if reason_now:
                    reason, give_up = reason_now, time.monotonic() + grace + OVERDUE_SECONDS
                    with suppress(OSError):
                        self._ours.sendall(b"stop\n")
                if self._on_tick:
                    self._on_tick()
        self._drain()
        return reason or self._late()

    def _step(self) -> bool:
        """Move what is ready; return whether the supervisor is still at work."""
        for key, _ in self._selector.select(TICK_SECONDS):
            if key.data is None:
                word = self._ours.recv(4_096)
                self._answer += word
                if not word or word.endswith(b"\n"):
                    return False
            elif self._move(key.data) < 0:
                self._selector.unregister(key.fileobj)
        return True

    def _move(self, stream: _Stream) -> int:
        count = stream.read(self._watch.output_limit_bytes - self._watch.output)
        if count > 0:
            self._watch.output += count
            self._watch.heard = time.monotonic()
        return count

    def _drain(self) -> None:
        """Take what is still in the pipes: their writers are dead, so this ends."""
        for stream in self._streams:
            while self._move(stream) > 0:
                pass
            if stream.lines:
                stream.lines.flush()

    def _late(self) -> Reason:
        return "output_flood" if self._watch.output > self._watch.output_limit_bytes else "exited"


def keep_to_itself() -> None:
    """Close this process's memory and environment to others of the same user (prctl(2), PR_SET_DUMPABLE).

    Programs that it starts are not closed. Root reads them all the same.
    """
    ctypes.CDLL(None).prctl(PR_SET_DUMPABLE, 0, 0, 0, 0)


def kill_leftovers(marker: str) -> int:
    """End every process that bears this run's mark, with its descendants; return how many there were.

    The mark is the whole entry ``TWOGATE_RUN=<marker>`` of ``/proc/<pid>/environ``: a run has a mark of its own, so
    neither a recycled process id nor another run can be hit. An empty mark matches nothing.
    """
    if not marker:
        return 0
    hit: set[int] = set()
    end = time.monotonic() + supervise.KILL_SECONDS
    while (found := _marked(f"{MARKER}={marker}".encode())) and time.monotonic() < end:
        for pid, start in found.items():
            hit.add(pid)
            supervise.send(pid, start, signal.SIGKILL)
        time.sleep(supervise.POLL_SECONDS)
    return len(hit)


def _marked(entry: bytes) -> dict[int, int]:
    table = supervise.processes()
    marked = {pid for pid in table if pid != os.getpid() and entry in _environ(pid).split(b"\0")}
    every = marked | supervise.descendants(marked, table)
    return {pid: table[pid][1] for pid in every - {os.getpid()}}


def _environ(pid: int) -> bytes:
    try:
        return Path(f"/proc/{pid}/environ").read_bytes()
    except OSError:
        return b""
