"""What people do on the dashboard, by the API and over MCP -> a request, asked about as the command of a comment is."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bot.lifecycle import effects as fx
from bot.lifecycle.commands import Verb
from bot.lifecycle.deeds import Deed, request_of
from bot.lifecycle.rights import Refusal
from bot.store import plans
from bot.worker.asking import ask, refuse

if TYPE_CHECKING:
    from bot.store.deliveries import Delivery
    from bot.store.engine import Tx

OLD_TRY = "the issue has a newer plan; nothing is decided on an older one"


def read(tx: Tx, delivery: Delivery) -> str:
    """Ask GitHub about a deed; one that is about an earlier try of its issue comes to nothing."""
    deed = Deed.model_validate_json(delivery.body)
    newest = plans.latest(tx, delivery.lane)
    if newest is None:
        return "no plan of this issue"
    request = request_of(deed, newest, at=delivery.received_at, guid=delivery.guid)
    if newest.uid != deed.plan and deed.verb is not Verb.REMEMBER:
        return refuse(tx, request, Refusal(topic=fx.Topic.NOT_NOW, reason=OLD_TRY), delivery.lane)
    return ask(tx, request)
