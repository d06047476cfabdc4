"""Further work on an open pull request: its rows, and that nothing leaves the pull request behind."""

from __future__ import annotations

import pytest

from bot.lifecycle import effects as fx
from bot.lifecycle import events as ev
from bot.lifecycle.ci import CiCheck, CiState
from bot.lifecycle.moves.rework import drop
from bot.lifecycle.plan import Hold, Person, Rework, Unverified
from bot.lifecycle.policy import CiPolicy
from bot.lifecycle.rework import STATES
from bot.lifecycle.states import HoldCause, State, Via, WaitingOn
from bot.lifecycle.transitions import EVENTS, rule_of
from runner.contract import Feedback, JobKind, Outcome
from tests.lifecycle import stories
from tests.lifecycle.makers import HEAD, UID, report, said
from tests.lifecycle.makers import work as work_of
from tests.lifecycle.stepping import STATUS, keys, plan, put, unchanged

AT = {"at": 500.0, "source": "w-1"}
BOB = Person(id=12, login="bob")
NEXT, OTHER = stories.NEXT, "d" * 40
OPEN = plan(State.PR_OPEN, WaitingOn.MERGE, **stories.DONE)
AT_WORK = plan(State.EXECUTING, WaitingOn.RUNNER, job=stories.job(), **stories.REWORKED)
CHECKED = plan(State.VERIFYING, WaitingOn.BOT, **{**stories.REWORK_SHOWN, "rework": stories.REWORKED["rework"]})
SHOWN = plan(State.IN_REVIEW, WaitingOn.DIFF_DECISION, **stories.REWORK_SHOWN)
APPROVED = plan(State.IN_REVIEW, WaitingOn.BOT, **stories.REWORK_APPROVED)
FAILED = plan(State.FAILED, WaitingOn.PERSON, failure=stories.FAILURE, **stories.REWORKED)
CI = Feedback(kind="ci", author="ci", text="The check build ended as failure.")
DROP = ":delete_next:8"


def back(before, step):
    """Whether the pull request stands as it was approved before the further work."""
    after = step.plan
    return (after.state, after.waiting_on, after.rework, after.job, after.failure, after.hold, after.feedback) == (
        State.PR_OPEN, WaitingOn.MERGE, None, None, None, None, (),
    ) and (after.review, after.diff_approval) == (before.rework.review, before.rework.diff_approval)  # fmt: skip


# begun


@pytest.mark.parametrize("kind", [ev.FixRequested, ev.ReviseRequested])
def test_it_goes_on_from_the_pull_requests_head(kind):
    step = put(OPEN, said(kind, text="Smaller.", remarks=(CI,), branch_head=HEAD))
    after = step.plan
    assert (after.state, after.job.head, after.review, after.diff_approval) == (State.EXECUTING, HEAD, None, None)
    assert after.rework == Rework(on=HEAD, review=stories.GREEN, diff_approval=stories.DIFF_APPROVAL)
    assert [f.text for f in after.feedback] == ["Smaller.", CI.text]
    assert (after.work_branch, after.approved_head, after.thread) == ("plan/12-next", HEAD, 34)
    assert keys(step) == ["-4:dispatch", STATUS]


def test_it_is_begun_for_a_reason_alone():
    for event, why in (
        (said(ev.FixRequested, text="please", branch_head=HEAD), "no check fails"),
        (said(ev.ReviseRequested, branch_head=HEAD), "nothing to change was said"),
        (said(ev.ReviseRequested, text="x", branch_head=None), "is gone"),
    ):
        step = put(OPEN, event)
        assert unchanged(OPEN, step)
        assert why in step.effects[0].details["why"]


def test_what_was_pushed_unheard_is_told_and_gone_on_from():
    step = put(OPEN, said(ev.ReviseRequested, text="x", branch_head=OTHER))
    assert (step.plan.rework.on, step.plan.unverified) == (OTHER, Unverified(head=OTHER))
    assert keys(step) == [":say:branch_moved:d-1", f":judge:8:{OTHER}", "-4:dispatch", STATUS]


# shown and joined


def test_its_branch_is_known_apart_from_the_pull_requests():
    posted = put(CHECKED, ev.BranchConfirmed(**AT, head=NEXT))
    assert (posted.plan.work_head, posted.plan.branch_head) == (NEXT, HEAD)
    verified = ev.WorkVerified(
        **AT, job=f"{UID}-3", report=report(f"{UID}-3", Outcome.VERIFIED, work=work_of(NEXT), gates=())
    )
    assert put(AT_WORK, verified).plan.review.thread == 34


