"""The checks of other Apps: what they decide before a diff is shown, and what they only tell afterwards."""

from __future__ import annotations

import pytest

from bot.lifecycle import events as ev
from bot.lifecycle.ci import MOST_CHECKS, CiCheck, CiFailure, CiState, latest, outlook
from bot.lifecycle.policy import CiPolicy
from bot.lifecycle.states import HoldCause, State, WaitingOn
from runner.contract import Feedback, JobKind, Outcome
from tests.lifecycle import makers, stories
from tests.lifecycle.makers import HEAD, said
from tests.lifecycle.stepping import STATUS, keys, plan, put, unchanged

AT = {"at": 500.0, "source": "c-1"}
UNTIL = 4_100.0
POLICY = stories.POLICY.model_copy(update={"ci": CiPolicy(require=("build", "Lint"), timeout_seconds=3_600)})
FRESH = stories.GREEN.model_copy(update={"comment_id": None, "check_run_id": None, "posted_at": None})
PUSHED = plan(State.VERIFYING, WaitingOn.BOT, **stories.APPROVED, review=FRESH, policy=POLICY)
WAITING = PUSHED.model_copy(
    update={"waiting_on": WaitingOn.CI, "branch_head": HEAD, "review": FRESH.model_copy(update={"ci_until": UNTIL})}
)
IN_REVIEW = plan(State.IN_REVIEW, WaitingOn.DIFF_DECISION, **stories.REVIEWED)


def check(name: str = "build", state: CiState = CiState.PASSED, **fields) -> CiCheck:
    return CiCheck(name=name, state=state, **fields)


def reported(*checks: CiCheck, at: float = 500.0, head: str = HEAD, **fields) -> ev.CiReported:
    return ev.CiReported(at=at, source="c-1", head=head, checks=checks, **fields)


# before the diff is shown


def test_a_pushed_commit_waits_for_the_checks_that_the_policy_requires():
    step = put(PUSHED, ev.BranchConfirmed(**AT, head=HEAD))
    assert (step.plan.state, step.plan.waiting_on, step.plan.branch_head) == (State.VERIFYING, WaitingOn.CI, HEAD)
    assert step.plan.review.ci_until == UNTIL
    assert keys(step) == [":ci:8", STATUS]


def test_the_diff_is_shown_once_each_has_passed_and_skipped_counts():
    one = put(WAITING, reported(check()))
    assert (one.plan.waiting_on, keys(one), one.note) == (WaitingOn.CI, [STATUS], "still waiting for checks")
    assert put(one.plan, reported(check(at=9.0))).effects == ()
    step = put(one.plan, reported(check(), check("lint", CiState.NEUTRAL, conclusion="skipped")))
    assert (step.plan.state, step.plan.waiting_on) == (State.IN_REVIEW, WaitingOn.BOT)
    assert keys(step) == [":review:2", ":status:9"]
    assert [c.name for c in step.plan.review.ci] == ["build", "lint"]


def test_one_that_fails_fails_the_plan_and_retry_hands_its_log_to_the_agent():
    failed = check("build", CiState.FAILED, conclusion="timed_out", url="https://ci.example/1")
    step = put(WAITING, reported(failed, check("lint", CiState.PENDING), logs={"build": "make: Error 2"}))
    assert step.plan.state is State.FAILED
    failure = step.plan.failure
    assert (failure.outcome, failure.during) == (Outcome.GATES_FAILED, JobKind.EXECUTE)
    assert failure.sentence == f"The required check build did not pass on commit {HEAD[:12]}."
    assert failure.ci == (CiFailure(check=failed, log="make: Error 2"),)
    assert keys(step) == [STATUS]
    again = put(step.plan, said(ev.RetryRequested, text="Mind the cache."))
    assert (again.plan.state, again.plan.carry_on) == (State.APPROVED, True)
    assert again.plan.feedback == (
        Feedback(kind="retry", author="alice", text="Mind the cache."),
        Feedback(
            kind="ci",
            author="GitHub",
            text="The check build ended as timed_out on GitHub.\n\nhttps://ci.example/1\n\nmake: Error 2",
        ),
    )


