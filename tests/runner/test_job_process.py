"""The runner as a process: signals, kills, the bot away, the command line, and what an agent can see of it."""

from __future__ import annotations

import dataclasses
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from runner.__main__ import CLEAN_SECONDS
from runner.agents import BUILT_IN
from runner.contract import JobKind, Outcome
from runner.job import Runner
from runner.sandbox import probe
from runner.steps.agent import GRACE
from runner.terms import SandboxMode
from tests.runner.bot_on_loopback import JOB_KEY, PUSH_TOKEN, READ_TOKEN, REQUEST_TOKEN
from tests.runner.lab import UID, Lab, wait_until
from tests.runner.scripted_agent import GOOD

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[2]
BY_GITHUB = 7.0
"""Seconds that GitHub grants after a cancellation."""


@pytest.fixture
def lab(tmp_path: Path) -> Iterator[Lab]:
    lab = Lab(tmp_path)
    yield lab
    lab.close()


def is_alive(pid_file: Path) -> bool:
    try:
        os.kill(int(pid_file.read_text()), 0)
    except ProcessLookupError:
        return False
    return True


def command(lab: Lab, *arguments: str, **extra: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "runner", *arguments],
        env=lab.environment | extra,
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_cancelled_run_ends_its_agent_and_reports_within_githubs_time(lab: Lab, number: signal.Signals) -> None:
    spec, started = lab.spec("stop_here"), lab.folder / "started"
    with lab.start(spec.job, STARTED_FILE=str(started)) as process:
        wait_until(lambda: started.exists() and started.read_text())
        before = time.monotonic()
        process.send_signal(number)
        output, _ = process.communicate(timeout=30)
        took = time.monotonic() - before
    report = lab.bot.reports[spec.job]
    assert report.outcome is Outcome.STOPPED, output
    assert f"cancelled on the runner ({number.name})" in report.sentence
    assert [usage.complete for usage in report.usage] == [False]
    assert took < BY_GITHUB
    assert not is_alive(started)
    assert lab.left() == []
    assert process.returncode == 0
    assert GRACE < BY_GITHUB / 2


def test_a_run_that_is_killed_leaves_nothing_that_touches_the_next(lab: Lab) -> None:
    spec, started = lab.spec("stop_here"), lab.folder / "started"
    with lab.start(spec.job, STARTED_FILE=str(started)) as process:
        wait_until(lambda: started.exists() and started.read_text())
        process.kill()
        process.communicate(timeout=30)
    report = lab.run("good")
    lost = lab.bot.reports[spec.job]
    assert lost.outcome is Outcome.LOST
    assert [(row.agent, row.usd, row.complete) for row in lost.usage] == [("scripted", None, False)]
    assert lost.salvaged is not None
    assert any(f"refs/twogate/salvage/{UID}/{spec.job}" in note for note in lost.notes)
    assert lab.git("show", f"{lost.salvaged}:calc.py", cwd=lab.home / "repos" / "1.git") == GOOD.strip()
    assert report.outcome is Outcome.VERIFIED, report
    assert report.work is not None
    assert [file.path for file in report.work.files] == ["calc.py"]
    assert not is_alive(started)
    assert lab.left() == []
    assert not (lab.home / "jobs" / spec.job / "key").exists()


def test_clean_after_a_kill_fits_githubs_time(lab: Lab) -> None:
    spec, started = lab.spec("stop_here"), lab.folder / "started"
    with lab.start(spec.job, STARTED_FILE=str(started)) as process:
        wait_until(lambda: started.exists() and started.read_text())
        process.kill()
        process.communicate(timeout=30)
    assert CLEAN_SECONDS < BY_GITHUB
    done = command(lab, "clean", "--job", spec.job)
    assert done.returncode == 0, done.stdout
    if "no time left" in done.stdout:  # on a slow machine
        command(lab, "clean")
    assert lab.bot.reports[spec.job].outcome is Outcome.LOST
    assert not is_alive(started)
    assert lab.left() == []


def test_clean_leaves_a_running_job_alone(lab: Lab) -> None:
    spec, started = lab.spec("stop_here"), lab.folder / "started"
    with lab.start(spec.job, STARTED_FILE=str(started)) as process:
        wait_until(lambda: started.exists() and started.read_text())
        assert "still runs" in command(lab, "clean", "--job", spec.job).stdout
        assert is_alive(started)
        process.terminate()
        process.communicate(timeout=30)


