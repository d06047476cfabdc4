"""What people wrote beside commands, gathered when a command takes it along: only of those who may, each once."""

from __future__ import annotations

from functools import cache
from itertools import chain, islice
from typing import TYPE_CHECKING, NamedTuple

from bot.github.gateway import Missing
from bot.lifecycle.answers import answers_beside
from bot.lifecycle.approvers import is_bot
from bot.lifecycle.costs import PlanCost
from bot.lifecycle.patches import line_at
from bot.lifecycle.plan import comment_name, posted_before
from bot.lifecycle.policy import Action, may
from bot.lifecycle.remarks import read_remarks
from bot.lifecycle.states import State
from bot.lifecycle.wording import render as wording
from bot.lifecycle.wording.limits import TooLong
from runner.contract import Feedback

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from bot.github.gateway import Comment, InlineComment
    from bot.lifecycle.plan import Person, Plan, Review, Revision
    from bot.lifecycle.policy import Policy
    from bot.worker.context import Context

MOST_REMARKS = 50
"""Remarks that one command takes along, the oldest that no agent has had; the next one takes what is left."""
LONGEST_REMARK = 8_000
"""Characters of one remark that travel to the agent."""


class Gathered(NamedTuple):
    """The remarks, the names of the comments that they are made of, and who wrote what is said to the plan's text."""

    said: tuple[Feedback, ...] = ()
    heard: tuple[str, ...] = ()
    speakers: tuple[Person, ...] = ()


def of_review(ctx: Context, plan: Plan | None, policy: Policy) -> Gathered:
    """Return what was said to a diff under decision, for ``/revise``.

    That is comments on the commits of the plan's branch, and replies that quote lines of the review.
    """
    if plan is None or plan.review is None or plan.state is not State.IN_REVIEW:
        return Gathered()
    allowed = allowed_to(ctx, plan, policy, Action.STEER)
    said = chain(_on_commits(ctx, plan, plan.review, allowed), _quoting(ctx, plan, policy, plan.review, allowed))
    chosen = list(islice(said, MOST_REMARKS))
    return Gathered(tuple(remark for _, remark in chosen), tuple(dict.fromkeys(name for name, _ in chosen)))


def _on_commits(
    ctx: Context, plan: Plan, review: Review, allowed: Callable[[Person], bool]
) -> Iterator[tuple[str, Feedback]]:
    """Yield the comments on the commits of the plan's branch, each with its name."""
    try:
        written = ctx.gateway.commit_comments(plan.repo, review.work.base, review.work.head)
    except Missing:
        return
    for name, comment in unheard(plan, "commit_comment", written, allowed):
        yield name, remark_of(comment, review)


def _quoting(
    ctx: Context, plan: Plan, policy: Policy, review: Review, allowed: Callable[[Person], bool]
) -> Iterator[tuple[str, Feedback]]:
    """Yield what was said to lines of the diff review since it was posted, with the name of its comment."""
    text = wording.review_comment(plan, PlanCost(), "")
    for comment, author in _since_posted(ctx, plan, policy, review, review.thread or plan.issue_number):
        found = read_remarks(comment.body, text, author.login)
        if found and allowed(author):
            for remark in found:
                said = {"kind": "review", "text": remark.text[:LONGEST_REMARK]}
                yield comment_name(comment.id), remark.model_copy(update=said)


def of_plan(ctx: Context, plan: Plan | None, policy: Policy) -> Gathered:
    """Return what was said to the plan's text since it was posted: remarks on its lines, answers to its questions.

    What is beyond :data:`MOST_REMARKS` is left for the next rewrite only where this one fails: another text is another
    thing to remark on.
    """
    if plan is None or plan.revision is None or plan.text_origin is None or plan.text_origin.comment_id is None:
        return Gathered()
    try:
        text = wording.plan_comment(plan, plan.revision)
    except TooLong:
        return Gathered()
    allowed = allowed_to(ctx, plan, policy, Action.ANSWER)
    said: list[Feedback] = []
    heard, speakers = [], []
    for comment, author in _since_posted(ctx, plan, policy, plan.text_origin, plan.issue_number):
        found = _said_to(plan, text, comment, author, allowed)
        if found and len(said) + len(found) > MOST_REMARKS:
            break
        if found:
            said += found
            heard.append(comment_name(comment.id))
            speakers.append(author)
    return Gathered(tuple(said), tuple(heard), tuple(speakers))


def _since_posted(
    ctx: Context, plan: Plan, policy: Policy, shown: Revision | Review, where: int
) -> Iterator[tuple[Comment, Person]]:
    """Yield the comments of people that no agent has had, written where the plan's text or its diff could be read.

    What an App wrote with somebody's token is theirs where the policy lists it, or not at all.
    """
    for comment in ctx.gateway.comments(plan.repo, where):
        new = comment_name(comment.id) not in plan.heard and posted_before(shown, comment.created_at, comment.id)
        theirs = not comment.by_app and (comment.app is None or policy.approvers.lists(comment.app))
        if new and theirs and comment.author is not None and not is_bot(comment.author.login):
            yield comment, comment.author


def _said_to(
    plan: Plan, text: str, comment: Comment, author: Person, allowed: Callable[[Person], bool]
) -> list[Feedback]:
    """Return what a comment says to the plan. Remarks need the right to make them; the issue's author may answer."""
    remarks = read_remarks(comment.body, text, author.login)
    answers = answers_beside(comment.body, plan.questions)
    asked = plan.issue.author is not None and plan.issue.author.id == author.id
    if not (remarks or answers) or not (asked or allowed(author)):
        return []
    given = [
        Feedback(kind="answer", author=author.login, quote=plan.questions[number - 1], text=said[:LONGEST_REMARK])
        for number, said in answers.items()
    ]
    if remarks and allowed(author):
        given += [remark.model_copy(update={"text": remark.text[:LONGEST_REMARK]}) for remark in remarks]
    return given


def allowed_to(ctx: Context, plan: Plan, policy: Policy, action: Action) -> Callable[[Person], bool]:
    """Return who may do this; GitHub is asked once about each."""
    return cache(lambda person: may(policy, ctx.gateway.permission(plan.repo, person), action))


def unheard(
    plan: Plan, kind: str, written: Iterable[InlineComment], allowed: Callable[[Person], bool]
) -> list[tuple[str, InlineComment]]:
    """Return the comments that no agent has had, of people who may, each with its name."""
    named = ((f"{kind}:{comment.id}", comment) for comment in written if comment.body.strip())
    fresh = ((name, c) for name, c in named if name not in plan.heard)
    may_speak = ((name, c) for name, c in fresh if c.author is not None and not c.by_bot and allowed(c.author))
    return list(islice(may_speak, MOST_REMARKS))


def remark_of(comment: InlineComment, review: Review | None) -> Feedback:
    """Return a comment as it travels: with its place, and the line as the reviewed commit has it."""
    patch = review.work.patch if review and comment.commit == review.work.head and comment.line is not None else None
    return Feedback(
        kind="review",
        author=comment.author.login if comment.author else "",
        text=comment.body[:LONGEST_REMARK],
        path=comment.path[:300],
        line=comment.line,
        quote=comment.hunk if patch is None else line_at(patch, comment.path, comment.line or 0),
    )
