"""``kill -9`` of the runner at seeded moments: the next jobs succeed, no work is lost, and nothing is left lying around."""

from __future__ import annotations

import os
import random
import subprocess
import sys
from collections import Counter
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from runner.contract import Outcome
from runner.process import MARKER
from runner.terms import Budget
from tests.runner.lab import UID, Lab, wait_until

if TYPE_CHECKING:
    from collections.abc import Iterator

    from runner.contract import JobSpec

MORTAL = Path(__file__).with_name("mortal_runner.py")
ROOT = Path(__file__).parents[2]
OTHER = "otherone"
NEVER = 10**6
"""A moment that no run reaches."""
AGENT_SHARE, START_SHARE = 0.2, 0.2
"""Of all kills, those while the agent is at work, and while a program is started; the others come between two deeds."""
WORK = """
me = sys.argv[1].split('/')[-4]
stop = int(sys.argv[-1])
def moment(number):
    if number == stop:
        runner = int(open(f'/proc/{os.getppid()}/stat').read().rpartition(')')[2].split()[1])
        os.kill(runner, 9)
        while True:
            time.sleep(60)
import subprocess, time
os.makedirs('notes', exist_ok=True)
moment(1)
write('calc.py', 'def add(a, b):\\n    return a + b\\n')
write(f'notes/{me}.txt', 'committed')
moment(2)
name = ['-c', 'user.name=a', '-c', 'user.email=a@example.com']
subprocess.run(['git', 'add', '-A'], check=True)
subprocess.run(['git', *name, 'commit', '-qm', 'mended'], check=True)
moment(3)
write(f'notes/{me}.txt', 'finished')
moment(4)
done()
"""
SHORT = "write('calc.py', 'def add(a, b):\\n    return a + b\\n'); done()"
AGENT_MOMENTS = (1, 2, 3, 4)


@dataclass(frozen=True)
class Kill:
    """One death: before which deed of the runner, in which start of a program, or where in the agent's work."""

    deed: int = 0
    start: int = 0
    agent: int = 0


