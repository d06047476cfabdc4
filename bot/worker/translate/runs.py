"""``workflow_run``: a run that ended, though its job may not have reported."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bot.lifecycle import events as ev
from bot.store import jobs, timers
from bot.store.events import EVENT
from bot.worker.schedule import RUN_GRACE

if TYPE_CHECKING:
    from bot.intake import payloads as pl
    from bot.store.deliveries import Delivery
    from bot.store.engine import Tx


def read(tx: Tx, _delivery: Delivery, said: pl.WorkflowRunPayload, bot: int) -> str:
    """A run that ended without a report ends its job, after a time in which the report may still come."""
    run, job = said.workflow_run, _job_of(tx, said)
    if job is None or run.actor is None or run.actor.id != bot:
        return "no job of ours"
    if job.reported_at is not None or job.closed_at is not None:
        return "its job has ended"
    sentence = f"The workflow run {run.id} ended ({run.conclusion}) without a report; its log on GitHub may say why."
    lost = ev.JobLost(at=tx.now + RUN_GRACE, source=f"run:{run.id}", job=job.id, sentence=sentence)
    timers.set_timer(
        tx,
        f"lost:{job.id}",
        due_at=tx.now + RUN_GRACE,
        lane=job.lane,
        event="event",
        body=EVENT.dump_json(lost).decode(),
        installation_id=job.installation_id,
    )
    return f"job {job.id} is lost unless its report comes"


def _job_of(tx: Tx, said: pl.WorkflowRunPayload) -> jobs.Job | None:
    """Return a run's job: by the run's id or, where that is not known yet, by the job's in the run's name."""
    if said.repository is None:
        return None
    known = jobs.by_run(tx, said.repository.id, said.workflow_run.id)
    named = known or jobs.get(tx, said.workflow_run.display_title.rpartition(" ")[2])
    its_own = named is not None and named.repository_id == said.repository.id and named.run_id is None
    return known or (named if its_own else None)
