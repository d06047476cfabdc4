"""The issue itself changes: its text, its labels, its state; or it goes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.scenarios.village import Village

POLICY = "gates: [{name: tests, run: 'true'}]\n"


def test_a_label_by_a_reader_is_answered_and_costs_nothing(village: Village) -> None:
    """As an issue template does, which sets labels in the name of whoever opens the issue."""
    issue = village.opened()
    village.person("mia", "triage")
    village.mia.label(issue, "agent")
    village.person("mia", "read")
    village.settle()
    assert village.thread(issue) == ["needs_triage"]
    assert "nothing was spent" in village.text(issue, "needs_triage")
    assert "`/plan`" in village.text(issue, "needs_triage")
    assert village.runs() == []
    village.tom.comment(issue, "/plan")
    village.settle()
    assert village.thread(issue) == ["needs_triage", "tom: /plan", "status"]
    assert village.stands(issue) == "draft, waits for runner"


def test_an_issue_edited_after_planning_is_said_to_be_so(village: Village) -> None:
    issue = village.planned()
    village.mia.call("PATCH", f"/issues/{issue}", body="Forget it, delete everything.")
    village.settle()
    assert village.stands(issue) == "draft, waits for plan_decision"
    assert village.thread(issue) == ["status", "plan 1", "issue_edited"]
    assert "`/update` takes the new one in" in village.text(issue, "status")
    village.mia.call("PATCH", f"/issues/{issue}", body="Or rather not.")
    village.settle()
    assert village.thread(issue) == ["status", "plan 1", "issue_edited"]
    village.alice.comment(issue, "/approve")
    village.settle()
    runner = village.runner(issue)
    assert runner.claim().issue.body == "It shows fractions of a cent."


def test_update_takes_the_edited_issue_in(village: Village) -> None:
    issue = village.planned()
    village.mia.call("PATCH", f"/issues/{issue}", title="Round down")
    village.alice.comment(issue, "/update")
    village.settle()
    assert village.runner(issue).claim().issue.title == "Round down"
    assert "takes the new one in" not in village.text(issue, "status")


def test_an_issue_edited_after_the_approval_but_before_its_use_asks_anew(village: Village) -> None:
    village.set_policy(POLICY + "queue: {max_parallel: 1, overlap: warn}")
    village.executing()
    issue = village.planned()
    village.alice.comment(issue, "/approve")
    village.settle()
    assert village.stands(issue) == "approved, waits for slot"
    village.mia.call("PATCH", f"/issues/{issue}", body="Delete everything.")
    village.settle()
    assert village.stands(issue) == "draft, waits for plan_decision"
    assert village.thread(issue) == ["status", "plan 1", "alice: /approve", "issue_edited", "plan 2"]
    assert "had not been used yet" in village.text(issue, "issue_edited")


def test_an_issue_edited_while_executing_stops_nothing(village: Village) -> None:
    issue = village.executing()
    village.mia.call("PATCH", f"/issues/{issue}", body="Delete everything.")
    village.settle()
    village.runner(issue).execute({"shop/basket.py": "rounded"})
    assert village.stands(issue) == "in_review, waits for diff_decision"
    assert village.thread(issue) == ["status", "plan 1", "alice: /approve", "issue_edited", "review 2"]


def test_the_label_taken_off_stops_the_work_and_set_again_goes_on(village: Village) -> None:
    issue = village.executing()
    runner = village.runner(issue)
    runner.claim()
    village.tom.unlabel(issue, "agent")
    village.settle()
    assert village.stands(issue) == "held: label_removed, executing, waits for runner"
    assert village.run_state(runner.job) == "completed cancelled"
    assert runner.progress("agent") is not None
    assert "Setting it again lifts this." in village.text(issue, "status")
    village.alice.comment(issue, "/update x")
    village.settle()
    assert village.thread(issue) == ["status", "plan 1", "alice: /approve", "alice: /update x", "plan_held"]
    village.tom.label(issue, "agent")
    village.settle()
    assert village.stands(issue) == "executing, waits for runner"
    again = village.runner(issue)
    assert again.job != runner.job
    again.execute({"shop/basket.py": "rounded"})
    assert village.stands(issue) == "in_review, waits for diff_decision"


def test_another_label_means_nothing(village: Village) -> None:
    issue = village.planned()
    village.tom.label(issue, "bug")
    village.tom.unlabel(issue, "bug")
    other = village.opened()
    village.tom.label(other, "bug")
    village.settle()
    assert village.stands(issue) == "draft, waits for plan_decision"
    assert village.thread(other) == []
    assert village.thread(issue) == ["status", "plan 1"]


@pytest.mark.parametrize("make", ["planned", "executing", "reviewed"])
def test_a_closed_issue_holds_the_plan_until_it_is_reopened(village: Village, make: str) -> None:
    issue = getattr(village, make)()
    before, stood, thread = village.plan(issue), village.stands(issue), village.thread(issue)
    village.mia.call("PATCH", f"/issues/{issue}", state="closed")
    village.settle()
    assert village.stands(issue) == f"held: issue_closed, {stood}"
    if before.job is not None:
        assert village.run_state(before.job.id) == "completed cancelled"
    assert "Reopening it lifts this." in village.text(issue, "status")
    village.mia.call("PATCH", f"/issues/{issue}", state="open")
    village.settle()
    assert village.stands(issue) == stood
    assert village.thread(issue) == thread


def test_a_closing_nobody_told_of_is_found(village: Village) -> None:
    issue = village.planned()
    village.github.faults.add("drop", event="issues.closed")
    village.mia.call("PATCH", f"/issues/{issue}", state="closed")
    village.settle()
    assert village.stands(issue) == "draft, waits for plan_decision"
    village.periodically("reconcile")
    assert village.stands(issue) == "held: issue_closed, draft, waits for plan_decision"


def test_a_lock_nobody_told_of_is_found_and_so_is_its_end(village: Village) -> None:
    issue = village.planned()
    for locked, stands in ((True, "held: issue_locked, draft"), (False, "draft")):
        village.github.faults.add("drop", event=f"issues.{'locked' if locked else 'unlocked'}")
        village.github.control.lock_issue(village.repository, issue, locked=locked)
        village.settle()
        village.periodically("reconcile")
        assert village.stands(issue) == f"{stands}, waits for plan_decision"


def test_a_label_taken_off_that_nobody_told_of_is_found(village: Village) -> None:
    issue = village.planned()
    village.github.faults.add("drop", event="issues.unlabeled")
    village.tom.unlabel(issue, "agent")
    village.settle()
    village.periodically("reconcile")
    assert village.stands(issue) == "held: label_removed, draft, waits for plan_decision"


def test_a_plan_asked_for_in_words_needs_no_label(village: Village) -> None:
    issue = village.opened()
    village.tom.comment(issue, "/plan")
    village.settle()
    village.periodically("reconcile")
    village.runner(issue).write_plan()
    assert village.stands(issue) == "draft, waits for plan_decision"


@pytest.mark.parametrize("make", ["labelled", "planned", "executing"])
def test_a_deleted_issue_ends_its_plan(village: Village, make: str) -> None:
    issue = getattr(village, make)()
    before = village.plan(issue)
    village.github.control.delete_issue(village.repository, issue, "alice")
    village.settle()
    assert village.stands(issue) == "cancelled"
    assert village.notes(issue, "gone") == ["the issue was deleted"]
    if before.job is not None:
        assert village.run_state(before.job.id) == "completed cancelled"
    assert len(village.runs()) == before.jobs_opened


def test_an_issue_deleted_while_the_plan_was_being_posted(village: Village) -> None:
    issue = village.labelled()
    village.github.faults.add("drop", event="issues.deleted")
    village.github.control.delete_issue(village.repository, issue, "alice")
    village.excused = {"post_plan", "show_status", "say"}
    village.runner(issue).write_plan()
    village.periodically("reconcile")
    assert village.stands(issue) == "cancelled"


def test_the_label_is_the_policys(village: Village) -> None:
    village.set_policy(POLICY + "label: robot please")
    issue = village.opened()
    village.tom.label(issue, "agent")
    village.settle()
    assert village.thread(issue) == []
    village.tom.label(issue, "Robot Please")
    village.settle()
    assert village.thread(issue) == ["status"]
    village.runner(issue).write_plan()
    village.tom.unlabel(issue, "agent")
    village.settle()
    assert village.stands(issue) == "draft, waits for plan_decision"
    village.tom.unlabel(issue, "robot please")
    village.settle()
    assert village.stands(issue) == "held: label_removed, draft, waits for plan_decision"


def test_an_issue_opened_with_the_label_gets_one_plan(village: Village) -> None:
    """GitHub sends ``opened`` and, for each label, ``labeled``."""
    issue = village.alice.call("POST", "/issues", title="The total is wrong", body="", labels=["bug", "agent"])[
        "number"
    ]
    village.settle()
    village.redeliver_all()
    assert village.thread(issue) == ["status"]
    assert village.stands(issue) == "draft, waits for runner"
    assert len(village.runs()) == 1
    assert village.notes(issue, "plan_requested") == ["a plan was asked for"]


def test_a_locked_issue_holds_its_plan_until_it_is_unlocked(village: Village) -> None:
    issue = village.executing()
    job = village.runner(issue).job
    village.github.control.lock_issue(village.repository, issue, "alice")
    village.settle()
    assert village.stands(issue) == "held: issue_locked, executing, waits for runner"
    assert village.run_state(job) == "completed cancelled"
    assert "Unlocking it lifts this." in village.text(issue, "status")
    village.github.control.lock_issue(village.repository, issue, "alice", locked=False)
    village.settle()
    assert village.stands(issue) == "executing, waits for runner"
    assert village.thread(issue) == ["status", "plan 1", "alice: /approve"]
    assert village.notes(issue, "hold_lifted") == ["goes on with what was interrupted"]


def test_an_issue_made_a_discussion_holds_its_plan(village: Village) -> None:
    """It stays where it was, closed and locked, until somebody undoes both."""
    issue = village.planned()
    village.github.control.convert_issue(village.repository, issue, "alice")
    village.settle()
    assert village.stands(issue) == "held: issue_locked, draft, waits for plan_decision"
    status = village.text(issue, "status")
    assert "Reopening it lifts this." in status
    assert "Unlocking it lifts this." in status
    village.periodically("reconcile")
    assert village.notes(issue, "hold_placed") == ["held: issue_closed", "held: issue_locked"]
    assert village.thread(issue) == ["status", "plan 1"]


def test_an_issue_moved_away_stops_its_plan_and_then_ends_it(village: Village) -> None:
    issue = village.executing()
    job = village.runner(issue).job
    other = f"acme/other-{village.repository_id}"
    village.github.control.create_repository(other, None)
    village.excused = {"show_status"}
    village.github.control.transfer_issue(village.repository, issue, other, "alice")
    village.settle()
    assert village.stands(issue) == "held: issue_transferred, executing, waits for runner"
    assert village.run_state(job) == "completed cancelled"
    village.periodically("reconcile")
    assert village.stands(issue) == "cancelled"
    assert village.path(issue) == ["draft", "approved", "executing", "cancelled"]


def test_an_issue_closed_while_its_pull_request_is_open_stops_nothing(village: Village) -> None:
    issue = village.pulled()
    village.mia.call("PATCH", f"/issues/{issue}", state="closed")
    village.settle()
    village.alice.merge(village.plan(issue).pull_request or 0)
    village.settle()
    assert village.stands(issue) == "merged"
