"""A run ends when and how it is told, and nothing of it is left."""

from __future__ import annotations

import contextlib
import os
import resource
import signal
import socket
import subprocess
import sys
import textwrap
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psutil
import pytest

from runner import supervise
from runner.process import MARKER, Ended, Limits, StartError, kill_leftovers, run

if TYPE_CHECKING:
    from collections.abc import Callable

DAEMONS = """
    import os, signal, subprocess, sys, time
    def fork(action):
        if os.fork() == 0:
            action(); os._exit(0)
    def note():
        with open(sys.argv[1], "a") as file: file.write(f"{os.getpid()}\\n")
    def wait():
        note(); time.sleep(600)
    def deaf():
        signal.signal(signal.SIGTERM, signal.SIG_IGN); wait()
    def session():
        os.setsid(); wait()
    def double():
        os.setsid(); fork(wait)
    def empty():
        os.setsid()
        if os.fork() == 0:
            os.execve(sys.executable, [sys.executable, "-S", "-c",
                "import os, sys, time; open(sys.argv[1], 'a').write(f'{os.getpid()}\\\\n'); time.sleep(600)", sys.argv[1]], {})
    for action in (wait, deaf, session, double, empty):
        fork(action)
    while len(open(sys.argv[1]).read().split()) < 5:
        time.sleep(0.01)
"""
"""Five kinds of process that outlive their parent; each writes its id down before the parent goes on."""


