"""Everything that is shown on the issue: comments, reactions, labels and the check run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bot.errors import Permanent
from bot.github.ensure import marked
from bot.github.gateway import CheckAction, CheckRun, Missing, Shown, StateLabel
from bot.intake.payloads import CheckId
from bot.lifecycle import events as ev
from bot.lifecycle.states import State
from bot.lifecycle.wording import render as wording
from bot.lifecycle.wording.limits import TooLong
from bot.store import plan_costs, plans, policies
from bot.worker.context import Done, found, plan_of
from bot.worker.effects.texts import plan_key, sha256

if TYPE_CHECKING:
    from bot.github.gateway import Comment
    from bot.lifecycle.costs import PlanCost
    from bot.lifecycle.effects import (
        Acknowledge,
        ConcludeCheck,
        FoldReview,
        MarkSuperseded,
        PostPlan,
        PostReview,
        Say,
        ShowStatus,
    )
    from bot.lifecycle.plan import Plan, Review, Revision
    from bot.store.outbox import Claimed
    from bot.worker.context import Context

CHECK_NAME = "twogate"
"""Name of the check run on a plan's head commit."""
BUTTONS = (
    CheckAction(label="Approve", description="Open the pull request", identifier="approve"),
    CheckAction(label="Revise", description="Change it by the comments on its lines", identifier="revise"),
    CheckAction(label="Reject", description="End the plan", identifier="reject"),
)
"""What can be pressed on the check run; a button is asked about like a command."""
LABEL_PREFIX = "plan: "
"""Before the state's name: the label that shows it."""
LABEL_COLORS = {
    State.DRAFT: "d4c5f9",
    State.APPROVED: "bfdadc",
    State.EXECUTING: "fbca04",
    State.VERIFYING: "fbca04",
    State.IN_REVIEW: "1d76db",
    State.PR_OPEN: "5319e7",
    State.MERGED: "0e8a16",
    State.FAILED: "d93f0b",
    State.ICEBOX: "c5def5",
    State.REJECTED: "b60205",
    State.CANCELLED: "cccccc",
    State.SPLIT: "c2e0c6",
}
"""Colours of the state labels, made with a repository's first plan; whoever changes one keeps it."""


def state_label(state: State) -> str:
    """Return the label that shows a state."""
    return f"{LABEL_PREFIX}{state.replace('_', ' ')}"


STATE_LABELS = tuple(
    StateLabel(state_label(state), color, "Where Twogate's plan of this issue stands")
    for state, color in LABEL_COLORS.items()
)
"""The labels of all states, of which an issue has one."""


def costs_of(ctx: Context, plan: Plan) -> PlanCost:
    """Return what the plan has cost so far, with what came of each job."""
    with ctx.store.read() as tx:
        return plan_costs.of_plan(tx, plan)


def _revision(plan: Plan, number: int) -> Revision:
    for revision in plan.revisions:
        if revision.number == number:
            return revision
    raise Permanent(f"Revision {number} is not stored any more.")


def acknowledge(_ctx: Context, _claimed: Claimed, _effect: Acknowledge) -> Done:
    """Do what earlier releases wanted done by itself: the eyes come with the status comment."""
    return Done("seen")


def post_plan(ctx: Context, claimed: Claimed, effect: PostPlan) -> Done:
    """Post a revision; what an approval binds to is our text as GitHub has it.

    A comment that is found again may have been edited by somebody before the bot knew of it: it is put right.
    """
    plan = plan_of(ctx, claimed)
    revision = _revision(plan, effect.revision)
    if plan.revision is not revision and revision.comment_id is None:
        return Done("a newer revision is on its way")
    try:
        body = wording.plan_comment(plan, revision)
    except TooLong as fault:
        raise Permanent(str(fault)) from fault
    key = plan_key(plan, revision)
    comment = ctx.gateway.ensure_comment(plan.repo, plan.issue_number, key, body, first=claimed.first)
    if not claimed.first and comment.body != marked(key, body):
        comment = ctx.gateway.edit_comment(plan.repo, comment.id, marked(key, body))
    event = ev.PlanPosted(
        at=ctx.now(),
        source=claimed.key,
        revision=effect.revision,
        comment_id=comment.id,
        node_id=comment.node_id,
        sha256=sha256(comment.body),
        posted_at=comment.updated_at,
    )
    return found(claimed, event, f"comment {comment.id}")


def mark_superseded(ctx: Context, claimed: Claimed, effect: MarkSuperseded) -> Done:
    """Say at the top of an old revision what counts in its place."""
    plan = plan_of(ctx, claimed)
    old = _revision(plan, effect.revision)
    if old.comment_id is None:
        return Done("it was never posted")
    try:
        comment = ctx.gateway.comment(plan.repo, old.comment_id)
    except Missing:
        return Done("its comment was deleted")
    key = plan_key(plan, old)
    written = comment.body.removeprefix(marked(key, ""))
    shown = (r.number for r in plan.revisions if r.number > effect.revision and (r.comment_id or r is plan.revision))
    newer = next(shown, None)  # none where the plan was split
    note, _, _ = wording.superseded("", newer).partition("\n")
    text = written if written.startswith(note) else wording.superseded(written, newer)
    return _folded(ctx, claimed, plan, comment, marked(key, text))


