"""Moves that GitHub makes: posted, read back, changed by somebody, opened, merged, held, gone."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bot.lifecycle import effects as fx
from bot.lifecycle.moves.ci import read_ci
from bot.lifecycle.moves.common import (
    Step,
    ask_anew,
    at_head,
    changed,
    drop_job,
    end,
    fail,
    failed_for_us,
    moved,
    open_job,
    open_same_job,
    say,
    waiting_for_decision,
)
from bot.lifecycle.moves.jobs import check_base, publish
from bot.lifecycle.moves.split import go_on
from bot.lifecycle.plan import Failure, Hold
from bot.lifecycle.states import PAUSES, State, WaitingOn
from runner.contract import JobKind, Outcome

if TYPE_CHECKING:
    from bot.lifecycle import events
    from bot.lifecycle.plan import Person, Plan

FAILS_WITH: dict[str, JobKind] = {
    "post_plan": JobKind.PLAN,
    "make_child": JobKind.PLAN,
    "post_review": JobKind.EXECUTE,
    "read_back": JobKind.EXECUTE,
    "read_ci": JobKind.EXECUTE,
    "check_base": JobKind.CHECK_BASE,
    "open_pull_request": JobKind.CHECK_BASE,
    "advance_branch": JobKind.CHECK_BASE,
}
"""Effects without which a plan can't go on, and what ``/retry`` takes up again. A dispatch fails as its job's kind."""


def plan_posted(plan: Plan, event: events.PlanPosted) -> Step:
    """Note the comment of a revision; if it is the current one, it is now up for decision."""
    posted = tuple(
        r.model_copy(
            update={
                "comment_id": event.comment_id,
                "node_id": event.node_id,
                "sha256": event.sha256,
                "posted_at": event.posted_at,
            }
        )
        if r.number == event.revision and r.comment_id is None
        else r
        for r in plan.revisions
    )
    plan = changed(plan, revisions=posted)
    current = plan.revision
    waits = plan.state is State.DRAFT and plan.waiting_on is WaitingOn.BOT and plan.split is None
    if current is None or current.number != event.revision or not waits:
        return Step(plan, (), f"comment of revision {event.revision} noted")
    plan = changed(plan, waiting_on=waiting_for_decision(current.document.verdict))
    return moved(plan, f"revision {event.revision} posted")


def status_posted(plan: Plan, event: events.StatusPosted) -> Step:
    """Remember the comment, to edit it from now on."""
    return Step(changed(plan, status_comment_id=event.comment_id), (), "status comment noted")


def review_posted(plan: Plan, event: events.ReviewPosted) -> Step:
    """The diff is up for decision."""
    if plan.review is None or plan.review.work.head != event.head or plan.review.comment_id is not None:
        return Step(plan, (), "comment of another review")
    review = plan.review.model_copy(
        update={
            "comment_id": event.comment_id,
            "node_id": event.node_id,
            "check_run_id": event.check_run_id,
            "posted_at": event.posted_at,
        }
    )
    return moved(changed(plan, review=review, waiting_on=WaitingOn.DIFF_DECISION), "diff review posted")


def base_checked(plan: Plan, event: events.BaseChecked) -> Step:
    """Open the pull request where nothing can conflict, else let a runner try the merge."""
    approval = plan.diff_approval
    if approval is None or approval.binds_to != event.head:
        return Step(plan, (), "no approval for this commit any more")
    if plan.hold is not None:
        return Step(plan, (), "held: compared again when the plan goes on")
    if event.clean:
        return Step(plan, (publish(plan, event.head),), "nothing that could conflict")
    plan, effects = open_job(plan, JobKind.CHECK_BASE, None, head=event.head)
    return moved(plan, "the default branch changed the same files: trying the merge", *effects)


def approval_void(plan: Plan, event: events.ApprovalVoid) -> Step:
    """What was approved reads otherwise now: say so and ask anew."""
    if event.policy is not None:
        plan = changed(plan, policy=event.policy)
    plan, effects = ask_anew(plan)
    told = say(plan, fx.Topic.APPROVAL_VOID, event, what=event.what)
    return moved(plan, f"approval void: {event.what} changed", told, *effects)


def plan_comment_changed(plan: Plan, event: events.PlanCommentChanged) -> Step:
    """Somebody edited or deleted the comment under decision: post the plan again as it was written."""
    if plan.waiting_on is WaitingOn.RUNNER and plan.state is State.DRAFT:
        return Step(plan, (), "a new revision is being written anyway")
    if plan.splitting:
        return Step(plan, (), "it is being split")
    plan, effects = ask_anew(plan)
    told = say(plan, fx.Topic.APPROVAL_VOID, event, event.by, what="plan_comment")
    return moved(plan, "the plan comment was changed: asking anew", told, *effects)


def issue_edited(plan: Plan, event: events.IssueEdited) -> Step:
    """The plan is of the older text: say so once. An approval that was not used yet is asked anew."""
    if event.sha256 == plan.issue.sha256:
        return Step(changed(plan, issue_stale=False), (), "the issue reads as it was planned")
    if plan.issue_stale:
        return Step(plan, (), "stale already")
    plan = changed(plan, issue_stale=True)
    told = say(plan, fx.Topic.ISSUE_EDITED, event)
    if plan.state is not State.APPROVED:
        return moved(plan, "the issue was edited", told)
    plan, effects = ask_anew(plan)
    return moved(plan, "the issue was edited: asking anew", told, *effects)


def branch_moved(plan: Plan, event: events.BranchMoved) -> Step:
    """Somebody pushed to the plan's branch, or removed it."""
    known = {plan.review.work.head if plan.review else None}
    if plan.state is not State.VERIFYING or plan.job is not None:
        known.add(plan.work_head)  # what was just pushed is read back against the verified commit alone
    if event.head is not None and event.head in known:
        return Step(plan, (), "the branch is where it should be")
    return branch_is_elsewhere(plan, event, event.head, event.by)


