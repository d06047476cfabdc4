"""GitHub's deliveries -> what they mean to plans: a request to be judged, an event, a fan-out, or nothing, with why."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bot.intake import payloads as pl
from bot.store import plans
from bot.worker.translate import branches, checks, comments, installations, issues, merge_queue, runs, sign_ins

if TYPE_CHECKING:
    from collections.abc import Callable

    from bot.store.deliveries import Delivery
    from bot.store.engine import Tx


def translate(tx: Tx, delivery: Delivery, bot_user_id: int) -> str:
    """Work out what a delivery from GitHub means, and do it. Returns what came of it."""
    event, _, _ = delivery.event.partition(".")
    said = pl.parse(event, delivery.body)
    if said.repo is not None:
        plans.meet(tx, said.repo)
    return READERS[event](tx, delivery, said, bot_user_id)


READERS: dict[str, Callable[[Tx, Delivery, Any, int], str]] = {
    "issues": issues.read,
    "issue_comment": comments.read,
    "pull_request": branches.read_pull,
    "push": branches.read_push,
    "check_run": checks.read,
    "status": checks.read_status,
    "merge_group": merge_queue.read,
    "workflow_run": runs.read,
    "repository": installations.read_repository,
    "installation": installations.read_installation,
    "installation_repositories": installations.read_repositories,
    "github_app_authorization": sign_ins.read,
}
"""Who reads which event."""
