"""``issue_comment``: commands, and what becomes of the comments that decisions are made on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bot.lifecycle import effects as fx
from bot.lifecycle import events as ev
from bot.lifecycle.answers import answers_beside
from bot.lifecycle.commands import Command, Verb, parse
from bot.lifecycle.meanings import MEANINGS
from bot.lifecycle.requests import Request
from bot.lifecycle.states import Via, WaitingOn
from bot.store import outbox, plans
from bot.worker.apply import apply
from bot.worker.asking import ask
from bot.worker.translate import common

if TYPE_CHECKING:
    from bot.intake import payloads as pl
    from bot.lifecycle.plan import Plan, Repo
    from bot.store.deliveries import Delivery
    from bot.store.engine import Tx

TAKE_ANSWERS = frozenset({Verb.UPDATE, Verb.EXPAND, Verb.SPLIT, Verb.ANSWER})
"""Commands that take what else stands in their comment."""


def read(tx: Tx, delivery: Delivery, said: pl.IssueCommentPayload, bot: int) -> str:
    """Ask about the commands of a new comment; a changed one matters where a decision stands on it."""
    lane_ = _lane_of_comment(tx, delivery, said)
    if lane_ is None:
        return "on a pull request that is no plan's now"
    if said.action != "created":
        return _comment_changed(tx, delivery, said, bot, lane_)
    author = said.comment.user
    if author is None or author.id == bot or said.repo is None:
        return "nobody's words, or our own"
    commands = parse(said.comment.body or "")
    base = _said(said, said.repo, author, lane_)
    snapshot = said.issue.snapshot if said.issue.pull_request is None else None
    requests = [
        base.model_copy(
            update={
                "command": command,
                "via": Via.COMMAND,
                "source": f"comment:{said.comment.id}:{number}",
                "issue": snapshot if MEANINGS[command.verb].takes_issue else None,
            }
        )
        for number, command in enumerate(commands)
    ]
    if _answers(plans.latest(tx, lane_), said.comment.body or "", commands):
        requests.append(base)
    return "; ".join(ask(tx, request) for request in requests) or "no command in it"


def _said(said: pl.IssueCommentPayload, repo: Repo, author: pl.Account, lane_: str) -> Request:
    """Return what a comment says without any command: answers, by somebody, there and then."""
    app = said.comment.performed_via_github_app
    return Request(
        repo=repo,
        issue_number=int(lane_.split(":")[1]),
        command=Command(verb=Verb.ANSWER),
        actor=author.person,
        via=Via.REPLY,
        at=common.epoch(said.comment.created_at),
        source=f"comment:{said.comment.id}:answers",
        comment_id=said.comment.id,
        comment_node=said.comment.node_id or None,
        thread=said.issue.number,
        bot=author.bot or (app.slug if app else None),
    )


def _answers(plan: Plan | None, text: str, commands: tuple[Command, ...]) -> bool:
    """Whether a comment answers a plan that waits for it; one with a rewrite is read along with that."""
    if plan is None or plan.waiting_on is not WaitingOn.ANSWERS or {c.verb for c in commands} & TAKE_ANSWERS:
        return False
    return bool(answers_beside(text, plan.questions))


def _lane_of_comment(tx: Tx, delivery: Delivery, said: pl.IssueCommentPayload) -> str | None:
    """Return the lane of the plan: a comment on its pull request stands under another number.

    None where the pull request is of an earlier try, or of another App: nobody there speaks of the issue's plan.
    """
    if said.issue.pull_request is None or said.repository is None:
        return delivery.lane
    plan = plans.by_pull_request(tx, said.repository.id, said.issue.number)
    newest = plans.latest(tx, plan.lane) if plan else None
    return newest.lane if plan and newest and newest.uid == plan.uid else None


def _comment_changed(tx: Tx, delivery: Delivery, said: pl.IssueCommentPayload, bot: int, lane_: str) -> str:
    plan = plans.latest(tx, lane_)
    if said.sender is not None and said.sender.id == bot:
        return "our own edit"
    if plan is not None and plan.review is not None and plan.review.comment_id == said.comment.id:
        refresh = fx.RefreshReview(key=f"{plan.uid}:refresh:{delivery.guid}")
        outbox.add(tx, [refresh], lane=plan.lane, installation_id=plan.repo.installation_id, plan_uid=plan.uid)
        return "the diff review was changed: it is put right"
    if plan is None or plan.revision is None or plan.revision.comment_id != said.comment.id:
        return "not the comment under decision"
    by = said.sender.person if said.sender else None
    return apply(tx, plan, ev.PlanCommentChanged(**common.said(delivery), by=by))
