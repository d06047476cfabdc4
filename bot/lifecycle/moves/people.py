"""Moves that people make."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bot.lifecycle import effects as fx
from bot.lifecycle.choices import agent_command, budget_command
from bot.lifecycle.moves.ci import wait_again
from bot.lifecycle.moves.common import (
    NOT_WAITING,
    Step,
    answer,
    ask_anew,
    changed,
    conclude_check,
    drop_job,
    end,
    moved,
    say,
    start_planning,
    told,
)
from bot.lifecycle.moves.counting import counted, others, wished
from bot.lifecycle.moves.jobs import check_base
from bot.lifecycle.moves.split import go_on
from bot.lifecycle.moves.world import branch_is_elsewhere
from bot.lifecycle.plan import Hold, posted_before
from bot.lifecycle.states import Gate, State, WaitingOn
from runner.contract import Feedback, JobKind

if TYPE_CHECKING:
    from bot.lifecycle import events
    from bot.lifecycle.choices import Choices
    from bot.lifecycle.plan import Plan, Review, Revision


def _nothing_to_decide(plan: Plan, event: events.Approved) -> Step:
    return answer(plan, event, fx.Topic.NOTHING_TO_DECIDE, "nothing is up for decision now")


def _meant_for(shown: Revision | Review, event: events.Approved) -> bool:
    """Whether the person can have seen this: a reaction on its comment, or words written after it was posted."""
    return posted_before(shown, event.at, event.comment_id) and event.on_comment in {None, shown.comment_id}


def approve_plan(plan: Plan, event: events.Approved) -> Step:
    """First gate. Binds to the text as posted; where it reads otherwise now, asks anew."""
    revision = plan.revision
    if revision is None or plan.waiting_on is not WaitingOn.PLAN_DECISION or not _meant_for(revision, event):
        return _nothing_to_decide(plan, event)
    if revision.sha256 is None or event.plan_sha256 != revision.sha256:
        plan, posts = ask_anew(plan)
        void = say(plan, fx.Topic.APPROVAL_VOID, event, event.by, what="plan_comment")
        return moved(plan, "approval void: the plan comment was changed", void, *posts)
    approval = counted(plan, event, Gate.PLAN, revision.sha256, revision.content_sha256)
    if isinstance(approval, Step):
        return approval
    plan = changed(plan, state=State.APPROVED, waiting_on=WaitingOn.SLOT, plan_approval=approval, **NOT_WAITING)
    plan = changed(plan, pending=None, wishes=())
    return moved(plan, f"plan {revision.sha256[:12]} approved")


def approve_diff(plan: Plan, event: events.Approved) -> Step:
    """Second gate. Binds to the head commit; where the branch is elsewhere now, the approval is void."""
    review = plan.review
    if review is None or plan.waiting_on is not WaitingOn.DIFF_DECISION or not _meant_for(review, event):
        return _nothing_to_decide(plan, event)
    if event.branch_head != review.work.head:
        return branch_is_elsewhere(plan, event, event.branch_head, event.by)
    approval = counted(plan, event, Gate.DIFF, review.work.head)
    if isinstance(approval, Step):
        return approval
    plan = changed(plan, diff_approval=approval, pending=None, waiting_on=WaitingOn.BOT)
    return moved(plan, f"diff {review.work.head[:12]} approved", check_base(plan, review.work.head))


def reject(plan: Plan, event: events.Rejected) -> Step:
    """End the plan at whichever gate it stands, and keep the reason for later attempts."""
    closing = conclude_check(plan, "failure", f"Rejected by {event.by.login}.")
    at_gate = Gate.DIFF if plan.state is State.IN_REVIEW else Gate.PLAN
    reasons = (Feedback(kind="rejection", author=event.by.login, text=event.reason),) if event.reason else ()
    rejections = (*plan.rejections, *reasons)
    plan, stops = end(plan, State.REJECTED, rejected_at_gate=at_gate, rejections=rejections)
    return moved(plan, f"rejected at the {at_gate} gate", *stops, *closing)


def cancel(plan: Plan, event: events.CancelRequested) -> Step:
    """End the plan without a judgement on it."""
    closing = conclude_check(plan, "cancelled", f"Cancelled by {event.by.login}.")
    plan, stops = end(plan, State.CANCELLED)
    return moved(plan, "cancelled", *stops, *closing)


def retry(plan: Plan, event: events.RetryRequested) -> Step:
    """Do again what failed: planning, splitting, executing through the queue, or the check before the pull request."""
    failure, review = plan.failure, plan.review
    if event.text:
        words = Feedback(kind="retry", author=event.by.login, text=event.text)
        plan = told(plan, words, by=[event.by])
    if (split := plan.split) is not None:
        plan = changed(plan, state=State.DRAFT, waiting_on=WaitingOn.BOT, failure=None)
        return moved(plan, "going on with the parts", *go_on(plan, split))
    if failure is None or failure.during is JobKind.PLAN or plan.plan_approval is None:
        plan, effects = _plan_again(plan)
        return moved(plan, "planning again", *effects)
    if failure.during is JobKind.CHECK_BASE and review is not None:
        review = review.model_copy(update={"buttons": False})
        plan = changed(plan, state=State.IN_REVIEW, waiting_on=WaitingOn.DIFF_DECISION, failure=None, review=review)
        return moved(plan, "the diff is up for decision again")
    if (waits := wait_again(plan, event)) is not None:
        return waits
    plan = changed(plan, feedback=(*plan.feedback, *(failed.feedback for failed in failure.ci)))
    plan = changed(plan, state=State.APPROVED, waiting_on=WaitingOn.SLOT, failure=None, review=None, carry_on=True)
    return moved(plan, "queued again")


def _plan_again(plan: Plan) -> tuple[Plan, tuple[fx.Effect, ...]]:
    """Post the document that never reached its comment, else write one."""
    written = plan.revision is not None and plan.revision.comment_id is None
    if written and not plan.feedback:
        return ask_anew(plan)
    failed = plan.failure.job if plan.failure else None
    if failed is None or failed.unit is None or failed.kind is not JobKind.PLAN:
        return start_planning(plan)
    return start_planning(plan, failed.unit, by=failed.by)


def reopen(plan: Plan, event: events.ReopenRequested) -> Step:
    """Bring an ended plan back for a decision made anew."""
    hold = Hold(causes=event.pauses, at=event.at, by=event.by) if event.pauses else None
    plan = changed(
        plan,
        rejected_at_gate=None,
        pull_request=None,
        pull_request_url=None,
        unverified=None,
        reason_asked=False,
        keep_branch_until=None,
        hold=hold,
    )
    plan, effects = ask_anew(plan)
    return moved(plan, "reopened", *effects)


def shelve(plan: Plan, _event: events.Shelved) -> Step:
    """Put the plan aside; nothing of it is lost, and its approval is over."""
    plan, stops = drop_job(plan)
    plan = changed(plan, state=State.ICEBOX, waiting_on=WaitingOn.PERSON, plan_approval=None)
    return moved(plan, "put in the icebox", *stops)


def thaw(plan: Plan, _event: events.Thawed) -> Step:
    """Take the plan up again for a decision."""
    plan, effects = ask_anew(plan)
    return moved(plan, "taken out of the icebox", *effects)


def choose_agent(plan: Plan, event: events.AgentChosen) -> Step:
    """Let another agent do the work from the next job on; a plan that names the old one is up for decision anew."""
    return _chosen(plan, event, plan.choices.model_copy(update={"agent": event.agent}), agent_command(event.agent))


def choose_budget(plan: Plan, event: events.BudgetChosen) -> Step:
    """Set what the plan may spend from the next job on; a plan that names another sum is up for decision anew."""
    return _chosen(plan, event, plan.choices.model_copy(update={"budget": event.budget}), budget_command(event.budget))


def _chosen(plan: Plan, event: events.AgentChosen | events.BudgetChosen, choices: Choices, command: str) -> Step:
    """Note what was chosen. An approval covers agent and budget as the plan's comment names them."""
    name = command.partition(" ")[0]
    note = f"{name} chosen"
    shown = plan.state is State.APPROVED or (plan.state is State.DRAFT and plan.waiting_on is not WaitingOn.RUNNER)
    if choices == plan.choices:
        return moved(plan, f"{note}: as it was")
    if plan.bound and (kept := wished(plan, event, command)) is not None:
        return kept
    plan = changed(plan, choices=choices, wishes=others(plan, name))
    if not shown:
        return moved(plan, note)
    plan, effects = ask_anew(plan)
    return moved(plan, f"{note}: up for decision anew", *effects)


