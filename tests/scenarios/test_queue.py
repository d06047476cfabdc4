"""What approved plans wait for, and that their places are told in the one comment."""

from __future__ import annotations

from typing import TYPE_CHECKING

from runner.contract import Outcome

if TYPE_CHECKING:
    from tests.scenarios.village import Village


def approved(village: Village) -> int:
    """An issue whose plan is approved."""
    issue = village.planned()
    village.alice.comment(issue, "/approve")
    village.settle()
    return issue


def block(village: Village, issue: int) -> None:
    """End a plan's work, so that its slot is free."""
    runner = village.runner(issue)
    runner.claim()
    runner.end(Outcome.BLOCKED, sentence="It needs a decision.", usage=runner.usage())


def test_nothing_starts_while_as_many_diffs_wait_for_a_decision_as_may(village: Village) -> None:
    village.set_policy("queue: {max_in_review: 1, overlap: 'off'}\ngates: []")
    first = village.reviewed()
    issue = approved(village)
    assert village.stands(issue) == "approved, waits for reviewers"
    told = village.text(issue, "status")
    assert "waiting for room in review" in told
    assert f"1 diff waits for a decision in #{first}, and the policy allows 1." in told
    assert village.thread(issue) == ["status", "plan 1", "alice: /approve"]
    village.alice.comment(first, "/approve")
    village.settle()
    assert village.stands(issue) == "executing, waits for runner"
    assert village.thread(issue) == ["status", "plan 1", "alice: /approve"]
    assert village.notes(issue, "queue_waits") == ["waits for reviewers"]


def test_a_change_of_place_is_an_edit_of_the_one_comment(village: Village) -> None:
    village.set_policy("queue: {max_parallel: 1, overlap: 'off'}\ngates: []")
    busy = village.executing()
    issues = [approved(village) for _ in range(3)]
    for place, issue in enumerate(issues, 1):
        told = village.text(issue, "status")
        assert f"At work now: #{busy}; the policy allows 1 at once." in told
        assert f"Its place in the queue is {place}." in told
    village.alice.comment(issues[2], "/priority high")
    village.settle()
    for place, issue in zip((2, 3, 1), issues, strict=True):
        assert f"Its place in the queue is {place}." in village.text(issue, "status")
    village.alice.comment(issues[0], "/status")
    village.settle()
    assert "Its place in the queue is 2." in village.comments(issues[0])[-1]["body"]
    block(village, busy)
    assert [village.stands(issue) for issue in issues] == [
        "approved, waits for slot",
        "approved, waits for slot",
        "executing, waits for runner",
    ]
    assert f"At work now: #{issues[2]}" in village.text(issues[1], "status")
    asked = ["status", "plan 1", "alice: /approve"]
    assert village.thread(issues[0]) == [*asked, "alice: /status", "status"]
    assert village.thread(issues[1]) == asked
    assert village.thread(issues[2]) == [*asked, "alice: /priority high"]
    assert village.notes(issues[1], "queue_waits") == ["waits for slot"] * 3


def test_a_look_that_finds_nothing_new_leaves_no_trace(village: Village) -> None:
    village.set_policy("queue: {max_parallel: 1, overlap: 'off'}\ngates: []")
    village.executing()
    issue = approved(village)
    before = village.plan(issue)
    village.periodically("reconcile")
    assert village.plan(issue) == before


def test_a_policy_that_allows_more_lets_more_start(village: Village) -> None:
    village.set_policy("queue: {max_parallel: 1, overlap: 'off'}\ngates: []")
    village.executing()
    issue = approved(village)
    assert village.stands(issue) == "approved, waits for slot"
    village.set_policy("queue: {max_parallel: 2, overlap: 'off'}\ngates: []")
    village.settle()
    assert village.stands(issue) == "executing, waits for runner"
