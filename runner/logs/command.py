"""``twogate-runner logs``: what agents did on this machine, as a table, as short logs, as events, or as it happens."""

from __future__ import annotations

import argparse
import re
import sys
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from runner.locks import flock
from runner.logs import EVENTS_FILE, LOG_FILE, STDOUT_FILE
from runner.logs.events import Answered, Asked, Changed, Ended, Ran, parse
from runner.logs.shelf import runs
from runner.logs.story import Story, moment, spent
from runner.report import LOCK_FILE
from runner.untrusted import ESCAPES, visible

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path
    from typing import BinaryIO

    from runner.logs.events import Event
    from runner.logs.shelf import Run

PLAN = re.compile(r"(?:[\w.-]+/[\w.-]+)?#[0-9]{1,10}|[a-z0-9]{8,32}-[0-9]{1,6}")
FOLLOW_SECONDS = 3_600.0
"""Seconds that a run is followed where nothing else is said."""
POLL_SECONDS = 0.2
"""How often a log that is being written is looked at."""
MOST_PLANS = 20
"""Plans that are named where the one asked for has no logs here."""
CHUNK = 1 << 20
HEAD = ("begun", "job", "run", "attempt", "agent", "ended", "spent")


class NoLogError(Exception):
    """What was asked for is not there, or not clear; the message says what there is."""


@dataclass(frozen=True, slots=True)
class Request:
    """What is asked for."""

    plan: str
    job: str | None = None
    unit: str | None = None
    form: str = "log"
    """``log``, ``raw`` or ``json``."""
    follow: float | None = None
    """Seconds to go on with what is added."""


def add_arguments(command: argparse.ArgumentParser) -> None:
    """Say how it is called."""
    command.add_argument("plan", metavar="PLAN", help="owner/name#12, #12, or a job's id")
    command.add_argument("--job", metavar="ID", help="the runs of this job alone")
    command.add_argument("--unit", metavar="UNIT", help="of this unit (ExecutePlan), or this run of it (ExecutePlan-2)")
    form = command.add_mutually_exclusive_group()
    form.add_argument(
        "--raw", dest="form", action="store_const", const="raw", help="what the agent printed, as it came"
    )
    form.add_argument("--json", dest="form", action="store_const", const="json", help="what happened, as JSON Lines")
    command.add_argument(
        "--follow",
        nargs="?",
        type=_seconds,
        const=FOLLOW_SECONDS,
        metavar="SECONDS",
        help=f"show what is added, until the run ends, is killed, or this time is over ({FOLLOW_SECONDS:.0f})",
    )
    command.set_defaults(form="log")


def _seconds(text: str) -> float:
    if not re.fullmatch(r"[0-9]{1,7}(?:\.[0-9]{1,3})?", text):
        raise argparse.ArgumentTypeError(f"{text!r} is no number of seconds")
    return float(text)


def show(home: Path, asked: Request, out: BinaryIO | None = None) -> None:
    """Write what is asked for, to standard output where nothing else is named; raises :class:`NoLogError`.

    One run is shown, several are listed. Nothing but a raw stream can drive the terminal.
    """
    found, out = _found(home / "jobs", asked), out or sys.stdout.buffer
    if asked.follow is not None:
        why = _follow(found[-1], asked.form, asked.follow, out)
        sys.stderr.write(f"{why}\n")
    elif len(found) > 1 and asked.form == "log":
        out.write(_table(found).encode())
    else:
        _one(found, asked.form, out)
    out.flush()


def _found(jobs: Path, asked: Request) -> list[Run]:
    if not PLAN.fullmatch(asked.plan):
        raise NoLogError(f"{asked.plan!r} is no plan: give owner/name#12, #12, or a job's id.")
    kept = runs(jobs)
    found = [run for run in kept if run.fits(asked.plan, None, None)]
    if not found:
        raise NoLogError(f"There is no log of {asked.plan} on this runner. {_there(kept)}")
    if len(plans := sorted({run.started.plan for run in found})) > 1:
        raise NoLogError(f"{asked.plan} is several plans here: {', '.join(plans)}. Name one of them in full.")
    narrowed = [run for run in found if run.fits(asked.plan, asked.job, asked.unit)]
    if not narrowed:
        there = ", ".join(dict.fromkeys(f"{run.name} of {run.started.job}" for run in found))
        raise NoLogError(f"None of the runs of {asked.plan} is that one. There are: {there}.")
    return narrowed


def _there(kept: list[Run]) -> str:
    plans = list(dict.fromkeys(run.started.plan for run in reversed(kept)))
    if not plans:
        return "It keeps none at all: does TWOGATE_HOME name the folder that its jobs run in?"
    more = f" and {len(plans) - MOST_PLANS} more" if len(plans) > MOST_PLANS else ""
    return f"It keeps logs of {', '.join(plans[:MOST_PLANS])}{more}."


