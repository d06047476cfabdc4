"""One job as straight steps: resend, clean, claim, prepare, work, report, clean.

Whatever happens between the claim and the report, a report is written to disk and sent: :class:`~runner.watch.Ending`
carries every ordinary end, and what nobody foresaw ends as the runner's own failure.
"""

from __future__ import annotations

import fcntl
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from runner import folders, process
from runner.client import Client, ClientError
from runner.contract import JobKind, Outcome, Phase
from runner.git import GitError
from runner.heartbeat import Heartbeat, sender
from runner.report import KEY_FILE, REPORT_FILE, Spool
from runner.steps import base, execute, plan
from runner.steps.context import Job, Ledger
from runner.steps.prepare import basic, confine, expected_tip, fetch, open_store
from runner.store import StoreError
from runner.watch import Ending, Watch
from runner.worktree import clean_leftovers, list_workspaces, remove_workspace

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from runner.contract import Claim, Report
    from runner.settings import Settings
    from runner.store import ObjectStore

HURRIED_REPORT = 3.0
"""Seconds for the report after a signal: GitHub grants seven for everything."""
REPORT_DEADLINE = 60.0
"""Seconds for the report otherwise; after that it waits on disk for the next start."""
KEEP = 14 * 24 * 3600.0
"""Seconds that a job's prompts, streams and report, and work that was never pushed, stay on the machine."""
FAULTS = (StoreError, GitError, ClientError, process.StartError, OSError)
"""Faults of git, network and disk whose message is a sentence; anything else is a fault of the program."""


