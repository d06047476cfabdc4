"""No secret of the runner's reaches an agent, a check, a log, a report or a branch: hunted for by both."""

from __future__ import annotations

import json
import os
import secrets
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from runner.contract import Outcome
from runner.results import Unit
from runner.sandbox import probe
from runner.terms import AgentSpec, Api, Budget, GateSpec, Network, SandboxMode
from tests.runner import bot_on_loopback, lab
from tests.runner.lab import Lab
from tests.runner.upstream_on_loopback import Answer, Asked, upstream
from tests.runner.wires import FORMATS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from runner.contract import JobSpec, Report

ROOT = Path(__file__).parents[2]
HUNTER = Path(__file__).with_name("hunter.py").read_text()
SYSTEM_PYTHON = "/usr/bin/python3"
"""One that every user can start."""
PROGRAMS = ("git", "sh", "setpriv", "rm", "timeout", "chmod", "chown", "cat", "true", "python3")
"""What a machine without bubblewrap has, for these tests."""
TOKENS = ("JOB_KEY", "PUSH_TOKEN", "READ_TOKEN", "REQUEST_TOKEN")
"""Of the bot on loopback."""
CAPABILITY = probe()
confined = pytest.mark.skipif(not CAPABILITY.bubblewrap, reason=f"confinement was not tested: {CAPABILITY.sentence}")
as_root = pytest.mark.skipif(
    os.geteuid() != 0 or not Path(SYSTEM_PYTHON).exists(),
    reason="not tested: needs root, and a Python that every user can start",
)


def canary() -> str:
    return f"canary-{secrets.token_hex(8)}"


class Hunt:
    """A job whose agent and check hunt, on a machine full of canaries."""

    def __init__(self, folder: Path) -> None:
        self.lab, self.folder = Lab(folder, over_http=True), folder
        self.user_home = folder / "user"
        self.secrets = {
            name: canary()
            for name in (
                "ANTHROPIC_API_KEY",
                "OPENAI_API_KEY",
                "GEMINI_API_KEY",
                "MY_DATABASE",
                "AWS_SECRET_ACCESS_KEY",
            )
        }
        self.in_home = canary()
        (self.user_home / ".ssh").mkdir(parents=True)
        for path in (".netrc", ".ssh/id_ed25519", "notes.txt"):
            (self.user_home / path).write_text(self.in_home)
        self.user_home.chmod(0o700)
        self.output = ""

    @property
    def canaries(self) -> list[str]:
        return [*self.secrets.values(), self.in_home, *(getattr(bot_on_loopback, name) for name in TOKENS)]

    def spec(self, sandbox: SandboxMode, python: str, **changes: Any) -> JobSpec:
        hunt = (python, "-c", HUNTER, "notes")
        command = (*hunt, "{result_file}", "calc.py")
        agent = AgentSpec(name="hunter", model="claude-sonnet-4-5", command=command, api=Api.ANTHROPIC)
        quoted = " ".join("'" + part.replace("'", "'\\''") + "'" for part in (python, "-c", HUNTER, "../home/hunt"))
        gate = GateSpec(name="hunt", run=quoted, timeout_seconds=120, blocking=False)
        agents = self.lab.spec("good").agents | {Unit.EXECUTE_PLAN: agent}
        return self.lab.spec(
            "good", agents=agents, gates=(gate,), sandbox=sandbox, budget=Budget(attempts=1), **changes
        )

    def run(self, spec: JobSpec, path: str = os.environ["PATH"]) -> Report:
        def answer(asked: Asked) -> Answer:
            """The provider; anything but a call to its model is answered with all that was sent."""
            if asked.path.endswith("/messages"):
                return FORMATS[0].plain("hello")
            return Answer((json.dumps(asked.headers).encode(),), content_type="application/json")

        with upstream(answer) as api:
            environment = {
                **self.lab.environment,
                **self.secrets,
                "ANTHROPIC_BASE_URL": api.url,
                "HOME": str(self.user_home),
                "PATH": path,
            }
            command = [sys.executable, "-m", "runner", "run", "--job", spec.job]
            done = subprocess.run(
                command,
                env=environment,
                cwd=ROOT,
                capture_output=True,
                text=True,
                timeout=250,
                check=False,
            )
        self.output = done.stdout + done.stderr
        return self.lab.bot.reports[spec.job]

    def everything(self) -> dict[str, bytes]:
        """All that anybody could read afterwards: what is on disk, in the log, with the bot, and at the remote."""
        bot, remote = self.lab.bot, self.lab.remote
        batch = ["git", "cat-file", "--batch", "--batch-all-objects"]
        told = {
            "Actions log": self.output.encode(),
            "reports": "".join(report.model_dump_json() for report in bot.reports.values()).encode(),
            "heartbeats": json.dumps(bot.progress).encode(),
            "pushes": json.dumps(bot.pushes).encode(),
            "remote": subprocess.run(batch, cwd=remote, capture_output=True, check=True).stdout,
        }
        kept = {str(path): path.read_bytes() for path in self.lab.home.rglob("*") if path.is_file()}
        return told | kept

    def leaks(self) -> list[tuple[str, str]]:
        return [(where, c) for where, data in self.everything().items() for c in self.canaries if c.encode() in data]

    def hunted(self) -> dict[str, Any]:
        """What the agent says that it looked at and found."""
        (output,) = self.lab.home.glob("jobs/*/ExecutePlan-1/stdout")
        found: dict[str, Any] = json.loads(output.read_bytes())
        return found


