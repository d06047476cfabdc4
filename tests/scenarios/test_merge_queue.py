"""A repository with a merge queue that waits for our check."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.scenarios.test_after_pr import ISSUE, checks_of

if TYPE_CHECKING:
    from tests.scenarios.village import Village

APPROVED = ("success", "Nothing of a plan but what was approved")
UNVERIFIED = ("failure", "Unverified commits of a plan")


def enqueued(village: Village, pull: int) -> str:
    """Put a pull request into the queue; return its group's commit."""
    head = village.alice.enqueue(pull)
    village.settle()
    return head


def test_an_approved_pull_request_goes_through(village: Village) -> None:
    issue = village.pulled()
    pull = village.plan(issue).pull_request or 0
    group = enqueued(village, pull)
    assert checks_of(village, group) == [APPROVED]
    assert "It stands in the merge queue." in village.text(issue, "status")
    village.alice.merge_queued(pull)
    village.settle()
    assert village.stands(issue) == "merged"
    assert (village.thread(issue), village.thread(pull)) == (ISSUE, [])
    assert village.notes(issue, "pull_request_queued") == ["in the merge queue"]


def test_a_persons_commits_do_not_and_what_is_taken_out_is_shown(village: Village) -> None:
    issue = village.pulled()
    pull = village.plan(issue).pull_request or 0
    theirs = village.push("bob", {"shop/basket.py": "mine"}, "plan/1")
    village.settle()
    group = enqueued(village, pull)
    assert checks_of(village, group) == [UNVERIFIED]
    (check,) = [c for c in village.repo.checks.values() if c.head_sha == group]
    assert f"#{pull}, the plan for issue #{issue}: `bob` pushed `{theirs[:12]}`" in check.fields["output"]["summary"]
    village.alice.dequeue(pull, "CI_FAILURE")
    village.settle()
    assert "merge queue" not in village.text(issue, "status")
    assert village.notes(issue, "pull_request_queued") == [
        "in the merge queue", "out of the merge queue: CI_FAILURE",
    ]  # fmt: skip
    assert (village.thread(issue), village.thread(pull)) == (ISSUE, ["branch_moved"])


def test_a_push_that_nobody_told_of_is_seen_all_the_same(village: Village) -> None:
    issue = village.pulled()
    village.github.faults.add("drop", event="push")
    village.github.faults.add("drop", event="pull_request")
    village.push("bob", {"shop/basket.py": "mine"}, "plan/1")
    assert checks_of(village, enqueued(village, village.plan(issue).pull_request or 0)) == [UNVERIFIED]


def test_a_pull_request_of_nobodys_plan_goes_through_once_judged(village: Village) -> None:
    village.workshop.push(village.push_url("bob"), village.workshop.commit("main", {"shop/other.py": "mine"}), "bobs")
    made = village.bob.call("POST", "/pulls", title="Mine", head="bobs", base="main")["number"]
    village.settle()
    group = enqueued(village, made)
    village.github.control.redeliver(village.last_delivery("merge_group.checks_requested")["id"], new_guid=True)
    village.settle()
    assert checks_of(village, group) == [APPROVED]
    assert village.thread(made) == []