def test_the_deadline_asks_once_more_and_then_names_what_never_came():
    due = put(WAITING, ev.CiDue(at=UNTIL, source="t-1", head=HEAD))
    assert (due.plan.waiting_on, keys(due)) == (WaitingOn.CI, [":ci:8"])
    step = put(due.plan, reported(check("lint"), at=UNTIL))
    assert (step.plan.state, step.plan.failure.awaited) == (State.FAILED, ("build",))
    assert step.plan.failure.sentence == (
        f"The required check build did not end on commit {HEAD[:12]} within 60 minutes."
    )
    both = put(due.plan, reported(check("build", CiState.PENDING), at=UNTIL))
    assert both.plan.failure.sentence.startswith("The required checks build, Lint did not end")


LATE = put(WAITING, reported(at=UNTIL)).plan


def test_retry_waits_once_more_by_the_policy_of_that_moment():
    step = put(LATE, said(ev.RetryRequested, 9_000.0, ci=CiPolicy(require=("build",), timeout_seconds=60)))
    assert (step.plan.state, step.plan.waiting_on, step.plan.failure) == (State.VERIFYING, WaitingOn.CI, None)
    assert (step.plan.policy.ci.require, step.plan.review.ci_until) == (("build",), 9_060.0)
    assert put(step.plan, reported(check())).plan.state is State.IN_REVIEW
    same = put(LATE, said(ev.RetryRequested, 9_000.0))
    assert same.plan.policy == POLICY


def test_retry_goes_on_at_once_where_none_is_required_any_more():
    step = put(LATE, said(ev.RetryRequested, ci=CiPolicy()))
    assert (step.plan.state, step.plan.waiting_on, step.plan.failure) == (State.IN_REVIEW, WaitingOn.BOT, None)


def test_retry_with_words_is_for_the_agent():
    assert put(LATE, said(ev.RetryRequested, text="Build less.")).plan.state is State.APPROVED


def test_further_work_on_a_pull_request_waits_and_is_retried_alike():
    rework = stories.STATUS["rework-in_review"].rework
    late = LATE.model_copy(update={"rework": rework, "pull_request": 34})
    step = put(late, said(ev.RetryRequested, 9_000.0))
    assert (step.plan.state, step.plan.waiting_on, step.plan.rework) == (State.VERIFYING, WaitingOn.CI, rework)
    failed = put(WAITING.model_copy(update={"rework": rework}), reported(check("build", CiState.FAILED)))
    again = put(failed.plan, said(ev.RetryRequested))
    assert (again.plan.state, [f.kind for f in again.plan.feedback]) == (State.EXECUTING, ["ci"])


@pytest.mark.parametrize(
    ("before", "event", "note"),
    [
        (WAITING, reported(check(), head="f" * 40), "checks of another commit"),
        (WAITING.model_copy(update={"review": None}), reported(check()), "checks of another commit"),
        (WAITING, ev.CiDue(**AT, head="f" * 40), "nothing waits for these checks"),
        (PUSHED, ev.CiDue(**AT, head=HEAD), "nothing waits for these checks"),
        (IN_REVIEW, ev.CiDue(**AT, head=HEAD), "nothing waits for checks"),
    ],
)
def test_what_is_of_another_commit_or_too_late_changes_nothing(before, event, note):
    step = put(before, event)
    assert unchanged(before, step)
    assert (step.effects, step.note) == ((), note)


def test_what_comes_before_the_branch_is_read_back_is_noted():
    step = put(PUSHED, reported(check()))
    assert (step.plan.waiting_on, step.effects, step.note) == (WaitingOn.BOT, (), "the checks are noted")
    assert [c.name for c in step.plan.review.ci] == ["build"]


def test_a_held_plan_notes_checks_and_asks_again_when_it_goes_on():
    held = put(WAITING, ev.HoldPlaced(**AT, cause=HoldCause.ISSUE_CLOSED), reported(check(), check("lint")))
    assert (held.plan.state, held.plan.waiting_on, held.effects) == (State.VERIFYING, WaitingOn.CI, ())
    step = put(held.plan, ev.HoldLifted(**AT, cause=HoldCause.ISSUE_CLOSED))
    assert keys(step) == [":ci:10", ":status:10"]


