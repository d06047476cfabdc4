"""What GitHub's limits leave: noted now and then by each process that asks GitHub, for people to see.

Nothing is decided by it: a limit that is reached closes its gate (:mod:`bot.store.throttles`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlalchemy import select

from bot.store.schema import rate_limits

if TYPE_CHECKING:
    from collections.abc import Iterable

    from bot.store.engine import Tx


@dataclass(frozen=True, slots=True)
class Left:
    """What is left of a limit: ``gate`` as in :mod:`bot.store.throttles`, ``resource`` as GitHub names it."""

    gate: str
    resource: str
    allowed: int
    remaining: int
    resets_at: float


def note(tx: Tx, limits: Iterable[Left]) -> None:
    """Keep what GitHub said last."""
    for left in limits:
        said = {name: getattr(left, name) for name in ("allowed", "remaining", "resets_at")} | {"told_at": tx.now}
        insertion = tx.insert(rate_limits).values(gate=left.gate, resource=left.resource, **said)
        tx.execute(insertion.on_conflict_do_update(index_elements=["gate", "resource"], set_=said))


def known(tx: Tx) -> list[Left]:
    """Return what is left now; of a limit whose window has passed since, all of it."""
    c = rate_limits.c
    rows = tx.execute(select(c.gate, c.resource, c.allowed, c.remaining, c.resets_at).order_by(c.gate, c.resource))
    found = [Left(*row) for row in rows]
    return [left if left.resets_at > tx.now else Left(*_whole(left)) for left in found]


def _whole(left: Left) -> tuple[str, str, int, int, float]:
    return left.gate, left.resource, left.allowed, left.allowed, left.resets_at
