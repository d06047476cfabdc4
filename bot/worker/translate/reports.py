"""Reports that a hook brought: journalled, and made issues of."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bot.lifecycle.effects import OpenReported
from bot.lifecycle.plan import lane
from bot.store import journal, outbox

if TYPE_CHECKING:
    from bot.store.deliveries import Delivery
    from bot.store.engine import Tx


def read(tx: Tx, delivery: Delivery) -> str:
    """Write down that a report came, and have its issue opened."""
    effect = OpenReported.model_validate_json(delivery.body)
    note = f"a report came through the hook for {effect.report.tracker}"
    entry = journal.Entry(
        ref=effect.key,
        lane=lane(effect.repo.id, 0),
        at=delivery.received_at,
        event="reported",
        source=delivery.guid,
        note=note,
        details={"tracker": effect.report.tracker, "generation": effect.generation, "link": effect.report.link},
    )
    if not journal.append(tx, entry):
        return "was reported before"
    outbox.add(tx, [effect], lane=delivery.lane, installation_id=effect.repo.installation_id)
    return note
