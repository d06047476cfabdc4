"""``push`` and ``pull_request``: branches that moved, pull requests that people merged, closed or opened again."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bot.lifecycle import events as ev
from bot.lifecycle.plan import PULL_LANE
from bot.store import plans, throttles
from bot.worker.apply import apply
from bot.worker.schedule import ALARM_PAUSE
from bot.worker.translate import common, merge_queue, policies

if TYPE_CHECKING:
    from bot.intake import payloads as pl
    from bot.store.deliveries import Delivery
    from bot.store.engine import Tx


def read_push(tx: Tx, delivery: Delivery, said: pl.PushPayload, bot: int) -> str:
    """Tell a plan that somebody pushed to its branch; raise the alarm where the App pushed to the default one."""
    by_us = said.sender is not None and said.sender.id == bot
    if delivery.lane.endswith(":0"):
        return _alarm(tx, said) if by_us else policies.read_push(tx, delivery, said)
    if by_us:
        return "our own push"
    plan = plans.latest(tx, delivery.lane)
    branch = said.ref.removeprefix("refs/heads/")
    if plan is None or branch not in {plan.branch, plan.work_branch}:
        return "not the branch of the issue's newest plan"
    head = None if said.deleted else said.after
    by = said.sender.person if said.sender else None
    return apply(tx, plan, ev.BranchMoved(**common.said(delivery), head=head, by=by, branch=branch))


def _alarm(tx: Tx, said: pl.PushPayload) -> str:
    """The App never pushes to a default branch. Where its identity did, something is badly wrong: stop everything."""
    repo = said.repo
    if repo is None:
        return "no repository"
    sentence = f"The App's identity pushed {said.after[:12]} to the default branch of {repo.owner}/{repo.name}."
    throttles.close(tx, throttles.installation_gate(repo.installation_id), tx.now + ALARM_PAUSE, sentence)
    return f"ALARM: {sentence} The installation is paused."


def read_pull(tx: Tx, delivery: Delivery, said: pl.PullRequestPayload, bot: int) -> str:
    """Tell a plan what people did with its pull request; another one may change the policy file."""
    if delivery.lane.startswith(PULL_LANE):
        return policies.read(tx, delivery, said)
    if said.action in {"enqueued", "dequeued"}:
        return merge_queue.read_pull(tx, delivery, said)
    return _of_plan(tx, delivery, said, bot)


def _of_plan(tx: Tx, delivery: Delivery, said: pl.PullRequestPayload, bot: int) -> str:
    plan = plans.latest(tx, delivery.lane)
    if plan is None or plan.pull_request != said.pull_request.number:
        return "not the plan's pull request"
    by = said.sender.person if said.sender else None
    at = common.said(delivery)
    if said.action == "synchronize":
        if said.sender is not None and said.sender.id == bot:
            return "our own push"
        return apply(tx, plan, ev.BranchMoved(**at, head=said.pull_request.head.sha, by=by))
    if said.action == "reopened":
        return apply(tx, plan, ev.PullRequestReopened(**at))
    if said.pull_request.merged:
        return apply(tx, plan, ev.PullRequestMerged(**at, by=by))
    return apply(tx, plan, ev.PullRequestClosed(**at, by=by))
