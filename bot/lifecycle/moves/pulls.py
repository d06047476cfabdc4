"""Moves of a plan whose pull request is open, and what becomes of it when it is merged or closed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bot.lifecycle import effects as fx
from bot.lifecycle.moves.common import Step, changed, conclude_check, end, moved, say
from bot.lifecycle.moves.recommendations import update_pull
from bot.lifecycle.plan import Unverified
from bot.lifecycle.states import State, WaitingOn
from runner.contract import Feedback

if TYPE_CHECKING:
    from bot.lifecycle import events
    from bot.lifecycle.plan import Person, Plan


def opened(plan: Plan, event: events.PullRequestOpened) -> Step:
    """Out of our hands: people and their checks decide on the pull request.

    Also where the plan failed while it was being opened, as when somebody pushed to the branch at that moment.
    """
    if plan.review is None:
        return Step(plan, (), "no work of this plan is offered")
    closing = conclude_check(plan, "success", f"Approved; pull request #{event.number}.")
    plan = changed(
        plan,
        state=State.PR_OPEN,
        waiting_on=WaitingOn.MERGE,
        hold=plan.pause,
        failure=None,
        pull_request=event.number,
        pull_request_url=event.url,
        record_sha256=event.record_sha256,
    )
    step = moved(plan, f"pull request #{event.number}", *closing)
    if plan.branch_head in {None, plan.approved_head}:
        return step
    late = note_push(plan, event, plan.branch_head, None)
    return Step(late.plan, (*closing, *late.effects), step.note)


def pushed(plan: Plan, event: events.BranchMoved) -> Step:
    """Somebody moved the pull request's branch: what was verified is no longer what would be merged."""
    if event.head == plan.branch_head:
        return Step(plan, (), "the branch is where it should be")
    return note_push(plan, event, event.head, event.by)


def note_push(plan: Plan, event: events.Event, head: str | None, by: Person | None, **details: str) -> Step:
    """Void what was verified and say so, once a push; a branch that is set back to it is verified again."""
    plan = changed(plan, branch_head=head)
    if head is not None and head == plan.approved_head:
        return moved(changed(plan, unverified=None), "the branch is back at what was approved")
    told = say(plan, fx.Topic.BRANCH_MOVED, event, None, head=head or "", by=by.login if by else "", **details)
    if head is None:
        return moved(changed(plan, unverified=None), "the branch is gone", told)
    judged = fx.JudgeHead(key=f"{plan.uid}:judge:{plan.version + 1}:{head}", head=head)
    plan = changed(plan, unverified=Unverified(head=head, by=by))
    return moved(plan, "the branch moved: no longer what was verified", told, judged)


def moved_late(plan: Plan, event: events.BranchAdvanced) -> Step:
    """The branch moved to a commit that was approved, though the further work was dropped at that moment."""
    if event.head == plan.branch_head:
        return Step(plan, (), "the branch is where it should be")
    return note_push(plan, event, event.head, None)


def queued(plan: Plan, event: events.PullRequestQueued) -> Step:
    """Show where the pull request stands with GitHub's merge queue."""
    where = "in the merge queue" if event.queued else f"out of the merge queue: {event.reason or 'no reason given'}"
    return moved(changed(plan, in_merge_queue=event.queued), where)


def merged(plan: Plan, event: events.PullRequestMerged) -> Step:
    """Done."""
    gone = delete_branch(plan)
    final = update_pull(plan)
    plan, _ = end(plan, State.MERGED, merged_at=event.at, in_merge_queue=False, keep_branch_until=None)
    return moved(plan, "merged", final, *gone)


def closed(plan: Plan, event: events.PullRequestClosed) -> Step:
    """Closed unmerged: denied. Why is asked once; the branch stays for a time."""
    asked = () if plan.reason_asked else (_ask_why(plan),)
    until = event.at + plan.policy.keep_branch_seconds if plan.branch_head is not None else None
    plan, _ = end(plan, State.REJECTED, in_merge_queue=False, keep_branch_until=until, reason_asked=True)
    return moved(plan, "the pull request was closed unmerged", *asked)


def _ask_why(plan: Plan) -> fx.Say:
    return fx.Say(
        key=f"{plan.uid}:say:{fx.Topic.WHY_CLOSED}",
        repo=plan.repo,
        issue_number=plan.pull_request or plan.issue_number,
        topic=fx.Topic.WHY_CLOSED,
    )


def give_reason(plan: Plan, event: events.Rejected) -> Step:
    """Keep why it was rejected, said after it was."""
    if not event.reason:
        return Step(plan, (), "it has ended already")
    reason = Feedback(kind="rejection", author=event.by.login, text=event.reason)
    return moved(changed(plan, rejections=(*plan.rejections, reason)), "why it was rejected")


def branch_expired(plan: Plan, event: events.BranchExpired) -> Step:
    """Remove the branch of a pull request that was closed unmerged, unless somebody's own commits are on it."""
    if plan.keep_branch_until is None or event.at < plan.keep_branch_until:
        return Step(plan, (), "the branch is kept for longer")
    plan = changed(plan, keep_branch_until=None)
    if plan.unverified is not None:
        return moved(plan, "the branch stays: somebody's own commits are on it")
    gone = delete_branch(plan)
    return moved(changed(plan, branch_head=None), "the branch was kept long enough", *gone)


def reopened(plan: Plan, _event: events.PullRequestReopened) -> Step:
    """Adopt the pull request again, with its branch."""
    if plan.pull_request is None:
        return Step(plan, (), "no pull request of this plan")
    plan = changed(plan, state=State.PR_OPEN, waiting_on=WaitingOn.MERGE, keep_branch_until=None)
    return moved(plan, "the pull request was reopened")


def delete_branch(plan: Plan) -> tuple[fx.Effect, ...]:
    """Return the effect that removes the plan's branch where it is as the bot knows it."""
    head = plan.branch_head
    key = f"{plan.uid}:delete:{plan.version + 1}:{head}"
    return () if head is None else (fx.DeleteBranch(key=key, branch=plan.branch, head=head),)
