"""A pause, by label or by policy: nothing new is begun, what runs ends, people still decide."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.scenarios.village import Village

PAUSE = "twogate: paused"
POLICY = "gates: []\nqueue: {overlap: 'off'}\n"


def pause(village: Village, issue: int, who: str = "tom") -> None:
    getattr(village, who).label(issue, PAUSE)
    village.settle()


def resume(village: Village, issue: int) -> None:
    village.tom.unlabel(issue, PAUSE)
    village.settle()


def test_people_decide_in_a_pause_and_nothing_begins_before_its_end(village: Village) -> None:
    issue = village.planned()
    pause(village, issue)
    assert village.stands(issue) == "held: label_paused, draft, waits for plan_decision"
    told = village.text(issue, "status")
    assert told.startswith("### Twogate: paused, draft")
    assert "Removing it lifts this." in told
    runs = village.runs()
    village.alice.comment(issue, "/approve")
    village.settle()
    assert village.stands(issue) == "held: label_paused, approved, waits for slot"
    village.alice.comment(issue, "/update Round half to even.")
    village.settle()
    assert village.stands(issue) == "held: label_paused, draft, waits for runner"
    assert "After the pause the plan is written." in village.text(issue, "status")
    assert village.runs() == runs
    resume(village, issue)
    assert village.stands(issue) == "draft, waits for runner"
    assert len(village.runs()) == len(runs) + 1
    village.runner(issue).write_plan()
    thread = ["status", "plan 1", "alice: /approve", "alice: /update Round half to even.", "plan 2"]
    assert village.thread(issue) == thread
    assert village.notes(issue, "hold_placed") == ["held: label_paused"]
    assert village.notes(issue, "hold_lifted") == ["goes on with what was interrupted"]


def test_what_runs_goes_on_to_its_end_and_then_stands(village: Village) -> None:
    issue = village.executing()
    runner = village.runner(issue)
    pause(village, issue)
    assert "what runs goes on to its end" in village.text(issue, "status")
    runner.execute({"shop/basket.py": "rounded"})
    assert village.stands(issue) == "held: label_paused, in_review, waits for diff_decision"
    village.alice.comment(issue, "/approve")
    village.settle()
    assert village.plan(issue).diff_approval is not None
    assert village.pulls() == []
    resume(village, issue)
    assert village.stands(issue) == "pr_open, waits for merge"
    assert len(village.pulls()) == 1


def test_the_label_counts_from_people_with_triage_alone(village: Village) -> None:
    issue = village.planned()
    village.person("mia", "triage")
    village.mia.label(issue, PAUSE)
    village.person("mia", "read")
    village.settle()
    assert village.stands(issue) == "draft, waits for plan_decision"
    assert village.thread(issue) == ["status", "plan 1", "not_allowed"]
    assert "needs triage permission" in village.text(issue, "not_allowed")
    assert village.notes(issue, "refused") == ["mia lacks 2"]


def test_a_label_taken_off_before_it_was_judged_pauses_nothing(village: Village) -> None:
    issue = village.planned()
    village.tom.label(issue, PAUSE)
    village.tom.unlabel(issue, PAUSE)
    village.settle()
    assert village.stands(issue) == "draft, waits for plan_decision"


def test_an_issue_that_is_paused_already_gets_a_plan_after_the_pause(village: Village) -> None:
    issue = village.opened()
    village.tom.label(issue, PAUSE)
    village.tom.label(issue, "agent")
    village.settle()
    assert village.stands(issue) == "held: label_paused, draft, waits for runner"
    assert village.runs() == []
    assert village.thread(issue) == ["status"]
    village.github.faults.add("drop", event="issues.unlabeled")
    village.tom.unlabel(issue, PAUSE)
    village.settle()
    assert village.runs() == []
    village.periodically("reconcile")
    assert village.stands(issue) == "draft, waits for runner"
    assert len(village.runs()) == 1


def test_a_policy_pauses_every_plan_and_the_push_that_takes_the_key_away_lets_them_go_on(village: Village) -> None:
    waiting, running, shown = village.labelled(), village.executing(), village.pulled()
    village.set_policy(f"{POLICY}pause: true")
    village.settle()
    assert village.stands(running) == "held: policy_paused, executing, waits for runner"
    assert village.stands(waiting) == "held: policy_paused, draft, waits for runner"
    assert village.stands(shown) == "held: policy_paused, pr_open, waits for merge"
    runs = village.runs()
    new = village.labelled()
    assert village.stands(new) == "held: policy_paused, draft, waits for runner"
    assert "policy pauses Twogate" in village.text(new, "status")
    village.runner(running).execute({"shop/basket.py": "rounded"})
    assert village.stands(running) == "held: policy_paused, in_review, waits for diff_decision"
    assert village.runs() == runs
    village.set_policy(POLICY)
    village.settle()
    assert village.stands(new) == "draft, waits for runner"
    assert village.stands(shown) == "pr_open, waits for merge"
    assert village.stands(running) == "in_review, waits for diff_decision"
    assert len(village.runs()) == len(runs) + 1
    assert village.thread(new) == ["status"]


@pytest.mark.parametrize("paused", [True, False])
def test_a_push_nobody_told_of_is_found(village: Village, paused: bool) -> None:
    if not paused:
        village.set_policy(f"{POLICY}pause: true")
        village.settle()
    issue = village.labelled()
    village.github.faults.add("drop", event="push")
    village.set_policy(POLICY + ("pause: true" if paused else ""))
    village.settle()
    before = village.stands(issue)
    village.periodically("reconcile")
    assert before == f"{'' if paused else 'held: policy_paused, '}draft, waits for runner"
    assert village.stands(issue) == f"{'held: policy_paused, ' if paused else ''}draft, waits for runner"


def test_a_dispatch_asks_the_policy_of_that_moment(village: Village) -> None:
    issue = village.planned()
    village.github.faults.add("drop", event="push")
    village.set_policy(f"{POLICY}pause: true")
    village.alice.comment(issue, "/update Round half to even.")
    village.settle()
    assert village.stands(issue) == "held: policy_paused, draft, waits for runner"
    assert len(village.runs()) == 1
    assert village.notes(issue, "hold_placed") == ["held: policy_paused"]