def test_a_report_waits_for_the_bot_and_goes_out_at_the_next_start(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("runner.job.REPORT_DEADLINE", 0.5)
    monkeypatch.setattr("runner.report.RESEND_DEADLINE", 0.5)
    spec = lab.spec("good")
    lab.bot.on_push_token = lambda: setattr(lab.bot, "away", True)
    assert not Runner(lab.settings(), time.time, lab.said.append).run(spec.job)
    assert lab.bot.reports == {}
    assert any("kept for the next start" in line for line in lab.said)
    lab.bot.away, lab.bot.on_push_token = False, None
    lab.run("plan", kind=JobKind.PLAN)
    assert lab.bot.reports[spec.job].outcome is Outcome.VERIFIED
    assert not (lab.home / "jobs" / spec.job / "key").exists()


def test_a_refused_claim_ends_with_the_bots_words(lab: Lab) -> None:
    done = command(lab, "run", "--job", "unknownx-1")
    assert done.returncode == 1
    assert "There is no job unknownx-1." in done.stdout
    assert not any(secret in done.stdout + done.stderr for secret in (REQUEST_TOKEN, READ_TOKEN))


def test_the_log_is_short_and_gives_no_workflow_commands(lab: Lab) -> None:
    spec = lab.spec("blocked", gates=())
    lab.bot.specs[spec.job] = spec.model_copy(
        update={"repository": spec.repository.model_copy(update={"owner": "x\n::add-mask::y##[group]"})}
    )
    done = command(lab, "run", "--job", spec.job)
    lines = done.stdout.splitlines()
    assert done.returncode == 0, done.stdout + done.stderr
    assert lines[-1] == "twogate report: blocked. The agent can't go on: The issue contradicts itself."
    assert len(lines) < 12
    assert all(line.startswith("twogate ") for line in lines)
    assert "##[" not in done.stdout


@pytest.mark.parametrize("job", ["../../etc", "UPPER-1", "abcdefgh", "abcdefgh-1\n"])
def test_a_job_id_that_is_none_is_refused(lab: Lab, job: str) -> None:
    done = command(lab, "run", "--job", job)
    assert done.returncode == 2
    assert "job id" in done.stderr


def test_faults_of_the_settings_are_named(lab: Lab) -> None:
    lab.bot.url = "bot.example"
    done = command(lab, "run", "--job", "abcdefgh-1")
    assert done.returncode == 2
    assert ("TWOGATE_URL" in done.stderr, done.stdout) == (True, "")


def test_doctor_says_what_there_is_and_what_is_missing(lab: Lab) -> None:
    done = command(lab, "doctor")
    for word in ("sandbox:", "git: git version", "agents:", "disk:", f"bot: {lab.bot.url} answers"):
        assert word in done.stdout, done.stdout
    for name in BUILT_IN:
        assert f"agents: {name} " in done.stdout
    assert f"github: {lab.bot.url}/healthz answers" in done.stdout
    lab.bot.away = True
    done = command(lab, "doctor", TWOGATE_MIN_FREE="999999", GITHUB_SERVER_URL="http://127.0.0.1:1")
    assert done.returncode == 1
    for word in ("bot: ", "disk: TWOGATE_MIN_FREE asks for 999999 GB", "github: repositories are cloned from"):
        assert f"missing: {word}" in done.stdout


def test_doctor_tells_which_models_are_metered_and_never_a_key(lab: Lab) -> None:
    done = command(lab, "doctor", ANTHROPIC_API_KEY="sk-of-the-lab", GEMINI_API_KEY="two words")
    assert "models: anthropic metered, at https://api.anthropic.com" in done.stdout
    assert "models: openai-responses not metered" in done.stdout
    assert "missing: models: GEMINI_API_KEY on the runner is no key" in done.stdout
    assert "sk-of-the-lab" not in done.stdout
    assert "two words" not in done.stdout


def test_doctor_tells_a_home_that_can_not_be_made(lab: Lab, tmp_path: Path) -> None:
    assert "home:" not in command(lab, "doctor").stdout
    (tmp_path / "file").write_text("")
    done = command(lab, "doctor", TWOGATE_HOME=str(tmp_path / "file" / "home"))
    assert f"missing: home: TWOGATE_HOME is {tmp_path}/file/home" in done.stdout
    assert done.returncode == 1


def test_doctor_tells_the_versions_of_agents_and_what_is_too_old(lab: Lab, tmp_path: Path) -> None:
    programs = {"claude": "echo 2.1.3", "codex": "echo broken >&2; exit 3", "git": "echo git version 2.30.1"}
    folder = tmp_path / "programs"
    folder.mkdir()
    for name, script in programs.items():
        (folder / name).write_text(f"#!/bin/sh\n{script}\n")
        (folder / name).chmod(0o755)
    done = command(lab, "doctor", PATH=f"{folder}:{os.environ['PATH']}")
    assert f"agents: claude 2.1.3 at {folder}/claude" in done.stdout
    assert "agents: codex (ends with 3: broken)" in done.stdout
    assert "missing: git: git version 2.30.1 is too old; install git 2.38 or later." in done.stdout
    assert done.returncode == 1


def test_a_job_is_refused_before_anything_is_spent_where_the_disk_is_full(lab: Lab) -> None:
    spec = lab.spec("good")
    settings = dataclasses.replace(lab.settings(), min_free=1e18)
    assert Runner(settings, time.time, lab.said.append).run(spec.job)
    report = lab.bot.reports[spec.job]
    assert report.outcome is Outcome.RUNNER_FAILED
    assert "TWOGATE_MIN_FREE asks for 1e+09" in report.sentence
    assert "/retry" in report.sentence
    assert report.usage == ()
    assert not (lab.home / "repos").exists()


def test_an_agent_that_fills_the_disk_loses_no_work_and_leaves_room_for_the_next(lab: Lab) -> None:
    code = (
        f"write('calc.py', {GOOD!r})\nwith open(os.environ['HOME'] + '/core', 'wb', buffering=0) as core:\n"
        "    while True:\n        core.write(bytes(4096))\n"
    )
    filling, good = lab.spec("", agents=lab.coded(code)), lab.spec("good")
    alone = ["unshare", "--mount", *([] if os.geteuid() == 0 else ["--user", "--map-root-user"]), "sh", "-ec"]
    mounted = f"mkdir -p {lab.home}; mount -t tmpfs -o size=12m none {lab.home}"
    if subprocess.run([*alone, mounted], check=False, capture_output=True).returncode:
        pytest.skip("this system mounts nothing here")
    runs = (f"{sys.executable} -m runner run --job {spec.job}" for spec in (filling, good))
    environment = lab.environment | {"TWOGATE_MIN_FREE": "0"}
    script = "; ".join((mounted, *runs, f"ls {lab.home}/exchange {lab.home}/worktrees/1"))
    done = subprocess.run([*alone, script], env=environment, cwd=ROOT, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, ""), done.stdout
    assert done.stdout.endswith(f"{lab.home}/exchange:\n\n{lab.home}/worktrees/1:\n"), "all is removed"
    lost = lab.bot.reports[filling.job]
    assert lost.outcome is Outcome.RUNNER_FAILED
    assert lost.sentence == "The disk of runner lab is full. Make room there (twogate-runner clean), then /retry."
    assert lost.salvaged is not None, lost.notes
    assert lab.bot.reports[good.job].outcome is Outcome.VERIFIED


def test_clean_without_a_job_removes_what_runs_no_more_and_leaves_the_rest(lab: Lab) -> None:
    dead, alive = lab.spec("stop_here"), lab.spec("stop_here", plan_uid="otherone", branch="plan/8")
    files = {spec.job: lab.folder / spec.job for spec in (dead, alive)}
    with lab.start(dead.job, STARTED_FILE=str(files[dead.job])) as process:
        wait_until(lambda: files[dead.job].exists() and files[dead.job].read_text())
        process.kill()
        process.communicate(timeout=30)
    with lab.start(alive.job, STARTED_FILE=str(files[alive.job])) as process:
        wait_until(lambda: files[alive.job].exists() and files[alive.job].read_text())
        done = command(lab, "clean")
        assert done.returncode == 0, done.stdout
        assert lab.bot.reports[dead.job].outcome is Outcome.LOST
        assert is_alive(files[alive.job])
        assert {path.name for path in (lab.home / "worktrees" / "1").iterdir()} == {"otherone"}
        process.terminate()
        process.communicate(timeout=30)
    assert lab.bot.reports[alive.job].outcome is Outcome.STOPPED


def test_ended_plans_are_forgotten(lab: Lab) -> None:
    report = lab.run("never")
    assert report.outcome is Outcome.GATES_FAILED
    store = lab.home / "repos" / "1.git"
    assert "salvage/planplan" in lab.git("for-each-ref", cwd=store)
    lab.bot.ended = ("planplan", "unknownx")
    lab.run("plan", kind=JobKind.PLAN, plan_uid="otherone")
    assert "salvage" not in lab.git("for-each-ref", cwd=store)


def test_a_sandbox_that_can_not_be_had_ends_the_job_with_the_cure(lab: Lab, tmp_path: Path) -> None:
    programs = tmp_path / "programs"
    programs.mkdir()
    for name in ("git", "sh"):
        (programs / name).symlink_to(shutil.which(name) or "")
    spec = lab.spec("good", sandbox=SandboxMode.REQUIRED)
    with lab.start(spec.job, PATH=str(programs)) as process:
        process.communicate(timeout=60)
    report = lab.bot.reports[spec.job]
    assert report.outcome is Outcome.SANDBOX_UNAVAILABLE, report
    assert "Install bubblewrap" in report.sentence
    assert report.usage == ()


@pytest.mark.skipif(not probe().bubblewrap, reason="not tested: bubblewrap does not run here")
def test_under_the_sandbox_an_agent_finds_none_of_the_runners_secrets(lab: Lab) -> None:
    tools = str(Path(__file__).parents[2] / "tests" / "runner")
    spec = lab.spec("look_for_secrets", sandbox=SandboxMode.REQUIRED)
    with lab.start(spec.job, RUNNER_HOME=str(lab.home), TWOGATE_TOOLS=tools) as process:
        output, _ = process.communicate(timeout=100)
    report = lab.bot.reports[spec.job]
    assert report.outcome is Outcome.VERIFIED, (report, output)
    assert report.sandbox is not None
    assert report.sandbox.got == "bubblewrap"
    found = lab.shown("notes/found.txt")
    assert "HOME=" in found
    assert not [secret for secret in (READ_TOKEN, REQUEST_TOKEN, JOB_KEY, PUSH_TOKEN) if secret in found]
