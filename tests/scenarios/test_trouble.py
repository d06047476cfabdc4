"""GitHub in trouble: answers that get lost, servers that fail, limits that are reached. Nothing is done twice."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from bot.errors import Transient
from runner.contract import Outcome
from tests.scenarios.runner import plan_document

if TYPE_CHECKING:
    from tests.scenarios.village import Village


def outlast(village: Village) -> None:
    """Let an outage go on until whatever is tried has been given up."""
    for _ in range(20):
        village.later(300)


@pytest.mark.parametrize("kind", ["error_after", "reset_after"])
def test_a_dispatch_whose_answer_was_lost_starts_no_second_run(village: Village, kind: str) -> None:
    village.github.faults.add(kind, method="POST", path="/dispatches$")
    issue = village.opened()
    village.tom.label(issue, "agent")
    village.settle()
    job = village.plan(issue).job
    assert job is not None
    assert job.run_id is None
    village.later(10)
    assert village.runs() == [f"twogate {job.id}"]
    village.runner(issue).write_plan()
    assert village.stands(issue) == "draft, waits for plan_decision"
    assert village.thread(issue) == ["status", "plan 1"]


@pytest.mark.parametrize("kind", ["error_after", "reset_after", "error", "reset"])
def test_a_comment_whose_answer_was_lost_is_posted_once(village: Village, kind: str) -> None:
    issue = village.labelled()
    village.github.faults.add(kind, method="POST", path=r"/issues/\d+/comments$", count=2)
    runner = village.runner(issue)
    runner.claim()
    runner.end(Outcome.PLANNED, plan=plan_document())
    village.later(5)
    village.later(10)
    assert village.thread(issue) == ["status", "plan 1"]
    assert village.stands(issue) == "draft, waits for plan_decision"


def test_a_pull_request_whose_answer_was_lost_is_opened_once(village: Village) -> None:
    issue = village.reviewed()
    village.github.faults.add("error_after", method="POST", path="/pulls$")
    village.alice.comment(issue, "/approve")
    village.settle()
    village.later(5)
    assert village.stands(issue) == "pr_open, waits for merge"
    assert len(village.pulls()) == 1
    assert village.thread(issue) == ["status", "plan 1", "alice: /approve", "review 2", "alice: /approve"]


def test_a_check_run_and_a_status_whose_answers_were_lost_are_made_once(village: Village) -> None:
    issue = village.executing()
    village.github.faults.add("error_after", method="POST", path="/check-runs$")
    village.github.faults.add("error_after", method="PATCH", path="/issues/comments/")
    village.runner(issue).execute({"shop/basket.py": "rounded"})
    village.later(5)
    village.later(5)
    assert village.stands(issue) == "in_review, waits for diff_decision"
    assert len(village.repo.checks) == 1
    assert "in review" in village.text(issue, "status")


@pytest.mark.parametrize(("kind", "status"), [("secondary", 403), ("secondary", 429), ("primary", 403)])
def test_a_limit_puts_the_work_off_and_says_nothing(village: Village, kind: str, status: int) -> None:
    issue = village.planned()
    village.github.faults.add(kind, method="POST", path="/dispatches$", status=status, seconds=120)
    village.alice.comment(issue, "/approve")
    village.settle()
    asked = len(village.github.control.log())
    village.later(60)
    village.alice.comment(issue, "/status")
    village.settle()
    seen = [e for e in village.github.control.log(asked) if "alice" not in str(e)]
    assert len(village.runs()) == 1
    assert seen == [], "the bot asks nothing while it was told to wait"
    village.later(70)
    assert village.stands(issue) == "executing, waits for runner"
    assert village.thread(issue) == ["status", "plan 1", "alice: /approve", "alice: /status", "status"]
    village.runner(issue).execute({"shop/basket.py": "rounded"})
    assert village.stands(issue) == "in_review, waits for diff_decision"


def test_a_long_outage_is_sat_out(village: Village) -> None:
    issue = village.planned()
    village.alice.comment(issue, "/approve")
    village.github.faults.add("error", path="/api/", count=5, status=503)
    village.settle()
    for _ in range(6):
        village.later(70)
    assert village.stands(issue) == "executing, waits for runner"
    assert village.thread(issue) == ["status", "plan 1", "alice: /approve"]


def test_what_github_refuses_for_good_is_said_and_can_be_retried(village: Village) -> None:
    village.excused = {"dispatch"}
    issue = village.planned()
    village.github.faults.add("error", method="POST", path="/dispatches$", status=422)
    village.alice.comment(issue, "/approve")
    village.settle()
    assert village.stands(issue) == "failed, waits for person"
    assert "GitHub answered 422" in village.text(issue, "status")
    assert village.thread(issue) == ["status", "plan 1", "alice: /approve"]
    village.alice.comment(issue, "/retry")
    village.settle()
    assert village.stands(issue) == "executing, waits for runner"


def test_a_pull_request_refused_for_good_can_be_asked_for_again(village: Village) -> None:
    village.excused = {"open_pull_request"}
    issue = village.reviewed()
    village.github.faults.add("error", method="POST", path="/pulls$", status=422)
    village.alice.comment(issue, "/approve")
    village.settle()
    assert village.stands(issue) == "failed, waits for person"
    village.alice.comment(issue, "/retry")
    village.settle()
    assert village.stands(issue) == "in_review, waits for diff_decision"
    village.alice.comment(issue, "/approve")
    village.settle()
    assert village.stands(issue) == "pr_open, waits for merge"


def test_a_bot_that_was_away_catches_up(village: Village) -> None:
    issue = village.planned()
    village.github.faults.add("drop", count=None, event=".*")
    village.alice.comment(issue, "/approve")
    village.settle()
    assert village.stands(issue) == "draft, waits for plan_decision"
    village.github.faults.clear()
    village.periodically("redeliver")
    assert village.stands(issue) == "executing, waits for runner"
    assert village.thread(issue) == ["status", "plan 1", "alice: /approve"]


@pytest.mark.parametrize("mutation", ["addLabelsToLabelable", "removeLabelsFromLabelable", "addReaction"])
def test_what_is_refused_beside_the_status_does_not_double_it(village: Village, mutation: str) -> None:
    village.github.hub.refused.add(mutation)
    try:
        issue = village.reviewed()
    finally:
        village.github.hub.refused.clear()
    assert village.thread(issue) == ["status", "plan 1", "alice: /approve", "review 2"]
    assert "in review" in village.text(issue, "status")
    village.alice.comment(issue, "/approve")
    village.settle()
    assert village.labels(issue)[:2] == ["agent", "plan: pr open"]


def test_a_status_that_an_outage_swallowed_is_shown_once_it_is_over(village: Village) -> None:
    issue = village.planned()
    village.github.faults.add("error", path="/graphql$", count=None, actor=".*bot.*")
    village.mia.close_issue(issue)
    village.settle()
    outlast(village)
    assert "parked: show_status" in village.known()
    assert "closed" not in village.text(issue, "status")
    village.github.faults.clear()
    village.periodically("reconcile")
    assert "closed" in village.text(issue, "status")
    assert village.thread(issue) == ["status", "plan 1"]


def test_a_status_that_was_given_up_although_it_stands_is_found_by_the_next_one(village: Village) -> None:
    village.excused = {"show_status"}
    show = village.parts.gateway.show

    def unanswered(*args: Any, **fields: Any) -> None:
        show(*args, **fields)
        raise Transient("The answer was lost.")

    village.parts.gateway.show = unanswered  # type: ignore[method-assign, assignment]
    issue = village.labelled()
    outlast(village)
    village.parts.gateway.show = show  # type: ignore[method-assign]
    assert "parked: show_status" in village.known()
    village.runner(issue).write_plan()
    assert village.thread(issue) == ["status", "plan 1"]
