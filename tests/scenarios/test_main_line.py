"""From the label to the merge, as everybody hopes for it: what the thread then holds, and nothing else."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.scenarios.village import Village


def test_a_labelled_issue_becomes_a_merged_pull_request(village: Village) -> None:
    issue = village.pulled()
    plan = village.plan(issue)
    assert plan.pull_request is not None
    village.alice.merge(plan.pull_request)
    village.settle()
    assert village.thread(issue) == ["status", "plan 1", "alice: /approve", "review 2", "alice: /approve"]
    assert village.labels(issue) == ["agent", "plan: merged"]
    assert village.stands(issue) == "merged"
    assert village.path(issue) == ["draft", "approved", "executing", "verifying", "in_review", "pr_open", "merged"]
    assert village.branches() == []
    assert "is merged. This plan is done." in village.text(issue, "status")
    assert "$0.0250" in village.text(issue, "status")
