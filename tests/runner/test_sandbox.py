"""What a confined command can reach, tried by commands that try to reach more."""

from __future__ import annotations

import ctypes
import os
import shutil
import subprocess
import sys
import tempfile
import textwrap
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psutil
import pytest

from runner import sandbox, supervise
from runner.bubblewrap import MEMORY_BYTES
from runner.contract import Outcome
from runner.process import MARKER, MAX_FILE_BYTES, MAX_OPEN_FILES, MAX_PROCESSES, run
from runner.sandbox import Capability, Confinement, Sandbox, SandboxUnavailableError, agent_environment, probe
from runner.terms import Network, SandboxMode
from runner.worktree import Workspace
from tests.runner.lab import Lab
from tests.runner.workbench import BOT, UID, Bench, bench, sh

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from runner.process import Ended

SECRET = "ghs_ThisIsTheRunnersToken"

KEY_CALLS = {"x86_64": (248, 250), "aarch64": (217, 219)}
"""Numbers of add_key(2) and keyctl(2) by machine."""

CAPABILITY = probe()
confined = pytest.mark.skipif(not CAPABILITY.bubblewrap, reason=f"confinement was not tested: {CAPABILITY.sentence}")
as_root = pytest.mark.skipif(os.geteuid() != 0, reason="not root: switching to another user was not tested")

SNOOP = f"""
    import glob, os, subprocess, sys
    found = []
    def look(name, data):
        if b"".join({[SECRET[:8].encode(), SECRET[8:].encode()]!r}) in data:
            found.append(name)
    look("environment", repr(dict(os.environ)).encode())
    for path in glob.glob("/proc/[0-9]*/environ") + glob.glob("/proc/[0-9]*/cmdline"):
        try:
            look(path, open(path, "rb").read())
        except OSError:
            pass
    for top in sys.argv[1:]:
        for folder, names, files in os.walk(top):
            names[:] = [name for name in names if os.path.join(folder, name) != sys.base_prefix]
            for name in files:
                try:
                    look(os.path.join(folder, name), open(os.path.join(folder, name), "rb").read(1_000_000))
                except OSError:
                    pass
    look("git", subprocess.run(["git", "config", "--list", "--show-origin"], capture_output=True).stdout)
    print("found", found)
    print("processes", len([p for p in os.listdir("/proc") if p.isdigit()]))
    print("capabilities", [l.split()[1] for l in open("/proc/self/status") if l.startswith("CapEff")][0])
    print("uid", os.getuid())
"""


class Cell:
    """A workspace that belongs to the sandbox's user, and commands run in it."""

    def __init__(self, place: Bench, sandbox: Sandbox) -> None:
        self.sandbox = sandbox
        self.workspace = Workspace.open(
            place.store, plan_uid=UID, branch="plan/7", base=place.base, owner=sandbox.owner
        )
        self.mounts = self.workspace.mounts()
        self.output = place.home.parent / "output"

    def run(self, command: Sequence[str], *, read_only: bool = False, **network: Any) -> Ended:
        mounts = self.workspace.mounts(read_only=read_only)
        confinement = Confinement(mounts.cwd, mounts.writable, mounts.readonly, **network)
        env = agent_environment({"PATH": os.defpath}, home=mounts.home, tmp=mounts.tmp, extra={MARKER: "cell"})
        return run(
            self.sandbox.wrap(command, confinement),
            cwd=mounts.cwd,
            env=env,
            stdout_path=self.output,
            deadline_seconds=30,
            grace_seconds=2,
        )

    def shell(self, script: str, **options: Any) -> tuple[int, str]:
        ended = self.run(["sh", "-c", script], **options)
        return ended.returncode, self.output.read_text().strip()


@pytest.fixture
def place() -> Iterator[Bench]:
    """A bench that the agent's user can get to without a sandbox; any pytest that starts closes pytest's own folders.

    Not below ``/tmp``: a sandbox has one of its own, in which an agent may make any path.
    """
    with tempfile.TemporaryDirectory(prefix="twogate-", dir="/var/tmp") as folder:
        Path(folder).chmod(0o711)
        yield bench(Path(folder))


@pytest.fixture
def cell(place: Bench) -> Cell:
    return Cell(place, Sandbox(SandboxMode.REQUIRED, CAPABILITY))


