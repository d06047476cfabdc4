"""Five kinds of process that outlive their parent, started by a command that the runner ends in four ways.

As a program (``python -m tests.pitfalls.daemons LAYOUT FOLDER TOKEN``) it is a runner of its own, to be killed.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from runner.bubblewrap import Confinement
from runner.folders import give
from runner.process import MARKER, run
from tests.pitfalls.arena import sandbox_of

if TYPE_CHECKING:
    from runner.process import Ended

End = Literal["by itself", "time-out", "stop", "kill -9 of the runner"]
ENDS: tuple[End, ...] = ("by itself", "time-out", "stop", "kill -9 of the runner")
KINDS = 5
GRACE = 0.1
"""Seconds between the request to end and the killing."""
PATIENCE = 30.0
"""Seconds that a start or an end may take on a busy machine."""
ROOT = Path(__file__).parents[2]

DAEMONS = textwrap.dedent("""
    import os, signal, socket, sys, time
    up = os.open("up", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    def fork(action):
        if os.fork() == 0:
            action(); os._exit(0)
    def wait():
        os.write(up, b"x"); time.sleep(600)
    def session():
        os.setsid(); wait()
    def double_with_port():
        os.setsid()
        def serve():
            listener = socket.create_server(("127.0.0.1", 0)); wait()
        fork(serve)
    def empty():
        os.setsid()
        if os.fork() == 0:
            code = "import os, sys, time; os.write(%d, b'x'); time.sleep(600)" % up
            os.set_inheritable(up, True)
            os.execve(sys.executable, [sys.executable, "-S", "-c", code, sys.argv[1]], {})
    def deaf():
        signal.signal(signal.SIGTERM, signal.SIG_IGN); wait()
    for action in (wait, session, double_with_port, empty, deaf):
        fork(action)
    while os.stat("up").st_size < 5:
        time.sleep(0.005)
    print("ready", flush=True)
    if sys.argv[2] != "by itself":
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        time.sleep(600)
""")


def start(layout: str, folder: Path, token: str, end: End) -> Ended:
    """Run the daemons' parent in a layout, and end it; ``token`` is on each command line."""
    sandbox = sandbox_of(layout)
    here = folder / "tree"
    here.mkdir()
    give(sandbox.owner, here)
    output = folder / "output"
    python = sys.executable if layout == "sandbox" or sandbox.owner is None else "/usr/bin/python3"
    up = here / "up"
    return run(
        sandbox.wrap([python, "-S", "-c", DAEMONS, token, end], Confinement(here, writable=(here,))),
        cwd=here,
        env={"PATH": os.defpath, MARKER: token},
        stdout_path=output,
        deadline_seconds=1.0 if end == "time-out" else PATIENCE,
        stop=(lambda: "enough" if up.exists() and up.stat().st_size == KINDS else None) if end == "stop" else None,
        grace_seconds=GRACE,
    )


def survivors(token: str) -> list[int]:
    """Return the processes on whose command line the token is, this side's own apart."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and int(entry.name) != os.getpid():
            try:
                words = (entry / "cmdline").read_bytes().split(b"\0")
                state = (entry / "stat").read_text().rpartition(")")[2].split()[0]
            except OSError:
                continue
            if token.encode() in words and state not in {"Z", "X"}:
                found.append(int(entry.name))
    return found


def until_none(token: str) -> list[int]:
    """Wait until none survives; return those that do."""
    deadline = time.monotonic() + PATIENCE
    while (left := survivors(token)) and time.monotonic() < deadline:
        time.sleep(0.01)
    return left


def killed_runner(layout: str, folder: Path, token: str) -> list[int]:
    """Start the daemons under a runner of their own, kill it, and return which survive; fail where they do not start."""
    command = [sys.executable, "-m", "tests.pitfalls.daemons", layout, str(folder), token]
    with subprocess.Popen(command, cwd=ROOT, env={"PATH": os.environ["PATH"]}) as runner:
        output, deadline = folder / "output", time.monotonic() + PATIENCE
        while not (output.exists() and output.read_bytes() == b"ready\n"):
            assert runner.poll() is None, output.read_text() if output.exists() else "nothing was started"
            assert time.monotonic() < deadline
            time.sleep(0.01)
        assert len(survivors(token)) > KINDS
        runner.send_signal(signal.SIGKILL)
    return until_none(token)


if __name__ == "__main__":
    start(sys.argv[1], Path(sys.argv[2]), sys.argv[3], "kill -9 of the runner")