def test_checks_that_can_not_be_read_fail_what_waits_for_them_and_nothing_else():
    refused = ev.EffectFailed(**AT, effect="read_ci", sentence="GitHub answered 403: Forbidden.")
    step = put(WAITING, refused)
    assert (step.plan.state, step.plan.failure.sentence) == (State.FAILED, "GitHub answered 403: Forbidden.")
    assert unchanged(IN_REVIEW, put(IN_REVIEW, refused))
    assert unchanged(PUSHED, put(PUSHED, refused))


# in review


def test_in_review_checks_are_shown_and_disturb_no_decision():
    step = put(IN_REVIEW, reported(check("build", CiState.FAILED)))
    assert (step.plan.state, step.plan.waiting_on) == (State.IN_REVIEW, WaitingOn.DIFF_DECISION)
    assert keys(step) == [":refresh:8"]
    assert put(step.plan, reported(check("build", CiState.FAILED, at=7.0))).effects == ()
    approved = plan(State.IN_REVIEW, WaitingOn.BOT, diff_approval=stories.DIFF_APPROVAL, **stories.REVIEWED)
    after = put(approved, reported(check("build", CiState.FAILED)))
    assert (after.plan.diff_approval, after.plan.waiting_on) == (stories.DIFF_APPROVAL, WaitingOn.BOT)


# which check counts


def test_of_one_name_what_an_app_said_last_counts():
    old = check("build", CiState.PASSED, app="ci", at=10.0)
    rerun = check("Build", CiState.PENDING, app="ci", at=20.0)
    assert latest((rerun, old)) == (rerun,)
    assert outlook(("build",), (rerun, old)).awaited == ("build",)
    assert outlook(("build",), (old, rerun.model_copy(update={"at": 5.0}))).awaited == ()


def test_what_an_app_says_is_not_said_over_by_another_of_the_same_name():
    failed = check("build", CiState.FAILED, app="ci", at=10.0)
    forged = check("BUILD", CiState.PASSED, at=20.0)
    assert latest((failed, forged)) == (failed, forged)
    for checks in ((failed, forged), (forged, failed)):
        assert outlook(("build",), checks).failed == (failed,)
    begun = failed.model_copy(update={"state": CiState.PENDING})
    assert outlook(("build",), (begun, forged)).awaited == ("build",)


def test_a_required_check_is_found_behind_very_many_others():
    many = [check(f"a{number}", CiState.FAILED) for number in range(MOST_CHECKS)]
    assert put(WAITING, reported(*many, check("build"), check("lint"))).plan.state is State.IN_REVIEW


@pytest.mark.parametrize(
    ("state", "conclusion", "counts"),
    [
        (CiState.PASSED, "success", "passed"),
        (CiState.NEUTRAL, "neutral", "passed"),
        (CiState.NEUTRAL, "stale", "awaited"),
        (CiState.PENDING, "", "awaited"),
        (CiState.FAILED, "cancelled", "failed"),
    ],
)
def test_what_a_required_check_amounts_to(state, conclusion, counts):
    found = outlook(("build",), (check("build", state, conclusion=conclusion),))
    assert (bool(found.failed), bool(found.awaited)) == (counts == "failed", counts == "awaited")


def test_of_very_many_those_that_failed_are_kept():
    many = [check(f"c{n:03}") for n in range(MOST_CHECKS)]
    kept = latest((*many, check("z", CiState.FAILED)))
    assert (len(kept), kept[0].name) == (MOST_CHECKS, "z")


def test_the_inspectors_words_come_along_with_the_work():
    job = stories.job()
    before = plan(State.VERIFYING, WaitingOn.RUNNER, job=job, **stories.APPROVED)
    report = makers.report(job.id, Outcome.VERIFIED, work=makers.work(), inspection=stories.INSPECTION)
    step = put(before, ev.WorkVerified(**AT, job=job.id, report=report))
    assert step.plan.review.inspection == stories.INSPECTION
