"""Everything a job meets, small and real: a bot and a git server on loopback, a repository, scripted agents."""

from __future__ import annotations

import os
import random
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from runner.contract import Issue, JobKind, JobSpec, Report, Repository
from runner.job import Runner
from runner.results import PlanDocument, Unit, Verdict
from runner.settings import Settings, from_environment
from runner.terms import AgentSpec, Budget, GateSpec, SandboxMode
from tests.runner.bot_on_loopback import READ_TOKEN, REQUEST_TOKEN, Bot, BotServer

if TYPE_CHECKING:
    from collections.abc import Callable

AGENT = Path(__file__).with_name("scripted_agent.py")
UID = "planplan"
IDENTITY = ("-c", "user.name=Ada", "-c", "user.email=ada@example.com")
START = {
    "calc.py": "def add(a, b):\n    return a - b\n",
    "test_calc.py": (
        "import unittest\nfrom calc import add\n\n\nclass Test(unittest.TestCase):\n    def test_add(self):\n"
        "        self.assertEqual(add(2, 3), 5)\n\n\nunittest.main()\n"
    ),
    ".gitignore": "__pycache__/\n",
    "README.md": "Calc\n",
}
TESTS = GateSpec(name="tests", run=f"{sys.executable} -B test_calc.py", timeout_seconds=60)
PLAN = PlanDocument(
    verdict=Verdict.PLAN,
    title="Add two numbers right",
    summary="add() subtracts.",
    steps=("Mend add().",),
    files=("calc.py", "notes/**"),
)


