"""What the agent recommends: listed on the pull request, made an issue where a person says so, and never otherwise."""

from __future__ import annotations

from typing import TYPE_CHECKING

from runner.contract import Outcome
from runner.results import ExecutionSummary, Lesson, Recommendation, Unit
from tests.scenarios.runner import Runner
from tests.scenarios.test_after_pr import ISSUE

if TYPE_CHECKING:
    from tests.scenarios.village import Village

SUMMARY = ExecutionSummary(
    status="done",
    summary="Rounded.",
    recommendations=(
        Recommendation(title="Round discounts too", reason="They show fractions as well.", paths=("shop/discount.py",)),
        Recommendation(title="Name the currency", reason="Nobody knows which it is."),
    ),
)

LATE = Lesson(unit=Unit.CREATE_ISSUE, kind="fact", text="Discounts are computed in `shop/discount.py`.")


def recommended(village: Village) -> tuple[int, int]:
    """An issue whose agent recommended two things, and its open pull request."""
    issue = village.executing()
    runner = village.runner(issue)
    head = runner.publish({"shop/basket.py": "rounded"})
    verified = runner.verified(head)
    runner.end(Outcome.VERIFIED, **{**verified, "work": verified["work"].model_copy(update={"summary": SUMMARY})})
    assert "2. **Name the currency**" in village.text(issue, "review 2")
    village.alice.comment(issue, "/accept 1")
    village.alice.comment(issue, "/approve")
    village.settle()
    assert village.stands(issue) == "pr_open, waits for merge"
    return issue, village.plan(issue).pull_request or 0


def writer(village: Village, issue: int) -> Runner:
    """The runner of the newest job that writes an issue."""
    job = village.plan(issue).open_jobs[-1].id
    return Runner(village, job, village.attempt(job))


EARLY = [*ISSUE[:-1], "alice: /accept 1", "alice: /approve", "not_now"]


def titles(village: Village) -> list[str]:
    """The issues of the repository, pull requests left out."""
    listed = village.alice.call("GET", "/issues?state=all")
    return sorted(each["title"] for each in listed if "pull_request" not in each)


def test_accepted_it_becomes_an_issue_told_once_and_without_a_plan(village: Village) -> None:
    issue, pull = recommended(village)
    assert village.thread(issue) == EARLY
    assert "1. **Round discounts too**" in village.alice.pull(pull)["body"]
    village.rita.comment(pull, "/accept 1")
    village.alice.comment(pull, "/accept 2, 7")
    village.settle()
    assert village.thread(pull) == ["rita: /accept 1", "alice: /accept 2, 7", "not_allowed", "accepted"]
    assert "No recommendation has the number 7" in village.text(pull, "accepted")
    runner = writer(village, issue)
    spec = runner.write_issue("Say which currency it is")
    assert (spec.kind, spec.unit, spec.recommendation) == (
        "write_issue", Unit.CREATE_ISSUE, SUMMARY.recommendations[1],
    )  # fmt: skip
    assert village.thread(pull)[4:] == ["accepted_made"]
    (made,) = [each for each in village.plan(issue).recommended if each.issue]
    assert f"Recommendation 2 is now issue #{made.issue}." in village.text(pull, "accepted_made")
    assert village.alice.labels(made.issue or 0) == []
    assert village.plan_or_none(made.issue or 0) is None
    assert titles(village) == ["Say which currency it is", "The total is wrong"]
    assert f"2: #{made.issue}" in village.text(issue, "status")
    assert "| CreateIssue | $0.0125 |" in village.alice.pull(pull)["body"]
    village.bob.comment(pull, "/accept 2")
    village.settle()
    assert village.thread(pull)[5:] == ["bob: /accept 2", "accepted"]
    assert f"Recommendation 2 is issue #{made.issue} already." in village.text(pull, "accepted")
    assert len(titles(village)) == 2
    assert village.stands(issue) == "pr_open, waits for merge"
    assert village.notes(issue, "issue_made") == [f"recommendation 2 is issue #{made.issue}"]


def test_what_goes_wrong_is_said_and_may_be_said_again_after_the_merge(village: Village) -> None:
    issue, pull = recommended(village)
    village.alice.comment(pull, "/accept 1")
    village.settle()
    runner = writer(village, issue)
    runner.claim()
    runner.end(Outcome.AGENT_FAILED, usage=runner.usage(), sentence="Its program ended with code 2.")
    assert village.stands(issue) == "pr_open, waits for merge"
    assert village.thread(pull) == ["alice: /accept 1", "accepted_failed"]
    assert "Its program ended with code 2." in village.text(pull, "accepted_failed")
    village.alice.merge(pull)
    village.settle()
    assert village.stands(issue) == "merged"
    village.alice.comment(pull, "/accept 1")
    village.settle()
    village.later(3_600)
    village.periodically("jobs")
    assert village.thread(pull)[2:] == ["alice: /accept 1", "accepted_failed"]
    assert "No runner took the job" in village.text(pull, "accepted_failed")
    village.alice.comment(issue, "/accept 1")
    village.settle()
    writer(village, issue).write_issue("Round discounts too", LATE)
    assert village.stands(issue) == "merged"
    assert "- Lesson 1: a fact for CreateIssue" in village.text(issue, "status")
    assert village.thread(pull)[4:] == ["accepted_made"]
    village.alice.comment(issue, "/remember 1")
    village.settle()
    assert village.text(issue, "remembered").startswith("@alice Kept: lesson 1.")
    assert village.thread(issue) == [*EARLY, "alice: /accept 1", "alice: /remember 1", "remembered"]
    assert titles(village) == ["Round discounts too", "The total is wrong"]


def test_nothing_becomes_an_issue_by_itself(village: Village) -> None:
    issue, pull = recommended(village)
    village.alice.merge(pull)
    village.settle()
    assert village.stands(issue) == "merged"
    assert titles(village) == ["The total is wrong"]
    assert (village.thread(issue), village.thread(pull)) == (EARLY, [])


def test_the_costs_on_the_pull_request_are_final_and_peoples_words_around_them_stay(village: Village) -> None:
    issue, pull = recommended(village)
    body = village.alice.pull(pull)["body"]
    village.bob.call("PATCH", f"/pulls/{pull}", body=f"Bob adds a word.\n\n{body}\n\nAnd one below.")
    village.alice.comment(pull, "/revise Half to even.")
    village.settle()
    village.runner(issue).execute({"shop/basket.py": "to even"})
    village.alice.comment(pull, "/cancel")
    village.settle()
    village.alice.merge(pull)
    village.settle()
    final = village.alice.pull(pull)["body"]
    assert final.startswith("Bob adds a word.")
    assert final.endswith("And one below.")
    assert final.count("| ExecutePlan |") == 2
    assert "**$0.0375**" in final
