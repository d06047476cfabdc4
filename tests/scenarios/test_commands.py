"""What people say, in every state: done, or answered with why not and what they can do."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from runner.contract import Outcome
from runner.results import Verdict
from tests.scenarios.runner import FAILED

if TYPE_CHECKING:
    from tests.scenarios.village import Village


def say(village: Village, issue: int, words: str) -> None:
    village.alice.comment(issue, words)
    village.settle()


def failed(village: Village) -> int:
    """An issue whose execution failed its checks."""
    issue = village.executing()
    runner = village.runner(issue)
    runner.claim()
    runner.end(Outcome.GATES_FAILED, sentence="tests failed three times.", gates=(FAILED,), usage=runner.usage())
    return issue


def approved(village: Village) -> int:
    """An issue whose plan waits for a slot."""
    village.set_policy("queue: {max_parallel: 1, overlap: warn}\ngates: [{name: tests, run: 'true'}]")
    village.executing()
    issue = village.planned()
    say(village, issue, "/approve")
    return issue


def in_review(village: Village) -> int:
    return village.reviewed()


def pulled(village: Village) -> int:
    return village.pulled()


def rejected(village: Village) -> int:
    issue = village.planned()
    say(village, issue, "/reject no")
    return issue


def cancelled(village: Village) -> int:
    issue = village.planned()
    say(village, issue, "/cancel")
    return issue


def merged(village: Village) -> int:
    issue = village.pulled()
    village.alice.merge(village.plan(issue).pull_request or 0)
    village.settle()
    return issue


@pytest.mark.parametrize(
    ("make", "state"),
    [
        ("labelled", "draft, waits for runner"),
        ("planned", "draft, waits for plan_decision"),
        (approved, "approved, waits for slot"),
        ("executing", "executing, waits for runner"),
        (in_review, "in_review, waits for diff_decision"),
        (failed, "failed, waits for person"),
    ],
)
def test_update_has_the_plan_rewritten_with_the_words(village: Village, make, state: str) -> None:
    issue = getattr(village, make)() if isinstance(make, str) else make(village)
    assert village.stands(issue) == state
    before, thread = village.plan(issue), village.thread(issue)
    say(village, issue, "/update Use Decimal.\nEverywhere.")
    assert village.stands(issue) == "draft, waits for runner"
    assert village.thread(issue) == [*thread, "alice: /update Use Decimal."]
    if before.job is not None:
        assert village.run_state(before.job.id) == "completed cancelled"
    runner = village.runner(issue)
    runner.write_plan(title="Use Decimal")
    assert [f.text for f in runner.spec.feedback] == ["Use Decimal.\nEverywhere."]
    assert (runner.spec.unit or "") == ("UpdatePlan" if before.revision else "CreatePlan")
    assert village.stands(issue) == "draft, waits for plan_decision"
    assert village.plan(issue).plan_approval is None
    assert village.pulls() == []


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (pulled, "its pull request is open"),
        (rejected, "/reopen brings it back"),
        (cancelled, "/reopen brings it back"),
        (merged, "it has ended"),
    ],
)
def test_what_comes_too_late_is_answered(village: Village, make, words: str) -> None:
    issue = make(village)
    stood, thread = village.stands(issue), village.thread(issue)
    for command in ("/update Use Decimal.", "/retry", "/approve"):
        say(village, issue, command)
        thread = [*thread, f"alice: {command}", "not_now"]
        assert village.stands(issue) == stood
        assert village.thread(issue) == thread
        assert words in village.text(issue, "not_now")


@pytest.mark.parametrize("make", ["labelled", "planned", "executing", "reviewed"])
def test_cancel_stops_and_ends(village: Village, make: str) -> None:
    issue = getattr(village, make)()
    before, thread = village.plan(issue), village.thread(issue)
    say(village, issue, "/cancel")
    assert village.stands(issue) == "cancelled"
    assert village.thread(issue) == [*thread, "alice: /cancel"]
    assert "plan: cancelled" in village.labels(issue)
    if before.job is not None:
        assert village.run_state(before.job.id) == "completed cancelled"
    for check in village.repo.checks.values():
        assert check.fields["conclusion"] == "cancelled"


def test_a_rejected_plan_comes_back_for_a_decision_made_anew(village: Village) -> None:
    issue = rejected(village)
    assert "The reason given by `alice`:" in village.text(issue, "status")
    say(village, issue, "/reopen")
    assert village.stands(issue) == "draft, waits for plan_decision"
    assert village.thread(issue) == ["status", "plan 1", "alice: /reject no", "alice: /reopen", "plan 2"]
    say(village, issue, "/approve")
    runner = village.runner(issue)
    runner.execute({"shop/basket.py": "rounded"})
    assert [f.text for f in runner.spec.feedback] == ["no"]
    assert village.stands(issue) == "in_review, waits for diff_decision"


def test_a_rejected_diff_comes_back_as_a_plan(village: Village) -> None:
    issue = in_review(village)
    say(village, issue, "/reject It rounds up.")
    say(village, issue, "/reopen")
    assert village.stands(issue) == "draft, waits for plan_decision"
    say(village, issue, "/approve")
    village.runner(issue).execute({"shop/basket.py": "rounded down"})
    assert village.stands(issue) == "in_review, waits for diff_decision"
    say(village, issue, "/approve")
    assert village.stands(issue) == "pr_open, waits for merge"


def test_retry_after_failed_checks_goes_to_the_agent_with_the_words(village: Village) -> None:
    issue = failed(village)
    assert "The work did not pass its checks." in village.text(issue, "status")
    assert "assert 1 == 2" in village.text(issue, "status")
    assert village.thread(issue) == ["status", "plan 1", "alice: /approve"]
    say(village, issue, "/retry The rounding is in basket.py.")
    runner = village.runner(issue)
    runner.execute({"shop/basket.py": "rounded"})
    assert [f.text for f in runner.spec.feedback] == ["The rounding is in basket.py."]
    assert village.stands(issue) == "in_review, waits for diff_decision"
    assert "$0.0375" in village.text(issue, "status")


def test_retry_after_failed_planning_plans_again(village: Village) -> None:
    issue = village.labelled()
    runner = village.runner(issue)
    runner.claim()
    runner.end(Outcome.AGENT_FAILED, sentence="The agent ended with code 3.", output_tail="boom")
    assert village.stands(issue) == "failed, waits for person"
    assert "boom" in village.text(issue, "status")
    say(village, issue, "/retry")
    village.runner(issue).write_plan()
    assert village.thread(issue) == ["status", "alice: /retry", "plan 1"]


@pytest.mark.parametrize("verdict", [Verdict.NEEDS_INFORMATION, Verdict.REFUSE, Verdict.ALREADY_DONE])
def test_what_is_no_plan_can_not_be_approved(village: Village, verdict: Verdict) -> None:
    issue = village.labelled()
    reason = "Which currency?"
    village.runner(issue).write_plan(verdict=verdict, reason=reason, questions=(reason,), steps=(), files=())
    assert village.stands(issue).startswith("draft, waits for ")
    say(village, issue, "/approve")
    assert village.thread(issue) == ["status", "plan 1", "alice: /approve", "nothing_to_decide"]
    assert len(village.runs()) == 1
    say(village, issue, "/update Euros.")
    village.runner(issue).write_plan()
    assert village.stands(issue) == "draft, waits for plan_decision"


def test_help_and_status_answer_everybody(village: Village) -> None:
    issue = village.planned()
    village.rita.comment(issue, "/help")
    village.rita.comment(issue, "/status")
    village.rita.comment(issue, "/twogate dance")
    village.settle()
    assert village.stands(issue) == "draft, waits for plan_decision"
    assert village.thread(issue) == [
        "status", "plan 1", "rita: /help", "rita: /status", "rita: /twogate dance", "help", "status", "help",
    ]  # fmt: skip
    assert "`dance` is not a command" in village.text(issue, "help")


def test_on_an_issue_without_a_plan_commands_are_answered(village: Village) -> None:
    issue = village.opened()
    say(village, issue, "/approve")
    village.rita.comment(issue, "/plan")
    village.settle()
    assert village.thread(issue) == ["alice: /approve", "no_plan", "rita: /plan", "needs_triage"]
    village.tom.comment(issue, "/costs")
    say(village, issue, "/costs")
    assert village.thread(issue)[4:] == ["tom: /costs", "alice: /costs", "not_allowed", "costs"]
    assert "| Spent on rejected and denied work |" in village.text(issue, "costs")
    village.tom.comment(issue, "/plan")
    village.settle()
    assert village.stands(issue) == "draft, waits for runner"
    assert village.thread(issue)[-2:] == ["tom: /plan", "status"]


def test_a_steering_word_of_a_triager_is_refused(village: Village) -> None:
    issue = village.planned()
    for word in ("/update x", "/cancel", "/reject x", "/retry"):
        village.tom.comment(issue, word)
        village.settle()
        assert village.thread(issue)[-2:] == [f"tom: {word}", "not_allowed"]
    assert village.stands(issue) == "draft, waits for plan_decision"


def test_a_plan_in_the_queue_says_what_it_waits_for(village: Village) -> None:
    issue = approved(village)
    assert "starts as soon as a slot is free. At work now: #1" in village.text(issue, "status")
    village.runner(1).execute({"shop/basket.py": "rounded"})
    assert village.stands(issue) == "executing, waits for runner"
    assert village.stands(1) == "in_review, waits for diff_decision"


def test_a_new_label_after_the_end_starts_a_new_try(village: Village) -> None:
    issue = merged(village)
    village.tom.unlabel(issue, "agent")
    village.tom.label(issue, "agent")
    village.settle()
    plan = village.plan(issue)
    assert (plan.try_number, plan.branch) == (2, "plan/1-2")
    village.runner(issue).write_plan()
    say(village, issue, "/approve")
    village.runner(issue).execute({"shop/basket.py": "rounded again"})
    assert village.branches() == ["plan/1-2"]
    assert village.thread(issue)[-4:] == ["status", "plan 1", "alice: /approve", "review 2"]
