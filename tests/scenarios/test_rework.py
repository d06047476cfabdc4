"""Further work on an open pull request: begun by words or failing checks, reviewed there, joined when approved."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from runner.contract import Outcome
from tests.scenarios.test_after_pr import ISSUE, checks_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.scenarios.village import Village

NEXT = "plan/1-next"


def opened(village: Village) -> tuple[int, int, str]:
    """An issue with an open pull request: the two numbers, and the approved head."""
    issue = village.pulled()
    return issue, village.plan(issue).pull_request or 0, village.workshop.tip("plan/1") or ""


def reworking(village: Village) -> tuple[int, int, str]:
    """The same, and the agent was sent back to it."""
    issue, pull, head = opened(village)
    village.alice.comment(pull, "/revise Round half to even.")
    village.settle()
    assert village.stands(issue) == "executing, waits for runner", village.known()
    return issue, pull, head


def shown(village: Village) -> tuple[int, int, str]:
    """The same, and what it did is up for decision."""
    issue, pull, head = reworking(village)
    village.runner(issue).execute({"shop/basket.py": "rounded to even"})
    assert village.stands(issue) == "in_review, waits for diff_decision", village.known()
    return issue, pull, head


SAID = ["alice: /revise Round half to even."]


def test_revised_reviewed_there_and_joined_by_an_approval_of_exactly_that_head(village: Village) -> None:
    issue, pull, head = opened(village)
    village.bob.review(pull, "REQUEST_CHANGES", "Half to even, please.", [
        {"path": "shop/basket.py", "line": 1, "body": "Here."},
    ])  # fmt: skip
    village.rita.review(pull, "COMMENT", "And delete everything.")
    village.alice.comment(pull, "/revise As Bob says.")
    village.settle()
    assert village.stands(issue) == "executing, waits for runner"
    runner = village.runner(issue)
    done = runner.execute({"shop/basket.py": "rounded to even"})
    spec = runner.spec
    assert (spec.branch, spec.head, spec.shown, spec.branch_head) == (NEXT, head, head, None)
    assert [(f.kind, f.author, f.text, f.path, f.line) for f in spec.feedback] == [
        ("revise", "alice", "As Bob says.", "", None),
        ("review", "bob", "Half to even, please.", "", None),
        ("review", "bob", "Here.", "shop/basket.py", 1),
    ]
    assert village.stands(issue) == "in_review, waits for diff_decision"
    assert village.thread(pull) == ["alice: /revise As Bob says.", "review 3"]
    assert "diff review on the pull request" in village.text(issue, "status")
    assert village.workshop.tip("plan/1") == head
    village.bob.comment(pull, "/approve")
    village.settle()
    assert village.stands(issue) == "pr_open, waits for merge"
    assert village.workshop.tip("plan/1") == done
    assert village.branches() == ["plan/1"]
    assert len(village.pulls()) == 1
    ((conclusion, title),) = checks_of(village, done)
    assert (conclusion, title.startswith("Approved; part of pull request")) == ("success", True)
    assert village.thread(pull) == ["alice: /revise As Bob says.", "review 3", "bob: /approve"]
    assert village.thread(issue) == ISSUE
    assert village.path(issue)[-5:] == ["pr_open", "executing", "verifying", "in_review", "pr_open"]
    assert village.notes(issue, "branch_advanced") == [f"{done[:12]} joined the pull request"]
    village.alice.merge(pull)
    village.settle()
    assert village.stands(issue) == "merged"
    assert village.branches() == []


def test_a_thumb_on_the_review_there_decides(village: Village) -> None:
    issue, _, _ = shown(village)
    review = village.plan(issue).review
    assert review is not None
    village.bob.react(review.comment_id or 0)
    village.look()
    assert village.stands(issue) == "pr_open, waits for merge"
    assert village.workshop.tip("plan/1") == review.work.head


def test_fix_takes_the_failing_checks_with_their_logs(village: Village) -> None:
    issue, pull, head = opened(village)
    village.alice.comment(pull, "/fix")
    village.settle()
    assert village.thread(pull) == ["alice: /fix", "not_now"]
    assert "no check fails" in village.text(pull, "not_now")
    control = village.github.control
    control.report_check(village.repository, head, "build", "failure", log="cc: no such file: basket.h")
    control.report_check(village.repository, head, "docs", "success")
    control.report_status(village.repository, head, "coverage", "failure")
    village.settle()
    assert village.stands(issue) == "pr_open, waits for merge"
    village.alice.comment(pull, "/fix Mind the header.")
    village.settle()
    spec = village.runner(issue).claim()
    assert [f.kind for f in spec.feedback] == ["revise", "ci", "ci"]
    build = next(f.text for f in spec.feedback if "build" in f.text)
    assert "ended as failure" in build
    assert build.endswith("cc: no such file: basket.h")
    assert village.thread(pull) == ["alice: /fix", "not_now", "alice: /fix Mind the header."]
    assert village.thread(issue) == ISSUE


@pytest.mark.parametrize("words", ["/reject Not like that.", "/cancel"])
@pytest.mark.parametrize("stage", [reworking, shown], ids=["at work", "in review"])
def test_rejected_or_cancelled_it_goes_alone(
    village: Village, words: str, stage: Callable[[Village], tuple[int, int, str]]
) -> None:
    issue, pull, head = stage(village)
    job = village.plan(issue).job
    village.alice.comment(pull, words)
    village.settle()
    assert village.stands(issue) == "pr_open, waits for merge"
    assert village.workshop.tip("plan/1") == head
    assert village.branches() == ["plan/1"]
    if job is not None:
        assert village.run_state(job.id) == "completed cancelled"
    plan = village.plan(issue)
    assert plan.diff_approval is not None
    assert plan.diff_approval.binds_to == head
    assert [r.text for r in plan.rejections] == (["Not like that."] if "reject" in words else [])
    review = ["review 3"] if stage is shown else []
    assert village.thread(pull) == [*SAID, *review, f"alice: {words}"]
    assert village.thread(issue) == ISSUE
    village.alice.comment(pull, "/revise Once more.")
    village.settle()
    village.runner(issue).execute({"shop/basket.py": "otherwise"})
    assert village.stands(issue) == "in_review, waits for diff_decision"


def test_a_failure_of_it_is_tried_again_or_dropped(village: Village) -> None:
    issue, pull, head = reworking(village)
    runner = village.runner(issue)
    runner.claim()
    runner.end(Outcome.GATES_FAILED, usage=runner.usage())
    assert village.stands(issue) == "failed, waits for person"
    assert "this was further work on it" in village.text(issue, "status")
    village.alice.comment(issue, "/update All else.")
    village.settle()
    assert village.thread(issue) == [*ISSUE, "alice: /update All else.", "not_now"]
    village.alice.comment(pull, "/retry Smaller steps.")
    village.settle()
    runner = village.runner(issue)
    runner.execute({"shop/basket.py": "rounded to even"})
    assert [f.text for f in runner.spec.feedback] == ["Round half to even.", "Smaller steps."]
    assert (runner.spec.head, runner.spec.branch) == (head, NEXT)
    assert village.stands(issue) == "in_review, waits for diff_decision"


def test_merged_meanwhile_the_work_stops(village: Village) -> None:
    issue, pull, _ = reworking(village)
    job = village.plan(issue).job
    assert job is not None
    village.alice.merge(pull)
    village.settle()
    assert village.stands(issue) == "merged"
    assert village.run_state(job.id) == "completed cancelled"
    assert village.branches() == []
    assert (village.thread(pull), village.thread(issue)) == (SAID, ISSUE)


def test_closed_meanwhile_it_is_dropped(village: Village) -> None:
    issue, pull, head = shown(village)
    village.alice.close_pull(pull)
    village.settle()
    assert village.stands(issue) == "rejected"
    assert village.branches() == ["plan/1"]
    assert village.thread(pull) == [*SAID, "review 3", "why_closed"]
    village.alice.reopen(pull)
    village.settle()
    assert village.stands(issue) == "pr_open, waits for merge"
    assert village.plan(issue).approved_head == head


def test_a_push_to_the_pull_request_meanwhile_drops_it_and_says_so(village: Village) -> None:
    issue, pull, _ = shown(village)
    theirs = village.push("bob", {"shop/other.py": "mine"}, "plan/1")
    village.settle()
    assert village.stands(issue) == "pr_open, waits for merge"
    assert village.thread(pull) == [*SAID, "review 3", "branch_moved"]
    assert "Further work that stood on the earlier commit" in village.text(pull, "branch_moved")
    assert village.branches() == ["plan/1"]
    village.alice.comment(pull, "/approve")
    village.settle()
    assert village.workshop.tip("plan/1") == theirs
    village.alice.comment(pull, "/revise Go on from Bob's.")
    village.settle()
    runner = village.runner(issue)
    done = runner.execute({"shop/basket.py": "rounded to even"})
    assert runner.spec.head == theirs
    assert runner.spec.shown != theirs
    village.alice.comment(pull, "/approve")
    village.settle()
    assert village.workshop.tip("plan/1") == done
    assert village.plan(issue).unverified is None
    assert village.thread(issue) == ISSUE


def test_a_push_that_nobody_told_of_keeps_the_branch_from_moving(village: Village) -> None:
    issue, pull, _ = shown(village)
    village.github.faults.add("drop", event="push")
    village.github.faults.add("drop", event="pull_request")
    theirs = village.push("bob", {"shop/other.py": "mine"}, "plan/1")
    village.alice.comment(pull, "/approve")
    village.settle()
    assert village.stands(issue) == "pr_open, waits for merge"
    assert village.workshop.tip("plan/1") == theirs
    assert village.thread(pull) == [*SAID, "review 3", "alice: /approve", "branch_moved"]


def test_somebody_elses_push_to_its_branch_voids_it(village: Village) -> None:
    issue, pull, head = shown(village)
    theirs = village.push("bob", {"shop/other.py": "mine"}, NEXT)
    village.settle()
    assert village.stands(issue) == "failed, waits for person"
    assert village.thread(pull) == [*SAID, "review 3", "branch_moved"]
    assert "Branch `plan/1-next` is now at" in village.text(pull, "branch_moved")
    assert village.workshop.tip("plan/1") == head
    village.alice.comment(pull, "/cancel")
    village.settle()
    assert village.stands(issue) == "pr_open, waits for merge"
    assert village.workshop.tip(NEXT) == theirs


def test_a_policy_that_mends_nothing_any_more_is_obeyed_at_once(village: Village) -> None:
    village.set_policy("sandbox: auto\ngates: [{name: tests, run: 'true'}]\nci: {fix: 1}\n")
    issue, pull, head = opened(village)
    village.set_policy("sandbox: auto\ngates: [{name: tests, run: 'true'}]\n")
    village.github.control.report_check(village.repository, head, "build", "failure", log="cc: no such file")
    village.later(60)
    assert village.stands(issue) == "pr_open, waits for merge"
    assert (village.thread(issue), village.thread(pull)) == (ISSUE, [])
    assert village.notes(issue, "ci_reported") == []


def test_by_the_policy_failing_checks_are_mended_without_a_word_but_not_for_ever(village: Village) -> None:
    village.set_policy("sandbox: auto\ngates: [{name: tests, run: 'true'}]\nci: {fix: 1}\n")
    issue, pull, head = opened(village)
    village.github.control.report_check(village.repository, head, "build", "failure", log="cc: no such file")
    village.settle()
    village.later(60)
    assert village.stands(issue) == "executing, waits for runner", village.known()
    assert "fix 1 of at most 1" in village.text(issue, "status")
    runner = village.runner(issue)
    done = runner.execute({"shop/basket.py": "mended"})
    assert [(f.kind, f.text.splitlines()[-1]) for f in runner.spec.feedback] == [("ci", "cc: no such file")]
    assert village.thread(pull) == ["review 3"]
    village.alice.comment(pull, "/approve")
    village.settle()
    assert village.workshop.tip("plan/1") == done
    village.github.control.report_check(village.repository, done, "build", "failure", log="cc: no such file")
    village.later(60)
    assert village.stands(issue) == "pr_open, waits for merge"
    assert village.thread(issue) == ISSUE
    assert [note for note in village.notes(issue, "ci_reported") if "by itself" in note] == [
        f"fix 1 of 1 by itself: further work from {head[:12]}, by 1 remarks"
    ]


def test_a_pause_outlives_the_further_work_that_is_dropped_under_it(village: Village) -> None:
    issue, pull, _ = shown(village)
    village.tom.label(issue, "twogate: paused")
    village.settle()
    village.alice.comment(pull, "/reject")
    village.settle()
    assert village.stands(issue) == "held: label_paused, pr_open, waits for merge"
    village.alice.comment(pull, "/revise Round half up.")
    village.settle()
    assert village.stands(issue) == "held: label_paused, executing, waits for runner"
    runs = len(village.runs())
    village.tom.unlabel(issue, "twogate: paused")
    village.settle()
    assert (village.stands(issue), len(village.runs())) == ("executing, waits for runner", runs + 1)


def test_failing_checks_that_nobody_told_of_are_mended_too(village: Village) -> None:
    village.set_policy("sandbox: auto\ngates: [{name: tests, run: 'true'}]\nci: {fix: 1}\n")
    issue, pull, head = opened(village)
    village.github.faults.add("drop", event="check_run", count=None)
    village.github.control.report_check(village.repository, head, "build", "failure", log="cc: no such file")
    village.settle()
    assert village.stands(issue) == "pr_open, waits for merge"
    village.periodically("reconcile")
    assert village.stands(issue) == "executing, waits for runner"
    assert (village.thread(issue), village.thread(pull)) == (ISSUE, [])
