"""Inside a sandbox without network, the meter is reached through its unix socket, and nothing else is."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from pathlib import Path
from typing import TYPE_CHECKING

import psutil
import pytest

from runner import shim
from runner.process import run
from runner.sandbox import Capability, Confinement, Sandbox, SandboxUnavailableError, agent_environment, probe
from runner.terms import Network, SandboxMode
from tests.town.machine import free_port

if TYPE_CHECKING:
    from collections.abc import Iterator

    from runner.process import Ended

CAPABILITY = probe()
confined = pytest.mark.skipif(not CAPABILITY.bubblewrap, reason=f"confinement was not tested: {CAPABILITY.sentence}")
PYTHON = (sys.executable, "-I", "-S", "-c")
ASK = """
import socket, sys
with socket.create_connection(("127.0.0.1", int(sys.argv[1])), 5) as meter:
    meter.sendall(b"x" * 3_000_000); meter.shutdown(socket.SHUT_WR)
    said = b""
    while chunk := meter.recv(65536): said += chunk
    print(said.decode())
"""


class Echo:
    """A meter that says how much it was told, as soon as it has heard all of it."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "meter.sock"
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(str(self.path))
        self.path.chmod(0o666)
        self._listener.listen()
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            with connection:
                heard = 0
                while chunk := connection.recv(65536):
                    heard += len(chunk)
                connection.sendall(f"heard {heard}".encode())

    def close(self) -> None:
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()


class Cell:
    """A folder, a meter, and a sandbox that reaches nothing else."""

    def __init__(self, folder: Path, network: Network) -> None:
        self.folder, self.output = folder, folder / "output"
        self.meter, self.port = Echo(folder), free_port()
        self.sandbox = Sandbox(SandboxMode.REQUIRED, CAPABILITY, network=network)

    def run(self, *command: str, **options: float) -> Ended:
        here = Confinement(Path("/tmp"), network=self.sandbox.network, meter=self.meter.path, meter_port=self.port)
        return run(
            self.sandbox.wrap(command, here),
            cwd=self.folder,
            env=agent_environment(os.environ, home=Path("/tmp"), tmp=Path("/tmp")),
            stdout_path=self.output,
            **{"deadline_seconds": 30, "grace_seconds": 1, **options},
        )

    @property
    def said(self) -> str:
        return self.output.read_text().strip()


@pytest.fixture
def cell() -> Iterator[Cell]:
    with tempfile.TemporaryDirectory(prefix="twogate-") as folder:
        Path(folder).chmod(0o711)
        cell = Cell(Path(folder), Network.MODEL)
        yield cell
        cell.meter.close()


@confined
def test_the_meter_is_heard_whole_and_both_ways(cell: Cell) -> None:
    ended = cell.run(*PYTHON, ASK, str(cell.port))
    assert (ended.returncode, cell.said, ended.left_behind) == (0, "heard 3000000", 0)


@confined
def test_many_connections_at_once_are_kept_apart(cell: Cell) -> None:
    many = f"""
import threading, sys
code = {ASK!r}
def one(): exec(code)
threads = [threading.Thread(target=one) for _ in range(20)]
[t.start() for t in threads]; [t.join() for t in threads]
"""
    cell.run(*PYTHON, many, str(cell.port))
    assert cell.said.split("\n") == ["heard 3000000"] * 20


@confined
def test_nothing_else_is_reached(cell: Cell) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        ended = cell.run(*PYTHON, ASK, str(port))
        assert ended.returncode == 1
        assert "refused" in cell.said
    cell.run("sh", "-c", "cat /proc/net/dev | tail -n +3 | cut -d: -f1; cat /proc/net/unix | grep -c @ || :")
    assert cell.said.split() == ["lo", "0"]
    cell.run(*PYTHON, "import socket; socket.create_connection(('192.0.2.1', 80), 5)")
    assert "unreachable" in cell.said


@confined
def test_an_abstract_socket_of_the_machine_is_out_of_reach(cell: Cell) -> None:
    name = f"\0twogate-{os.getpid()}"
    code = f"import socket; socket.socket(socket.AF_UNIX).connect({name!r}); print('connected')"
    with socket.socket(socket.AF_UNIX) as other:
        other.bind(name)
        other.listen()
        cell.run(*PYTHON, code)
        assert "refused" in cell.said