def test_an_approval_moves_the_branch_from_where_it_was():
    approved = put(SHOWN, said(ev.Approved, at=500.0, branch_head=NEXT)).plan
    step = put(approved, ev.BaseChecked(**AT, head=NEXT, clean=True))
    assert step.effects == (fx.AdvanceBranch(key=f"{UID}:advance:9:{NEXT}", head=NEXT, expected=HEAD),)


def test_joined_it_is_what_was_approved():
    step = put(APPROVED, ev.BranchAdvanced(**AT, head=NEXT))
    after = step.plan
    assert (after.state, after.rework, after.branch_head, after.approved_head) == (State.PR_OPEN, None, NEXT, NEXT)
    assert (after.unverified, after.diff_approval.binds_to) == (None, NEXT)
    assert keys(step) == [DROP, ":check:3:8", ":pull:8", STATUS]


def test_joined_late_it_is_a_push_like_any_other():
    step = put(AT_WORK, ev.BranchAdvanced(**AT, head=NEXT))
    assert (step.plan.state, step.plan.unverified) == (State.PR_OPEN, Unverified(head=NEXT))
    late = put(OPEN, ev.BranchAdvanced(**AT, head=NEXT))
    assert late.plan.unverified == Unverified(head=NEXT)
    assert unchanged(OPEN, put(OPEN, ev.BranchAdvanced(**AT, head=HEAD)))


def test_a_branch_that_github_would_not_move_is_up_for_decision_again():
    failed = put(APPROVED, ev.EffectFailed(**AT, effect="advance_branch", sentence="409"))
    assert (failed.plan.state, failed.plan.failure.during) == (State.FAILED, JobKind.CHECK_BASE)
    again = put(failed.plan, said(ev.RetryRequested))
    assert (again.plan.state, again.plan.waiting_on) == (State.IN_REVIEW, WaitingOn.DIFF_DECISION)
    assert again.plan.review == failed.plan.review.model_copy(update={"buttons": False}), "concluded is concluded"


def test_a_conflict_goes_back_to_the_agent_on_its_branch():
    merging = plan(
        State.IN_REVIEW, WaitingOn.RUNNER, job=stories.job(JobKind.CHECK_BASE, None), **stories.REWORK_APPROVED
    )
    step = put(merging, ev.BaseReported(**AT, job=f"{UID}-3", conflicts=("a.py",)))
    assert (step.plan.state, step.plan.work_head, step.plan.branch_head) == (State.EXECUTING, NEXT, HEAD)


# failed


@pytest.mark.parametrize(("head", "start"), [(None, HEAD), (NEXT, NEXT)])
def test_failed_it_goes_on_from_its_branch_else_from_the_pull_request(head, start):
    rework = FAILED.rework.model_copy(update={"head": head})
    step = put(FAILED.model_copy(update={"rework": rework}), said(ev.RetryRequested, text="Again."))
    assert (step.plan.state, step.plan.job.head, step.plan.failure) == (State.EXECUTING, start, None)
    assert [f.text for f in step.plan.feedback] == ["Again."]


# dropped


@pytest.mark.parametrize("before", [AT_WORK, CHECKED, SHOWN, APPROVED, FAILED], ids=lambda p: p.state)
@pytest.mark.parametrize("event", [said(ev.Rejected, reason="No."), said(ev.Rejected), said(ev.CancelRequested)])
def test_rejected_or_cancelled_it_goes_alone(before, event):
    step = put(before, event)
    assert back(before, step)
    assert DROP in keys(step)
    assert len(step.plan.rejections) == bool(getattr(event, "reason", ""))


def test_held_it_can_be_dropped_as_well():
    held = AT_WORK.model_copy(update={"hold": Hold(causes=(HoldCause.ISSUE_CLOSED,), at=1.0)})
    assert back(held, put(held, said(ev.CancelRequested)))


@pytest.mark.parametrize("before", [AT_WORK, CHECKED, SHOWN, APPROVED, FAILED], ids=lambda p: p.state)
def test_merged_or_closed_meanwhile_ends_it(before):
    merged = put(before, ev.PullRequestMerged(**AT, by=BOB))
    assert (merged.plan.state, merged.plan.rework, merged.plan.job) == (State.MERGED, None, None)
    assert [k for k in keys(merged) if "delete" in k] == [DROP, f":delete:8:{HEAD}"]
    closed = put(before, ev.PullRequestClosed(**AT, by=BOB))
    assert (closed.plan.state, closed.plan.rework, closed.plan.review) == (State.REJECTED, None, stories.GREEN)
    assert put(closed.plan, ev.PullRequestReopened(**AT)).plan.approved_head == HEAD


