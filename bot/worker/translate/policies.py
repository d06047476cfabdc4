"""``pull_request`` of people: whether it changes the policy file, and well."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from bot.intake import payloads as pl
    from bot.store.deliveries import Delivery
    from bot.store.engine import Tx


def read(_tx: Tx, _delivery: Delivery, _said: pl.PullRequestPayload) -> str:
    """Look at a pull request that goes to the default branch."""
    return "not read yet"
