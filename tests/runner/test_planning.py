"""Jobs that only read, from claim to report: plans, more detail, splits, duplicates, issues from recommendations."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from runner.contract import JobKind, KnownPlan, Outcome
from runner.results import Recommendation, Unit, Verdict
from tests.runner.lab import PLAN, Lab

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

WRITTEN = {**PLAN.model_dump(mode="json"), "changes": ["Step 1 names the operator."]}
DUPLICATE = {"verdict": "duplicate", "title": "Same", "summary": "", "reason": "Its step 1.", "duplicate_of": 3}
CHILDREN = [
    {"plan": {**WRITTEN, "title": "First"}},
    {"plan": {**WRITTEN, "title": "Second"}, "depends_on": [1]},
]


@pytest.fixture
def lab(tmp_path: Path) -> Iterator[Lab]:
    lab = Lab(tmp_path)
    yield lab
    lab.close()


def _agent(lab: Lab, unit: Unit, first: Any, then: Any = None, told: str = "") -> dict[str, Any]:
    """An agent that gives ``first``, and once it was ``told`` why that can't be used, ``then``."""
    texts = [json.dumps(json.dumps(result)) for result in (first, then)]
    code = (
        f"refused = 'could not be used' in prompt\nassert not refused or {told!r} in prompt, prompt\n"
        f"give(json.loads({texts[1]} if refused else {texts[0]}))\n"
    )
    return {"kind": JobKind.PLAN, "unit": unit, "agents": lab.coded(code, unit)}


def test_more_detail_keeps_the_scope(lab: Lab) -> None:
    wider = {**WRITTEN, "files": ["calc.py", "setup.py"], "weakens": ["calc.py"]}
    told = "files: 'setup.py' is new. files: 'notes/**' is missing. weakens: 'calc.py' is new."
    report = lab.run("plan", **_agent(lab, Unit.EXPAND_PLAN, wider, WRITTEN, told), plan=PLAN)
    assert report.outcome is Outcome.PLANNED, report
    assert report.attempts == 2
    assert report.plan is not None
    assert report.plan.changes == ("Step 1 names the operator.",)
    assert [usage.unit for usage in report.usage] == [Unit.EXPAND_PLAN] * 2


def test_more_detail_that_stays_wider_is_no_plan(lab: Lab) -> None:
    wider = {**WRITTEN, "files": ["calc.py", "setup.py"]}
    report = lab.run("plan", **_agent(lab, Unit.EXPAND_PLAN, wider, wider), plan=PLAN)
    assert (report.outcome, report.plan) == (Outcome.INVALID_RESULT, None), report
    assert "The scope must stay as it was." in report.sentence


def test_a_plan_is_split_into_plans(lab: Lab) -> None:
    circle = {"summary": "In two.", "children": [{**CHILDREN[0], "depends_on": [2]}, CHILDREN[1]]}
    split = {"summary": "In two.", "children": CHILDREN}
    told = "children 1, 2 wait for each other"
    report = lab.run("plan", **_agent(lab, Unit.SPLIT_PLAN, circle, split, told), plan=PLAN)
    assert report.outcome is Outcome.PLANNED, report
    assert report.sentence == "The plan is split into 2 plans."
    assert report.plan is None
    assert report.split is not None
    assert [(child.plan.title, child.depends_on) for child in report.split.children] == [
        ("First", ()),
        ("Second", (1,)),
    ]


@pytest.mark.parametrize(
    ("known", "told"),
    [
        (KnownPlan(issue=4, title="Another", state="draft"), "issue 3 is not among the plans"),
        (KnownPlan(issue=3, title="No", state="rejected"), "#3 can't be named: it was rejected"),
        (KnownPlan(issue=3, title="No", state="cancelled"), "#3 can't be named: it was cancelled"),
        (KnownPlan(issue=3, title="Done", state="merged", merged_days_ago=6.9), "it is a regression: plan it"),
    ],
)
def test_what_is_no_duplicate_is_planned(lab: Lab, known: KnownPlan, told: str) -> None:
    report = lab.run("plan", **_agent(lab, Unit.CREATE_PLAN, DUPLICATE, WRITTEN, told), known=(known,))
    assert (report.outcome, report.attempts) == (Outcome.PLANNED, 2), report
    assert report.plan is not None
    assert report.plan.verdict is Verdict.PLAN


@pytest.mark.parametrize(
    "known",
    [
        KnownPlan(issue=3, title="The same", state="in_review"),
        KnownPlan(issue=3, title="Long done", state="merged", merged_days_ago=7.0),
    ],
)
def test_a_duplicate_names_the_issue_that_covers_it(lab: Lab, known: KnownPlan) -> None:
    report = lab.run("plan", **_agent(lab, Unit.CREATE_PLAN, DUPLICATE), known=(known,))
    assert (report.outcome, report.attempts) == (Outcome.PLANNED, 1), report
    assert report.plan is not None
    assert (report.plan.verdict, report.plan.duplicate_of) == (Verdict.DUPLICATE, 3)


def test_a_recommendation_becomes_an_issue(lab: Lab) -> None:
    code = (
        "assert 'UNTRUSTED RECOMMENDATION' in prompt and 'sub() is missing' in prompt\n"
        "give({'title': 'Subtract as well', 'body': 'calc.py has no sub().'})\n"
    )
    report = lab.run(
        "good",
        kind=JobKind.WRITE_ISSUE,
        unit=Unit.CREATE_ISSUE,
        agents=lab.coded(code, Unit.CREATE_ISSUE),
        recommendation=Recommendation(title="sub() is missing", reason="Nobody can subtract.", paths=("calc.py",)),
    )
    assert report.outcome is Outcome.ISSUE_WRITTEN, report
    assert report.outcome.is_success
    assert report.issue is not None
    assert (report.issue.title, report.issue.body) == ("Subtract as well", "calc.py has no sub().")
    assert [usage.unit for usage in report.usage] == [Unit.CREATE_ISSUE]
    assert (lab.bot.pushes, lab.left()) == ([], [])


@pytest.mark.parametrize(("code", "outcome"), [("write('new.py', '')", Outcome.TREE_CHANGED), ("", None)])
def test_a_job_that_writes_an_issue_changes_nothing_else(lab: Lab, code: str, outcome: Outcome | None) -> None:
    seen = Recommendation(title="T", reason="R") if outcome else None
    agents = lab.coded(f"{code}\ngive({{'title': 'T', 'body': 'B'}})\n", Unit.CREATE_ISSUE)
    report = lab.run("x", kind=JobKind.WRITE_ISSUE, unit=Unit.CREATE_ISSUE, agents=agents, recommendation=seen)
    assert report.outcome is (outcome or Outcome.RUNNER_FAILED), report
    assert report.issue is None
