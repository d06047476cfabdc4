"""Moves of further work on an open pull request, from its start to the moment when it joins the branch or is dropped.

It happens on a branch of its own, ``plan/<issue>-next``, through the states and gates of any work. The pull request's
branch moves once: when a person has approved the diff of exactly that commit, from exactly where it was before.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from bot.lifecycle import effects as fx
from bot.lifecycle.ci import MOST_LOGS, CiState, latest
from bot.lifecycle.lessons import without
from bot.lifecycle.moves import pulls, world
from bot.lifecycle.moves.ci import wait_again
from bot.lifecycle.moves.common import Step, answer, changed, conclude_check, drop_job, moved, open_job
from bot.lifecycle.moves.recommendations import update_pull
from bot.lifecycle.plan import Rework
from bot.lifecycle.states import State, WaitingOn
from runner.contract import Feedback, JobKind
from runner.results import Unit

if TYPE_CHECKING:
    from bot.lifecycle import events
    from bot.lifecycle.plan import Person, Plan

NOTHING_FAILS = "no check fails on its pull request; /revise and your words change the work"
NOTHING_SAID = "nothing to change was said; write it behind /revise, or comment on lines of the pull request first"
NO_BRANCH = "the branch of its pull request is gone; restore it there first"


def fix(plan: Plan, event: events.FixRequested) -> Step:
    """Mend what fails on the pull request, by the logs as they are now."""
    if not event.remarks:
        return answer(plan, event, fx.Topic.NOT_NOW, NOTHING_FAILS, why=NOTHING_FAILS)
    return _begin(plan, event)


def revise(plan: Plan, event: events.ReviseRequested) -> Step:
    """Change what the pull request holds, by words and by what was said in reviews."""
    if not event.text and not event.remarks:
        return answer(plan, event, fx.Topic.NOT_NOW, NOTHING_SAID, why=NOTHING_SAID)
    return _begin(plan, event)


def _begin(plan: Plan, event: events.FixRequested | events.ReviseRequested) -> Step:
    head = event.branch_head
    if head is None:
        return answer(plan, event, fx.Topic.NOT_NOW, NO_BRANCH, why=NO_BRANCH)
    unheard = Step(plan) if head == plan.branch_head else pulls.note_push(plan, event, head, None)
    words = (Feedback(kind="revise", author=event.by.login, text=event.text),) if event.text else ()
    plan = changed(unheard.plan, heard=(*plan.heard, *event.heard))
    step = start(plan, head, (*words, *event.remarks))
    said = tuple(effect for effect in unheard.effects if not isinstance(effect, fx.ShowStatus))
    return Step(step.plan, (*said, *step.effects), step.note)


def mend(plan: Plan, event: events.CiReported) -> Step:
    """Begin a fix by itself where all checks of the verified head have ended and some failed, as often as allowed."""
    checks = latest(event.checks)
    failed = [check for check in checks if check.state is CiState.FAILED]
    if not plan.mends_itself or event.head != plan.approved_head:
        return Step(plan, (), "nothing is mended without a person asking")
    if not failed or any(check.state is CiState.PENDING for check in checks):
        return Step(plan, (), "the checks have not all ended" if failed else "no check fails")
    words = tuple(
        Feedback(
            kind="ci",
            author=check.app[:300] or "ci",
            text=f"The check {check.name} ended as {check.conclusion or 'failed'}.\n{event.logs.get(check.name, '')}",
        )
        for check in failed[:MOST_LOGS]
    )
    step = start(changed(plan, fixes=plan.fixes + 1), event.head, words)
    rework = step.plan.rework.model_copy(update={"by_itself": True}) if step.plan.rework else None
    note = f"fix {plan.fixes + 1} of {plan.policy.ci.fix} by itself: {step.note}"
    return Step(changed(step.plan, rework=rework), step.effects, note)


def start(plan: Plan, head: str, feedback: tuple[Feedback, ...]) -> Step:
    """Let the agent go on from the pull request's head."""
    rework = Rework(on=head, review=plan.review, diff_approval=plan.diff_approval)
    plan = changed(
        plan,
        state=State.EXECUTING,
        rework=rework,
        review=None,
        diff_approval=None,
        feedback=(*plan.feedback, *feedback),
    )
    plan, effects = open_job(plan, JobKind.EXECUTE, Unit.EXECUTE_PLAN, head=head)
    return moved(plan, f"further work from {head[:12]}, by {len(feedback)} remarks", *effects)


