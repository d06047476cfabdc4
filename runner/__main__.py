"""``twogate-runner``: run a job · clean up after one · say what this machine offers · speak MCP for an agent.

Exit codes: 0 done, also where the job's outcome is a failure that the bot now knows of; 1 the bot does not know how
the job ended, or refused it; 2 the settings or the arguments can't be used.
"""

from __future__ import annotations

import argparse
import errno
import os
import re
import signal
import sys
import time
from importlib.metadata import version
from typing import TYPE_CHECKING

from runner import housekeeping, prompt_command
from runner.client import Client, ClientError
from runner.contract import Outcome
from runner.doctor import doctor
from runner.job import Runner
from runner.leftovers import Leftovers, alone
from runner.logs import command as logs_command
from runner.process import keep_to_itself
from runner.report import Spool
from runner.settings import SECRETS, Settings, SettingsError, from_environment
from runner.tools import client
from runner.watch import Ending

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import FrameType

CLEAN_SECONDS = 6
"""Whole seconds that ``clean`` may take; GitHub may take the machine away after seven."""
JOB = re.compile(r"[a-z0-9]{8,32}-[0-9]{1,6}\Z")
"""What a job id looks like; it becomes a folder's name and a part of an address."""
CLEAN_REPORT = 2.0
"""Seconds of these for the report of a job that was killed."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; returns the exit code."""
    parsed = _parser().parse_args(arguments)
    if parsed.command in {"mcp", "prompt"}:
        return client.main(["mcp"]) if parsed.command == "mcp" else prompt_command.prompt(parsed)
    try:
        settings = from_environment(os.environ, offline=parsed.command != "run")
    except SettingsError as faults:
        print(f"twogate settings: {faults}", file=sys.stderr)
        return 2
    for name in SECRETS:
        os.environ.pop(name, None)
    if parsed.command == "doctor":
        return doctor(settings, say)
    if parsed.command == "logs":
        return logs(settings, parsed)
    if parsed.command == "run":
        return run(settings, parsed.job)
    return clean_after(settings, parsed.job) if parsed.job else clean(settings)


def say(text: str) -> None:
    """Print lines for the Actions log; nothing in them is taken for a workflow command."""
    for line in text.splitlines() or [""]:
        printable = "".join(c for c in line if c.isprintable())
        print(f"twogate {printable.replace('##[', '# [')}", flush=True)


def run(settings: Settings, job: str) -> int:
    """Carry out one job."""
    keep_to_itself()
    runner = Runner(settings, time.time, say)
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, lambda number, _frame: _interrupt(runner, number))
    try:
        return 0 if runner.run(job) else 1
    except BlockingIOError:
        say(f"run: job {job} is running on this machine already")
    except OSError as error:
        say(f"run: the runner could not go on: {error}")
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


def logs(settings: Settings, parsed: argparse.Namespace) -> int:
    """Show what agents did on this machine."""
    asked = logs_command.Request(parsed.plan, parsed.job, parsed.unit, parsed.form, parsed.follow)
    try:
        logs_command.show(settings.home, asked)
    except logs_command.NoLogError as error:
        print(error, file=sys.stderr)
        return 2
    except OSError as error:
        if error.errno == errno.EPIPE:  # the pager was left
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return 0
        print(f"The log can't be read: {error}. It belongs to the user that the runner runs as.", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 0
    return 0


def clean_after(settings: Settings, job: str) -> int:
    """End and remove what one job left, and report for it; what does not fit the time is left to the next start."""
    signal.signal(signal.SIGALRM, _too_slow)
    signal.alarm(CLEAN_SECONDS)
    try:
        with alone(settings.home, job):
            _leftovers(settings).bury(job)
            _send(settings, job)
    except BlockingIOError:
        say(f"clean: job {job} still runs; nothing was touched")
    except TimeoutError as error:
        say(f"clean: {error}")
    except _TimeUp:
        say("clean: no time left; the next start goes on with it")
    finally:
        signal.alarm(0)
    return 0


def clean(settings: Settings) -> int:
    """Remove everything that belongs to no running job, and tidy the stores that no running job borrows from."""
    _leftovers(settings).clean()
    if settings.url:
        with Client(settings) as client:
            Spool(settings.home / "jobs").resend(client, say)
    for sentence in housekeeping.tidy(settings.home, time.time()):
        say(f"clean: {sentence}")
    say(f"clean: {settings.home} holds nothing of jobs that have ended but logs, reports and unpushed work")
    return 0


def _leftovers(settings: Settings) -> Leftovers:
    return Leftovers(settings.home, settings.runner, time.time, say)


def _send(settings: Settings, job: str) -> None:
    """Send the job's report where it was not, and where the bot's address is known."""
    spool = Spool(settings.home / "jobs")
    if settings.url and job in spool.unsent():
        with Client(settings) as client:
            spool.send(job, client, say, deadline=CLEAN_REPORT)


class _TimeUp(Exception):  # noqa: N818 - no error; not of a kind that anything below catches
    """The seconds of ``clean`` are over."""


def _too_slow(_number: int, _frame: FrameType | None) -> None:
    raise _TimeUp


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="twogate-runner", description="Runs jobs of the Twogate bot.")
    parser.add_argument("--version", action="version", version=f"%(prog)s {version('twogate')}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for name, what in (("run", "carry out one job"), ("clean", "remove what a job left, or all that runs no more")):
        command = commands.add_parser(name, help=what, description=f"{what.capitalize()}.")
        command.add_argument("--job", required=name == "run", type=_job_id, metavar="ID", help="the job's id")
    what = "print what an agent of a unit would be told"
    prompt_command.add_arguments(commands.add_parser("prompt", help=what, description=prompt_command.ABOUT))
    what = f"offer the tools of the run that {client.SOCKET_NAME} names over the Model Context Protocol"
    commands.add_parser("mcp", help=what, description=f"{what[0].upper()}{what[1:]}, on standard input and output.")
    what = "say what this machine offers, and what is missing"
    commands.add_parser("doctor", help=what, description=f"{what.capitalize()}.")
    what = "show what agents did on this machine: list the runs of a plan, or show one"
    logs_command.add_arguments(commands.add_parser("logs", help=what, description=f"{what.capitalize()}."))
    return parser


def _job_id(text: str) -> str:
    if not JOB.match(text):
        raise argparse.ArgumentTypeError("a job id looks like abcdefgh-1; the bot passes it to the workflow")
    return text


if __name__ == "__main__":
    sys.exit(main())