def _table(found: list[Run]) -> str:
    rows = [HEAD, *map(_row, found)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(HEAD))]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
    return _plain("\n".join((*lines, "", "One of them: --job ID --unit RUN"))) + "\n"


def _row(run: Run) -> tuple[str, ...]:
    begun, end = run.started, run.ended
    agent = f"{begun.agent} {begun.model or ''}".strip()
    calls = [event for event in run.events() if isinstance(event, Asked)]
    cost = spent(calls).split(", tokens")[0] if calls else ""
    return (moment(begun.at), begun.job, run.name, str(begun.attempt), agent, end.outcome if end else "", cost)


def _one(found: list[Run], form: str, out: BinaryIO) -> None:
    if len(found) > 1:
        there = ", ".join(f"{run.name} of {run.started.job}" for run in found)
        raise NoLogError(f"{len(found)} runs fit: {there}. Name one by --job and --unit.")
    run = found[0]
    if form == "log":
        out.write((_plain(_log(run)) + "\n").encode())
        return
    with (run.folder / (STDOUT_FILE if form == "raw" else EVENTS_FILE)).open("rb") as file:
        while chunk := file.read(CHUNK):
            out.write(chunk)


def _log(run: Run) -> str:
    """Return the short log; of a run that has none yet, as it stands."""
    try:
        return (run.folder / LOG_FILE).read_text("utf-8", "replace")
    except FileNotFoundError:
        story = Story()
        for event in run.events():
            story.take(event)
        return story.render()


def _follow(run: Run, form: str, seconds: float, out: BinaryIO, clock: Callable[[], float] = time.monotonic) -> str:
    """Show the newest run from its beginning, and what is added to it until it ends or its runner is gone.

    Returns why nothing more is shown.
    """
    until, why = clock() + seconds, ""

    def over() -> bool:
        nonlocal why
        if (run.folder / LOG_FILE).exists():
            why = f"{run.name} of {run.started.job} has ended."
        elif _abandoned(run):
            why = f"The runner of {run.name} of {run.started.job} was killed: nothing more will come."
        elif clock() > until:
            why = f"{seconds:.0f} seconds are over, and {run.name} of {run.started.job} goes on: say --follow again."
        return bool(why)

    _show_growing(run, form, out, over)
    return why


def _show_growing(run: Run, form: str, out: BinaryIO, over: Callable[[], bool]) -> None:
    if form == "raw":
        for chunk in _growing(run.folder / STDOUT_FILE, over):
            out.write(chunk)
            out.flush()
        return
    part = b""
    for chunk in _growing(run.folder / EVENTS_FILE, over):
        *lines, part = (part + chunk).split(b"\n")
        for line in lines:
            event = parse(line)
            text = _plain(_line(event)).encode() if event and form == "log" else line
            out.write(text + b"\n")
        out.flush()


def _abandoned(run: Run) -> bool:
    """Return whether the process that wrote the log is gone: its job's lock died with it.

    Who may not look at the lock takes the run for alive.
    """
    try:
        with (run.folder.parent / LOCK_FILE).open() as file:
            return flock(file.fileno())
    except FileNotFoundError:
        return True
    except OSError:
        return False


def _growing(path: Path, over: Callable[[], bool]) -> Iterator[bytes]:
    """Yield what is in ``path`` and what is added, until nothing more will be."""
    with path.open("rb") as file:
        while True:
            last = over()
            while chunk := file.read(CHUNK):
                yield chunk
            if last:
                return
            time.sleep(POLL_SECONDS)


def _line(event: Event) -> str:
    """Return an event on one line."""
    match event:
        case Ran():
            told = f"{event.command} (exit code {event.exit_code})"
        case Asked():
            told = spent([event])
        case Ended():
            told = f"{event.outcome.replace('_', ' ')} after {event.seconds:.0f} s {event.sentence}"
        case Changed():
            told = f"{event.path} ({event.how})"
        case Answered():
            told = f"{event.tool}: {event.size} characters" if event.ok else f"{event.tool}: failed"
        case _:
            fields = event.model_dump(exclude={"kind", "at", "prompt_sha256"}).values()
            told = " ".join(str(value) for value in fields if value not in (None, "", False))
    return f"{moment(event.at)[11:16]} {event.kind:<8} {' '.join(told.split())}"


def _plain(text: str) -> str:
    """Return ``text`` without anything that drives a terminal."""
    return visible(ESCAPES.sub("", text)).rstrip("\n")