class Drill:
    """Kills runners of one lab, one after the other."""

    def __init__(self, lab: Lab) -> None:
        self.lab = lab
        self.outcomes: Counter[str] = Counter()

    def job(self, agent: int) -> JobSpec:
        unit, spec = next(iter(self.lab.coded(WORK).items()))
        command = (*(spec.command or ()), str(agent))
        agents = {**self.lab.spec("good").agents, unit: spec.model_copy(update={"command": command})}
        return self.lab.spec("good", agents=agents)

    def next_job(self, uid: str, branch: str) -> JobSpec:
        """Prepare a job that is as short as can be."""
        return self.lab.spec("", agents=self.lab.coded(SHORT), gates=(), plan_uid=uid, branch=branch)

    def start(self, job: str, kill: Kill) -> subprocess.Popen[bytes]:
        moment = (str(kill.deed or NEVER), str(kill.start or NEVER))
        command = [sys.executable, str(MORTAL), *moment, str(self.lab.folder / "deeds"), "run", "--job", job]
        environment = {**self.lab.environment, "PYTHONPATH": str(ROOT)}
        return subprocess.Popen(command, env=environment, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)

    def deeds(self) -> tuple[int, int]:
        """Count what the runner does in a job that nobody disturbs: deeds, and starts of programs among them."""
        with self.start(self.job(0).job, Kill()) as process:
            output, _ = process.communicate(timeout=120)
        assert process.returncode == 0, output
        deeds, starts = (self.lab.folder / "deeds").read_text().split()
        return int(deeds), int(starts)

    def strike(self, kill: Kill) -> None:
        """Kill one runner; then everything must be as if it had never been, but for the work, which is kept."""
        spec = self.job(kill.agent)
        with self.start(spec.job, kill) as process:
            output, _ = process.communicate(timeout=120)
        assert process.returncode in {-9, 0, 1}, output
        folder = self.lab.home / "jobs" / spec.job
        owed = (folder / "key").exists()
        work = self._work_on_disk(spec.job)
        for following in (self.next_job(UID, "plan/7"), self.next_job(OTHER, "plan/8")):
            report = self.lab.carry_out(following)
            assert report.outcome is Outcome.VERIFIED, (kill, report, self.lab.said[-30:])
            assert self.lab.left() == [], kill
        if owed:
            self.outcomes[self.lab.bot.reports[spec.job].outcome] += 1
        assert work is None or self._kept(spec.job, work), (kill, work, self.lab.bot.reports.get(spec.job))
        self.assert_clean(kill)

    def _work_on_disk(self, job: str) -> str | None:
        """Return what the agent had written when the runner died, where the runner had not saved or pushed it yet."""
        place = self.lab.home / "worktrees" / "1" / UID
        state = place / "state.json"
        wait_until(lambda: not list(_running(self.lab)))
        if not state.exists() or '"open"' not in state.read_text():
            return None
        file = place / "tree" / "notes" / f"{job}.txt"
        return file.read_text() if file.exists() else None

    def _kept(self, job: str, work: str) -> bool:
        store = self.lab.home / "repos" / "1.git"
        path = f"notes/{job}.txt"
        refs = self.lab.git("for-each-ref", "--format=%(refname)", f"refs/twogate/salvage/{UID}/", cwd=store).split()
        having = [ref for ref in refs if self.lab.git("ls-tree", "-r", "--name-only", ref, "--", path, cwd=store)]
        return any(self.lab.git("show", f"{ref}:{path}", cwd=store) == work for ref in having)

    def assert_clean(self, kill: Kill) -> None:
        """Check that ``twogate-runner clean`` leaves nothing behind but stores and logs."""
        lab = self.lab
        done = subprocess.run(
            [sys.executable, "-m", "runner", "clean"],
            env=lab.environment,
            cwd=ROOT,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        assert done.returncode == 0, (kill, done.stdout, done.stderr)
        assert lab.left() == [], kill
        assert {path.name for path in (lab.home / "locks").iterdir()} == {"1.lock", "1.fetch", "1.refs"}, kill
        store = lab.home / "repos" / "1.git"
        assert lab.git("for-each-ref", "refs/twogate/plans", cwd=store) == "", kill
        litter = [
            *store.rglob("tmp_*"),
            *store.rglob("*.lock"),
            *lab.home.glob("jobs/*/.*"),
            *lab.home.glob("jobs/*/key"),
        ]
        assert litter == [], kill
        assert {path.name for path in (lab.home / "repos").iterdir()} == {"1.git"}, kill
        assert list(_running(lab)) == [], kill


def _running(lab: Lab) -> Iterator[str]:
    """Yield the command lines of processes that belong to the lab's jobs, or work in its home."""
    marks = {f"{MARKER}={job}".encode() for job in lab.bot.specs}
    for process in Path("/proc").glob("[0-9]*"):
        try:
            environment = (process / "environ").read_bytes().split(b"\0")
            command = (process / "cmdline").read_bytes().replace(b"\0", b" ").decode("utf-8", "replace")
        except OSError:
            continue
        if int(process.name) != os.getpid() and (marks & set(environment) or f"{lab.home}/" in command):
            yield command


@pytest.fixture
def drill(tmp_path: Path) -> Iterator[Drill]:
    lab = Lab(tmp_path)
    yield Drill(lab)
    lab.close()


def drawn(seed: int, count: int, deeds: int, starts: int) -> list[Kill]:
    """The deaths of a seed, spread over the whole of a job."""
    rng = random.Random(seed)
    agent, start = round(count * AGENT_SHARE), round(count * START_SHARE)
    moments = [Kill(agent=rng.choice(AGENT_MOMENTS)) for _ in range(agent)]
    moments += [Kill(start=number) for number in rng.sample(range(1, starts + 1), start)]
    moments += [Kill(deed=deed) for deed in rng.sample(range(1, deeds + 1), count - agent - start)]
    rng.shuffle(moments)
    return moments


@pytest.mark.drill
@pytest.mark.timeout(1800)
def test_twenty_jobs_that_start_at_the_same_instant_all_succeed(drill: Drill) -> None:
    lab = drill.lab
    plans = {f"plan{number:04d}": f"plan/{number}" for number in range(100, 120)}
    budget = Budget(minutes=20, attempts=1)
    agents = lab.coded(SHORT)
    specs = [
        lab.spec("", agents=agents, gates=(), plan_uid=uid, branch=branch, budget=budget)
        for uid, branch in plans.items()
    ]
    with ExitStack() as stack:
        runners = [stack.enter_context(lab.start(spec.job)) for spec in specs]
        said = [runner.communicate(timeout=1200)[0] for runner in runners]
    outcomes = {spec.job: lab.bot.reports[spec.job].outcome for spec in specs if spec.job in lab.bot.reports}
    assert outcomes == {spec.job: Outcome.VERIFIED for spec in specs}, said
    assert all(lab.tip(branch) for branch in plans.values())
    drill.assert_clean(Kill())


def test_a_few_kills_of_the_runner(drill: Drill) -> None:
    for kill in drawn(11, 4, *drill.deeds()):
        drill.strike(kill)
    assert drill.outcomes[Outcome.LOST] > 0, drill.outcomes


@pytest.mark.drill
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("seed", [1, 2, 3, 4])
def test_twenty_five_kills_of_the_runner(drill: Drill, seed: int) -> None:
    deeds = drill.deeds()
    for kill in drawn(seed, 25, *deeds):
        drill.strike(kill)
        print(kill)
    print(deeds, dict(drill.outcomes))