def retry(plan: Plan, event: events.RetryRequested) -> Step:
    """Do again what failed of the further work: from where its branch is, else from the pull request's head."""
    failure, rework = plan.failure, plan.rework
    if (waits := wait_again(plan, event)) is not None:
        return waits
    words = (Feedback(kind="retry", author=event.by.login, text=event.text),) if event.text else ()
    logs = tuple(failed.feedback for failed in failure.ci) if failure else ()
    plan = changed(plan, feedback=(*plan.feedback, *words, *logs), failure=None)
    if failure is not None and failure.during is JobKind.CHECK_BASE and plan.review is not None:
        review = plan.review.model_copy(update={"buttons": False})
        plan = changed(plan, state=State.IN_REVIEW, waiting_on=WaitingOn.DIFF_DECISION, review=review)
        return moved(plan, "the diff is up for decision again")
    head = plan.work_head or (rework.on if rework else None)
    plan = changed(plan, state=State.EXECUTING, review=None)
    plan, effects = open_job(plan, JobKind.EXECUTE, Unit.EXECUTE_PLAN, head=head)
    return moved(plan, "further work again", *effects)


def drop(plan: Plan, sentence: str) -> tuple[Plan, tuple[fx.Effect, ...]]:
    """Take the further work back: the pull request stands as it was approved before."""
    rework = plan.rework
    if rework is None:
        return plan, ()
    closing = conclude_check(plan, "cancelled", sentence)
    plan, stops = drop_job(plan)
    lessons = without(plan, plan.review.work) if plan.review else plan.lessons
    gone = fx.DeleteNext(key=f"{plan.uid}:delete_next:{plan.version + 1}", branch=plan.work_branch)
    plan = changed(
        plan,
        state=State.PR_OPEN,
        waiting_on=WaitingOn.MERGE,
        rework=None,
        review=rework.review,
        diff_approval=rework.diff_approval,
        failure=None,
        hold=plan.pause,
        lessons=lessons,
        feedback=(),
        speakers=(),
    )
    return plan, (*stops, *closing, gone)


def reject(plan: Plan, event: events.Rejected) -> Step:
    """Reject the further work alone; why is kept and told to later attempts."""
    reason = (Feedback(kind="rejection", author=event.by.login, text=event.reason),) if event.reason else ()
    plan, effects = drop(plan, f"Rejected by {event.by.login}.")
    plan = changed(plan, rejections=(*plan.rejections, *reason))
    return moved(plan, "further work rejected", *effects)


def cancel(plan: Plan, event: events.CancelRequested) -> Step:
    """Stop the further work alone."""
    plan, effects = drop(plan, f"Cancelled by {event.by.login}.")
    return moved(plan, "further work cancelled", *effects)


def joined(plan: Plan, event: events.BranchAdvanced) -> Step:
    """The pull request's branch is at the approved commit."""
    review, approval = plan.review, plan.diff_approval
    if review is None or review.work.head != event.head:
        return _elsewhere(plan, event, None)
    closing = conclude_check(plan, "success", f"Approved; part of pull request #{plan.pull_request}.")
    plan, effects = drop(changed(plan, review=None), "")
    plan = changed(plan, review=review, diff_approval=approval, branch_head=event.head, unverified=None)
    return moved(plan, f"{event.head[:12]} joined the pull request", *effects, *closing, update_pull(plan))


def branch_moved(plan: Plan, event: events.BranchMoved) -> Step:
    """Somebody pushed: to the further work's branch, or to the pull request's, on which it stands."""
    if event.branch == plan.work_branch:
        if plan.state in {State.VERIFYING, State.IN_REVIEW}:
            return world.branch_moved(plan, event)
        return Step(plan, (), "the branch is read again before it is used")
    if event.head == plan.branch_head:
        return Step(plan, (), "the branch is where it should be")
    return _elsewhere(plan, event, event.by)


def _elsewhere(plan: Plan, event: events.BranchMoved | events.BranchAdvanced, by: Person | None) -> Step:
    """Drop what stood on an older head of the pull request, and say so with the push."""
    plan, effects = drop(plan, "The pull request's branch moved on.")
    step = pulls.note_push(plan, event, event.head, by, dropped="yes")
    return Step(step.plan, (*effects, *step.effects), f"{step.note}; further work dropped")


def merged(plan: Plan, event: events.PullRequestMerged) -> Step:
    """Merged without the further work, which ends."""
    plan, effects = drop(plan, "The pull request was merged without this.")
    step = pulls.merged(plan, event)
    return Step(step.plan, (*effects, *step.effects), step.note)


def closed(plan: Plan, event: events.PullRequestClosed) -> Step:
    """Closed, and the further work with it."""
    plan, effects = drop(plan, "The pull request was closed.")
    step = pulls.closed(plan, event)
    return Step(step.plan, (*effects, *step.effects), step.note)
