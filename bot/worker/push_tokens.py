"""End the tokens that jobs were given to push with: after the branch was read back, or once the job is over."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from bot.errors import Permanent, TwogateError
from bot.store import jobs

if TYPE_CHECKING:
    from bot.store.jobs import Job
    from bot.worker.context import Context

log = logging.getLogger(__name__)


def revoke(ctx: Context, job: Job | None) -> None:
    """End a job's token, if it has one. Raises :class:`~bot.errors.TwogateError` where it stands afterwards."""
    if job is None or job.push_token is None:
        return
    ctx.gateway.revoke_token(ctx.decrypt(job.push_token))
    with ctx.store.write() as tx:
        jobs.drop_push_token(tx, job.id)


def revoke_left(ctx: Context) -> None:
    """End the tokens of jobs that are over: lost ones never come to the reading back."""
    with ctx.store.read() as tx:
        left = jobs.over_with_token(tx)
    for job in left:
        try:
            revoke(ctx, job)
        except Permanent as refusal:
            log.warning("the token of job %s is left to end by itself: %s", job.id, refusal)
            with ctx.store.write() as tx:
                jobs.drop_push_token(tx, job.id)
        except TwogateError as trouble:
            log.warning("the token of job %s still stands: %s", job.id, trouble)
