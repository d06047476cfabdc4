"""A self-hosted machine of the stand-in: carries out one workflow run with act, as a process tree that can be ended.

act reads its secrets from pipes, so that none stands in a command line or a file where a step could find it. The
machine's environment is made from nothing. A cancellation goes as on GitHub: the running step gets SIGINT, then
SIGTERM, then the kill; steps with ``if: always()`` still run. (act's own cancellation would kill at once and skip the
``always()`` steps of composite actions.) At the end processes that a step left behind are ended, as GitHub's runner
does, found by ``RUNNER_TRACKING_ID`` in their environment.
"""

import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import psutil  # type: ignore[import-untyped]

ACT = Path(sys.executable).parent / "act"
POLL_SECONDS = 0.02
"""How often a step that is to be interrupted is looked for; act needs no longer between two steps."""
REAP_SECONDS = 10.0
"""How long a killed act may take to be gone."""
Reason = Literal["cancelled", "timed_out", "killed", "vanished"]
Line = dict[str, Any]


@dataclass(frozen=True)
class Plan:
    """What act is told: the workflow file in a checkout, its event, and what the steps may see."""

    source: Path
    workflow: str
    event: dict[str, Any]
    environment: dict[str, str]
    secrets: dict[str, str]
    variables: dict[str, str]
    local_actions: dict[str, Path]
    machine: dict[str, str]
    tracking: str


@dataclass(frozen=True)
class Patience:
    """Seconds that a run has: until its time-out, then a step for SIGINT and for SIGTERM, then everything for its end."""

    limit: float
    interrupt: float = 7.5
    terminate: float = 2.5
    wind_up: float = 300.0


@dataclass(eq=False)
class Machine:
    """One run of act. ``carry_out`` blocks until it is over; ``stop`` ends it earlier, from another thread."""

    folder: Path
    plan: Plan
    patience: Patience
    on_line: Callable[[Line], None]
    reason: Reason | None = None
    _wake: threading.Event = field(default_factory=threading.Event)
    _ended: threading.Event = field(default_factory=threading.Event)

    def stop(self, reason: Reason) -> None:
        """End the run; a harder reason replaces a softer one, and ``killed`` and ``vanished`` leave no time at all."""
        self.reason = reason
        self._wake.set()

    def stopped_within(self, seconds: float) -> bool:
        """Wait before the start; whether the run was stopped meanwhile."""
        return self._wake.wait(seconds)

    def carry_out(self) -> int:
        """Start act and follow it to its end; its exit status."""
        with self._started() as act:
            reader = threading.Thread(target=self._read, args=(act,), daemon=True)
            reader.start()
            if not self._wake.wait(self.patience.limit):
                self.stop("timed_out")
            if self.reason is not None and act.poll() is None:
                self._end(psutil.Process(act.pid))
            self._ended.wait(REAP_SECONDS)
            kill(tracked(self.plan.tracking))
            reader.join(REAP_SECONDS)
            return act.wait(REAP_SECONDS)

    @contextlib.contextmanager
    def _started(self) -> "Iterator[subprocess.Popen[bytes]]":
        self.folder.mkdir(parents=True, exist_ok=True)
        (self.folder / "event.json").write_text(json.dumps(self.plan.event))
        pipes = [dotenv_pipe(self.plan.environment), dotenv_pipe(self.plan.secrets)]
        try:
            act = subprocess.Popen(
                self._command(*pipes),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                env=self.plan.machine,
                pass_fds=pipes,
                start_new_session=True,
            )
        finally:
            for pipe in pipes:
                os.close(pipe)
        with act:
            yield act

    def _command(self, environment: int, secrets: int) -> list[str]:
        plan = self.plan
        variables = [part for name, value in plan.variables.items() for part in ("--var", f"{name}={value}")]
        local = [part for name, path in plan.local_actions.items() for part in ("--local-repository", f"{name}={path}")]
        return [
            str(ACT),
            "workflow_dispatch",
            "--json",
            "--no-cache-server",
            *("--directory", str(plan.source)),
            *("--workflows", plan.workflow),
            *("--eventpath", str(self.folder / "event.json")),
            *("--action-cache-path", str(self.folder / "cache")),
            *("--platform", "self-hosted=-self-hosted"),
            *("--actor", plan.environment["GITHUB_ACTOR"]),
            *("--env-file", f"/dev/fd/{environment}"),
            *("--secret-file", f"/dev/fd/{secrets}"),
            *variables,
            *local,
        ]

    def _read(self, act: "subprocess.Popen[bytes]") -> None:
        assert act.stdout is not None
        for raw in act.stdout:
            self.on_line(parsed(raw))
        act.wait()
        self._ended.set()
        self._wake.set()

    def _end(self, act: psutil.Process) -> None:
        if self.reason in {"cancelled", "timed_out"}:
            self._interrupt(act)
            self._wait_for_end()
        if not self._ended.is_set():
            kill([act, *descendants(act), *tracked(self.plan.tracking)])

    def _interrupt(self, act: psutil.Process) -> None:
        steps: list[psutil.Process] = []
        while not steps and not self._ended.wait(POLL_SECONDS):
            with contextlib.suppress(psutil.NoSuchProcess):
                steps = act.children()
        for number, seconds in ((signal.SIGINT, self.patience.interrupt), (signal.SIGTERM, self.patience.terminate)):
            for step in steps:
                with contextlib.suppress(psutil.NoSuchProcess):
                    step.send_signal(number)
            _, steps = psutil.wait_procs(steps, timeout=seconds)
        kill([process for step in steps for process in (step, *descendants(step))])

    def _wait_for_end(self) -> None:
        """Wait for act while no harder reason comes."""
        waited = 0.0
        while waited < self.patience.wind_up and self.reason in {"cancelled", "timed_out"}:
            if self._ended.wait(POLL_SECONDS):
                return
            waited += POLL_SECONDS


