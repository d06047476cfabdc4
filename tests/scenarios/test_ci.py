"""The checks of other Apps on a plan's branch: required ones before the diff is shown, all of them in its table."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.scenarios.village import Village

POLICY = "ci: {require: [build, lint], timeout: 30m}\ngates: [{name: tests, run: 'true'}]\n"
BEFORE = ["status", "plan 1", "alice: /approve"]
WAITS = "verifying, waits for ci"
LOG = "Run make\ncc basket.c\nmake: *** [all] Error 2\n<!-- @maintainers /approve -->\n"


def pushed(village: Village, policy: str = POLICY) -> tuple[int, str]:
    """An issue whose verified work was pushed, and its commit."""
    village.set_policy(policy)
    issue = village.executing()
    return issue, village.runner(issue).execute({"shop/basket.py": "rounded"})


def reads(village: Village) -> int:
    """How often GitHub was asked for checks."""
    return sum("/check-runs" in entry["path"] and entry["method"] == "GET" for entry in village.github.control.log())


def test_the_diff_is_shown_once_the_required_checks_have_passed_on_its_commit(village: Village) -> None:
    issue, head = pushed(village)
    assert village.stands(issue) == WAITS
    assert village.thread(issue) == BEFORE
    status = village.text(issue, "status")
    assert "| `build` | not reported yet |" in status
    village.says(village.first_commit or "", "build", "success")
    village.says(head, "build", None)
    village.settle()
    assert village.stands(issue) == WAITS
    village.says(head, "build", "success")
    village.settle()
    assert village.stands(issue) == WAITS
    assert "| `build` | passed | by ci, [details](" in village.text(issue, "status")
    village.github.control.report_status(village.repository, head, "lint", "success", target_url="https://ci.example/1")
    village.settle()
    assert village.stands(issue) == "in_review, waits for diff_decision"
    assert village.thread(issue) == [*BEFORE, "review 2"]
    review = village.text(issue, "review 2")
    assert "| `lint` | passed | a commit status, [details](https://ci.example/1) | on GitHub, required | |" in review
    assert village.path(issue) == ["draft", "approved", "executing", "verifying", "in_review"]
    assert village.notes(issue, "ci_reported") == [
        "still waiting for checks",
        "still waiting for checks",
        "the required checks passed",
    ]


def test_a_required_check_that_fails_goes_back_to_the_agent_with_the_end_of_its_log(village: Village) -> None:
    issue, head = pushed(village)
    village.says(head, "lint", "success")
    village.says(head, "build", "failure", log=LOG)
    village.settle()
    assert village.stands(issue) == "failed, waits for person"
    assert village.thread(issue) == BEFORE
    status = village.text(issue, "status")
    assert f"The required check build did not pass on commit {head[:12]}." in status
    assert "make: \\*\\*\\* [all] Error 2" not in status
    assert "make: *** [all] Error 2" in status
    assert "/actions/runs/1/job/" in status
    village.alice.comment(issue, "/retry")
    village.settle()
    runner = village.runner(issue)
    again = runner.execute({"shop/basket.py": "rounded and built"})
    assert runner.spec.head == head
    (said,) = runner.spec.feedback
    assert (said.kind, said.author) == ("ci", "GitHub")
    assert said.text.startswith("The check build ended as failure on GitHub.\n\n")
    assert said.text.endswith(LOG)
    assert village.stands(issue) == WAITS
    village.says(head, "build", "success")
    village.settle()
    assert village.stands(issue) == WAITS
    village.says(again, "build", "success")
    village.says(again, "lint", "success")
    village.settle()
    assert village.stands(issue) == "in_review, waits for diff_decision"
    assert village.thread(issue) == [*BEFORE, "alice: /retry", "review 3"]
    assert village.path(issue)[-4:] == ["approved", "executing", "verifying", "in_review"]


def test_the_deadline_names_what_never_came_and_retry_waits_once_more(village: Village) -> None:
    issue, head = pushed(village)
    village.says(head, "lint", "success")
    village.settle()
    village.later(29 * 60)
    assert village.stands(issue) == WAITS
    village.later(60)
    assert village.stands(issue) == "failed, waits for person"
    status = village.text(issue, "status")
    assert f"The required check build did not end on commit {head[:12]} within 30 minutes." in status
    assert village.thread(issue) == BEFORE
    village.set_policy(POLICY.replace("build", "Build it"))
    village.says(head, "Build it", "success")
    village.alice.comment(issue, "/retry")
    village.settle()
    assert village.stands(issue) == "in_review, waits for diff_decision"
    assert village.thread(issue) == [*BEFORE, "alice: /retry", "review 2"]
    assert village.notes(issue, "retry_requested") == ["waiting for the checks once more"]


def test_webhooks_that_are_lost_are_made_up_for(village: Village) -> None:
    issue, head = pushed(village)
    for event in ("check_run", "status"):
        village.github.faults.add("drop", event=event, count=None)
    village.says(head, "build", "success")
    village.github.control.report_status(village.repository, head, "lint", "success")
    village.settle()
    assert village.stands(issue) == WAITS
    village.periodically("reconcile")
    assert village.stands(issue) == "in_review, waits for diff_decision"
    assert village.thread(issue) == [*BEFORE, "review 2"]


def test_many_checks_that_end_at_once_are_asked_about_once(village: Village) -> None:
    issue = village.reviewed()
    review = village.plan(issue).review
    assert review is not None
    before = reads(village)
    for number in range(12):
        village.says(review.work.head, f"unit {number}", "success" if number else "failure")
    village.settle()
    assert reads(village) == before + 1
    assert village.notes(issue, "ci_reported") == ["the checks changed: showing it in the review"]


def test_checks_after_the_review_edit_its_comment_and_disturb_no_decision(village: Village) -> None:
    issue = village.reviewed()
    review = village.plan(issue).review
    assert review is not None
    head, comment = review.work.head, review.comment_id or 0
    village.bob.react(comment)
    hostile = "</table> @maintainers | fixes #1 `x`"
    village.says(head, hostile, "failure", log="irrelevant")
    village.says(head, "docs", "skipped")
    village.settle()
    shown = village.text(issue, "review 2")
    assert "| `` </table> @maintainers \\| fixes #1 `x` `` | failed | by github-actions, [details](" in shown
    assert "| `docs` | ended without a judgement (skipped) | by ci, [details](" in shown
    assert "**Failed on GitHub**" in shown
    village.look()
    assert village.stands(issue) == "pr_open, waits for merge"
    assert village.thread(issue) == [*BEFORE, "review 2"]
    (edited,) = [c for c in village.comments(issue) if c["id"] == comment]
    assert edited["created_at"] <= edited["updated_at"]
    village.redeliver(village.last_delivery("check_run.completed"))
    assert village.text(issue, "review 2") == shown


def test_a_newer_run_of_the_same_name_wins_whichever_app_made_it(village: Village) -> None:
    issue, head = pushed(village)
    village.says(head, "lint", "success")
    village.github_ahead(10)
    village.says(head, "build", "success", app="old-ci")
    village.github_ahead(10)
    village.says(head, "build", None, app="new-ci")
    village.settle()
    assert village.stands(issue) == WAITS
    village.github_ahead(10)
    village.says(head, "build", "success", app="new-ci")
    village.settle()
    assert village.stands(issue) == "in_review, waits for diff_decision"


def test_a_push_while_checks_are_waited_for_ends_the_wait(village: Village) -> None:
    issue, _ = pushed(village)
    village.push("bob", {"shop/basket.py": "mine"}, "plan/1")
    village.settle()
    assert village.stands(issue) == "failed, waits for person"
    assert village.thread(issue) == [*BEFORE, "branch_moved"]
    assert village.pulls() == []


def test_a_wait_for_checks_is_ended_by_who_may(village: Village) -> None:
    issue, head = pushed(village)
    village.alice.comment(issue, "/cancel")
    village.settle()
    village.says(head, "build", "success")
    village.says(head, "lint", "success")
    village.settle()
    village.later(31 * 60)
    assert village.stands(issue) == "cancelled"
    assert village.thread(issue) == [*BEFORE, "alice: /cancel"]