@pytest.mark.parametrize("before", [AT_WORK, CHECKED, SHOWN, APPROVED, FAILED], ids=lambda p: p.state)
def test_a_push_to_the_pull_request_drops_it(before):
    step = put(before, ev.BranchMoved(**AT, head=OTHER, by=BOB, branch="plan/12"))
    assert back(before, step)
    assert step.plan.unverified == Unverified(head=OTHER, by=BOB)
    (told,) = [e for e in step.effects if isinstance(e, fx.Say)]
    assert told.details == {"head": OTHER, "by": "bob", "dropped": "yes"}
    assert unchanged(before, put(before, ev.BranchMoved(**AT, head=HEAD)))


def test_a_push_to_its_own_branch_is_a_persons_to_decide():
    pushed = ev.BranchMoved(**AT, head=OTHER, by=BOB, branch="plan/12-next")
    step = put(SHOWN, pushed)
    assert (step.plan.state, step.plan.work_head, step.plan.branch_head) == (State.FAILED, OTHER, HEAD)
    assert put(AT_WORK, pushed).note == "the branch is read again before it is used"


# what stays with the pull request


@pytest.mark.parametrize("state", sorted(STATES))
@pytest.mark.parametrize("event", EVENTS, ids=lambda e: e.__name__)
def test_nothing_leaves_the_pull_request_behind(state, event):
    rule = rule_of(plan(state, WaitingOn.RUNNER, **stories.REWORKED), event)
    ends = {ev.PullRequestMerged: State.MERGED, ev.PullRequestClosed: State.REJECTED, ev.Gone: State.CANCELLED}
    assert rule.to <= STATES | {State.PR_OPEN} | {ends.get(event, State.PR_OPEN)}


def test_the_merge_queue_and_reactions_go_on():
    assert put(AT_WORK, ev.PullRequestQueued(**AT, queued=True)).plan.in_merge_queue
    assert put(SHOWN, said(ev.UpdateRequested, text="x", via=Via.REACTION)).effects == ()


# begun by itself

MENDING = OPEN.model_copy(update={"policy": stories.POLICY.model_copy(update={"ci": CiPolicy(fix=2)})})


def reported(*states, head=HEAD):
    checks = tuple(CiCheck(name=f"check {n}", state=state, app="ci") for n, state in enumerate(states))
    return ev.CiReported(**AT, head=head, checks=checks, logs={"check 0": "cc: no such file"})


def test_failing_checks_of_the_verified_head_are_mended_by_itself_as_often_as_allowed():
    step = put(MENDING, reported(CiState.FAILED, CiState.PASSED))
    after = step.plan
    assert (after.state, after.job.head, after.fixes, after.rework.by_itself) == (State.EXECUTING, HEAD, 1, True)
    assert [(f.kind, f.text) for f in after.feedback] == [
        ("ci", "The check check 0 ended as failed.\ncc: no such file")
    ]  # fmt: skip
    assert step.note.startswith("fix 1 of 2 by itself")
    joined = put(APPROVED.model_copy(update={"policy": MENDING.policy, "fixes": 2}), ev.BranchAdvanced(**AT, head=NEXT))
    assert unchanged(joined.plan, put(joined.plan, reported(CiState.FAILED, head=NEXT)))


@pytest.mark.parametrize(
    ("before", "event"),
    [
        (OPEN, reported(CiState.FAILED)),
        (MENDING, reported(CiState.PASSED)),
        (MENDING, reported(CiState.FAILED, CiState.PENDING)),
        (MENDING, reported(CiState.FAILED, head=OTHER)),
        (put(MENDING, ev.BranchMoved(**AT, head=OTHER, by=BOB)).plan, reported(CiState.FAILED, head=OTHER)),
        (MENDING.model_copy(update={"fixes": 2}), reported(CiState.FAILED)),
    ],
    ids=["not allowed", "nothing fails", "not ended", "another commit", "a person's commit", "often enough"],
)
def test_nothing_else_is_mended_by_itself(before, event):
    assert unchanged(before, put(before, event))


def test_where_there_is_none_nothing_is_dropped():
    assert drop(OPEN, "x") == (OPEN, ())