@confined
def test_an_agent_that_looks_for_tokens_finds_none(place: Bench, cell: Cell, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GITHUB_TOKEN", SECRET)
    job = place.home / "jobs/1"
    job.mkdir(parents=True)
    (job / "key").write_text(SECRET)
    sh(place.store.path, f"git config http.extraHeader {SECRET}")
    holder = subprocess.Popen(["sleep", "600"], env={"TOKEN": SECRET, "PATH": os.defpath})
    try:
        cell.run(
            [
                sys.executable,
                "-c",
                textwrap.dedent(SNOOP),
                "/etc",
                "/root",
                "/home",
                "/run",
                "/var",
                str(place.home.parent),
            ]
        )
    finally:
        holder.kill()
        holder.wait()
    seen = dict(line.split(" ", 1) for line in cell.output.read_text().splitlines())
    assert seen["found"] == "[]"
    assert int(seen["processes"]) < 8
    assert seen["capabilities"] == "0" * 16
    assert seen["uid"] == str(cell.sandbox.owner[0] if cell.sandbox.owner else os.getuid())


def test_the_same_agent_finds_them_where_nothing_confines_it(place: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """Shows that the search above can find something."""
    monkeypatch.setenv("GITHUB_TOKEN", SECRET)
    (place.home / "key").write_text(SECRET)
    cell = Cell(place, Sandbox(SandboxMode.OFF, CAPABILITY))
    cell.run([sys.executable, "-c", textwrap.dedent(SNOOP), str(place.home)])
    assert str(place.home / "key") in cell.output.read_text()


@confined
@pytest.mark.parametrize(
    "attack",
    [
        "echo x > {store}/config",
        "echo x > {store}/refs/heads/main",
        "touch {store}/objects/x",
        "touch {folder}/state.json",
        "mv {folder}/tree {folder}/gone",
        "ls {home}/jobs",
        "ls {home}/locks",
        "ls /root/.ssh",
        "touch /usr/x",
        "touch /x",
        "touch /etc/x",
        "echo 1 > /proc/sys/kernel/core_pattern",
        "echo x > /proc/sys/kernel/hostname",
        "mount -t tmpfs none /usr",
        "umount /usr",
        "unshare -r true",
        "unshare -Urm true",
        "setpriv --reuid=0 true",
        "chroot / true",
        "kill -0 {runner}",
        "cat /proc/{runner}/environ",
        "ls /proc/1/root/root",
        "mknod disk b 8 0",
        "cat /dev/vda",
    ],
)
def test_a_way_out_is_closed(place: Bench, cell: Cell, attack: str) -> None:
    (place.home / "jobs").mkdir(exist_ok=True)
    names = {"store": place.store.path, "folder": cell.workspace.folder, "home": place.home, "runner": os.getpid()}
    code, said = cell.shell(attack.format(**names))
    assert code != 0, said
    assert place.store.tampered() == ()


@confined
def test_the_agent_works_and_commits_inside(cell: Cell) -> None:
    script = (
        "set -e; git status --porcelain; echo new > new.txt; git add new.txt; "
        "git -c user.name=a -c user.email=b commit -qm 'from inside'; echo more > more.txt; "
        "touch $HOME/x $TMPDIR/x /tmp/x; git config core.hooksPath .husky; git log -1 --format=%s"
    )
    assert cell.shell(script) == (0, "from inside")
    assert cell.workspace.inspect().finding is None
    cell.workspace.commit("rest", BOT)
    assert {change.path for change in cell.workspace.changes()} == {b"new.txt", b"more.txt"}


@confined
def test_programs_find_shared_memory_of_their_own(cell: Cell) -> None:
    made = Path("/dev/shm/of-the-agent")
    script = f"from multiprocessing import Lock; Lock().acquire(); open({str(made)!r}, 'w').close(); print('locked')"
    cell.run([sys.executable, "-c", script])
    assert cell.output.read_text().strip() == "locked"
    assert not made.exists()


@confined
def test_a_read_only_unit_can_read_and_not_write(cell: Cell) -> None:
    code, said = cell.shell("git log --format=%s && cat a.txt && ! touch x 2>&1 && ! git tag t 2>&1", read_only=True)
    assert code == 0, said
    assert cell.workspace.is_clean_against(cell.workspace.base)


@confined
def test_without_network_there_is_none(cell: Cell) -> None:
    script = "import socket; socket.create_connection(('127.0.0.1', 9), 2)"
    cell.run([sys.executable, "-c", script], network=Network.OFF)
    assert "unreachable" in cell.output.read_text() or "refused" in cell.output.read_text()
    code, said = cell.shell(
        "ls /sys/class/net 2>/dev/null; cat /proc/net/dev | tail -n +3 | cut -d: -f1", network=Network.OFF
    )
    assert said.split() == ["lo"], code


@confined
def test_tools_below_closed_folders_are_shown_and_their_neighbours_are_not(place: Bench, tmp_path: Path) -> None:
    closed = tmp_path / "closed"
    (closed / "tools").mkdir(parents=True)
    (closed / "secret").write_text(SECRET)
    (closed / "tools/hello").write_text("#!/bin/sh\necho hello\n")
    (closed / "tools/hello").chmod(0o755)
    closed.chmod(0o700)
    cell = Cell(place, Sandbox(SandboxMode.REQUIRED, CAPABILITY, tools=[closed / "tools"]))
    assert cell.shell(f"{closed}/tools/hello; {sys.executable} -c 'print(1)'; ls {closed}") == (0, "hello\n1\ntools")


@confined
def test_a_stop_leaves_nothing_of_a_sandbox_and_grants_its_grace(place: Bench, cell: Cell) -> None:
    mounts = cell.mounts
    script = "trap 'echo bye; exit 0' TERM; (env -i setsid sleep 611 &); echo up; while :; do sleep 0.05; done"
    ended = run(
        cell.sandbox.wrap(["sh", "-c", script], Confinement(mounts.cwd, mounts.writable, mounts.readonly)),
        cwd=mounts.cwd,
        env=agent_environment({}, home=mounts.home, tmp=mounts.tmp),
        stdout_path=cell.output,
        deadline_seconds=30,
        stop=lambda: "stop" if cell.output.read_bytes() else None,
    )
    assert ended.reason == "stopped"
    assert cell.output.read_text().splitlines()[::2] in (["up"], ["up", "bye"])
    assert cell.output.read_text().endswith("bye\n")
    assert [p for p in psutil.process_iter(["cmdline"]) if p.info["cmdline"] == ["sleep", "611"]] == []


@as_root
def test_without_bubblewrap_the_user_is_still_another_one(place: Bench) -> None:
    (place.home / "key").write_text(SECRET)
    (place.home / "key").chmod(0o600)
    without = Capability(bubblewrap=False, can_switch_user=True, sentence="bubblewrap is not installed.")
    cell = Cell(place, Sandbox(SandboxMode.AUTO, without))
    code, said = cell.shell(
        f"id -u; grep CapEff /proc/self/status | cut -f2; cat {place.home}/key; cat /proc/{os.getpid()}/environ | head -c 9; "
        f"echo x > {place.store.path}/config; git -c user.name=a -c user.email=b commit -q --allow-empty -m x && echo committed"
    )
    assert said.splitlines()[:2] == ["65534", "0" * 16]
    assert SECRET not in said
    assert said.endswith("committed"), said
    assert cell.workspace.inspect().finding is None
    assert code == 0
    assert cell.sandbox.report().got == "none"
    assert cell.sandbox.report().separate_user


def test_required_without_bubblewrap_is_refused_with_the_cure() -> None:
    without = Capability(bubblewrap=False, can_switch_user=False, sentence="bubblewrap is not installed.")
    with pytest.raises(SandboxUnavailableError, match=r"not installed.*apt install bubblewrap.*sandbox: auto"):
        Sandbox(SandboxMode.REQUIRED, without)


def test_probe_tells_a_missing_bubblewrap(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("true", "setpriv"):
        program = shutil.which(name)
        if program:
            (tmp_path / name).symlink_to(program)
    monkeypatch.setenv("PATH", str(tmp_path))
    found = probe()
    assert not found.bubblewrap
    assert "bubblewrap is not installed" in found.sentence


def test_probe_tells_a_bubblewrap_that_does_not_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    broken = tmp_path / "bwrap"
    broken.write_text("#!/bin/sh\necho 'setting up uid map: Permission denied' >&2\nexit 1\n")
    broken.chmod(0o755)
    monkeypatch.setattr(os, "defpath", f"{tmp_path}:{os.defpath}")
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    found = probe()
    assert not found.bubblewrap
    assert "uid map: Permission denied" in found.sentence


def test_a_probe_that_does_not_end_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sandbox, "PROBE_SECONDS", 0.1)
    assert sandbox._runs(["sleep", "7777"]) == "it did not end within 0 seconds"


def test_a_runner_that_is_killed_leaves_no_probe(tmp_path: Path) -> None:
    told = tmp_path / "told"
    os.mkfifo(told)
    hangs = f"sandbox.PROBE_SECONDS = 2; sandbox._runs(['sh', '-c', 'echo $$ > {told}; exec sleep 7777'])"
    runner = subprocess.Popen([sys.executable, "-c", f"from runner import sandbox; {hangs}"])
    hanging = psutil.Process(int(told.read_text()))
    runner.kill()
    runner.wait()
    assert psutil.wait_procs([hanging], timeout=20)[1] == []


@as_root
@pytest.mark.parametrize("user", ["root", "no-such-user-here"])
def test_a_user_that_agents_may_not_be_is_refused(user: str) -> None:
    with pytest.raises(SandboxUnavailableError, match=r"may not run as root|does not exist"):
        probe(user)


def test_off_is_told_each_time(place: Bench) -> None:
    sandbox = Sandbox(SandboxMode.OFF, CAPABILITY)
    assert sandbox.wrap(["true"], Confinement(place.home)) == ["true"]
    assert sandbox.owner is None
    report = sandbox.report()
    assert (report.got, report.separate_user) == ("none", False)
    assert "switched off" in report.sentence


def test_the_environment_is_built_from_nothing() -> None:
    source = {
        "PATH": "/bin",
        "GITHUB_TOKEN": SECRET,
        "MY_KEY": "x",
        "ACTIONS_RUNTIME_TOKEN": SECRET,
        "PIP_INDEX_URL": "y",
    }
    home = Path("/w/home")
    env = agent_environment(
        source, home=home, tmp=Path("/w/tmp"), allow=["PIP_INDEX_URL", "ABSENT"], extra={"CI": "true"}
    )
    assert env == {
        "PATH": "/bin",
        "LANG": "C.UTF-8",
        "HOME": "/w/home",
        "TMPDIR": "/w/tmp",
        "TERM": "dumb",
        "GIT_CEILING_DIRECTORIES": "/w",
        "PIP_INDEX_URL": "y",
        "CI": "true",
    }


@confined
def test_the_runners_keys_are_no_keys_of_the_agents(cell: Cell) -> None:
    """The session keyring would otherwise be inherited; see session-keyring(7)."""
    if (numbers := KEY_CALLS.get(os.uname().machine)) is None:
        pytest.skip("not tested: the numbers of add_key(2) are not known for this machine")
    add_key, keyctl = numbers
    libc = ctypes.CDLL(None, use_errno=True)
    libc.syscall(keyctl, 1, None)
    key = libc.syscall(add_key, b"user", b"twogate", SECRET.encode(), len(SECRET), ctypes.c_int(-3))
    if key < 0:
        pytest.skip("not tested: the kernel keeps no keys")
    read = (
        f"import ctypes; libc = ctypes.CDLL(None); text = ctypes.create_string_buffer(100); "
        f"print(libc.syscall({keyctl}, 11, {key}, text, 100), text.value)"
    )
    here = subprocess.run([sys.executable, "-c", read], capture_output=True, text=True, check=True).stdout
    assert SECRET in here, "the key can't be read at all, so this shows nothing"
    cell.run([sys.executable, "-c", read])
    assert cell.output.read_text().strip() == "-1 b''"


@confined
def test_what_runs_here_is_bounded_and_the_first_to_go_where_memory_runs_out(cell: Cell) -> None:
    code, said = cell.shell(
        "cat /proc/self/oom_score_adj; grep NoNewPrivs /proc/self/status | cut -f2; cat /proc/self/limits; "
        "truncate -s 50G huge || echo too large"
    )
    first, second, *rest = said.split("\n")
    assert (first, second, rest[-1]) == (str(supervise.OOM_SCORE), "1", "too large"), code
    limits = {row[:26].strip(): row[26:].split()[0] for row in rest if row.startswith("Max ")}
    assert limits["Max file size"] == str(MAX_FILE_BYTES)
    assert limits["Max processes"] == str(MAX_PROCESSES)
    assert limits["Max open files"] == str(MAX_OPEN_FILES)


@confined
def test_what_lies_in_memory_is_bounded(cell: Cell) -> None:
    code, said = cell.shell("stat -f -c '%b %S' /tmp /dev/shm")
    sizes = [int(blocks) * int(size) for blocks, size in (row.split() for row in said.splitlines())]
    assert all(abs(size - MEMORY_BYTES) < 1_000_000 for size in sizes), code


@as_root
def test_a_job_whose_tools_its_user_can_not_reach_ends_with_a_sentence(tmp_path: Path) -> None:
    programs, closed = tmp_path / "programs", tmp_path / "closed"
    (closed / "tools").mkdir(parents=True)
    closed.chmod(0o700)
    programs.mkdir()
    for name in ("git", "sh", "setpriv", "rm", "chmod", "chown", "true"):
        (programs / name).symlink_to(shutil.which(name) or "/nonexistent")
    lab = Lab(tmp_path)
    spec = lab.spec("good", sandbox=SandboxMode.AUTO)
    try:
        with lab.start(spec.job, PATH=str(programs), TWOGATE_TOOLS=str(closed / "tools")) as process:
            process.communicate(timeout=60)
    finally:
        lab.close()
    report = lab.bot.reports[spec.job]
    assert report.outcome is Outcome.SANDBOX_UNAVAILABLE, report
    assert f"can't look into {closed / 'tools'}, which TWOGATE_TOOLS names" in report.sentence
    assert report.usage == ()


@confined
def test_home_and_tmp_are_fresh_and_another_plans_folder_is_not_there(place: Bench, cell: Cell) -> None:
    other = Workspace.open(place.store, plan_uid="plan0002", branch="plan/8", base=place.base, owner=cell.sandbox.owner)
    assert other.tree.exists()
    code, said = cell.shell(
        f"ls -A $HOME $TMPDIR /tmp /dev/shm; ls {other.folder} || ls {other.folder.parent}; ls /home /root /var /run || :"
    )
    assert cell.workspace.folder.name in said, code
    assert "plan0002" not in said.replace(f"'{other.folder}'", "")


@as_root
def test_a_tool_that_its_user_can_not_reach_is_named_with_the_cure(place: Bench, tmp_path: Path) -> None:
    closed = tmp_path / "closed"
    (closed / "tools").mkdir(parents=True)
    (closed / "tools/agent").write_text("#!/bin/sh\necho hello\n")
    (closed / "tools/agent").chmod(0o755)
    closed.chmod(0o700)
    environment = {"PATH": f"{closed / 'tools'}:{os.defpath}"}
    without = Capability(bubblewrap=False, can_switch_user=True, sentence="bubblewrap is not installed.")
    bare = Sandbox(SandboxMode.AUTO, without, tools=[closed / "tools"])
    assert bare.closed_tools[0] == closed / "tools"
    fault = bare.fault_of_tools()
    assert fault is not None
    assert f"can't look into {closed / 'tools'}" in fault
    assert "install bubblewrap" in fault
    here = Confinement(Path("/"))
    assert "there for the runner" in str(bare.fault_of_program("agent", here, environment))
    assert "finds no program nonesuch on its PATH" in str(bare.fault_of_program("nonesuch", here, environment))
    assert bare.fault_of_program("sh", here, environment) is None
    assert bare.fault_of_program("/bin/sh", here, environment) is None
    if CAPABILITY.bubblewrap:
        shown = Sandbox(SandboxMode.REQUIRED, CAPABILITY, tools=[closed / "tools"])
        assert shown.fault_of_tools() is None
        assert shown.fault_of_program("agent", here, environment) is None
        hidden = Sandbox(SandboxMode.REQUIRED, CAPABILITY).fault_of_program("agent", here, environment)
        assert "Name its folder in TWOGATE_TOOLS" in str(hidden)
