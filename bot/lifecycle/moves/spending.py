"""What was spent is shown wherever it stands: once a job has ended, and again once a report came late."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bot.lifecycle import effects as fx
from bot.lifecycle import events as ev
from bot.lifecycle.moves.common import SETTLE_SECONDS, show_status
from bot.lifecycle.moves.recommendations import update_pull
from bot.lifecycle.states import WaitingOn

if TYPE_CHECKING:
    from bot.lifecycle.plan import Plan

ENDS = (ev.PlanWritten, ev.SplitWritten, ev.WorkVerified, ev.BaseReported, ev.JobFailed, ev.JobLost)
"""Ends of jobs; that of one which writes an issue is told of with the issue."""


def shown(plan: Plan, event: ev.Event) -> tuple[fx.Effect, ...]:
    """Return what brings the costs in a pull request up to date, where an event ends a job."""
    return (update_pull(plan),) if isinstance(event, ENDS) and plan.pull_request is not None else ()


def shown_afresh(plan: Plan, event: ev.Event) -> tuple[fx.Effect, ...]:
    """Return what beside that shows the costs of a plan that stays where it is, where an event ends an earlier job.

    That was shown by its last heartbeat; its report says it exactly.
    """
    if not isinstance(event, ENDS):
        return ()
    refresh = fx.RefreshReview(key=f"{plan.uid}:refresh:{plan.version + 1}", settle=SETTLE_SECONDS)
    review = (refresh,) if plan.waiting_on is WaitingOn.DIFF_DECISION else ()
    return (show_status(plan), *review)
