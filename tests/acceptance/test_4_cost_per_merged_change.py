"""What did a merged pull request cost last month, rejected and abandoned work included, and what was the denial rate?"""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING

from bot.lifecycle.amounts import Amount
from bot.store import plan_costs
from tests.scenarios.runner import CHECKED

if TYPE_CHECKING:
    from tests.scenarios.village import Village


def test_a_pull_request_says_what_it_cost_with_all_that_was_rejected_on_the_way(village: Village) -> None:
    issue = village.reviewed()
    village.alice.comment(issue, "/update Use Decimal.")
    village.settle()
    village.runner(issue).write_plan(title="Use Decimal")
    village.alice.comment(issue, "/approve")
    village.settle()
    village.runner(issue).execute({"shop/basket.py": "decimal"})
    village.alice.comment(issue, "/approve")
    village.settle()
    (pull,) = village.pulls()
    rows = [line for line in pull["body"].splitlines() if line.startswith("|") and "scripted" in line]
    assert len(rows) == 4, "two plans and two executions, one of them thrown away"
    assert "$0.0500" in pull["body"]
    assert "50 %" in pull["body"] or "50%" in pull["body"] or "25 %" in pull["body"]


def test_the_cost_of_a_merged_change_and_the_denial_rate_of_a_month_are_told(village: Village) -> None:
    merged, denied = village.pulled(), village.pulled("other")
    village.alice.merge(village.plan(merged).pull_request or 0)
    village.alice.close_pull(village.plan(denied).pull_request or 0)
    village.settle()
    village.alice.comment(denied, "/costs")
    village.settle()
    told = village.text(denied, "costs")
    assert "| $0.0500 | 1 of 2 (50 %) | 1 | $0.0500 |" in told, "all that was spent, for the one of two that was merged"
    with village.parts.store.read() as tx:
        cost = plan_costs.of_plan(tx, village.plan(merged))
    assert cost.check_seconds == Amount(value=Decimal(str(CHECKED))), "of its only execution"