class Lab:
    """One machine, one repository, one bot."""

    def __init__(self, folder: Path, *, over_http: bool = False) -> None:
        self.folder = folder
        self.remote = folder / "git" / "o" / "calc.git"
        self.clone = folder / "clone"
        self.home = folder / "home"
        self.said: list[str] = []
        self._make_repository()
        self.bot = Bot(git_root=folder / "git")
        self._server = BotServer(self.bot)
        self.clone_url = f"{self.bot.url}/git/o/calc.git" if over_http else f"file://{self.remote}"
        self._jobs = random.SystemRandom().randrange(900_000)
        """Where its jobs' numbers begin: leftovers are known by a job's id, on a machine that runs many labs at once."""

    def close(self) -> None:
        self._server.stop()

    def _make_repository(self) -> None:
        self.remote.mkdir(parents=True)
        self.git("init", "-q", "--bare", "-b", "trunk", cwd=self.remote)
        self.git("config", "http.receivepack", "true", cwd=self.remote)
        self.git("config", "uploadpack.allowAnySHA1InWant", "true", cwd=self.remote)
        self.git("clone", "-q", str(self.remote), str(self.clone), cwd=self.folder)
        self.git("checkout", "-q", "-b", "trunk")
        self.base = self.commit(START, "Start")

    def git(self, *arguments: str, cwd: Path | None = None) -> str:
        done = subprocess.run(
            ["git", *IDENTITY, *arguments], cwd=cwd or self.clone, capture_output=True, text=True, check=True
        )
        return done.stdout.strip()

    def commit(self, files: dict[str, str], message: str, *, branch: str = "trunk") -> str:
        """Commit ``files`` on a branch of the remote, as a person does; returns the commit."""
        for name, content in files.items():
            path = self.clone / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(content)
        self.git("add", "-A")
        self.git("commit", "-q", "--allow-empty", "-m", message)
        self.git("push", "-q", "origin", f"HEAD:refs/heads/{branch}")
        return self.git("rev-parse", "HEAD")

    def tip(self, branch: str) -> str | None:
        """Return a commit of the remote."""
        return self.git("for-each-ref", "--format=%(objectname)", f"refs/heads/{branch}", cwd=self.remote) or None

    def shown(self, path: str, branch: str = "plan/7") -> str:
        """Return a file of a branch of the remote."""
        return self.git("show", f"{branch}:{path}", cwd=self.remote)

    def spec(self, behaviour: str, *, kind: JobKind = JobKind.EXECUTE, **changes: Any) -> JobSpec:
        """Prepare a job at the bot and return it."""
        self._jobs += 1
        command = (sys.executable, str(AGENT), behaviour, "{unit}", "{attempt}", "{prompt_file}", "{result_file}")
        agent = AgentSpec(name="scripted", command=command)
        fields: dict[str, Any] = {
            "job": f"{UID}-{self._jobs}",
            "kind": kind,
            "unit": {JobKind.PLAN: Unit.CREATE_PLAN, JobKind.EXECUTE: Unit.EXECUTE_PLAN}.get(kind),
            "repository": Repository(id=1, owner="o", name="calc", default_branch="trunk", clone_url=self.clone_url),
            "plan_uid": UID,
            "revision": 1,
            "base": self.base,
            "branch": "plan/7",
            "issue": Issue(number=7, title="add() is wrong", body="It subtracts.", author="ada"),
            "plan": None if kind is JobKind.PLAN else PLAN,
            "agents": dict.fromkeys(Unit, agent),
            "gates": (TESTS,),
            "sandbox": SandboxMode.OFF,
            "budget": Budget(minutes=2, attempts=2),
        }
        spec = JobSpec(**{**fields, **changes})
        self.bot.specs[spec.job] = spec
        return spec

    def coded(self, code: str, unit: Unit = Unit.EXECUTE_PLAN) -> dict[Unit, AgentSpec]:
        """Return an agent that runs ``code`` for one unit alone.

        In it ``done()`` writes a good result of unit ExecutePlan, ``give(result)`` any; ``tool("ask", "Why?")`` calls a
        tool of the run and returns exit code and answer; ``sys.argv[2]`` is the attempt and ``prompt`` what it was
        asked.
        """
        head = (
            "import json, os, pathlib, subprocess, sys\nwrite = lambda path, text: pathlib.Path(path).write_text(text)\n"
            "give = lambda result: write(sys.argv[1], json.dumps(result))\n"
            "done = lambda: give({'status': 'done', 'summary': 'Done.'})\n"
            "prompt = pathlib.Path(sys.argv[3]).read_text()\n"
            "def tool(*words, say=''):\n"
            "    called = subprocess.run(words, input=say, capture_output=True, text=True)\n"
            "    return called.returncode, called.stdout\n"
        )
        command = (sys.executable, "-c", head + code, "{result_file}", "{attempt}", "{prompt_file}")
        return {unit: AgentSpec(name="coded", command=command)}

    @property
    def environment(self) -> dict[str, str]:
        """What GitHub gives a run."""
        return {
            "PATH": os.environ["PATH"],
            "HOME": str(self.folder),
            "TWOGATE_URL": self.bot.url,
            "TWOGATE_HOME": str(self.home),
            "GITHUB_TOKEN": READ_TOKEN,
            "ACTIONS_ID_TOKEN_REQUEST_URL": f"{self.bot.url}/oidc?api-version=2.0",
            "ACTIONS_ID_TOKEN_REQUEST_TOKEN": REQUEST_TOKEN,
            "RUNNER_NAME": "lab",
            "GITHUB_SERVER_URL": f"{self.bot.url}/healthz",
        }

    def settings(self, **extra: str) -> Settings:
        names = ",".join(extra)
        return from_environment({**self.environment, **extra, "TWOGATE_AGENT_ENV": names})

    def run(
        self, behaviour: str, *, kind: JobKind = JobKind.EXECUTE, env: dict[str, str] | None = None, **changes: Any
    ) -> Report:
        """Run a job in this process and return the report that reached the bot."""
        return self.carry_out(self.spec(behaviour, kind=kind, **changes), env)

    def carry_out(self, spec: JobSpec, env: dict[str, str] | None = None) -> Report:
        """Run a job that was prepared in this process and return the report that reached the bot."""
        assert Runner(self.settings(**(env or {})), time.time, self.said.append).run(spec.job)
        return self.bot.reports[spec.job]

    def start(self, job: str, **extra: str) -> subprocess.Popen[str]:
        """Start a job as GitHub does: a process of its own."""
        names = ",".join(name for name in extra if not name.startswith("TWOGATE_"))
        environment = {**self.environment, **extra, "TWOGATE_AGENT_ENV": names}
        return subprocess.Popen(
            [sys.executable, "-m", "runner", "run", "--job", job],
            env=environment,
            cwd=Path(__file__).parents[2],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def left(self) -> list[str]:
        """Return what of jobs is left on the machine, besides stores, logs and caches."""
        kept = {"repos", "jobs", "locks", "cache"}
        roots = [path for path in self.home.iterdir() if path.name not in kept]
        return sorted(str(path.relative_to(self.home)) for root in roots for path in root.rglob("*") if path.is_file())


def wait_until(condition: Callable[[], object], seconds: float = 20) -> None:
    """Wait for a condition; fail after ``seconds``."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "nothing happened in time"
        time.sleep(0.02)
