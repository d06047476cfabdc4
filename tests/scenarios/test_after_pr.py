"""After the pull request opened: people push to it, close it, open it again, and let its branch go."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.scenarios.village import APP

if TYPE_CHECKING:
    from tests.scenarios.village import Village

ISSUE = ["status", "plan 1", "alice: /approve", "review 2", "alice: /approve"]
"""The thread of an issue whose pull request is open: nothing of what comes after is said here."""
FORTNIGHT = 14 * 86_400.0


def checks_of(village: Village, head: str) -> list[tuple[str, str]]:
    """What our check runs on a commit say."""
    found = [c.fields for c in village.repo.checks.values() if c.head_sha == head]
    return [(str(c["conclusion"]), str(c["output"]["title"])) for c in found]


def test_closed_unmerged_why_is_asked_once_and_the_answer_kept(village: Village) -> None:
    issue = village.pulled()
    pull = village.plan(issue).pull_request or 0
    village.bob.close_pull(pull)
    village.settle()
    assert village.stands(issue) == "rejected"
    assert village.thread(pull) == ["why_closed"]
    village.rita.comment(pull, "/reject I like it")
    village.bob.comment(pull, "/reject We round elsewhere now.")
    village.settle()
    assert village.thread(pull) == [
        "why_closed", "rita: /reject I like it", "bob: /reject We round elsewhere now.", "not_allowed",
    ]  # fmt: skip
    assert [r.text for r in village.plan(issue).rejections] == ["We round elsewhere now."]
    assert "We round elsewhere now." in village.text(issue, "status")
    village.alice.call("PATCH", f"/pulls/{pull}", state="open")
    village.settle()
    village.alice.close_pull(pull)
    village.settle()
    assert len(village.thread(pull)) == 4
    assert village.thread(issue) == ISSUE
    assert village.notes(issue, "rejected") == ["why it was rejected"]
    assert village.path(issue)[-4:] == ["pr_open", "rejected", "pr_open", "rejected"]


def test_words_on_the_pull_request_of_an_earlier_try_decide_nothing(village: Village) -> None:
    issue = village.pulled()
    pull = village.plan(issue).pull_request or 0
    village.alice.close_pull(pull)
    village.settle()
    village.alice.comment(issue, "/plan")
    village.settle()
    village.runner(issue).write_plan()
    village.alice.reopen(pull)
    village.alice.comment(pull, "/approve")
    village.settle()
    assert village.plan(issue).try_number == 2
    assert village.stands(issue) == "draft, waits for plan_decision"
    assert village.thread(issue) == [*ISSUE, "alice: /plan", "status", "plan 1"]
    assert village.thread(pull) == ["why_closed", "alice: /approve"]


def test_the_branch_is_kept_for_its_time_then_removed(village: Village) -> None:
    issue = village.pulled()
    pull = village.plan(issue).pull_request or 0
    village.alice.close_pull(pull)
    village.settle()
    village.later(FORTNIGHT - 60)
    assert village.branches() == ["plan/1"]
    assert "is kept until" in village.text(issue, "status")
    village.later(120)
    assert village.branches() == []
    assert village.notes(issue, "branch_expired") == ["the branch was kept long enough"]
    assert "is kept until" not in village.text(issue, "status")
    assert (village.thread(issue), village.thread(pull)) == (ISSUE, ["why_closed"])
    village.alice.comment(issue, "/reopen")
    village.settle()
    assert village.stands(issue) == "draft, waits for plan_decision"
    village.alice.comment(issue, "/approve")
    village.settle()
    village.runner(issue).execute({"shop/basket.py": "again"})
    assert village.stands(issue) == "in_review, waits for diff_decision"
    assert village.thread(issue) == [*ISSUE, "alice: /reopen", "plan 2", "alice: /approve", "review 3"]


def test_a_branch_that_somebody_pushed_to_meanwhile_stays(village: Village) -> None:
    issue = village.pulled()
    village.alice.close_pull(village.plan(issue).pull_request or 0)
    village.settle()
    theirs = village.push("bob", {"shop/basket.py": "mine"}, "plan/1")
    village.later(FORTNIGHT + 60)
    assert village.workshop.tip("plan/1") == theirs


def test_opened_again_it_is_adopted_and_its_branch_not_removed(village: Village) -> None:
    issue = village.pulled()
    pull = village.plan(issue).pull_request or 0
    village.alice.close_pull(pull)
    village.settle()
    assert "closed unmerged" in village.text(issue, "status")
    village.alice.call("PATCH", f"/pulls/{pull}", state="open")
    village.settle()
    village.later(FORTNIGHT + 60)
    assert village.stands(issue) == "pr_open, waits for merge"
    assert village.branches() == ["plan/1"]
    assert village.notes(issue, "branch_expired") == []
    village.alice.merge(pull)
    village.settle()
    assert village.stands(issue) == "merged"
    assert (village.thread(issue), village.thread(pull)) == (ISSUE, ["why_closed"])


def test_a_push_to_the_pull_request_is_said_there_once_and_in_its_check(village: Village) -> None:
    issue = village.pulled()
    pull = village.plan(issue).pull_request or 0
    approved = village.workshop.tip("plan/1") or ""
    theirs = village.push("bob", {"shop/basket.py": "mine"}, "plan/1")
    village.settle()
    assert village.stands(issue) == "pr_open, waits for merge"
    assert (village.thread(issue), village.thread(pull)) == (ISSUE, ["branch_moved"])
    assert f"`bob` pushed `{theirs[:12]}`" in village.text(pull, "branch_moved")
    assert "**Not verified:** `bob`" in village.text(issue, "status")
    assert checks_of(village, theirs) == [("failure", "Not verified")]
    village.push("bob", {"shop/basket.py": "mine, better"}, "plan/1")
    village.settle()
    assert village.thread(pull) == ["branch_moved", "branch_moved"]
    assert village.workshop.push(village.push_url("bob"), approved, "plan/1")
    village.settle()
    assert village.thread(pull) == ["branch_moved", "branch_moved"]
    assert "Not verified" not in village.text(issue, "status")
    moved = [note for note in village.notes(issue, "branch_moved") if note != "the branch is where it should be"]
    voided = "the branch moved: no longer what was verified"
    assert moved == [voided, voided, "the branch is back at what was approved"]


def test_what_is_said_on_the_pull_request_is_answered_there(village: Village) -> None:
    issue = village.pulled()
    pull = village.plan(issue).pull_request or 0
    village.alice.comment(pull, "/approve")
    village.rita.comment(pull, "/cancel")
    village.settle()
    assert village.thread(pull) == ["alice: /approve", "rita: /cancel", "not_now", "not_allowed"]
    assert village.thread(issue) == ISSUE


def test_a_merge_after_which_nothing_was_spent_does_not_touch_the_pull_request_again(village: Village) -> None:
    issue = village.pulled()
    number = village.plan(issue).pull_request or 0
    before = len(village.github.journal.entries)
    village.alice.merge(number)
    village.settle()
    assert village.stands(issue) == "merged"
    later = [entry for entry in village.github.journal.entries[before:] if entry.actor == f"{APP}[bot]"]
    assert later, "the bot did something"
    assert not [entry for entry in later if entry.path.endswith(f"/pulls/{number}")]


def test_closed_and_opened_again_heard_the_wrong_way_round(village: Village) -> None:
    issue = village.pulled()
    pull = village.plan(issue).pull_request or 0
    village.bob.close_pull(pull)
    village.settle()
    closed = village.last_delivery("pull_request.closed")
    village.alice.call("PATCH", f"/pulls/{pull}", state="open")
    village.settle()
    village.github.control.redeliver(closed["id"], new_guid=True)
    village.settle()
    assert village.stands(issue) == "rejected"
    village.periodically("reconcile")
    assert village.stands(issue) == "pr_open, waits for merge"
    village.later(FORTNIGHT + 60)
    assert village.branches() == ["plan/1"]
    assert (village.thread(issue), village.thread(pull)) == (ISSUE, ["why_closed"])


def test_a_branch_that_is_due_to_go_stays_where_its_pull_request_was_opened_again_unheard(village: Village) -> None:
    issue = village.pulled()
    pull = village.plan(issue).pull_request or 0
    village.bob.close_pull(pull)
    village.settle()
    village.github.faults.add("drop", event="pull_request.reopened")
    village.alice.call("PATCH", f"/pulls/{pull}", state="open")
    village.settle()
    village.later(FORTNIGHT + 60)
    assert village.stands(issue) == "pr_open, waits for merge"
    assert (village.branches(), village.alice.pull(pull)["state"]) == (["plan/1"], "open")
    village.periodically("reconcile")
    assert village.stands(issue) == "pr_open, waits for merge"
    assert (village.thread(issue), village.thread(pull)) == (ISSUE, ["why_closed"])
