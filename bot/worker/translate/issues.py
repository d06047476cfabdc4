"""``issues``: labels ask for plans, and what happens to an issue holds its plan, lifts that, or ends it."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from bot.lifecycle import events as ev
from bot.lifecycle.commands import Command, Verb
from bot.lifecycle.requests import Request
from bot.lifecycle.states import HoldCause, Via, is_pause_label
from bot.store import plans
from bot.worker.apply import apply
from bot.worker.asking import ask
from bot.worker.translate import common

if TYPE_CHECKING:
    from bot.intake import payloads as pl
    from bot.lifecycle.plan import Plan
    from bot.store.deliveries import Delivery
    from bot.store.engine import Tx


HOLDS: dict[str | None, HoldCause] = {
    "closed": HoldCause.ISSUE_CLOSED,
    "transferred": HoldCause.ISSUE_TRANSFERRED,
    "locked": HoldCause.ISSUE_LOCKED,
}
LIFTS: dict[str | None, HoldCause] = {"reopened": HoldCause.ISSUE_CLOSED, "unlocked": HoldCause.ISSUE_LOCKED}


def read(tx: Tx, delivery: Delivery, said: pl.IssuesPayload, bot: int) -> str:
    """Hold, lift, end or mark as edited; a label asks for a plan."""
    if said.action == "labeled":
        return _labelled(tx, delivery, said, bot)
    if said.action == "unlabeled":
        return _unlabelled(tx, delivery, said)
    by = said.sender.person if said.sender else None
    if said.action in HOLDS:
        return common.put(tx, delivery, ev.HoldPlaced(**common.said(delivery), cause=HOLDS[said.action], by=by))
    if said.action in LIFTS:
        return common.put(tx, delivery, ev.HoldLifted(**common.said(delivery), cause=LIFTS[said.action]))
    if said.action == "deleted":
        return common.put(tx, delivery, ev.Gone(**common.said(delivery), what="the issue"))
    return common.put(tx, delivery, ev.IssueEdited(**common.said(delivery), sha256=said.issue.snapshot.sha256))


def _labelled(tx: Tx, delivery: Delivery, said: pl.IssuesPayload, bot: int) -> str:
    """A label asks for a plan, or lifts the hold that taking it off placed. Whose label it is, the policy says.

    A delivery has a body of its own and an id that nobody signed: the same body under a new id is the same saying.
    """
    repo, label, sender = said.repo, said.label, said.sender
    if repo is None or label is None or sender is None or sender.id == bot:
        return "nobody's label, or our own"
    plan = plans.latest(tx, delivery.lane)
    if is_pause_label(label.name):
        if plan is None or plan.ended:
            return "no plan to pause"
    elif plan is not None and not plan.ended:
        if not _is_label(plan, label.name):
            return f"the label {label.name!r} means nothing here"
        return apply(tx, plan, ev.HoldLifted(**common.said(delivery), cause=HoldCause.LABEL_REMOVED))
    request = Request(
        repo=repo,
        issue_number=said.issue.number,
        command=Command(verb=Verb.PLAN, argument=label.name),
        actor=sender.person,
        via=Via.LABEL,
        at=delivery.received_at,
        source=f"label:{hashlib.sha256(delivery.body.encode()).hexdigest()[:32]}",
        issue=said.issue.snapshot,
        bot=sender.bot,
    )
    return ask(tx, request)


def _unlabelled(tx: Tx, delivery: Delivery, said: pl.IssuesPayload) -> str:
    plan = plans.latest(tx, delivery.lane)
    if plan is None or said.label is None:
        return "nothing depends on that label"
    if is_pause_label(said.label.name):
        return apply(tx, plan, ev.HoldLifted(**common.said(delivery), cause=HoldCause.LABEL_PAUSED))
    if not _is_label(plan, said.label.name):
        return "nothing depends on that label"
    by = said.sender.person if said.sender else None
    return apply(tx, plan, ev.HoldPlaced(**common.said(delivery), cause=HoldCause.LABEL_REMOVED, by=by))


def _is_label(plan: Plan, name: str) -> bool:
    return name.casefold() == (plan.label or plan.policy.label).casefold()
