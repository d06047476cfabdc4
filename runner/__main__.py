"""``twogate-runner``: run a job · clean up after one · say what this machine offers.

Exit codes: 0 done, also where the job's outcome is a failure that the bot now knows of; 1 the bot does not know how
the job ended, or refused it; 2 the settings or the arguments can't be used.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from typing import TYPE_CHECKING

from runner.client import Client, ClientError
from runner.contract import Outcome
from runner.git import GitError, program
from runner.job import Runner, alone
from runner.sandbox import SandboxUnavailableError, probe
from runner.settings import SECRETS, Settings, SettingsError, from_environment
from runner.watch import Ending
from runner.worktree import clean_leftovers

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import FrameType

CLEAN_SECONDS = 6
"""Whole seconds that ``clean`` may take; GitHub may take the machine away after seven."""
JOB = re.compile(r"[a-z0-9]{8,32}-[0-9]{1,6}\Z")
"""What a job id looks like; it becomes a folder's name and a part of an address."""
LOW_DISK = 5_000_000_000
"""Bytes below which ``doctor`` warns."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; returns the exit code."""
    parsed = _parser().parse_args(arguments)
    try:
        settings = from_environment(os.environ, offline=parsed.command != "run")
    except SettingsError as faults:
        say(f"settings: {faults}")
        return 2
    for name in SECRETS:
        os.environ.pop(name, None)
    if parsed.command == "doctor":
        return doctor(settings)
    return run(settings, parsed.job) if parsed.command == "run" else clean(settings, parsed.job)


def say(text: str) -> None:
    """Print lines for the Actions log; nothing in them is taken for a workflow command."""
    for line in text.splitlines() or [""]:
        printable = "".join(c for c in line if c.isprintable())
        print(f"twogate {printable.replace('##[', '# [')}", flush=True)


def run(settings: Settings, job: str) -> int:
    """Carry out one job."""
    runner = Runner(settings, time.time, say)
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, lambda number, _frame: _interrupt(runner, number))
    try:
        return 0 if runner.run(job) else 1
    except BlockingIOError:
        say(f"run: job {job} is running on this machine already")
    except ClientError as error:
        say(f"claim: {error}")
    except Ending as interrupted:
        say(f"run: {interrupted.sentence}")
    return 1


def _interrupt(runner: Runner, number: int) -> None:
    name = signal.Signals(number).name
    ending = Ending(Outcome.STOPPED, f"The run was cancelled on the runner ({name}). Say /retry to start it again.")
    if runner.watch is None:
        raise ending
    runner.watch.interrupt(ending)


def clean(settings: Settings, job: str) -> int:
    """End and remove what a job left; what does not fit the time is left to the next start."""
    signal.signal(signal.SIGALRM, _too_slow)
    signal.alarm(CLEAN_SECONDS)
    try:
        with alone(settings.home, job):
            Runner(settings, time.time, say).bury(job)
        for sentence in clean_leftovers(settings.home):
            say(f"clean: {sentence}")
    except BlockingIOError:
        say(f"clean: job {job} still runs; nothing was touched")
    except TimeoutError:
        say("clean: no time left; the next start goes on with it")
    finally:
        signal.alarm(0)
    return 0


def _too_slow(_number: int, _frame: FrameType | None) -> None:
    raise TimeoutError


def doctor(settings: Settings) -> int:
    """Say what this machine offers, and what is missing."""
    faults = [*_git_faults(), *_sandbox_faults(settings), *_disk_faults(settings), *_bot_faults(settings)]
    found = shutil.which("claude", path=settings.environment.get("PATH"))
    say(f"agents: claude {f'at {found}' if found else 'not found on PATH'}; others by their command")
    for fault in faults:
        say(f"missing: {fault}")
    return 1 if faults else 0


def _git_faults() -> list[str]:
    try:
        version = subprocess.run([program(), "--version"], capture_output=True, text=True, check=True).stdout.strip()
    except GitError as error:
        return [str(error)]
    say(f"git: {version}")
    return []


def _sandbox_faults(settings: Settings) -> list[str]:
    try:
        say(f"sandbox: {probe(settings.agent_user).sentence}")
    except SandboxUnavailableError as error:
        return [f"sandbox: {error}"]
    return []


def _disk_faults(settings: Settings) -> list[str]:
    place = next(path for path in (settings.home, *settings.home.parents) if path.exists())
    free = shutil.disk_usage(place).free
    say(f"disk: {free / 1e9:.1f} GB free for {settings.home}")
    return [] if free > LOW_DISK else [f"disk: less than {LOW_DISK / 1e9:.0f} GB free; make room for {settings.home}."]


def _bot_faults(settings: Settings) -> list[str]:
    if not settings.url:
        return ["bot: TWOGATE_URL is not set."]
    with Client(settings) as client:
        ready = client.is_ready()
    say(f"bot: {settings.url} {'answers' if ready else 'does not answer'}")
    return [] if ready else [f"bot: {settings.url} does not answer; is the address right, and is the bot running?"]


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="twogate-runner", description="Runs jobs of the Twogate bot.")
    commands = parser.add_subparsers(dest="command", required=True)
    for name, what in (("run", "carry out one job"), ("clean", "remove what a job left")):
        command = commands.add_parser(name, help=what)
        command.add_argument("--job", required=True, type=_job_id, metavar="ID", help="the job's id")
    commands.add_parser("doctor", help="say what this machine offers, and what is missing")
    return parser


def _job_id(text: str) -> str:
    if not JOB.match(text):
        raise argparse.ArgumentTypeError("a job id looks like abcdefgh-1; the bot passes it to the workflow")
    return text


if __name__ == "__main__":
    sys.exit(main())
