"""Look for reactions, of which GitHub tells nothing: only on plans that wait for a decision.

Each reaction is judged once: its id is the delivery's guid. Rejections of a comment go into the inbox before its
approvals, so that where both stand the rejection wins.
"""

from __future__ import annotations

import logging
from collections import defaultdict
from typing import TYPE_CHECKING

from bot.errors import Permanent, RetryAt, TwogateError
from bot.lifecycle.commands import Command, Verb
from bot.lifecycle.requests import Request
from bot.lifecycle.states import Via, WaitingOn
from bot.store import deliveries, plans, throttles
from bot.store.deliveries import NewDelivery
from bot.worker.schedule import poll_pause

if TYPE_CHECKING:
    from bot.github.gateway import ReactedComment
    from bot.lifecycle.plan import Plan, Review, Revision
    from bot.worker.context import Context

log = logging.getLogger(__name__)

BATCH = 100
"""Comments a query asks about: GitHub takes no more ids at once."""
VERBS = {"-1": Verb.REJECT, "+1": Verb.APPROVE}
"""In the order in which they count."""


def poll(ctx: Context) -> None:
    """Look once at every plan that is due, an installation at a time, and say when to look again.

    Each plan is put off before it is looked at: one that can't be read does not stand in the way of the others.
    """
    with ctx.store.read() as tx:
        due = plans.poll_due(tx, BATCH)
        shut = {gate.name for gate in throttles.paused(tx)}
    if not due:
        return
    now = ctx.now()
    with ctx.store.write() as tx:
        for plan in due:
            plans.poll_again(tx, plan, now + poll_pause(now - _since(plan)))
    by_installation: dict[int, list[Plan]] = defaultdict(list)
    for plan in due:
        if throttles.installation_gate(plan.repo.installation_id) not in shut:
            by_installation[plan.repo.installation_id].append(plan)
    for installation_id, group in by_installation.items():
        try:
            _poll(ctx, group)
        except RetryAt as put_off:
            with ctx.store.write() as tx:
                throttles.close(tx, throttles.installation_gate(installation_id), put_off.at, str(put_off))
        except TwogateError as trouble:
            log.warning("reactions of installation %d could not be read: %s", installation_id, trouble)


def _poll(ctx: Context, group: list[Plan]) -> None:
    try:
        _look(ctx, group)
    except Permanent:
        if len(group) == 1:
            raise
        for plan in group:
            _poll_alone(ctx, plan)


def _poll_alone(ctx: Context, plan: Plan) -> None:
    """Look at one plan of several that can't be read together: whichever is to blame is left out by this."""
    try:
        _look(ctx, [plan])
    except Permanent as refusal:
        log.warning("reactions of plan #%d of %d can't be read: %s", plan.issue_number, plan.repo.id, refusal)


def _look(ctx: Context, group: list[Plan]) -> None:
    shown = [(plan, comment) for plan in group if (comment := up_for_decision(plan)) is not None]
    nodes = [comment.node_id or "" for _, comment in shown]
    answers = ctx.gateway.reactions(group[0].repo, nodes) if nodes else []
    with ctx.store.write() as tx:
        for (plan, comment), reacted in zip(shown, answers, strict=True):
            if reacted is not None:
                deliveries.add_all(tx, [_delivery(plan, request) for request in requests_of(plan, comment, reacted)])


def up_for_decision(plan: Plan) -> Revision | Review | None:
    """Return the comment whose reactions decide now."""
    comment = plan.review if plan.waiting_on is WaitingOn.DIFF_DECISION else plan.revision
    return comment if comment is not None and comment.node_id is not None else None


def _since(plan: Plan) -> float:
    comment = up_for_decision(plan)
    return comment.posted_at if comment is not None and comment.posted_at is not None else plan.requested_at


def requests_of(plan: Plan, comment: Revision | Review, reacted: ReactedComment) -> list[Request]:
    """Return what the reactions on a comment ask for, rejections first."""
    found = []
    for content, verb in VERBS.items():
        for reaction in reacted.reactions:
            if reaction.content != content or reaction.user is None:
                continue
            request = Request(
                repo=plan.repo,
                issue_number=plan.issue_number,
                command=Command(verb=verb),
                actor=reaction.user,
                via=Via.REACTION,
                at=reaction.created_at,
                source=f"reaction:{reaction.id}",
                on_comment=comment.comment_id,
                reaction_id=reaction.id,
            )
            found.append(request)
    return found


def _delivery(plan: Plan, request: Request) -> NewDelivery:
    return NewDelivery(
        guid=request.source,
        source="poll",
        event="request",
        lane=plan.lane,
        body=request.model_dump_json(),
        installation_id=plan.repo.installation_id,
    )
