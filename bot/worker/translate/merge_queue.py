"""``merge_group``, and what a merge queue does with a plan's pull request."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from bot.intake import payloads as pl
    from bot.store.deliveries import Delivery
    from bot.store.engine import Tx


def read(_tx: Tx, _delivery: Delivery, _said: pl.MergeGroupPayload, _bot: int) -> str:
    """Answer a merge queue that waits for our check, or hear that it waits no more."""
    return "not read yet"


def read_pull(_tx: Tx, _delivery: Delivery, _said: pl.PullRequestPayload) -> str:
    """Hear that a plan's pull request was put into a merge queue, or taken out."""
    return "not read yet"
