"""What people wrote beside commands, gathered when a command takes it along: only of those who may steer, each once."""

from __future__ import annotations

from functools import cache
from itertools import islice
from typing import TYPE_CHECKING

from bot.github.gateway import Missing
from bot.lifecycle.patches import line_at
from bot.lifecycle.policy import Action, may
from bot.lifecycle.states import State
from runner.contract import Feedback

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from bot.github.gateway import InlineComment
    from bot.lifecycle.plan import Person, Plan, Review
    from bot.lifecycle.policy import Policy
    from bot.worker.context import Context

MOST_REMARKS = 50
"""Remarks that one command takes along, the oldest that no agent has had; the next one takes what is left."""
LONGEST_REMARK = 8_000
"""Characters of one remark that travel to the agent."""
Gathered = tuple[tuple[Feedback, ...], tuple[str, ...]]
"""The remarks, and the names of the comments that they are made of."""


def of_review(ctx: Context, plan: Plan | None, policy: Policy) -> Gathered:
    """Return what stands on the commits of the plan's branch, for ``/revise`` of a diff that is up for decision."""
    if plan is None or plan.review is None or plan.state is not State.IN_REVIEW:
        return (), ()
    work = plan.review.work
    try:
        written = ctx.gateway.commit_comments(plan.repo, work.base, work.head)
    except Missing:
        return (), ()
    chosen = _new(plan, "commit_comment", written, _steers(ctx, plan, policy))
    return tuple(_remark(comment, plan.review) for _, comment in chosen), tuple(name for name, _ in chosen)


def _steers(ctx: Context, plan: Plan, policy: Policy) -> Callable[[Person], bool]:
    """Return who may steer; GitHub is asked once about each."""
    return cache(lambda person: may(policy, ctx.gateway.permission(plan.repo, person), Action.STEER))


def _new(
    plan: Plan, kind: str, written: Iterable[InlineComment], allowed: Callable[[Person], bool]
) -> list[tuple[str, InlineComment]]:
    """Return the comments that no agent has had, of people who may, each with its name."""
    named = ((f"{kind}:{comment.id}", comment) for comment in written if comment.body.strip())
    fresh = ((name, c) for name, c in named if name not in plan.heard)
    may_speak = ((name, c) for name, c in fresh if c.author is not None and not c.by_bot and allowed(c.author))
    return list(islice(may_speak, MOST_REMARKS))


def _remark(comment: InlineComment, review: Review) -> Feedback:
    """Return a comment as it travels: with its place, and the line as the reviewed commit has it."""
    here = comment.commit == review.work.head and comment.line is not None
    return Feedback(
        kind="review",
        author=comment.author.login if comment.author else "",
        text=comment.body[:LONGEST_REMARK],
        path=comment.path[:300],
        line=comment.line,
        quote=line_at(review.work.patch, comment.path, comment.line or 0) if here else comment.hunk,
    )