def branch_is_elsewhere(plan: Plan, event: events.Event, head: str | None, by: Person | None) -> Step:
    """Void what was verified: a person decides."""
    told = say(plan, fx.Topic.BRANCH_MOVED, event, by, head=head or "")
    plan = at_head(plan, head)
    where = f"is at {head[:12]}" if head else "is gone"
    sentence = f"The branch {plan.work_branch} {where}, which is not the commit that was verified."
    failure = Failure(outcome=Outcome.BRANCH_MOVED, sentence=sentence, during=JobKind.EXECUTE)
    return fail(plan, failure, "the branch moved").then(told)


def effect_failed(plan: Plan, event: events.EffectFailed) -> Step:
    """GitHub refused for good. What the plan can't go on without fails it; the rest is journalled."""
    if event.effect == "dispatch" and plan.job is not None and event.job == plan.job.id:
        return fail(plan, failed_for_us(event.sentence, plan.job.kind), "the job could not be dispatched")
    needed = WaitingOn.CI if event.effect == "read_ci" else WaitingOn.BOT
    if event.effect in FAILS_WITH and plan.waiting_on is needed:
        return fail(plan, failed_for_us(event.sentence, FAILS_WITH[event.effect]), f"{event.effect} was refused")
    return refusal_noted(plan, event)


def refusal_noted(plan: Plan, event: events.EffectFailed) -> Step:
    """Journal what GitHub refused where nothing depends on it."""
    return Step(plan, (), f"{event.effect} was refused: {event.sentence}")


def hold(plan: Plan, event: events.HoldPlaced) -> Step:
    """Stand still. Running work is stopped and remembered, except for a pause: that lets it end and begins no more.

    A job that no run is known of counts as not begun.
    """
    pausing = event.cause in PAUSES
    if plan.state is State.PR_OPEN and not pausing:
        return Step(plan, (), "nothing is held: its pull request goes on by itself")
    held = plan.hold or Hold(causes=(), at=event.at, by=event.by)
    held = held.model_copy(update={"causes": (event.cause, *(c for c in held.causes if c is not event.cause))})
    stops: tuple[fx.Effect, ...] = ()
    if plan.job is not None and not (pausing and plan.job.run_id is not None):
        held = held.model_copy(update={"interrupted": plan.job})
        plan, stops = drop_job(plan)
    return moved(changed(plan, hold=held), f"held: {event.cause}", *stops)


def lift(plan: Plan, event: events.HoldLifted) -> Step:
    """Go on where the plan stood, once no cause is left."""
    if plan.hold is None or event.cause not in plan.hold.causes:
        return Step(plan, (), "not held for that")
    left = tuple(c for c in plan.hold.causes if c is not event.cause)
    if left:
        return moved(changed(plan, hold=plan.hold.model_copy(update={"causes": left})), f"still held: {left[0]}")
    interrupted = plan.hold.interrupted
    plan = changed(plan, hold=None)
    if interrupted is not None:
        plan, effects = open_same_job(plan, interrupted, lost_before=interrupted.lost_before)
        return moved(plan, "goes on with what was interrupted", *effects)
    return moved(plan, "goes on", *(_own_step(plan) if plan.job is None else ()))


def _own_step(plan: Plan) -> tuple[fx.Effect, ...]:
    """Return what the bot itself was about to do when the plan was held."""
    if plan.splitting and plan.split is not None:
        return go_on(plan, plan.split)
    if plan.waiting_on is WaitingOn.CI:
        return (read_ci(plan),)
    return (check_base(plan, plan.diff_approval.binds_to),) if plan.diff_approval else ()


def gone(plan: Plan, event: events.Gone) -> Step:
    """What the plan was about does not exist any more; nobody can be told there."""
    plan, stops = end(plan, State.CANCELLED)
    return Step(plan, stops, f"{event.what} was deleted")
