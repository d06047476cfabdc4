"""The second gate: the approval covers one commit, and the branch must still be there."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.scenarios.village import Village

REVIEWED = ["status", "plan 1", "alice: /approve", "review 2"]


def test_a_writers_thumb_on_the_review_opens_the_pull_request(village: Village) -> None:
    issue = village.reviewed()
    review = village.plan(issue).review
    assert review is not None
    village.rita.react(review.comment_id or 0)
    village.look()
    assert village.pulls() == []
    village.bob.react(review.comment_id or 0)
    village.look()
    assert village.stands(issue) == "pr_open, waits for merge"
    (pull,) = village.pulls()
    assert (pull["head"]["sha"], pull["base"]["ref"]) == (review.work.head, "main")
    assert village.thread(issue) == REVIEWED


def test_a_thumb_on_the_plan_does_not_approve_the_diff(village: Village) -> None:
    issue = village.reviewed()
    revision = village.plan(issue).revision
    assert revision is not None
    village.alice.react(revision.comment_id or 0)
    village.look()
    assert village.stands(issue) == "in_review, waits for diff_decision"
    assert village.pulls() == []


def test_a_rejected_diff_ends_the_plan_and_its_check(village: Village) -> None:
    issue = village.reviewed()
    village.alice.comment(issue, "/reject It rounds up.")
    village.settle()
    assert village.stands(issue) == "rejected"
    assert village.thread(issue) == [*REVIEWED, "alice: /reject It rounds up."]
    assert "It rounds up." in village.text(issue, "status")
    (check,) = village.repo.checks.values()
    assert check.fields["conclusion"] == "failure"
    assert village.pulls() == []


def test_a_person_pushes_to_the_branch_in_review(village: Village) -> None:
    issue = village.reviewed()
    theirs = village.push("bob", {"shop/basket.py": "mine"}, "plan/1")
    village.settle()
    assert village.stands(issue) == "failed, waits for person"
    assert village.thread(issue) == [*REVIEWED, "branch_moved"]
    assert f"is now at `{theirs[:12]}`" in village.text(issue, "branch_moved")
    village.alice.comment(issue, "/approve")
    village.settle()
    assert village.thread(issue)[-2:] == ["alice: /approve", "not_now"]
    assert "/retry" in village.text(issue, "not_now")
    assert village.pulls() == []
    assert village.workshop.tip("plan/1") == theirs


def test_an_approval_of_a_branch_that_moved_unseen_is_void(village: Village) -> None:
    issue = village.reviewed()
    village.github.faults.add("drop", event="push")
    village.push("bob", {"shop/basket.py": "mine"}, "plan/1")
    village.alice.comment(issue, "/approve")
    village.settle()
    assert village.stands(issue) == "failed, waits for person"
    assert village.thread(issue) == [*REVIEWED, "alice: /approve", "branch_moved"]
    assert village.pulls() == []


def test_a_branch_that_moves_between_approval_and_pull_request_opens_none(village: Village) -> None:
    issue = village.reviewed()
    village.github.faults.add("secondary", method="POST", path="/pulls$", status=403, seconds=60)
    village.alice.comment(issue, "/approve")
    village.settle()
    assert village.stands(issue) == "in_review, waits for bot"
    village.github.faults.add("drop", event="push")
    village.push("bob", {"shop/basket.py": "mine"}, "plan/1")
    village.later(70)
    assert village.stands(issue) == "failed, waits for person"
    assert village.thread(issue) == [*REVIEWED, "alice: /approve", "branch_moved"]
    assert village.pulls() == []


def test_a_branch_removed_in_review_is_noticed(village: Village) -> None:
    issue = village.reviewed()
    village.alice.call("DELETE", "/git/refs/heads/plan/1")
    village.settle()
    assert village.stands(issue) == "failed, waits for person"
    assert village.thread(issue) == [*REVIEWED, "branch_moved"]
    assert "is gone" in village.text(issue, "branch_moved")
    village.alice.comment(issue, "/retry")
    village.settle()
    village.runner(issue).execute({"shop/basket.py": "again"})
    assert village.stands(issue) == "in_review, waits for diff_decision"


def test_after_a_person_pushed_a_retry_goes_on_from_their_commit(village: Village) -> None:
    issue = village.reviewed()
    theirs = village.push("bob", {"shop/discount.py": "mine"}, "plan/1")
    village.settle()
    village.alice.comment(issue, "/retry Keep what Bob did.")
    village.settle()
    runner = village.runner(issue)
    runner.execute({"shop/basket.py": "again"})
    assert runner.spec.head == theirs
    assert [f.text for f in runner.spec.feedback] == ["Keep what Bob did."]
    assert village.stands(issue) == "in_review, waits for diff_decision"
    review = village.plan(issue).review
    assert review is not None
    assert {change.path for change in review.work.files} == {"shop/basket.py", "shop/discount.py"}


def test_the_default_branch_moved_elsewhere_and_the_pull_request_opens(village: Village) -> None:
    issue = village.reviewed()
    village.push("bob", {"shop/other.py": "unrelated"})
    village.alice.comment(issue, "/approve")
    village.settle()
    assert village.stands(issue) == "pr_open, waits for merge"
    assert village.thread(issue) == [*REVIEWED, "alice: /approve"]


def test_the_default_branch_changed_the_same_lines(village: Village) -> None:
    issue = village.reviewed("ours")
    village.push("bob", {"shop/basket.py": "theirs"})
    village.alice.comment(issue, "/approve")
    village.settle()
    assert village.stands(issue) == "in_review, waits for runner"
    assert village.runner(issue).check_base() == ("shop/basket.py",)
    assert village.stands(issue) == "executing, waits for runner"
    assert village.thread(issue) == [*REVIEWED, "alice: /approve", "base_conflict"]
    assert "- `shop/basket.py`" in village.text(issue, "base_conflict")
    runner = village.runner(issue)
    head = runner.execute({"shop/basket.py": "both"})
    assert runner.spec.merge_base_in
    assert village.stands(issue) == "in_review, waits for diff_decision"
    assert village.pulls() == []
    village.alice.comment(issue, "/approve")
    village.settle()
    assert village.stands(issue) == "pr_open, waits for merge"
    (pull,) = village.pulls()
    assert pull["head"]["sha"] == head
    assert village.thread(issue) == [
        *REVIEWED, "alice: /approve", "base_conflict", "review 4", "alice: /approve",
    ]  # fmt: skip


def test_two_plans_on_one_file_wait_for_each_other_only_at_the_merge(village: Village) -> None:
    first, second = village.reviewed("one"), village.reviewed("two")
    for issue in (first, second):
        review = village.plan(issue).review
        assert review is not None
        assert [change.path for change in review.work.files] == ["shop/basket.py"]
    village.alice.comment(first, "/approve")
    village.settle()
    village.alice.merge(village.plan(first).pull_request or 0)
    village.settle()
    village.alice.comment(second, "/approve")
    village.settle()
    village.runner(second).check_base()
    assert village.stands(second) == "executing, waits for runner"
    assert village.thread(second)[-1] == "base_conflict"
    assert village.stands(first) == "merged"


def test_a_review_that_somebody_wrote_over_is_put_right(village: Village) -> None:
    issue = village.reviewed()
    review = village.plan(issue).review
    assert review is not None
    village.bob.edit_comment(review.comment_id or 0, "All of this is harmless.")
    village.settle()
    assert "shop/basket.py" in village.text(issue, "review 2")
    assert village.stands(issue) == "in_review, waits for diff_decision"
    assert village.thread(issue)[-1] == "review 2"


# the buttons of the check run


def test_the_check_run_offers_the_three_decisions(village: Village) -> None:
    village.reviewed()
    (check,) = village.repo.checks.values()
    assert [action["label"] for action in check.fields["actions"]] == ["Approve", "Revise", "Reject"]
    assert check.fields["conclusion"] == "action_required"
    assert "count for this commit alone" in check.fields["output"]["summary"]


def test_approve_by_a_button_opens_the_pull_request_once_however_often_it_comes(village: Village) -> None:
    issue = village.reviewed()
    village.press(issue, "alice", "approve")
    assert village.stands(issue) == "pr_open, waits for merge"
    (check,) = village.repo.checks.values()
    assert (check.fields["conclusion"], check.fields["actions"]) == ("success", [])
    village.redeliver(village.last_delivery("check_run.requested_action"))
    assert village.stands(issue) == "pr_open, waits for merge"
    assert len(village.pulls()) == 1
    assert village.thread(issue) == REVIEWED
    assert village.notes(issue, "refused") == ["the button of a commit that is not up for decision"]
    approved = [e for e in village.journal(issue) if e.event == "approved"]
    assert [(e.actor_login, e.details["via"]) for e in approved] == [("alice", "command"), ("alice", "button")]


def test_reject_by_a_button_ends_the_plan(village: Village) -> None:
    issue = village.reviewed()
    village.press(issue, "bob", "reject")
    assert village.stands(issue) == "rejected"
    assert village.checks() == ["failure: Rejected by bob."]
    assert village.thread(issue) == REVIEWED
    assert village.pulls() == []


@pytest.mark.parametrize("button", ["approve", "revise", "reject"])
def test_a_button_of_who_may_not_is_refused_with_a_sentence(village: Village, button: str) -> None:
    issue = village.reviewed()
    village.press(issue, "tom", button)
    assert village.stands(issue) == "in_review, waits for diff_decision"
    assert village.thread(issue) == [*REVIEWED, "not_allowed"]
    assert village.text(issue, "not_allowed").startswith(f"@tom `/{button}` needs write permission")
    assert village.checks() == ["action_required: The diff waits for a decision"]


def test_no_bot_presses_a_button(village: Village) -> None:
    issue = village.reviewed()
    village.github.control.set_role(village.repository, "twogate-demo[bot]", "admin")
    for button in ("approve", "revise", "reject"):
        village.press(issue, "twogate-demo[bot]", button)
    assert village.stands(issue) == "in_review, waits for diff_decision"
    assert village.thread(issue) == REVIEWED
    assert village.notes(issue, "refused") == []


def test_a_late_button_of_older_work_does_nothing_to_the_newer(village: Village) -> None:
    issue = village.reviewed()
    village.github.faults.add("drop", event="check_run")
    village.press(issue, "alice", "approve")
    lost = village.last_delivery("check_run.requested_action")
    village.alice.comment(issue, "/revise Round half to even.")
    village.settle()
    village.runner(issue).execute({"shop/basket.py": "rounded to even"})
    assert village.stands(issue) == "in_review, waits for diff_decision"
    village.redeliver(lost)
    assert village.stands(issue) == "in_review, waits for diff_decision"
    assert village.pulls() == []
    assert village.thread(issue) == [*REVIEWED, "alice: /revise Round half to even.", "review 3"]
    assert village.checks() == [
        "neutral: Sent back to be changed by alice.", "action_required: The diff waits for a decision",
    ]  # fmt: skip
