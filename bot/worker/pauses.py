"""A policy that came into force: its repository's plans are paused or go on, and the queue looks again."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bot.lifecycle import events as ev
from bot.lifecycle.states import ENDED, HoldCause, State
from bot.store import plans
from bot.store.deliveries import NewDelivery
from bot.store.events import event_delivery
from bot.worker.apply import QUEUE

if TYPE_CHECKING:
    from bot.lifecycle.effects import LookAtPolicy
    from bot.lifecycle.plan import Plan
    from bot.store.outbox import Claimed
    from bot.worker.context import Context


def policy_came(ctx: Context, claimed: Claimed, effect: LookAtPolicy) -> tuple[NewDelivery, ...]:
    """Take the policy of a push into force, and return what it means to the repository's open plans."""
    paused = ctx.policies.at(effect.repo, effect.base).policy.paused
    with ctx.store.read() as tx:
        known = plans.in_repository(tx, effect.repo.id, set(State) - ENDED)
    said = {"at": ctx.now(), "source": claimed.key}
    news = [(plan, event) for plan in known if (event := pause_news(plan, said, paused=paused)) is not None]
    told = [
        event_delivery(
            event,
            guid=f"pause:{effect.head}:{plan.uid}",
            source="effect",
            lane=plan.lane,
            installation_id=claimed.installation_id,
        )
        for plan, event in news
    ]
    look = NewDelivery(f"queue:{claimed.key}", "effect", QUEUE, claimed.lane, "{}", claimed.installation_id)
    return (*told, look)


def pause_news(plan: Plan, said: dict[str, object], *, paused: bool) -> ev.HoldPlaced | ev.HoldLifted | None:
    """Return what a policy that pauses, or does not, means to a plan; None where it knows."""
    holds = plan.hold is not None and HoldCause.POLICY_PAUSED in plan.hold.causes
    if holds == paused:
        return None
    kind = ev.HoldPlaced if paused else ev.HoldLifted
    return kind.model_validate({**said, "cause": HoldCause.POLICY_PAUSED})
