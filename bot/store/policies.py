"""The last valid policy of each repository: what holds while its file can't be used."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from sqlalchemy import select

from bot.lifecycle.policy import Policy
from bot.store.documents import dump, load
from bot.store.schema import policies

if TYPE_CHECKING:
    from bot.store.engine import Tx


KEPT = 256
"""Policies that a process remembers as it read them, those that were asked for last."""


def last_valid(tx: Tx, repository_id: int) -> Policy | None:
    """Return the policy that was read last without a fault; None where none ever was."""
    text = tx.execute(select(policies.c.document).where(policies.c.repository_id == repository_id)).scalar()
    return _read(text) if text is not None else None


def valid(tx: Tx) -> dict[int, Policy]:
    """Return the policies that were read last without a fault, by repository."""
    rows = tx.execute(select(policies.c.repository_id, policies.c.document))
    return {number: _read(text) for number, text in rows}


def keep(tx: Tx, repository_id: int, policy: Policy) -> None:
    """Remember a policy as the repository's last valid one."""
    insertion = tx.insert(policies).values(
        repository_id=repository_id, document=dump(policy.model_dump(mode="json")), read_at=tx.now
    )
    excluded = insertion.excluded
    tx.execute(
        insertion.on_conflict_do_update(
            index_elements=["repository_id"], set_={"document": excluded.document, "read_at": excluded.read_at}
        )
    )


@lru_cache(maxsize=KEPT)
def _read(text: str) -> Policy:
    return Policy.model_validate(load(text))
