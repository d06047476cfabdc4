"""Changes of the policy file: by pull requests of people, and by pushes to the default branch."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bot.lifecycle.effects import LookAtPolicy
from bot.store import outbox
from bot.worker.policies import POLICY_PATH

if TYPE_CHECKING:
    from bot.intake import payloads as pl
    from bot.lifecycle.plan import Repo
    from bot.store.deliveries import Delivery
    from bot.store.engine import Tx


def read(tx: Tx, delivery: Delivery, said: pl.PullRequestPayload) -> str:
    """Look at a pull request that goes to the default branch, each of its commits once."""
    pull, repo = said.pull_request, said.repo
    if repo is None or pull.base is None or said.action == "closed":
        return "nothing to look at"
    return _look(tx, delivery, repo, pull.head.sha, pull.base.sha)


def read_push(tx: Tx, delivery: Delivery, said: pl.PushPayload) -> str:
    """Look at the file of the default branch where a push can have changed it."""
    repo = said.repo
    if repo is None or said.deleted or not said.may_change(POLICY_PATH):
        return "the default branch moved"
    return _look(tx, delivery, repo, said.after, said.ref.removeprefix("refs/heads/"), pushed=True)


def _look(tx: Tx, delivery: Delivery, repo: Repo, head: str, base: str, *, pushed: bool = False) -> str:
    kind = "pushed" if pushed else "pull"
    look = LookAtPolicy(key=f"policy:{kind}:{repo.id}:{head}", repo=repo, head=head, base=base, pushed=pushed)
    new = outbox.add(tx, [look], lane=delivery.lane, installation_id=repo.installation_id)
    return "looking at the policy file" if new else "was looked at before"