@pytest.fixture
def hunt(monkeypatch: pytest.MonkeyPatch) -> Iterator[Hunt]:
    """In a folder that the agent's user can get to without a sandbox; the bot's tokens are canaries, too."""
    for name in TOKENS:
        monkeypatch.setattr(bot_on_loopback, name, canary())
    for name in ("READ_TOKEN", "REQUEST_TOKEN"):
        monkeypatch.setattr(lab, name, getattr(bot_on_loopback, name))
    with tempfile.TemporaryDirectory(prefix="twogate-", ignore_cleanup_errors=True) as name:
        Path(name).chmod(0o711)
        hunt = Hunt(Path(name))
        yield hunt
        hunt.lab.close()


def require_nothing_found(hunt: Hunt, report: Report) -> None:
    said = hunt.hunted()
    assert said["found"] == {}
    assert report.outcome is Outcome.VERIFIED, ([gate for gate in report.gates if gate.holds_back], report.sentence)
    assert said["looked"]["files"] > 10
    gate = next(gate for gate in report.gates if gate.name == "hunt")
    assert '"found": {}' in gate.tail
    assert hunt.leaks() == []


@confined
def test_confined_neither_agent_nor_check_finds_a_canary(hunt: Hunt) -> None:
    report = hunt.run(hunt.spec(SandboxMode.REQUIRED, sys.executable))
    require_nothing_found(hunt, report)
    assert hunt.hunted()["looked"]["answers"] > 10, "the meter and its neighbours were asked"
    assert report.sandbox is not None
    assert report.sandbox.got == "bubblewrap"


@confined
def test_confined_to_its_model_the_agent_finds_no_canary_and_one_port(hunt: Hunt) -> None:
    report = hunt.run(hunt.spec(SandboxMode.REQUIRED, sys.executable, network=Network.MODEL))
    require_nothing_found(hunt, report)
    assert hunt.hunted()["looked"]["ports"] == 1
    assert report.sandbox is not None
    assert report.sandbox.network is Network.MODEL


@as_root
def test_as_another_user_without_bubblewrap_neither_finds_a_canary(hunt: Hunt) -> None:
    programs = hunt.folder / "programs"
    programs.mkdir()
    for name in PROGRAMS:
        (programs / name).symlink_to(shutil.which(name, path=os.defpath) or "/nonexistent")
    report = hunt.run(hunt.spec(SandboxMode.AUTO, SYSTEM_PYTHON), path=str(programs))
    require_nothing_found(hunt, report)
    assert hunt.hunted()["looked"]["processes"] > 3, "it sees processes of others"
    assert report.sandbox is not None
    assert (report.sandbox.got, report.sandbox.separate_user) == ("none", True)


def test_switched_off_the_same_hunt_finds_them(hunt: Hunt) -> None:
    """Shows that the hunt can find something, and what ``sandbox: off`` gives up."""
    hunt.run(hunt.spec(SandboxMode.OFF, sys.executable))
    said = hunt.hunted()["found"]
    assert hunt.in_home in said["file"]
    assert bot_on_loopback.REQUEST_TOKEN in {hit for hits in said.values() for hit in hits} or os.geteuid() != 0