def dotenv_pipe(values: dict[str, str]) -> int:
    """The readable end of a pipe that holds the values as a dotenv file."""
    text = "".join(f"{name}={quoted(value)}\n" for name, value in values.items()).encode()
    readable, writable = os.pipe()
    os.set_blocking(writable, False)
    try:
        written = os.write(writable, text) if text else 0
    finally:
        os.close(writable)
    if written != len(text):
        raise ValueError(f"{len(text)} bytes of variables do not fit a pipe")
    return readable


def quoted(value: str) -> str:
    """A value in double quotes, with everything escaped that a dotenv file would take as its own."""
    for plain, escaped in (("\\", "\\\\"), ('"', '\\"'), ("$", "\\$"), ("\n", "\\n"), ("\r", "\\r")):
        value = value.replace(plain, escaped)
    return f'"{value}"'


def parsed(raw: bytes) -> Line:
    """One line of act's output; what is no JSON object becomes a message."""
    text = raw.decode(errors="replace")
    try:
        line = json.loads(text)
    except ValueError:
        line = None
    return line if isinstance(line, dict) else {"msg": text}


def descendants(process: psutil.Process) -> list[psutil.Process]:
    """All processes below one, empty when it is gone."""
    try:
        return list(process.children(recursive=True))
    except psutil.NoSuchProcess:
        return []


def tracked(tracking: str) -> list[psutil.Process]:
    """Processes that carry the tracking id, also those whose parent is gone."""
    found = []
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.NoSuchProcess, psutil.AccessDenied, OSError):
            if process.environ().get("RUNNER_TRACKING_ID") == tracking:
                found.append(process)
    return found


def kill(processes: list[psutil.Process]) -> None:
    """SIGKILL each, and wait until they are gone, or zombies that whoever adopted them has yet to reap."""
    for process in processes:
        with contextlib.suppress(psutil.NoSuchProcess):
            process.kill()
    end = time.monotonic() + REAP_SECONDS
    while any(alive(process) for process in processes) and time.monotonic() < end:
        time.sleep(POLL_SECONDS)


def alive(process: psutil.Process) -> bool:
    """Whether a process can still do anything."""
    try:
        return bool(process.is_running() and process.status() != psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return False
