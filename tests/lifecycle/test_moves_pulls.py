"""A plan whose pull request is open: pushed to, queued, merged, closed, reopened, forgotten."""

from __future__ import annotations

import pytest

from bot.lifecycle import effects as fx
from bot.lifecycle import events as ev
from bot.lifecycle.plan import Person, Unverified
from bot.lifecycle.states import State, Via, WaitingOn
from tests.lifecycle import stories
from tests.lifecycle.makers import HEAD, said
from tests.lifecycle.stepping import STATUS, keys, plan, put, unchanged

AT = {"at": 500.0, "source": "w-1"}
BOB = Person(id=12, login="bob")
OTHER = "d" * 40
OPEN = plan(State.PR_OPEN, WaitingOn.MERGE, **stories.DONE)
PUSHED = OPEN.model_copy(update={"branch_head": OTHER, "unverified": Unverified(head=OTHER, by=BOB)})
KEPT = AT["at"] + stories.POLICY.keep_branch_seconds
CLOSED = put(OPEN, ev.PullRequestClosed(**AT, by=BOB)).plan


# pushed to


def test_a_push_voids_what_was_verified_and_is_told_there():
    step = put(OPEN, ev.BranchMoved(**AT, head=OTHER, by=BOB))
    assert (step.plan.state, step.plan.branch_head) == (State.PR_OPEN, OTHER)
    assert step.plan.unverified == Unverified(head=OTHER, by=BOB)
    assert keys(step) == [":say:branch_moved:w-1", f":judge:8:{OTHER}", STATUS]
    told = step.effects[0]
    assert (told.issue_number, told.to, told.details) == (34, None, {"head": OTHER, "by": "bob"})


def test_a_push_is_told_once_though_github_tells_it_twice():
    first = put(OPEN, ev.BranchMoved(**AT, head=OTHER, by=BOB)).plan
    step = put(first, ev.BranchMoved(at=501.0, source="w-2", head=OTHER, by=BOB))
    assert unchanged(first, step)
    assert keys(step) == []


def test_a_branch_set_back_is_verified_again():
    step = put(PUSHED, ev.BranchMoved(**AT, head=HEAD, by=BOB))
    assert (step.plan.unverified, step.plan.branch_head, keys(step)) == (None, HEAD, [STATUS])


def test_a_branch_that_is_gone_has_nothing_unverified():
    step = put(PUSHED, ev.BranchMoved(**AT, head=None, by=None))
    assert (step.plan.state, step.plan.unverified, step.plan.branch_head) == (State.PR_OPEN, None, None)
    assert step.effects[0].details == {"head": "", "by": ""}


def test_what_was_pushed_while_it_opened_is_told_as_well():
    failed = plan(State.FAILED, WaitingOn.PERSON, failure=stories.FAILURE, **{**stories.REVIEWED, "branch_head": OTHER})
    step = put(failed, ev.PullRequestOpened(**AT, number=34, url="https://github.com/acme/shop/pull/34"))
    assert (step.plan.state, step.plan.unverified) == (State.PR_OPEN, Unverified(head=OTHER))
    assert keys(step) == [":check:2:8", ":say:branch_moved:w-1", f":judge:8:{OTHER}", STATUS]


# GitHub's merge queue


def test_the_merge_queue_is_shown():
    step = put(OPEN, ev.PullRequestQueued(**AT, queued=True))
    assert (step.plan.in_merge_queue, step.note, keys(step)) == (True, "in the merge queue", [STATUS])
    out = put(step.plan, ev.PullRequestQueued(**AT, queued=False, reason="CI_FAILURE"))
    assert (out.plan.in_merge_queue, out.note) == (False, "out of the merge queue: CI_FAILURE")
    assert put(step.plan, ev.PullRequestQueued(**AT, queued=False)).note.endswith("no reason given")


# merged, closed, reopened