@confined
@pytest.mark.parametrize(("script", "code"), [("exit 7", 7), ("kill -KILL $$", 137), ("exec nonesuch", 127)])
def test_the_exit_code_is_the_commands_own(cell: Cell, script: str, code: int) -> None:
    assert cell.run("sh", "-c", script).returncode == code


@confined
def test_a_command_that_is_not_there_is_named(cell: Cell) -> None:
    assert cell.run("nonesuch").returncode == 127
    assert cell.said == "nonesuch: No such file or directory"


@confined
def test_the_command_gets_signals_as_any_other_and_waits_for_its_own_children_alone(cell: Cell) -> None:
    code = (
        "import os, signal; print([s for s in (signal.SIGPIPE, signal.SIGXFSZ, signal.SIGTERM, signal.SIGINT) "
        "if signal.getsignal(s) == signal.SIG_IGN]); os.waitpid(-1, 0)"
    )
    cell.run("sh", "-c", "yes | head -1; trap - PIPE; sh -c 'kill -PIPE $$'; echo $?")
    assert cell.said.splitlines() == ["y", "141"]
    ended = cell.run(sys.executable, "-I", "-S", "-c", code)
    assert "No child processes" in cell.said
    assert ended.reason == "exited"


@confined
def test_a_stop_lets_the_last_words_through_and_leaves_no_listener(cell: Cell) -> None:
    code = f"""
import signal, sys
def last_words(*_):
    exec({ASK!r})
    sys.exit(3)
signal.signal(signal.SIGTERM, last_words)
while True: signal.pause()
"""
    ended = cell.run(*PYTHON, code, str(cell.port), deadline_seconds=1.0, grace_seconds=10)
    assert (ended.reason, ended.returncode, ended.left_behind) == ("timed_out", 3, 0), cell.said
    assert cell.said == "heard 3000000"
    assert not [p for p in psutil.process_iter(["cmdline"]) if shim.__file__ in (p.info["cmdline"] or ())]


def test_the_listener_outlives_requests_to_end_and_is_nobodys_child(tmp_path: Path) -> None:
    meter, port = Echo(tmp_path), free_port()
    code = "import os, signal\nprint(os.getpid(), flush=True); signal.pause()\n"
    command = [*PYTHON[:3], shim.__file__, str(port), str(meter.path), *PYTHON, code]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout
        assert int(process.stdout.readline()) == process.pid
        assert psutil.Process(process.pid).children() == []
        (listener,) = [p for p in psutil.process_iter(["cmdline"]) if str(meter.path) in (p.info["cmdline"] or ())]
        listener.send_signal(signal.SIGTERM)
        with socket.create_connection(("127.0.0.1", port), 5) as asked:
            asked.shutdown(socket.SHUT_WR)
            assert asked.recv(100) == b"heard 0"
        listener.kill()
    finally:
        process.kill()
        process.communicate()
        meter.close()


def test_a_network_that_can_not_be_cut_is_told_or_refused() -> None:
    uncut = Capability(bubblewrap=True, can_switch_user=False, sentence="Agents run in bubblewrap.", can_cut=False)
    with pytest.raises(SandboxUnavailableError, match=r"network: model.*AppArmor.*network: on"):
        Sandbox(SandboxMode.REQUIRED, uncut, network=Network.MODEL)
    assert Sandbox(SandboxMode.REQUIRED, uncut).report().network is Network.ON
    without = Capability(bubblewrap=False, can_switch_user=False, sentence="bubblewrap is not installed.")
    for capability in (uncut, without):
        report = Sandbox(SandboxMode.AUTO, capability, network=Network.OFF).report()
        assert report.network is Network.ON
        assert "The network is open to them. The policy asks for `network: off`" in report.sentence


@pytest.mark.parametrize(
    ("asked", "checks", "preparation"),
    [
        (Network.ON, Network.ON, Network.ON),
        (Network.MODEL, Network.OFF, Network.ON),
        (Network.OFF, Network.OFF, Network.OFF),
    ],
)
def test_checks_and_preparation_reach_what_the_documentation_says(
    asked: Network, checks: Network, preparation: Network
) -> None:
    able = Capability(bubblewrap=True, can_switch_user=False, sentence="Agents run in bubblewrap.")
    sandbox = Sandbox(SandboxMode.REQUIRED, able, network=asked)
    assert (sandbox.network, sandbox.network_of_checks, sandbox.network_of_preparation) == (asked, checks, preparation)
