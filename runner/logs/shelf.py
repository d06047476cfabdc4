"""The logs that lie on this machine: found by plan, job and unit."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from runner.logs import EVENTS_FILE
from runner.logs.events import Ended, Started, parse
from runner.results import Unit

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from runner.logs.events import Event

NAME = re.compile(rf"({'|'.join(Unit)})-([0-9]{{1,4}})")
"""What a run's folder is called."""
LAST_BYTES = 64_000
"""Bytes at the end of a run's events among which its last one is looked for."""


@dataclass(frozen=True, slots=True)
class Run:
    """One run of an agent."""

    folder: Path
    started: Started
    ended: Ended | None
    """None while it lasts, and of one that was killed with its runner."""

    @property
    def name(self) -> str:
        """``<Unit>-<n>``, which is one run of a job."""
        return self.folder.name

    def events(self) -> Iterator[Event]:
        """Yield what happened in it, as far as that is known here."""
        with (self.folder / EVENTS_FILE).open("rb") as lines:
            yield from filter(None, map(parse, lines))

    def fits(self, plan: str, job: str | None, unit: str | None) -> bool:
        """Return whether it is of the plan (``owner/name#12``, ``#12``, or a job's id), the job and the unit or run."""
        begun = self.started
        of_plan = plan in {begun.plan, begun.job} or (plan.startswith("#") and begun.plan.endswith(plan))
        return of_plan and job in {None, begun.job} and unit in {None, begun.unit, self.name}


def runs(jobs: Path) -> list[Run]:
    """Return every run whose log lies below ``jobs``, oldest first."""
    found = (_run(folder) for folder in jobs.glob("*/*-*") if NAME.fullmatch(folder.name))
    return sorted(filter(None, found), key=lambda run: (run.started.at, run.name))


def _run(folder: Path) -> Run | None:
    """Return the run of a folder, None where it has no events: of an earlier release, or on its way out."""
    try:
        with (folder / EVENTS_FILE).open("rb") as file:
            first = parse(file.readline())
            file.seek(max(0, file.seek(0, 2) - LAST_BYTES))
            last = parse((file.read().splitlines() or [b""])[-1])
    except OSError:
        return None
    return Run(folder, first, last if isinstance(last, Ended) else None) if isinstance(first, Started) else None
