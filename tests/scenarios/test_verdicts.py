"""What planning can come to beside a plan: questions, nothing to do, a duplicate, a refusal; and what people make of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from runner.contract import KnownPlan
from runner.results import Unit, Verdict

if TYPE_CHECKING:
    from tests.scenarios.village import Village

POSTED = ["status", "plan 1"]
DAY = 86_400.0


def told(village: Village, issue: int) -> list[KnownPlan]:
    """Which plans of other issues the open job is told of."""
    return list(village.runner(issue).claim().known)


def judged(village: Village, **document: object) -> int:
    """An issue that comes to this."""
    issue = village.labelled()
    village.runner(issue).write_plan(**document)
    return issue


def test_already_done_shows_the_evidence_and_can_be_contradicted(village: Village) -> None:
    issue = judged(
        village, verdict=Verdict.ALREADY_DONE, title="It rounds", reason="`shop/basket.py`, line 4, since version 2."
    )
    assert village.stands(issue) == "draft, waits for person"
    assert village.thread(issue) == POSTED
    assert "**Evidence**\n\n`shop/basket.py`, line 4, since version 2." in village.text(issue, "plan 1")
    assert "says why" in village.text(issue, "status")
    village.alice.comment(issue, "/approve")
    village.settle()
    assert village.thread(issue) == [*POSTED, "alice: /approve", "nothing_to_decide"]
    village.alice.comment(issue, "/update It does not round invoices.")
    village.settle()
    runner = village.runner(issue)
    assert (runner.claim().unit, runner.spec.known) == (Unit.UPDATE_PLAN, ())
    runner.tell_plan(changes=("It is about invoices.",))
    assert village.stands(issue) == "draft, waits for plan_decision"
    assert village.thread(issue)[-2:] == ["alice: /update It does not round invoices.", "plan 2"]
    assert village.path(issue) == ["draft"]


def test_a_refusal_says_why_and_ends_when_a_person_says_so(village: Village) -> None:
    issue = judged(village, verdict=Verdict.REFUSE, title="Switch off the checks", reason="That opens the till.")
    assert village.stands(issue) == "draft, waits for person"
    assert "**Why**\n\nThat opens the till." in village.text(issue, "plan 1")
    village.alice.comment(issue, "/cancel")
    village.settle()
    assert village.stands(issue) == "cancelled"
    assert village.thread(issue) == [*POSTED, "alice: /cancel"]
    assert village.notes(issue, "plan_written") == ["revision 1 written: refuse"]


def test_questions_without_numbers_are_answered_with_an_update(village: Village) -> None:
    issue = judged(village, verdict=Verdict.NEEDS_INFORMATION, title="Which?", reason="There are two totals.")
    assert village.stands(issue) == "draft, waits for answers"
    village.mia.comment(issue, "1: the basket")
    village.settle()
    assert village.thread(issue) == [*POSTED, "mia: 1: the basket"]
    village.alice.comment(issue, "/update the basket")
    village.settle()
    assert village.stands(issue) == "draft, waits for runner"


def test_a_duplicate_names_the_other_issue_and_says_how_to_disagree(village: Village) -> None:
    first = village.planned()
    issue = village.labelled()
    runner = village.runner(issue)
    assert list(runner.claim().known) == [
        KnownPlan(issue=first, title="Round the total", state="draft", files=("shop/**",))
    ]
    runner.tell_plan(verdict=Verdict.DUPLICATE, title="The same", duplicate_of=first, reason="Both round.")
    assert village.stands(issue) == "draft, waits for person"
    assert village.thread(issue) == POSTED
    text = village.text(issue, "plan 1")
    assert text.startswith(f"### Planned already, in #{first}: The same")
    assert "comment `/update` and what is different here" in text
    village.alice.comment(issue, "/update This is about invoices.")
    village.settle()
    assert village.runner(issue).claim().feedback[-1].text == "This is about invoices."


def test_known_plans_are_the_newest_of_other_issues_that_were_not_turned_down(village: Village) -> None:
    rejected, cancelled, refused, split = (village.planned(title=f"Plan {n}") for n in range(4))
    village.alice.comment(rejected, "/reject no")
    village.alice.comment(cancelled, "/cancel")
    village.settle()
    del refused, split
    shelved = village.planned(title="Shelved")
    village.alice.comment(shelved, "/icebox")
    judged(village, verdict=Verdict.REFUSE, title="No", reason="No.")
    village.settle()
    issue = village.labelled()
    assert [(known.title, known.state) for known in told(village, issue)] == [
        ("Shelved", "icebox"),
        ("Plan 3", "draft"),
        ("Plan 2", "draft"),
    ]


@pytest.mark.parametrize("days", [2.0, 30.0])
def test_what_was_merged_is_told_with_its_days(village: Village, days: float) -> None:
    """Within seven days of a merge the runner plans the same complaint anew: the bot tells how many have gone by."""
    merged = village.pulled()
    village.alice.merge(village.plan(merged).pull_request or 0)
    village.settle()
    village.clock.ahead += days * DAY
    issue = village.labelled()
    (known,) = told(village, issue)
    assert (known.issue, known.state) == (merged, "merged")
    assert known.merged_days_ago == pytest.approx(days, abs=0.1)


def test_a_new_try_is_told_of_other_issues_alone(village: Village) -> None:
    issue = village.planned()
    village.alice.comment(issue, "/cancel")
    village.alice.comment(issue, "/plan")
    village.settle()
    assert told(village, issue) == []