def fold_review(ctx: Context, claimed: Claimed, effect: FoldReview) -> Done:
    """Say at the top of a diff review that it is no longer up for decision."""
    plan = plan_of(ctx, claimed)
    try:
        comment = ctx.gateway.comment(plan.repo, effect.comment_id)
    except Missing:
        return Done("its comment was deleted")
    key = review_key(plan, effect.number)
    written = comment.body.removeprefix(marked(key, ""))
    note, _, _ = wording.outdated("").partition("\n")
    text = written if written.startswith(note) else wording.outdated(written)
    return _folded(ctx, claimed, plan, comment, marked(key, text))


def _folded(ctx: Context, claimed: Claimed, plan: Plan, comment: Comment, body: str) -> Done:
    """Give a comment that no longer counts its text, and fold it away where GitHub lets the bot."""
    refusal = ctx.gateway.supersede(plan.repo, comment, body)
    if refusal is None:
        return Done("marked and minimised")
    event = ev.EffectFailed(at=ctx.now(), source=claimed.key, effect="minimise", sentence=str(refusal))
    return found(claimed, event, "marked, not minimised")


def post_review(ctx: Context, claimed: Claimed, effect: PostReview) -> Done:
    """Post the diff review and the check run on its commit."""
    plan = plan_of(ctx, claimed)
    review = plan.review
    if review is None or review.work.head != effect.head:
        return Done("another commit is in review")
    title, summary = wording.check_run(plan)
    check = CheckRun(
        name=CHECK_NAME,
        title=title,
        summary=summary,
        conclusion="action_required",
        external_id=check_mark(plan, effect.head),
        actions=BUTTONS,
    )
    key, body = review_key(plan, review.number), review_text(ctx, plan, review)
    where = review.thread or plan.issue_number
    up = ctx.gateway.put_up(plan.repo, where, effect.head, check, key, body, first=claimed.first)
    comment = up.comment
    event = ev.ReviewPosted(
        at=ctx.now(),
        source=claimed.key,
        head=effect.head,
        comment_id=comment.id,
        node_id=comment.node_id,
        check_run_id=up.check_run_id,
        posted_at=comment.created_at,
    )
    return found(claimed, event, f"comment {comment.id}")


def review_key(plan: Plan, number: int) -> str:
    """Return the mark of a diff review's comment."""
    return f"{plan.uid}:review:{number}"


def review_text(ctx: Context, plan: Plan, review: Review) -> str:
    """Return the diff review as it should read now."""
    work = review.work
    compare = f"{ctx.web}/{plan.repo.owner}/{plan.repo.name}/compare/{work.since or work.base}...{work.head}"
    return wording.review_comment(plan, costs_of(ctx, plan), compare, web=ctx.web)


def check_mark(plan: Plan, head: str) -> str:
    """Return the mark of the check run on a commit of a plan; a button says by it whose it is."""
    return str(CheckId(repository_id=plan.repo.id, issue_number=plan.issue_number, uid=plan.uid, head=head))


def conclude_check(ctx: Context, claimed: Claimed, effect: ConcludeCheck) -> Done:
    """Tell the check run what was decided."""
    plan = plan_of(ctx, claimed)
    title, summary = wording.check_run(plan, effect.sentence, shown=_shown(plan, effect))
    check = CheckRun(
        name=CHECK_NAME,
        title=title,
        summary=summary,
        conclusion=effect.conclusion,
        external_id=check_mark(plan, effect.head),
    )
    ctx.gateway.update_check_run(plan.repo, effect.check_run_id, check)
    return Done(effect.conclusion)


def _shown(plan: Plan, effect: ConcludeCheck) -> bool:
    """Whether the plan still has the review that the check run belongs to."""
    return plan.review is not None and plan.review.check_run_id == effect.check_run_id


def say(ctx: Context, claimed: Claimed, effect: Say) -> Done:
    """Answer with one short comment."""
    with ctx.store.read() as tx:
        plan = plans.latest(tx, claimed.lane)
        policy = policies.last_valid(tx, effect.repo.id) if plan is None else plan.policy
    repo, number = effect.repo, effect.issue_number
    body = wording.say(effect.topic, effect.details, plan, effect.to, policy)
    comment = ctx.gateway.ensure_comment(repo, number, claimed.key, body, first=claimed.first)
    return Done(f"comment {comment.id}")


def show_status(ctx: Context, claimed: Claimed, effect: ShowStatus) -> Done:
    """Bring the status comment and the label to what the plan is now; with the first comment come the eyes.

    An earlier one that was given up may have posted the comment: only the very first one need not look for it.
    """
    plan = plan_of(ctx, claimed)
    known = plan.status_comment_id
    shown = Shown(
        key=f"{plan.uid}:status",
        body=wording.status_comment(plan, costs_of(ctx, plan), web=ctx.web),
        comment_id=known,
        label=state_label(plan.state),
        labels=STATE_LABELS,
        seen=known is None,
    )
    first = claimed.first and not effect.settle
    comment = ctx.gateway.show(plan.repo, plan.issue_number, shown, first=first)
    if comment.id == known:
        return Done("edited")
    event = ev.StatusPosted(at=ctx.now(), source=claimed.key, comment_id=comment.id)
    return found(claimed, event, f"comment {comment.id}")
