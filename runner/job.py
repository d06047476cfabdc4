"""One job as straight steps: resend, clean, claim, prepare, work, report, clean.

Whatever happens between the claim and the report, a report is written to disk and sent: :class:`~runner.watch.Ending`
carries every ordinary end, and what nobody foresaw ends as the runner's own failure.
"""

from __future__ import annotations

import errno
from dataclasses import dataclass
from typing import TYPE_CHECKING

from runner import folders, housekeeping, process, sessions
from runner.clearing import remove_workspace
from runner.client import Client, ClientError
from runner.contract import MAX_REACHED, JobKind, Outcome, Phase
from runner.git import GitError
from runner.heartbeat import Heartbeat, sender
from runner.leftovers import KEEP, Leftovers, alone
from runner.meter import Meter
from runner.place import list_workspaces
from runner.report import Spool
from runner.steps import base, execute, issue, plan
from runner.steps.context import Job, Ledger
from runner.steps.prepare import basic, confine, expected_tip, fetch, open_store
from runner.steps.redact import Redactor, carried_values, told
from runner.store import StoreError
from runner.watch import Ending, Watch

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from runner.client import Bot
    from runner.contract import Claim, JobSpec, Report
    from runner.settings import Settings
    from runner.store import ObjectStore

HURRIED_REPORT = 3.0
"""Seconds for the report after a signal: GitHub grants seven for everything."""
REPORT_DEADLINE = 60.0
"""Seconds for the report otherwise; after that it waits on disk for the next start."""
START_PATIENCE = 10.0
"""Seconds that a start waits for its own job's lock: another start may look at that moment whether the job runs."""
FAULTS = (StoreError, GitError, ClientError, process.StartError, OSError)
"""Faults of git, network and disk whose message is a sentence; anything else is a fault of the program."""
FULL = frozenset({errno.ENOSPC, errno.EDQUOT})
"""What the system says where there is no room for a file."""


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
        self.leftovers.clean(apart_from=job)  # before this job needs room on the disk, down to its lock
        with Client(self.settings) as client, alone(self.settings.home, job, START_PATIENCE):
            spool.resend(client, self.say)
            claim = client.claim(job)
            if claim.spec.job != job:
                raise ClientError(f"The bot answered with job {claim.spec.job}. This is a fault of the bot: report it.")
            redact = Redactor(told(self.settings), carried=carried_values(self.settings.home, claim.spec))
            self._keep(spool, claim, redact)
            self.say(f"claim: {claim.spec.kind} for {claim.spec.plan_name}")
            report = redact.report(self.carry_out(claim, client, spool.folder(job)))
            self.say(f"report: {report.outcome}. {report.sentence}")
            hurried = self.watch is not None and self.watch.interrupted
            deadline = HURRIED_REPORT if hurried else REPORT_DEADLINE
            settled = spool.settle(report, claim.job_key, client, self.say, deadline=deadline)
            self.leftovers.remove(job)
            if not hurried:
                for sentence in housekeeping.tidy(self.settings.home, self.now(), apart_from=job):
                    self.say(f"clean: {sentence}")
            return settled

    def _keep(self, spool: Spool, claim: Claim, redact: Redactor) -> None:
        """Write down what the job is; where that fails it ends soon enough, and its report has to reach the bot."""
        try:
            spool.keep(claim, redact)
        except OSError as error:
            self.say(f"claim: it can't be written to the disk: {error}")

    @property
    def leftovers(self) -> Leftovers:
        """What earlier jobs left on this machine."""
        return Leftovers(self.settings.home, self.settings.runner, self.now, self.say)

    def carry_out(self, claim: Claim, bot: Bot, folder: Path) -> Report:
        """Do the work of a claimed job and return its report; ``folder`` gets its logs. Raises nothing."""
        spec, ledger = claim.spec, Ledger(self.now())
        watch = self.watch = Watch(self.now, spec.budget.minutes)
        try:
            with Heartbeat(sender(bot, spec.job, claim.job_key), watch, self.now) as heartbeat:
                ending = self._end_of(lambda: self._work(claim, bot, folder, ledger, watch, heartbeat))
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
            if isinstance(error, OSError) and error.errno in FULL:
                name = self.settings.runner
                sentence = f"The disk of runner {name} is full. Make room there (twogate-runner clean), then /retry."
                return Ending(Outcome.RUNNER_FAILED, sentence)
            return Ending(Outcome.RUNNER_FAILED, f"The runner could not go on: {error} Say /retry to try again.")
        except Exception as error:  # noqa: BLE001 - a report is owed whatever happens
            fault = f"{type(error).__name__}: {error}"
            return Ending(Outcome.RUNNER_FAILED, f"A fault in the runner ended the job: {fault}. Please report it.")

    def _work(self, claim: Claim, bot: Bot, folder: Path, ledger: Ledger, watch: Watch, heartbeat: Heartbeat) -> Ending:
        """Prepare the job and go through the steps of its kind; raises :class:`~runner.watch.Ending` and faults."""
        spec, settings = claim.spec, self.settings
        housekeeping.require_space(settings)
        heartbeat.enter(Phase.PREPARE, 0, ())
        store = open_store(spec, settings)
        self._forget(bot, claim, store)
        token = settings.github_token
        with self._meter(spec, folder, ledger, heartbeat) as meter:
            job = Job(
                spec=spec,
                settings=settings,
                bot=bot,
                watch=watch,
                heartbeat=heartbeat,
                meter=meter,
                store=store,
                read_auth=basic(spec.repository.clone_url, token) if token else None,
                sandbox=confine(spec, settings),
                folder=folder,
                exchange=make_exchange(settings.home / "exchange" / spec.job),
                ledger=ledger,
                now=self.now,
                say=self.say,
            )
            try:
                return self._steps(job)
            finally:
                ledger.usage = list(meter.rows())
                ledger.fields["reached"] = meter.reached[:MAX_REACHED]

    def _steps(self, job: Job) -> Ending:
        """Fetch the commits and go through the steps of the job's kind."""
        spec, ledger = job.spec, job.ledger
        job.enter(Phase.PREPARE, f"fetching {spec.repository.owner}/{spec.repository.name} at {spec.base[:10]}")
        tips = fetch(job.store, spec, job.read_auth)
        if spec.kind is JobKind.CHECK_BASE:
            return base.run(job)
        ledger.fields["sandbox"] = job.sandbox.report()
        self.say(f"prepare: {job.sandbox.report().sentence}")
        match spec.kind:
            case JobKind.PLAN:
                return plan.run(job)
            case JobKind.WRITE_ISSUE:
                return issue.run(job)
            case JobKind.EXECUTE:
                return execute.run(job, expected_tip(job.store, spec, tips))

    def _meter(self, spec: JobSpec, folder: Path, ledger: Ledger, heartbeat: Heartbeat) -> Meter:
        """Return the meter, whose warnings are heard by all and whose rows travel with the next heartbeat."""

        def warn(sentence: str) -> None:
            self.say(f"budget: {sentence}")
            heartbeat.line(sentence)
            ledger.note(sentence)

        return Meter(
            folder,
            self.settings.environment,
            spec.budget,
            prices=spec.prices,
            now=self.now,
            today=lambda: heartbeat.usd_today,
            warn=warn,
            changed=heartbeat.spent,
        )

    def _forget(self, bot: Bot, claim: Claim, store: ObjectStore) -> None:
        """Remove what is kept of plans that have ended, and unpushed work that nobody asked for."""
        home, repository = self.settings.home, claim.spec.repository.id
        store.expire_salvage(self.now() - KEEP)
        try:
            ended = set(bot.ended_plans(claim.job_key).plan_uids)
        except ClientError as error:
            self.say(f"prepare: could not ask which plans have ended: {error}")
            return
        salvaged = {name.partition("/")[0] for name in store.salvaged()}
        for uid in ended & {*list_workspaces(home, repository), *salvaged, *sessions.plans(home, repository)}:
            remove_workspace(home, repository, uid)


def make_exchange(folder: Path) -> Path:
    """Make the folder through which the runner and an agent of another user exchange files."""
    folders.fresh(folder, 0o711)
    for name in ("in", "out"):
        folders.fresh(folder / name, 0o755)
    return folder