class Lab:
    """Runs commands in a folder and knows which processes they made."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.output = folder / "stdout"
        self.pids = folder / "pids"
        self.pids.touch()
        self.env = {"PATH": os.defpath, MARKER: f"test{os.getpid()}{folder.name}"}

    def run(self, *command: str, **options: Any) -> Ended:
        options.setdefault("deadline_seconds", 30)
        return run(command, cwd=self.folder, env=self.env, stdout_path=self.output, **options)

    def shell(self, script: str, **options: Any) -> Ended:
        return self.run("sh", "-c", script, **options)

    def python(self, script: str, **options: Any) -> Ended:
        return self.run(sys.executable, "-c", textwrap.dedent(script), str(self.pids), **options)

    def alive(self) -> list[int]:
        """Return which of the noted processes live."""
        found = []
        for pid in map(int, self.pids.read_text().split()):
            with contextlib.suppress(psutil.NoSuchProcess):
                if psutil.Process(pid).status() != psutil.STATUS_ZOMBIE:
                    found.append(pid)
        return found


@pytest.fixture
def lab(tmp_path: Path) -> Lab:
    return Lab(tmp_path)


def until(true: Callable[[], bool], seconds: float = 20) -> None:
    """Wait for a condition; fail when it does not come."""
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end, "the condition did not come true"
        time.sleep(0.01)


def test_a_command_runs_to_its_end(lab: Lab) -> None:
    lines: list[bytes] = []
    ended = lab.shell("echo one; echo two >&2; printf last; cat; exit 3", on_line=lines.append)
    assert (ended.returncode, ended.reason, ended.left_behind) == (3, "exited", 0)
    assert lines == [b"one", b"two", b"last"]
    assert lab.output.read_bytes() == b"one\ntwo\nlast"
    assert ended.output_bytes == 12


def test_errors_go_to_their_own_file_where_one_is_named(lab: Lab) -> None:
    lines: list[bytes] = []
    lab.shell("echo out; echo err >&2", stderr_path=lab.folder / "stderr", on_line=lines.append)
    assert (lab.output.read_text(), (lab.folder / "stderr").read_text()) == ("out\n", "err\n")
    assert lines == [b"out"]


def test_a_death_by_signal_is_told_as_such(lab: Lab) -> None:
    assert lab.shell("kill -SEGV $$").returncode == -signal.SIGSEGV


def test_nothing_but_the_given_environment_is_seen(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GITHUB_TOKEN", "ghs_secret")
    lab.shell("env; cat /proc/$PPID/environ")
    assert b"ghs_secret" not in lab.output.read_bytes()
    assert lab.env[MARKER].encode() in lab.output.read_bytes()


def test_no_daemon_outlives_a_command_that_ended_well(lab: Lab) -> None:
    ended = lab.python(DAEMONS)
    assert (ended.returncode, ended.reason, ended.left_behind) == (0, "exited", 5)
    assert len(lab.pids.read_text().split()) == 5
    assert lab.alive() == []


def test_no_daemon_outlives_a_command_that_was_stopped(lab: Lab) -> None:
    script = textwrap.dedent(DAEMONS) + "\nprint('ready', flush=True)\ntime.sleep(600)\n"
    ended = lab.python(script, stop=lambda: "enough" if lab.output.read_bytes() else None, grace_seconds=0.3)
    assert (ended.reason, ended.stop_reason) == ("stopped", "enough")
    assert lab.alive() == []
    assert ended.seconds < 20


def test_a_command_gets_its_grace_and_uses_it(lab: Lab) -> None:
    script = "trap 'echo goodbye; exit 7' TERM; echo ready; while :; do sleep 0.05; done"
    ended = lab.shell(script, stop=lambda: "stop" if lab.output.read_bytes() else None)
    assert (ended.returncode, ended.reason) == (7, "stopped")
    assert lab.output.read_bytes().endswith(b"goodbye\n")
    assert ended.seconds < 4


def test_a_command_that_ignores_the_request_is_killed(lab: Lab) -> None:
    ended = lab.shell("trap '' TERM; while :; do sleep 1; done", deadline_seconds=0.3, grace_seconds=0.3)
    assert (ended.returncode, ended.reason) == (-signal.SIGKILL, "timed_out")
    assert ended.left_behind > 0
    assert ended.seconds < 10


def test_silence_is_an_end_of_its_own(lab: Lab) -> None:
    ended = lab.shell("echo hello; exec sleep 600", no_output_seconds=0.4)
    assert ended.reason == "silent"
    assert lab.output.read_bytes() == b"hello\n"


def test_a_flood_is_stopped_at_the_cap_and_costs_no_memory(lab: Lab) -> None:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    lines = 0

    def count(_: bytes) -> None:
        nonlocal lines
        lines += 1

    ended = lab.shell("exec yes", output_limit_bytes=6_000_000, on_line=count, grace_seconds=1)
    assert (ended.reason, ended.output_bytes, lab.output.stat().st_size) == ("output_flood", 6_000_000, 6_000_000)
    assert lines == 3_000_000
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 30_000, "kilobytes"


def test_a_flood_of_two_hundred_megabytes_is_written_no_further(lab: Lab) -> None:
    ended = lab.shell("exec yes", output_limit_bytes=200_000_000, grace_seconds=1)
    assert (ended.reason, lab.output.stat().st_size) == ("output_flood", 200_000_000)


def test_one_line_of_fifty_megabytes_is_one_line(lab: Lab) -> None:
    lengths: list[int] = []
    script = "head -c 50000000 /dev/zero | tr '\\0' x; echo; echo end"
    ended = lab.shell(script, output_limit_bytes=60_000_000, on_line=lambda line: lengths.append(len(line)))
    assert (ended.reason, lengths) == ("exited", [50_000_000, 3])


def test_a_pipe_that_a_daemon_holds_open_holds_nothing_up(lab: Lab) -> None:
    ended = lab.shell("(setsid sleep 600 &) ; echo done")
    assert (ended.reason, ended.left_behind) == ("exited", 1)
    assert ended.seconds < 5
    assert lab.output.read_bytes() == b"done\n"


def test_a_child_that_ends_by_itself_is_not_left_behind(lab: Lab) -> None:
    assert lab.shell("sleep 0.03 & echo done").left_behind == 0


def test_two_runs_side_by_side_do_not_touch_each_other(lab: Lab, tmp_path: Path) -> None:
    other_folder = tmp_path / "other"
    other_folder.mkdir()
    other, ready, ended = Lab(other_folder), tmp_path / "go", []
    script = f"(env -i setsid sleep 600 &); echo up; while [ ! -e {ready} ]; do sleep 0.02; done; pgrep -s 0 > /dev/null; ps -eo args | grep -c '[s]leep 600' || :"
    thread = threading.Thread(target=lambda: ended.append(other.shell(script)))
    thread.start()
    until(lambda: other.output.exists() and other.output.read_bytes() == b"up\n")
    lab.python(DAEMONS)
    ready.touch()
    thread.join(20)
    assert ended[0].returncode == 0
    assert ended[0].left_behind == 1, "the other run's daemon was ended by this one"


def test_a_command_that_is_not_there_is_told(lab: Lab) -> None:
    with pytest.raises(StartError, match="nonesuch: No such file"):
        lab.run("nonesuch")
    with pytest.raises(StartError, match="could not be started in"):
        run(["true"], cwd=lab.folder / "absent", env=lab.env, stdout_path=lab.output, deadline_seconds=5)


def test_a_callback_that_fails_ends_the_tree_first(lab: Lab) -> None:
    def fail(_: bytes) -> None:
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        lab.shell(f"sleep 600 & echo $! > {lab.pids}; echo x; wait", on_line=fail, grace_seconds=0.2)
    assert lab.alive() == []


def test_ticks_come_while_it_runs(lab: Lab) -> None:
    ticks: list[float] = []
    lab.shell("sleep 0.5", on_tick=lambda: ticks.append(time.monotonic()))
    assert len(ticks) >= 2


def test_limits_hold_for_every_process_of_the_tree(lab: Lab) -> None:
    limits = Limits(file_bytes=1_000_000, open_files=64)
    ended = lab.shell("ulimit -n; sh -c 'head -c 5000000 /dev/zero > big'; ulimit -c", limits=limits)
    assert lab.output.read_text().splitlines()[0] == "64"
    assert lab.output.read_text().splitlines()[-1] == "0"
    assert (lab.folder / "big").stat().st_size == 1_000_000
    assert ended.reason == "exited"


RUNNER = """
    import os, pathlib, sys
    from runner.process import run
    folder = pathlib.Path(sys.argv[1])
    run([sys.executable, "-c", (folder / "daemons.py").read_text(), str(folder / "pids")], cwd=folder,
        env={"PATH": os.defpath, "TWOGATE_RUN": sys.argv[2]}, stdout_path=folder / "stdout", deadline_seconds=60,
        grace_seconds=0.3)
