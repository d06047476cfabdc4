"""An inspector: another agent reads the verified change beside its plan; what it finds is shown and decides nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from runner.contract import Outcome
from runner.results import Finding, Inspection, Unit

if TYPE_CHECKING:
    from tests.scenarios.village import Village

POLICY = """\
inspector: {cli: second, model: opus}
gates: [{name: tests, run: 'true'}]
subscriptions: [second]
"""
AGENTS = "agent: {cli: scripted}\nagents: {scripted: {command: [scripted]}, second: {command: [second, '{model}']}}\n"
BEFORE = ["status", "plan 1", "alice: /approve"]
NOT_INSPECTED = "The change was not inspected; its checks and its review stand without. The inspector's time was up."


def inspected(village: Village, **report: Any) -> int:
    """An issue whose work was verified under a policy with an inspector."""
    village.push("alice", {".github/twogate.yml": AGENTS + POLICY})
    issue = village.executing()
    runner = village.runner(issue)
    head = runner.publish({"shop/basket.py": "rounded"})
    inspector = runner.spec.inspector
    assert inspector is not None
    assert (inspector.name, inspector.model, inspector.command) == ("second", "opus", ("second", "{model}"))
    paid = {agent.name: agent.subscription for agent in (inspector, *runner.spec.agents.values())}
    assert paid == {"scripted": False, "second": True}, "what a subscription pays has tokens alone"
    cost = runner.usage()[0].model_copy(update={"unit": Unit.INSPECT_DIFF, "agent": "second", "model": "opus"})
    runner.end(Outcome.VERIFIED, **{**runner.verified(head), "usage": (*runner.usage(), cost), **report})
    return issue


def test_what_an_inspector_finds_is_shown_with_its_place_and_cost_and_decides_nothing(village: Village) -> None:
    grave = Finding(severity="high", path="shop/basket.py", line=1, text="@maintainers: it rounds `up`.")
    issue = inspected(village, inspection=Inspection(summary="Not what the plan says.", findings=(grave,)))
    assert village.stands(issue) == "in_review, waits for diff_decision"
    review = village.text(issue, "review 2")
    assert "**Inspection** by an agent that did not write the change: `second` with model `opus`." in review
    assert "- **Serious**, `shop/basket.py`, line 1: @\u200bmaintainers: it rounds `up`." in review
    assert "| InspectDiff | $0.0125 |" in review
    village.alice.comment(issue, "/approve")
    village.settle()
    assert village.stands(issue) == "pr_open, waits for merge"
    assert village.thread(issue) == [*BEFORE, "review 2", "alice: /approve"]
    assert village.path(issue) == ["draft", "approved", "executing", "verifying", "in_review", "pr_open"]
    (pull,) = village.pulls()
    assert "| InspectDiff | $0.0125 |" in pull["body"]


def test_work_that_was_not_inspected_says_so_and_goes_on(village: Village) -> None:
    issue = inspected(village, notes=(NOT_INSPECTED,))
    assert village.stands(issue) == "in_review, waits for diff_decision"
    review = village.text(issue, "review 2")
    assert f"- {NOT_INSPECTED}" in review
    assert "**Inspection**" not in review
    assert village.thread(issue) == [*BEFORE, "review 2"]


def test_without_a_policy_of_it_nobody_inspects(village: Village) -> None:
    issue = village.executing()
    runner = village.runner(issue)
    runner.execute({"shop/basket.py": "rounded"})
    assert runner.spec.inspector is None
    assert "**Inspection**" not in village.text(issue, "review 2")


def test_a_policy_by_which_the_writer_inspects_itself_is_broken(village: Village) -> None:
    village.set_policy("inspector: {cli: scripted}\n")
    issue = village.opened()
    village.tom.comment(issue, "/plan")
    village.settle()
    assert "choose another of either" in village.text(issue, "policy_invalid")
