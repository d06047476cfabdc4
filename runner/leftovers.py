"""What runs that were killed left on this machine: ended, salvaged, reported, removed.

Only what is proved to be nobody's is touched: a job's lock dies with its process, and so does a plan's. A killed job
with a key still owes the bot a report; the next start writes it from what lies on disk, so that what was spent counts
and the job ends at once instead of after the bot's patience.
"""

from __future__ import annotations

import json
import os
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from runner import folders, locks, process
from runner.clearing import clean_leftover, clean_leftovers
from runner.contract import Outcome, Report
from runner.git import GitError
from runner.meter.ledger import LEDGER_FILE, read_ledger
from runner.report import KEY_FILE, LOCK_FILE, REPORT_FILE, SPEC_FILE, Spool
from runner.store import ObjectStore, StoreError, salvage_ref
from runner.terms import LogTerms

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from runner.contract import JobSpec

KEEP_DAYS = 14
"""Days that work which was never pushed stays on the machine."""
DAY = 24 * 3600.0
KEEP = KEEP_DAYS * DAY
"""The same in seconds."""


@contextmanager
def alone(home: Path, job: str, patience: float = 0) -> Iterator[None]:
    """Hold the job's lock: nobody else is at work on the job, nor is anything that a killed runner had begun.

    Raises BlockingIOError where another process has it, after so many seconds, and TimeoutError where what a killed
    one had begun does not end.
    """
    handle = locks.take(Spool(home / "jobs").folder(job) / LOCK_FILE, patience)
    try:
        yield
    finally:
        os.close(handle)


def kept_sentence(spec: JobSpec, runner: str, sha: str) -> str:
    """Say where unpushed work is and how to get it."""
    ref = salvage_ref(spec.plan_uid, spec.job)
    store = f"$TWOGATE_HOME/repos/{spec.repository.id}.git"
    return (
        f"What was not pushed is kept as commit {sha[:10]} on runner {runner} for {KEEP_DAYS} days; there: "
        f"git --git-dir={store} log -p {ref}"
    )


@dataclass(frozen=True, slots=True)
class Leftovers:
    """What lies below ``home`` of jobs that run no more."""

    home: Path
    runner: str
    """This machine's name, for the report."""
    now: Callable[[], float]
    say: Callable[[str], None]

    def clean(self, apart_from: str | None = None) -> None:
        """Bury every job that runs no more, the one named apart, and remove work trees that are nobody's."""
        for folder in sorted((self.home / "jobs").glob("*")):
            if folder.name != apart_from:
                self._bury_unless_it_runs(folder.name)
        for sentence in clean_leftovers(self.home):
            self.say(f"clean: {sentence}")
        self._sweep(apart_from)

    def _bury_unless_it_runs(self, job: str) -> None:
        try:
            with alone(self.home, job):
                self.bury(job)
        except BlockingIOError:
            return
        except OSError as error:
            self.say(f"clean: what job {job} left is not all removed: {error}")

    def bury(self, job: str) -> None:
        """End and remove what is left of a job that runs no more, and write the report it owes; its lock is held.

        Its logs go when their days are over, which its job was told, and never before its report is settled.
        """
        folder, spool = self.home / "jobs" / job, Spool(self.home / "jobs")
        killed = process.kill_leftovers(job)
        if killed:
            self.say(f"clean: ended {killed} processes that job {job} left")
        self.remove(job)  # before anything is written: the disk may be full
        spec = spool.owes(job)
        if spec is not None:
            spool.write(self._obituary(spec, folder))
        elif not (folder / REPORT_FILE).exists():
            (folder / KEY_FILE).unlink(missing_ok=True)
        for draft in folder.glob(".*"):
            draft.unlink()
        if self.now() - folder.stat().st_mtime > _kept_seconds(folder) and not (folder / KEY_FILE).exists():
            folders.remove(folder)

    def remove(self, job: str) -> None:
        """Remove the job's folders; its log and report stay."""
        folders.remove(*(self.home / folder / job for folder in ("exchange", "checkouts")))

    def _sweep(self, apart_from: str | None) -> None:
        """Remove folders of jobs that have no log any more, and what was half written."""
        found = (*self.home.glob("exchange/*"), *self.home.glob("checkouts/*"))
        # asked for afterwards: a job that starts makes its log first
        known = {apart_from, *(folder.name for folder in (self.home / "jobs").glob("*"))}
        folders.remove(*(folder for folder in found if folder.name not in known))

    def _obituary(self, spec: JobSpec, folder: Path) -> Report:
        """Salvage what the job left unpushed, and report for it."""
        notes: tuple[str, ...] = ()
        saved = None
        try:
            sentence = clean_leftover(self.home, spec.repository.id, spec.plan_uid)
            if sentence:
                self.say(f"clean: {sentence}")
            saved = ObjectStore(self.home, spec.repository.id).ref(salvage_ref(spec.plan_uid, spec.job))
        except (GitError, StoreError, OSError) as error:
            notes = (f"What the run left could not be salvaged and lies where it was: {error}",)
        if saved:
            notes = (kept_sentence(spec, self.runner, saved),)
        ledger = folder / LEDGER_FILE
        usage = read_ledger(ledger)
        signs = [path.stat().st_mtime for path in (folder / SPEC_FILE, ledger) if path.exists()]
        return Report(
            job=spec.job,
            outcome=Outcome.LOST,
            sentence=f"The runner {self.runner} was killed while it worked on this.",
            usage=usage,
            attempts=max((row.attempt for row in usage), default=0),
            notes=notes,
            salvaged=saved,
            runner=self.runner,
            started_at=min(signs),
            ended_at=max(signs),
        )


def _kept_seconds(folder: Path) -> float:
    """Return how long a job's logs are kept, by its own terms."""
    try:
        terms = json.loads((folder / SPEC_FILE).read_bytes()).get("logs") or {}
        return LogTerms.model_validate(terms).keep_days * DAY
    except (OSError, ValueError, AttributeError):
        return LogTerms().keep_days * DAY