"""


def start_runner(lab: Lab) -> subprocess.Popen[bytes]:
    """Start a runner of its own that runs the daemons and an endless command; return when all of them are up."""
    daemons = textwrap.dedent(DAEMONS) + "\nnote()\ntime.sleep(600)\n"
    (lab.folder / "daemons.py").write_text(daemons)
    command = [sys.executable, "-c", textwrap.dedent(RUNNER), str(lab.folder), lab.env[MARKER]]
    process = subprocess.Popen(command, cwd=Path(__file__).parents[2])
    until(lambda: len(lab.pids.read_text().split()) == 6)
    return process


def supervisor_of(process: subprocess.Popen[bytes]) -> int:
    (child,) = psutil.Process(process.pid).children()
    return int(child.pid)


def test_a_killed_runner_takes_its_tree_along(lab: Lab) -> None:
    process = start_runner(lab)
    process.kill()
    process.wait()
    until(lambda: lab.alive() == [])


def test_a_supervisor_that_is_born_after_its_runners_death_starts_nothing(tmp_path: Path) -> None:
    ours, theirs = socket.socketpair()
    ours.close()
    command = [sys.executable, "-I", "-S", supervise.__file__, str(theirs.fileno()), "5", "{}"]
    with theirs:
        ended = subprocess.run([*command, "touch", "started"], pass_fds=[theirs.fileno()], cwd=tmp_path, check=False)
    assert ended.returncode == 1
    assert list(tmp_path.iterdir()) == []


def test_what_a_killed_runner_and_supervisor_left_is_found_by_its_mark(lab: Lab) -> None:
    process = start_runner(lab)
    supervisor = supervisor_of(process)
    os.kill(process.pid, signal.SIGSTOP)
    os.kill(supervisor, signal.SIGKILL)
    process.kill()
    process.wait()
    assert len(lab.alive()) == 6
    assert kill_leftovers("another") == 0
    assert kill_leftovers("") == 0
    assert kill_leftovers(lab.env[MARKER][:-1]) == 0
    assert len(lab.alive()) == 6
    assert kill_leftovers(lab.env[MARKER]) == 5
    (deaf_to_marks,) = lab.alive()  # its environment is empty and its parent is gone: only a sandbox finds it
    assert psutil.Process(deaf_to_marks).environ() == {}
    os.kill(deaf_to_marks, signal.SIGKILL)


def test_a_killed_supervisor_ends_the_run(lab: Lab) -> None:
    result: list[Ended] = []
    thread = threading.Thread(target=lambda: result.append(lab.shell("echo $PPID; exec sleep 600")))
    thread.start()
    until(lambda: lab.output.exists() and lab.output.read_bytes().endswith(b"\n"))
    os.kill(int(lab.output.read_text()), signal.SIGKILL)
    thread.join(20)
    assert (result[0].returncode, result[0].reason) == (-signal.SIGKILL, "exited")
    assert kill_leftovers(lab.env[MARKER]) == 0


@pytest.mark.skipif(
    not Path("/usr/bin/python3").exists() or os.geteuid() != 0, reason="not tested: needs root and /usr/bin/python3"
)
def test_a_runner_keeps_its_environment_from_others_of_its_user(tmp_path: Path) -> None:
    """Without bubblewrap and without another user, an agent could read the runner's tokens in /proc."""
    as_nobody = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
    code = "import sys, signal; sys.path.insert(0, sys.argv[1])\nfrom runner.process import keep_to_itself\n"
    hidden = f"{code}keep_to_itself(); print(flush=True); signal.pause()"
    for told, script in ((True, hidden.replace("keep_to_itself(); ", "")), (False, hidden)):
        command = [*as_nobody, "/usr/bin/python3", "-I", "-c", script, str(Path(__file__).parents[2])]
        process = subprocess.Popen(command, env={"GITHUB_TOKEN": "ghs_secret"}, stdout=subprocess.PIPE)
        try:
            assert process.stdout
            process.stdout.readline()
            look = [*as_nobody, "cat", f"/proc/{process.pid}/environ"]
            seen = subprocess.run(look, capture_output=True, check=False)
            assert (b"ghs_secret" in seen.stdout) is told, seen
        finally:
            process.kill()
            process.communicate()
