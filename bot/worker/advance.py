"""One delivery, thought about in one transaction without any call outside: what it means, and what that does."""

from __future__ import annotations

import json
import secrets
from typing import TYPE_CHECKING, Any

from bot.lifecycle import effects as fx
from bot.lifecycle import events as ev
from bot.lifecycle.commands import Verb
from bot.lifecycle.moves.people import costs_told
from bot.lifecycle.plan import lane
from bot.lifecycle.requests import Request, decide
from bot.lifecycle.rights import Refusal
from bot.store import outbox, plans
from bot.store.events import EVENT
from bot.worker.apply import QUEUE, apply, open_new
from bot.worker.asking import answer, ask, refuse, tell_faults, unjudged
from bot.worker.context import Judged
from bot.worker.queues import look_again
from bot.worker.translate import people, reports, translate

if TYPE_CHECKING:
    from collections.abc import Callable

    from bot.lifecycle.dependencies import NewestPlan
    from bot.lifecycle.plan import Plan
    from bot.store.deliveries import Delivery
    from bot.store.engine import Tx


class Advance:
    """The worker's ``advance``: takes a delivery of any source and returns what came of it."""

    def __init__(
        self,
        bot_user_id: Callable[[], int],
        new_uid: Callable[[], str] = lambda: secrets.token_hex(6),
        host_slots: int | None = None,
    ) -> None:
        self._bot_user_id = bot_user_id
        self._new_uid = new_uid
        self._host_slots = host_slots

    def __call__(self, tx: Tx, delivery: Delivery) -> str:  # noqa: PLR0911 - a line a kind of delivery
        """Advance whatever the delivery is about."""
        if delivery.source == "github":
            return translate(tx, delivery, self._bot_user_id())
        if delivery.source == "person":
            return people.read(tx, delivery)
        if delivery.source == "hook":
            return reports.read(tx, delivery)
        if delivery.event == QUEUE:
            return look_again(tx, delivery, self._host_slots)
        if delivery.event == "request":
            return ask(tx, Request.model_validate_json(delivery.body))
        if delivery.event == "authorised":
            return self._decide(tx, Judged.model_validate_json(delivery.body))
        if delivery.event == "policy_read":
            return self._policy(tx, delivery, fx.ShowPolicyCheck.model_validate_json(delivery.body))
        return self._event(tx, delivery)

    def _policy(self, tx: Tx, delivery: Delivery, show: fx.ShowPolicyCheck) -> str:
        """Show on the commit what was found."""
        outbox.add(tx, [show], lane=delivery.lane, installation_id=show.repo.installation_id)
        return show.reason or "the policy file can be used"

    def _event(self, tx: Tx, delivery: Delivery) -> str:
        if delivery.event != "effect_failed":
            return self._put(tx, delivery, EVENT.validate_json(delivery.body))
        said = json.loads(delivery.body)
        if said["effect"] == "authorise":
            request = fx.Authorise.model_validate(outbox.read_effect(said["payload"])).request
            return unjudged(tx, request, said["sentence"], delivery.lane)
        event = ev.EffectFailed(
            at=delivery.received_at,
            source=said["key"],
            effect=said["effect"],
            job=said["job"],
            sentence=said["sentence"],
        )
        return self._put(tx, delivery, event)

    def _put(self, tx: Tx, delivery: Delivery, event: Any) -> str:
        plan = plans.latest(tx, delivery.lane)
        if isinstance(event, ev.PlanRequested) and (plan is None or plan.ended):
            return self._open(tx, event, plan)
        return apply(tx, plan, event) if plan is not None else "no plan of this issue"

    def _open(self, tx: Tx, event: ev.PlanRequested, before: Plan | None) -> str:
        return open_new(tx, event, self._new_uid(), before)

    def _decide(self, tx: Tx, judged: Judged) -> str:
        request = judged.request
        lane_ = lane(request.repo.id, request.issue_number)
        plan = _addressed(tx, request, lane_)
        event = decide(request, judged.reading, plan, _newest_plans(tx, request))
        if isinstance(event, Refusal):
            return refuse(tx, request, event, lane_)
        tell_faults(tx, request, judged.faults, lane_)
        if isinstance(event, ev.PlanRequested) and (plan is None or plan.ended):
            return self._open(tx, event, plan)
        if request.command.verb is Verb.HELP:
            word = request.command.argument
            unknown = {"word": word} if word and word not in set(Verb) else {}
            return answer(tx, request, fx.Topic.HELP, lane_, **unknown)
        if plan is None and isinstance(event, ev.CostsRequested):
            told = costs_told(event, request.issue_number)
            outbox.add(tx, [told], lane=lane_, installation_id=request.repo.installation_id)
            return "asked for the costs"
        if plan is None:
            return answer(tx, request, fx.Topic.NO_PLAN, lane_)
        return apply(tx, plan, event)


def _addressed(tx: Tx, request: Request, lane: str) -> Plan | None:
    """Return the issue's newest plan; of lessons that are to be kept, the newest that leaves some."""
    left = plans.with_lessons(tx, lane) if request.command.verb is Verb.REMEMBER else None
    return left or plans.latest(tx, lane)


def _newest_plans(tx: Tx, request: Request) -> NewestPlan:
    """Return the look-up of a repository's plans; no other decision on what depends on what comes in between."""
    if request.command.verb is Verb.DEPENDS:
        tx.exclusive(f"dependencies:{request.repo.id}")
    return lambda issue: plans.glimpse(tx, lane(request.repo.id, issue))
