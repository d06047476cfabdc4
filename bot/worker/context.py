"""What the worker's parts share: the store, GitHub, addresses and the clock, passed in and never global."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from bot.errors import Permanent
from bot.lifecycle.requests import Reading, Request
from bot.lifecycle.states import Frozen
from bot.store import plans
from bot.store.events import event_delivery
from bot.worker.policies import PolicyFault

if TYPE_CHECKING:
    from collections.abc import Callable

    from bot.github.gateway import Gateway
    from bot.lifecycle.plan import Plan
    from bot.store.deliveries import NewDelivery
    from bot.store.engine import Store
    from bot.store.outbox import Claimed
    from bot.worker.policies import Policies


@dataclass(frozen=True, slots=True)
class Context:
    """Everything an effect may reach."""

    store: Store
    gateway: Gateway
    policies: Policies
    workflow: str
    """File name of the workflow that runs jobs."""
    web: str
    """GitHub's address for people, without a trailing slash."""
    now: Callable[[], float]
    decrypt: Callable[[bytes], str]
    """Opens what the web kept of a push token."""
    chat: Callable[[str], None] | None = None
    """Sends each week's figures where a policy asks for it; raises Permanent where nobody took them."""


@dataclass(frozen=True, slots=True)
class Done:
    """What came of an effect: a note for the outbox, and what goes back into the inbox."""

    result: str
    follow_ups: tuple[NewDelivery, ...] = ()


class Judged(Frozen):
    """Body of an ``authorised`` delivery: what was said and what GitHub answered about it."""

    request: Request
    reading: Reading
    faults: tuple[PolicyFault, ...] = ()
    """What of the policy could not be used."""


def plan_of(ctx: Context, claimed: Claimed) -> Plan:
    """Return the plan that an effect is about, as it is now. Raises :class:`Permanent` where it is gone."""
    with ctx.store.read() as tx:
        plan = plans.get(tx, claimed.plan_uid or "")
    if plan is None:
        raise Permanent("The plan is not stored any more.")
    return plan


def found(claimed: Claimed, event: Any, result: str = "") -> Done:
    """Return an effect's result that is an event for its plan."""
    delivery = event_delivery(
        event,
        guid=f"effect:{claimed.key}",
        source="effect",
        lane=claimed.lane,
        installation_id=claimed.installation_id,
    )
    return Done(result or event.type, (delivery,))
