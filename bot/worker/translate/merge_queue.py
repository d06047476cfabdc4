"""``merge_group``, and what a merge queue does with a plan's pull request."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bot.lifecycle import effects as fx
from bot.lifecycle import events as ev
from bot.store import outbox, plans
from bot.worker.apply import apply
from bot.worker.translate import common

if TYPE_CHECKING:
    from bot.intake import payloads as pl
    from bot.store.deliveries import Delivery
    from bot.store.engine import Tx


def read(tx: Tx, delivery: Delivery, said: pl.MergeGroupPayload, _bot: int) -> str:
    """Answer a merge queue that waits for our check, once a commit; what it waits for no more needs no answer."""
    repo, group = said.repo, said.merge_group
    if said.action != "checks_requested" or repo is None:
        return "nobody waits for it"
    judge = fx.JudgeGroup(
        key=f"group:{repo.id}:{group.head_sha}", repo=repo, head=group.head_sha, pull_request=group.pull_request
    )
    new = outbox.add(tx, [judge], lane=delivery.lane, installation_id=repo.installation_id)
    return "to be judged" if new else "judged before"


def read_pull(tx: Tx, delivery: Delivery, said: pl.PullRequestPayload) -> str:
    """Tell a plan that its pull request was put into a merge queue, or taken out."""
    plan = plans.latest(tx, delivery.lane)
    if plan is None or plan.pull_request != said.pull_request.number:
        return "not the plan's pull request"
    queued = said.action == "enqueued"
    event = ev.PullRequestQueued(**common.said(delivery), queued=queued, reason=said.reason or "")
    return apply(tx, plan, event)
