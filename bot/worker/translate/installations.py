"""``repository`` and ``installation``: what happens to all plans of one at once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bot.lifecycle import events as ev
from bot.lifecycle.states import HoldCause, State
from bot.store import plans
from bot.worker.translate import common

if TYPE_CHECKING:
    from bot.intake import payloads as pl
    from bot.store.deliveries import Delivery
    from bot.store.engine import Tx


def read_repository(tx: Tx, delivery: Delivery, said: pl.RepositoryPayload, _bot: int) -> str:
    """Tell every plan of a repository what happened to it."""
    if said.repository is None:
        return "no repository"
    affected = plans.in_repository(tx, said.repository.id, set(State) - {State.MERGED, State.SPLIT})
    at = common.said(delivery)
    event: Any = None
    if said.action == "archived":
        event = ev.HoldPlaced(**at, cause=HoldCause.REPOSITORY_ARCHIVED)
    elif said.action == "unarchived":
        event = ev.HoldLifted(**at, cause=HoldCause.REPOSITORY_ARCHIVED)
    elif said.action == "deleted":
        event = ev.Gone(**at, what="the repository")
    if event is None:
        return "names are looked up when they are needed"
    return common.fan_out(tx, delivery, affected, event)


def read_installation(tx: Tx, delivery: Delivery, said: pl.InstallationPayload, _bot: int) -> str:
    """Tell every plan of an installation what happened to it."""
    if said.installation is None:
        return "no installation"
    affected = plans.in_installation(tx, said.installation.id)
    at = common.said(delivery)
    if said.action == "suspend":
        return common.fan_out(tx, delivery, affected, ev.HoldPlaced(**at, cause=HoldCause.APP_SUSPENDED))
    if said.action == "unsuspend":
        return common.fan_out(tx, delivery, affected, ev.HoldLifted(**at, cause=HoldCause.APP_SUSPENDED))
    if said.action == "deleted":
        return common.fan_out(tx, delivery, affected, ev.Gone(**at, what="the installation"))
    return "nothing to do"


def read_repositories(tx: Tx, delivery: Delivery, said: pl.InstallationRepositoriesPayload, _bot: int) -> str:
    """End the plans of repositories that the App may no longer reach."""
    removed = {repository.id for repository in said.repositories_removed}
    known = plans.in_installation(tx, said.installation.id) if said.installation else []
    affected = [plan for plan in known if plan.repo.id in removed]
    return common.fan_out(
        tx, delivery, affected, ev.Gone(**common.said(delivery), what="the App's access to the repository")
    )
