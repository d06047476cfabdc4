"""Runs that never ended, ended too much, or left something that held what the next one needs.

samoylenkodmitry/Cranpose PR#702, Tendril#2046, CCA#473, CCA#1607, AO#3491, vibe-kanban#1286, vibe-kanban#3218, emdash#2110,
xum#41, opencode#20902, claude-sdlc-harness#341, claude-code#89355, letta-code#1975, runatlantis/atlantis#4301.
"""

from __future__ import annotations

import fcntl
import os
import signal
import socket
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from runner import supervise
from runner.process import Ended, run

if TYPE_CHECKING:
    from pathlib import Path


def execute(folder: Path, *command: str, seconds: float = 30) -> Ended:
    return run(
        command,
        cwd=folder,
        env={"PATH": os.defpath},
        stdout_path=folder / "out",
        deadline_seconds=seconds,
        grace_seconds=0.3,
    )


def test_a_lock_that_an_orphan_held_is_free_afterwards(tmp_path: Path) -> None:
    lock = tmp_path / "lock"
    script = "import fcntl,os,sys,time; f=open(sys.argv[1],'w'); fcntl.flock(f,2)\nif os.fork()==0: os.setsid(); time.sleep(600)"
    assert execute(tmp_path, sys.executable, "-c", script, str(lock)).left_behind == 1
    with lock.open() as file:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)


def test_a_port_that_a_server_held_is_free_afterwards(tmp_path: Path) -> None:
    script = (
        "import os,socket,time; s=socket.socket(); s.bind(('127.0.0.1',0)); s.listen(); print(s.getsockname()[1],flush=True)\n"
        "if os.fork()==0: os.setsid(); time.sleep(600)"
    )
    execute(tmp_path, sys.executable, "-c", script)
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        probe.bind(("127.0.0.1", int((tmp_path / "out").read_text())))


def test_a_command_that_reads_standard_input_does_not_wait(tmp_path: Path) -> None:
    assert execute(tmp_path, "sh", "-c", "read answer || echo nobody there").reason == "exited"
    assert (tmp_path / "out").read_text() == "nobody there\n"


def test_there_is_no_terminal_to_ask_on(tmp_path: Path) -> None:
    execute(tmp_path, "sh", "-c", "(: < /dev/tty) 2>/dev/null && echo terminal || echo none")
    assert (tmp_path / "out").read_text() == "none\n"


def test_a_zombie_does_not_keep_a_run_alive(tmp_path: Path) -> None:
    script = "import os,time\nif os.fork()==0: os._exit(0)\ntime.sleep(0.2)"
    ended = execute(tmp_path, sys.executable, "-c", script)
    assert (ended.reason, ended.left_behind) == ("exited", 0)


def test_a_recycled_process_id_is_not_signalled() -> None:
    innocent = subprocess.Popen(["sleep", "600"])
    try:
        start = supervise.processes()[innocent.pid][1]
        supervise.send(innocent.pid, start - 1, signal.SIGKILL)
        assert innocent.poll() is None
        supervise.send(innocent.pid, start, signal.SIGKILL)
        assert innocent.wait(20) == -signal.SIGKILL
        supervise.send(innocent.pid, start, signal.SIGKILL)
    finally:
        innocent.kill()
        innocent.wait()


def test_a_last_line_without_its_end_is_not_lost(tmp_path: Path) -> None:
    lines: list[bytes] = []
    script = "head -c 3000000 /dev/zero | tr '\\0' x; printf '\\nlast'"
    options = {"cwd": tmp_path, "env": {"PATH": os.defpath}, "stdout_path": tmp_path / "out"}
    run(["sh", "-c", script], deadline_seconds=30, on_line=lines.append, **options)  # type: ignore[arg-type]
    assert [len(line) for line in lines] == [3_000_000, 4]


@pytest.mark.parametrize("script", ["while :; do :; done", "trap '' INT TERM HUP; while :; do sleep 0.1; done"])
def test_a_command_that_never_ends_is_ended(tmp_path: Path, script: str) -> None:
    ended = execute(tmp_path, "sh", "-c", script, seconds=0.3)
    assert ended.reason == "timed_out"
    assert ended.seconds < 10