def choose_priority(plan: Plan, event: events.PriorityChosen) -> Step:
    """Let the plan start before or after others."""
    plan = changed(plan, choices=plan.choices.model_copy(update={"priority": event.priority}))
    return moved(plan, f"priority {event.priority}")


def start_past_overlap(plan: Plan, event: events.StartRequested) -> Step:
    """Let the plan start although others may touch its files; slots still count."""
    if plan.waiting_on is not WaitingOn.OVERLAP:
        why = "it does not wait for another plan's files"
        return answer(plan, event, fx.Topic.NOT_NOW, why, why=why)
    plan = changed(plan, choices=plan.choices.model_copy(update={"past_overlap": True}))
    return moved(plan, "starts past the overlap")


def tell_costs(plan: Plan, event: events.CostsRequested) -> Step:
    """Say what the repository's plans cost; this one stays as it is."""
    return Step(plan, (costs_told(event, plan.thread),), "asked for the costs")


def costs_told(event: events.CostsRequested, thread: int) -> fx.TellCosts:
    """Return the effect that says it, where it was asked for."""
    where, key = event.thread or thread, f"say:costs:{event.source}"
    return fx.TellCosts(key=key, repo=event.repo, issue_number=where, to=event.by, month=event.month)


def tell_status(plan: Plan, event: events.StatusRequested) -> Step:
    """Say where the plan is, and bring the status comment up to date."""
    return moved(plan, "asked for the status", say(plan, fx.Topic.STATUS, event, event.by))