@pytest.mark.parametrize(("head", "deleted"), [(HEAD, [f":delete:8:{HEAD}"]), (None, [])])
def test_merged_is_done_and_the_branch_goes(head, deleted):
    step = put(
        OPEN.model_copy(update={"branch_head": head, "in_merge_queue": True}), ev.PullRequestMerged(**AT, by=BOB)
    )
    assert (step.plan.state, step.plan.waiting_on, step.plan.in_merge_queue) == (State.MERGED, None, False)
    assert keys(step) == [":pull:8", *deleted, STATUS]


def test_closed_unmerged_is_denied_and_why_is_asked_on_the_pull_request():
    step = put(OPEN, ev.PullRequestClosed(**AT, by=BOB))
    assert (step.plan.state, keys(step)) == (State.REJECTED, [":say:why_closed", STATUS])
    assert (step.effects[0].issue_number, step.effects[0].to) == (34, None)
    assert step.plan.keep_branch_until == KEPT


def test_why_is_asked_once_however_often_it_is_closed():
    again = put(CLOSED, ev.PullRequestReopened(**AT))
    assert (again.plan.state, again.plan.waiting_on) == (State.PR_OPEN, WaitingOn.MERGE)
    assert again.plan.keep_branch_until is None
    step = put(again.plan, ev.PullRequestClosed(**AT, by=BOB))
    assert (step.plan.state, keys(step)) == (State.REJECTED, [":status:10"])


def test_a_branch_that_is_gone_is_not_kept():
    step = put(OPEN.model_copy(update={"branch_head": None}), ev.PullRequestClosed(**AT, by=BOB))
    assert step.plan.keep_branch_until is None


def test_it_may_be_merged_though_it_was_closed():
    late = put(CLOSED, ev.PullRequestMerged(**AT))
    assert (late.plan.state, late.plan.keep_branch_until) == (State.MERGED, None)


def test_only_its_own_pull_request_is_adopted():
    step = put(plan(State.REJECTED, None), ev.PullRequestReopened(**AT))
    assert (step.plan.state, keys(step), step.note) == (State.REJECTED, [], "no pull request of this plan")


def test_the_reason_is_kept():
    step = put(CLOSED, said(ev.Rejected, reason="We dropped French."))
    assert (step.plan.state, [r.text for r in step.plan.rejections]) == (State.REJECTED, ["We dropped French."])
    assert keys(step) == [":status:9"]
    assert unchanged(CLOSED, put(CLOSED, said(ev.Rejected)))
    assert unchanged(CLOSED, put(CLOSED, said(ev.Rejected, via=Via.REACTION)))


# the branch's time


def test_the_branch_goes_when_its_time_is_over():
    step = put(CLOSED, ev.BranchExpired(at=KEPT, source="branch:1"))
    assert keys(step) == [f":delete:9:{HEAD}", ":status:9"]
    assert (step.plan.branch_head, step.plan.keep_branch_until) == (None, None)
    back = put(step.plan, said(ev.ReopenRequested)).plan
    assert (back.state, back.branch_head, back.pull_request) == (State.DRAFT, None, None)


def test_a_timer_of_an_earlier_closing_removes_nothing():
    early = ev.BranchExpired(at=KEPT - 1, source="branch:1")
    assert put(CLOSED, early).note == "the branch is kept for longer"
    adopted = put(CLOSED, said(ev.ReopenRequested)).plan
    assert adopted.keep_branch_until is None
    assert put(adopted, ev.BranchExpired(at=KEPT, source="branch:1")).note == "the branch is in use, or gone"


def test_a_branch_with_somebodys_own_commits_stays():
    closed = put(PUSHED, ev.PullRequestClosed(**AT, by=BOB)).plan
    step = put(closed, ev.BranchExpired(at=KEPT, source="branch:1"))
    assert not any(isinstance(effect, fx.DeleteBranch) for effect in step.effects)
    assert (step.plan.branch_head, step.plan.keep_branch_until) == (OTHER, None)
