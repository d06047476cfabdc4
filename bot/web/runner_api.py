"""What a runner asks and tells: claim, progress, push token, report, ended plans.

Two proofs are asked for: GitHub's identity token where a right is given out (claim, push token), the job's key for
everything else. Every change of a job's row and what follows for its plan is one transaction; GitHub is asked outside.
Answers are messages of :mod:`runner.contract`; a refusal is ``{"error": sentence}``.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from pydantic import TypeAdapter, ValidationError

from bot import trail
from bot.lifecycle import allowance, deadlines, reports
from bot.lifecycle.events import JobClaimed, JobProgressed
from bot.lifecycle.states import State
from bot.store import deliveries, jobs, plans, usage
from bot.store.events import event_delivery
from bot.web import keys, rights
from bot.web.refusal import Refused
from runner.contract import Branch, Claim, EndedPlans, JobId, JobKind, ProgressAnswer, PushToken

if TYPE_CHECKING:
    from collections.abc import Callable

    from bot.github.gateway import Gateway
    from bot.lifecycle.plan import Repo
    from bot.store.engine import Store, Tx
    from bot.store.jobs import Job
    from bot.web.oidc import Claims, Verifier
    from runner.contract import JobSpec, Progress, PushTokenRequest, Report, Usage

ENDED_SPAN = 90 * 86_400.0
"""How far back (seconds) a runner is told of ended plans; a machine that was away for longer is cleaned by hand."""
MAX_BRANCHES = 200
"""Branches of other plans that a runner is told of, the newest first, as the contract has it."""
MAX_LINE = 300
"""Characters of a reason to stop, as the contract has it."""

_JOB_ID: TypeAdapter[str] = TypeAdapter(JobId)


@dataclass(frozen=True, slots=True)
class RunnerApi:
    """The five answers, without HTTP. Every method raises :class:`~bot.web.refusal.Refused`."""

    store: Store
    gateway: Gateway
    verifier: Verifier
    workflow: str
    """File name of the workflow that runs jobs."""
    encrypt: Callable[[str], bytes]
    """Closes what is kept of a push token."""
    decrypt: Callable[[bytes], str]
    """Opens it again."""
    actions_rate: Decimal = Decimal(0)
    """Dollars that a minute of GitHub Actions costs."""

    def identify(self, token: str) -> Claims:
        """Return what an identity token says; whose job it is about is not looked at yet."""
        return self.verifier.verify(token)

    def check_key(self, job_id: str, key: str) -> None:
        """Refuse a wrong key before anything else of a request is looked at."""
        with self.store.read() as tx:
            self._keyed(tx, job_id, key)

    def claim(self, job_id: str, claims: Claims) -> Claim:
        """Give the job and its key to the run that was dispatched for it, once."""
        bot_user_id = self.gateway.identity().bot_user_id
        key = keys.new_key(job_id)
        with self.store.write() as tx:
            job, spec = self._own(tx, job_id, claims, bot_user_id)
            rights.check_unclaimed(job)
            _use(tx, job, claims)
            deadline = deadlines.next_look(tx.now, tx.now, spec.budget.minutes)
            given = jobs.claim(
                tx,
                job.id,
                key_hash=keys.key_hash(key),
                run_attempt=claims.run_attempt,
                deadline_at=deadline,
                actions_rate=self.actions_rate,
            )
            if not given:
                raise Refused(409, f"Job {job.id} has been claimed already.")
            _tell(tx, job, JobClaimed(at=tx.now, source=f"claim:{job.id}", job=job.id), f"claim:{job.id}")
            spent = [row.usage for row in usage.of_plan(tx, job.plan_uid)]
            budget = allowance.left(spec.budget, spent, _today(tx, job, spec))
            now_known = {"budget": budget, "in_flight": _in_flight(tx, job)}
        return Claim(spec=spec.model_copy(update=now_known), job_key=key)

    def progress(self, job_id: str, key: str, progress: Progress) -> ProgressAnswer:
        """Hear a heartbeat and say whether to go on."""
        with self.store.write() as tx:
            job = self._keyed(tx, job_id, key)
            spec = jobs.spec(tx, job.id)
            if not job.is_open or spec is None or job.claimed_at is None:
                return _stop(job.stop_reason or "The plan no longer waits for this job.")
            deadline = deadlines.next_look(tx.now, job.claimed_at, spec.budget.minutes)
            jobs.heartbeat(tx, job.id, progress, deadline_at=deadline)
            if progress.phase != job.phase:
                source = f"progress:{job.id}:{progress.attempt}:{progress.phase}:{tx.now}"
                _tell(tx, job, JobProgressed(at=tx.now, source=source, job=job.id, phase=progress.phase), source)
            usd_today = allowance.left_today(spec.budget, _today(tx, job, spec))
        return _stop(job.stop_reason).model_copy(update={"usd_today": usd_today})

    def push_token(self, job_id: str, claims: Claims, request: PushTokenRequest) -> PushToken:
        """Give out the right to push one commit, and keep the token to revoke it after the push.

        A runner that asks again for the same commit did not hear the answer: it gets a token in place of the first,
        which ends, so that a job never has two.
        """
        bot_user_id = self.gateway.identity().bot_user_id
        with self.store.write() as tx:
            job, spec = self._own(tx, job_id, claims, bot_user_id)
            rights.check_push(job, spec, request)
            _use(tx, job, claims)
            plan = plans.get(tx, job.plan_uid)
            if plan is None or not jobs.grant_push(tx, job.id, request.sha):
                raise Refused(409, f"Job {job.id} may not push any more.")
        if job.push_token is not None:
            self.gateway.revoke_token(self.decrypt(job.push_token))
        minted, expires_at = self._mint(job, plan.repo)
        with self.store.write() as tx:
            kept = jobs.keep_push_token(tx, job.id, self.encrypt(minted), instead_of=job.push_token)
        if not kept:
            self.gateway.revoke_token(minted)
            raise Refused(409, f"Job {job.id} asked twice at once for its token to push: let one of them do it.")
        return PushToken(token=minted, expires_at=expires_at)

    def report(self, job_id: str, key: str, report: Report) -> None:
        """Take a report: the first complete one counts, also when it is late, for what it cost."""
        if report.job != job_id:
            raise Refused(422, f"This is a report of job {report.job}, and it was sent for job {job_id}.")
        with self.store.write() as tx:
            job = self._keyed(tx, job_id, key)
            if not reports.can_end(JobKind(job.kind), report.outcome):
                raise Refused(422, f"A job of kind {job.kind} can't end as {report.outcome}: update the runner.")
            if jobs.report(tx, job.id, report):
                usage.add(tx, job, report.usage, final=True)
                guid = f"report:{job.id}"
                _tell(tx, job, reports.event_of(report, tx.now, guid), guid)

    def ended_plans(self, key: str) -> EndedPlans:
        """Name the plans of the job's repository whose work trees may go."""
        with self.store.read() as tx:
            job = self._keyed(tx, keys.job_of(key), key)
            return EndedPlans(plan_uids=tuple(plans.ended_uids(tx, job.repository_id, tx.now - ENDED_SPAN)))

    def _own(self, tx: Tx, job_id: str, claims: Claims, bot_user_id: int) -> tuple[Job, JobSpec]:
        """Return the job and its specification where the run is the job's own."""
        job = _find(tx, job_id)
        if job is None:
            raise Refused(404, f"There is no job {job_id[:MAX_LINE]}: jobs are started by the bot alone.")
        spec = jobs.spec(tx, job.id)
        _note(job)
        return job, rights.check_run(claims, job, spec, workflow=self.workflow, bot_user_id=bot_user_id)

    def _keyed(self, tx: Tx, job_id: str, key: str) -> Job:
        """Return the job that the key opens; an unknown job and a wrong key look the same."""
        job = _find(tx, job_id)
        if job is None or not keys.opens(key, job.key_hash):
            raise Refused(401, "This is not the job's key: claim the job first, and send the key that came with it.")
        _note(job)
        return job

    def _mint(self, job: Job, repo: Repo) -> tuple[str, float]:
        """Have the token made; where GitHub makes none, the right is not used up."""
        try:
            return self.gateway.mint_push_token(repo)
        except Exception:
            with self.store.write() as tx:
                jobs.give_push_back(tx, job.id)
            raise


