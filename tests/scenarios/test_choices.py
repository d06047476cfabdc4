"""What people choose for one plan: its agent, its budget, its place in the queue, and that it rests."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING

import pytest

from runner.contract import Outcome
from runner.results import Unit
from runner.terms import Effort, Tier

if TYPE_CHECKING:
    from tests.scenarios.village import Village

ONE_SLOT = "queue: {max_parallel: 1, overlap: 'off'}\ngates: []\nbudget: {usd: 5}"


def say(village: Village, issue: int, words: str, who: str = "alice") -> None:
    getattr(village, who).comment(issue, words)
    village.settle()


def test_another_agent_and_budget_ask_for_a_decision_anew_and_reach_the_runner(village: Village) -> None:
    issue = village.planned()
    thread = village.thread(issue)
    say(village, issue, "/agent codex deep high\n/budget 8usd 90m")
    assert village.stands(issue) == "draft, waits for plan_decision"
    assert village.thread(issue)[len(thread) :] == ["alice: /agent codex deep high", "plan 3"]
    assert "Agent `codex` with its deep model, effort high" in village.text(issue, "plan 3")
    assert "1 h 30 min, $8" in village.text(issue, "plan 3")
    assert "| Chosen for this plan | `codex` with its deep model, effort high" in village.text(issue, "status")
    say(village, issue, "/approve")
    runner = village.runner(issue)
    runner.claim()
    spec = runner.spec.agents[Unit.EXECUTE_PLAN]
    assert (spec.name, spec.tier, spec.effort) == ("codex", Tier.DEEP, Effort.HIGH)
    planning = sum((row.usd for row in runner.usage() if row.usd is not None), Decimal(0))
    assert (runner.spec.budget.usd, runner.spec.budget.minutes) == (Decimal(8) - planning, 90)


def test_a_spent_budget_is_raised_and_the_work_goes_on_with_the_same_approval(village: Village) -> None:
    village.set_policy("budget: {usd: 5}\ngates: []")
    issue = village.executing()
    runner = village.runner(issue)
    runner.claim()
    runner.end(Outcome.OVER_BUDGET, sentence="The budget is spent: $5.10 of $5.00.", usage=runner.usage())
    assert "`/budget` and new limits" in village.text(issue, "status")
    approval = village.plan(issue).plan_approval
    say(village, issue, "/budget 9usd\n/retry")
    assert village.stands(issue) == "executing, waits for runner"
    assert village.plan(issue).plan_approval == approval
    again = village.runner(issue)
    again.claim()
    spent = sum((row.usd for row in runner.usage() if row.usd is not None), Decimal(0))
    assert again.spec.budget.usd is not None
    assert Decimal(9) - 2 * spent <= again.spec.budget.usd < Decimal(9)


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ("/agent devin", "The agents here are claude"),
        ("/budget lots", "is no limit"),
        ("/priority urgent", "/priority high"),
        ("/start", "it is not approved yet"),
        ("/thaw", "it is not in the icebox"),
    ],
)
def test_what_means_nothing_here_is_answered_once(village: Village, words: str, told: str) -> None:
    issue = village.planned()
    before, thread = village.stands(issue), village.thread(issue)
    say(village, issue, words)
    assert village.stands(issue) == before
    answer = village.thread(issue)[-1]
    assert village.thread(issue) == [*thread, f"alice: {words}", answer]
    assert told in village.text(issue, answer)


@pytest.mark.parametrize("words", ["/agent codex", "/budget 8usd", "/priority high", "/icebox"])
def test_who_may_not_steer_chooses_nothing(village: Village, words: str) -> None:
    issue = village.planned()
    before = village.plan(issue)
    say(village, issue, words, who="rita")
    assert village.thread(issue)[-1] == "not_allowed"
    assert (village.plan(issue).state, village.plan(issue).choices) == (before.state, before.choices)


def test_a_higher_priority_starts_first(village: Village) -> None:
    village.set_policy(ONE_SLOT)
    busy = village.executing()
    first, second = village.planned(), village.planned()
    for issue in (first, second):
        say(village, issue, "/approve")
    say(village, second, "/priority high")
    assert "| Priority | high |" in village.text(second, "status")
    runner = village.runner(busy)
    runner.claim()
    runner.end(Outcome.BLOCKED, sentence="It needs a decision.", usage=runner.usage())
    assert village.stands(second) == "executing, waits for runner"
    assert village.stands(first) == "approved, waits for slot"


def test_start_goes_past_an_overlap(village: Village) -> None:
    village.set_policy("queue: {overlap: wait}\ngates: []")
    village.executing()
    issue = village.planned()
    say(village, issue, "/approve")
    assert village.stands(issue) == "approved, waits for overlap"
    assert "`/start`" in village.text(issue, "status")
    say(village, issue, "/start")
    assert village.stands(issue) == "executing, waits for runner"
    assert village.plan(issue).overlaps


def test_the_icebox_keeps_a_plan_and_thawing_asks_anew(village: Village) -> None:
    issue = village.planned()
    thread = village.thread(issue)
    say(village, issue, "/icebox")
    assert village.stands(issue) == "icebox, waits for person"
    assert "`/thaw`" in village.text(issue, "status")
    say(village, issue, "/approve")
    assert village.thread(issue) == [*thread, "alice: /icebox", "alice: /approve", "not_now"]
    say(village, issue, "/thaw")
    assert village.stands(issue) == "draft, waits for plan_decision"
    assert village.thread(issue)[-2:] == ["alice: /thaw", "plan 2"]
    say(village, issue, "/approve")
    assert village.stands(issue) == "executing, waits for runner"


def test_two_commands_that_each_ask_anew_post_one_revision(village: Village) -> None:
    issue = village.planned()
    village.alice.comment(issue, "/budget 5usd\n/budget 3usd")
    village.settle()
    assert village.stands(issue) == "draft, waits for plan_decision"
    assert village.thread(issue) == ["status", "plan 1", "alice: /budget 5usd", "plan 3"]
    assert village.text(issue, "plan 1").startswith("**Superseded by revision 3.**")
    assert village.notes(issue, "budget_chosen") == ["budget chosen: up for decision anew"] * 2
    assert "$3" in village.text(issue, "status")
