"""``check_run`` and ``status``: the buttons of the diff gate, and what others report about a plan's branch."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bot.intake import payloads as pl
from bot.lifecycle import effects as fx
from bot.lifecycle.commands import Command, Verb
from bot.lifecycle.moves.ci import SETTLE_SECONDS
from bot.lifecycle.requests import Request
from bot.lifecycle.states import State, Via
from bot.store import outbox, plans
from bot.worker.asking import ask

if TYPE_CHECKING:
    from bot.store.deliveries import Delivery
    from bot.store.engine import Tx


BUTTONS = {"approve": Verb.APPROVE, "revise": Verb.REVISE, "reject": Verb.REJECT}
"""What each button says, by its identifier."""
HEARS_CHECKS = frozenset({State.VERIFYING, State.IN_REVIEW})
"""Where a plan hears what other Apps say of its commit."""


def read(tx: Tx, delivery: Delivery, said: pl.CheckRunPayload, _bot: int) -> str:
    """Read a button that was pressed, or the end of a check of another App."""
    if said.action == "requested_action":
        return _pressed(tx, delivery, said)
    return _reported(tx, delivery, said.check_run.head_sha)


def read_status(tx: Tx, delivery: Delivery, said: pl.StatusPayload, _bot: int) -> str:
    """Hear of a commit status on a plan's branch."""
    return _reported(tx, delivery, said.sha)


def _reported(tx: Tx, delivery: Delivery, head: str) -> str:
    """Ask what all checks of a commit say, where that still matters; one question stands for all that were told."""
    plan = plans.latest(tx, delivery.lane)
    hears = plan is not None and (plan.state in HEARS_CHECKS or plan.mends_itself)
    if plan is None or plan.review is None or plan.review.work.head != head or not hears:
        return "nothing waits for checks of this commit"
    effect = fx.ReadCi(key=f"{plan.uid}:ci:{delivery.guid}", settle=SETTLE_SECONDS)
    new = outbox.add(tx, [effect], lane=plan.lane, installation_id=plan.repo.installation_id, plan_uid=plan.uid)
    return "asking what the checks say" if new else "what the checks say is being asked already"


def _pressed(tx: Tx, delivery: Delivery, said: pl.CheckRunPayload) -> str:
    """A button decides on the commit that its check run stands on, and on no other."""
    about, plan = pl.CheckId.parse(said.check_run.external_id), plans.latest(tx, delivery.lane)
    verb = BUTTONS.get(said.requested_action.identifier) if said.requested_action else None
    if said.repo is None or said.sender is None or verb is None or about is None:
        return "no button of ours"
    if said.sender.type == "Bot":
        return "bots press no buttons"
    if plan is None or plan.uid != about.uid or plan.review is None or plan.review.work.head != about.head:
        return "the button of a commit that is not in review"
    request = Request(
        repo=said.repo,
        issue_number=plan.issue_number,
        command=Command(verb=verb),
        actor=said.sender.person,
        via=Via.BUTTON,
        at=max(delivery.received_at, plan.review.posted_at or 0.0),
        source=f"button:{delivery.guid}",
        on_head=about.head,
        bot=said.sender.bot,
    )
    return ask(tx, request)