def _find(tx: Tx, job_id: str) -> Job | None:
    try:
        return jobs.get(tx, _JOB_ID.validate_python(job_id))
    except ValidationError:
        return None


def _note(job: Job) -> None:
    """Let the log say whose job a request is about."""
    trail.note(job=job.id, plan=job.plan_uid, lane=job.lane, installation=job.installation_id)


def _use(tx: Tx, job: Job, claims: Claims) -> None:
    """Take an identity token, for the first and last time."""
    if not jobs.use_jti(tx, job.id, claims.jti):
        raise Refused(401, "This identity token was used before: ask GitHub for a new one.")


def _tell(tx: Tx, job: Job, event: Any, guid: str) -> None:
    """Let the job's plan know."""
    delivery = event_delivery(event, guid=guid, source="runner", lane=job.lane, installation_id=job.installation_id)
    deliveries.add(tx, delivery)


def _today(tx: Tx, job: Job, spec: JobSpec) -> list[Usage]:
    """Return what the repository's other jobs have used today, those under way by their last heartbeat.

    Nothing where the day has no limit: nobody asks then.
    """
    if spec.budget.usd_today is None:
        return []
    ended = usage.of_repositories(tx, [job.repository_id], allowance.day_start(tx.now))
    rows = [spent.usage for spent in ended if spent.job != job.id]
    under_way = jobs.under_way(tx, [job.repository_id])
    return rows + [row for other in under_way if other.id != job.id for row in other.progress.usage]


def _in_flight(tx: Tx, job: Job) -> tuple[Branch, ...]:
    """Return the branches of the repository's other plans on which work is under way or waits for a person."""
    others = plans.in_repository(
        tx, job.repository_id, (State.EXECUTING, State.VERIFYING, State.IN_REVIEW, State.PR_OPEN)
    )
    found = [
        Branch(issue=plan.issue_number, name=plan.branch, head=plan.branch_head)
        for plan in others
        if plan.uid != job.plan_uid and plan.branch_head is not None
    ]
    return tuple(found[-MAX_BRANCHES:])


def _stop(reason: str | None) -> ProgressAnswer:
    return ProgressAnswer(stop=None if reason is None else reason[:MAX_LINE])