@dataclass
class Runner:
    """Runs jobs on this machine."""

    settings: Settings
    now: Callable[[], float]
    say: Callable[[str], None]
    watch: Watch | None = None
    """Of the job under way; signals are told to it."""

    def run(self, job: str) -> bool:
        """Carry out one job; returns whether its report is settled. Raises ClientError where the claim is refused."""
        spool = Spool(self.settings.home / "jobs")
        with Client(self.settings) as client, alone(self.settings.home, job):
            spool.resend(client, self.say)
            self.clean_up(job)
            claim = client.claim(job)
            if claim.spec.job != job:
                raise ClientError(f"The bot answered with job {claim.spec.job}. This is a fault of the bot: report it.")
            spool.keep_key(job, claim.job_key)
            self.say(f"claim: {claim.spec.kind} for {_about(claim)}")
            report = self._carry_out(claim, client, spool.folder(job))
            spool.write(report)
            self.say(f"report: {report.outcome}. {report.sentence}")
            hurried = self.watch is not None and self.watch.interrupted
            settled = spool.send(job, client, self.say, deadline=HURRIED_REPORT if hurried else REPORT_DEADLINE)
            self.remove(job)
            return settled

    def _carry_out(self, claim: Claim, client: Client, folder: Path) -> Report:
        """Do the work and return its report; raises nothing."""
        spec, ledger = claim.spec, Ledger(self.now())
        watch = self.watch = Watch(self.now, spec.budget.minutes)
        try:
            with Heartbeat(sender(client, spec.job, claim.job_key), watch, self.now) as heartbeat:
                ending = self._end_of(lambda: self._work(claim, client, folder, ledger, watch, heartbeat))
                watch.finish()
                if not watch.interrupted:
                    heartbeat.enter(Phase.REPORT, ledger.attempts, tuple(ledger.usage))
        except Ending as interrupted:
            ending = interrupted
        watch.finish()
        return ledger.report(spec.job, self.settings.runner, ending, self.now())

    def _end_of(self, work: Callable[[], Ending]) -> Ending:
        """Return how ``work`` ended, whatever it raised."""
        try:
            return work()
        except Ending as early:
            return early
        except FAULTS as error:
            return Ending(Outcome.RUNNER_FAILED, f"The runner could not go on: {error} Say /retry to try again.")
        except Exception as error:  # noqa: BLE001 - a report is owed whatever happens
            fault = f"{type(error).__name__}: {error}"
            return Ending(Outcome.RUNNER_FAILED, f"A fault in the runner ended the job: {fault}. Please report it.")

    def _work(
        self, claim: Claim, client: Client, folder: Path, ledger: Ledger, watch: Watch, heartbeat: Heartbeat
    ) -> Ending:
        """Prepare the job and go through the steps of its kind; raises :class:`~runner.watch.Ending` and faults."""
        spec, settings = claim.spec, self.settings
        heartbeat.enter(Phase.PREPARE, 0, ())
        store = open_store(spec, settings)
        self._forget(client, claim, store)
        token = settings.github_token
        job = Job(
            spec=spec,
            settings=settings,
            client=client,
            watch=watch,
            heartbeat=heartbeat,
            store=store,
            read_auth=basic(spec.repository.clone_url, token) if token else None,
            sandbox=confine(spec, settings),
            folder=folder,
            exchange=make_exchange(settings.home / "exchange" / spec.job),
            ledger=ledger,
            now=self.now,
            say=self.say,
        )
        job.enter(Phase.PREPARE, f"fetching {spec.repository.owner}/{spec.repository.name} at {spec.base[:10]}")
        tips = fetch(store, spec, job.read_auth)
        if spec.kind is JobKind.CHECK_BASE:
            return base.run(job)
        ledger.fields["sandbox"] = job.sandbox.report()
        self.say(f"prepare: {job.sandbox.report().sentence}")
        return plan.run(job) if spec.kind is JobKind.PLAN else execute.run(job, expected_tip(store, spec, tips))

    def _forget(self, client: Client, claim: Claim, store: ObjectStore) -> None:
        """Remove what is kept of plans that have ended, and unpushed work that nobody asked for."""
        home, repository = self.settings.home, claim.spec.repository.id
        store.expire_salvage(self.now() - KEEP)
        try:
            ended = set(client.ended_plans(claim.job_key).plan_uids)
        except ClientError as error:
            self.say(f"prepare: could not ask which plans have ended: {error}")
            return
        for uid in ended & {*list_workspaces(home, repository), *store.salvaged()}:
            remove_workspace(home, repository, uid)

    def clean_up(self, job: str) -> None:
        """Remove what killed runs left, and logs that are old; what belongs to running jobs is left alone."""
        for folder in sorted((self.settings.home / "jobs").glob("*")):
            if folder.name != job:
                with suppress(BlockingIOError), alone(self.settings.home, folder.name):
                    self.bury(folder.name)
        for sentence in clean_leftovers(self.settings.home):
            self.say(f"prepare: {sentence}")

    def bury(self, job: str) -> None:
        """End and remove what is left of a job that runs no more."""
        folder = self.settings.home / "jobs" / job
        killed = process.kill_leftovers(job)
        if killed:
            self.say(f"clean: ended {killed} processes that job {job} left")
        if not (folder / REPORT_FILE).exists():
            (folder / KEY_FILE).unlink(missing_ok=True)
        self.remove(job)
        if self.now() - folder.stat().st_mtime > KEEP:
            folders.remove(folder)

    def remove(self, job: str) -> None:
        """Remove the job's folders; its log and report stay."""
        folders.remove(*(self.settings.home / folder / job for folder in ("exchange", "checkouts")))


def make_exchange(folder: Path) -> Path:
    """Make the folder through which the runner and an agent of another user exchange files."""
    folders.fresh(folder, 0o711)
    for name in ("in", "out"):
        folders.fresh(folder / name, 0o755)
    return folder


@contextmanager
def alone(home: Path, job: str) -> Iterator[None]:
    """Hold the job's lock, which ends with the process; raises BlockingIOError where another process has it."""
    with (Spool(home / "jobs").folder(job) / "lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield


def _about(claim: Claim) -> str:
    repository = claim.spec.repository
    return f"{repository.owner}/{repository.name}#{claim.spec.issue.number}"
