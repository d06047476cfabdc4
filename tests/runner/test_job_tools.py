"""Tools in whole jobs: a result is handed in and mended, and what was recorded reaches the branch and the report."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from runner.contract import JobKind, Outcome
from runner.results import Unit
from runner.terms import Network, SandboxMode
from tests.runner.lab import Lab

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

EXECUTE = """
write("calc.py", "def add(a, b):\\n    return a + b\\n")
assert tool("progress", "mending") == (0, "Noted.\\n")
code, said = tool("submit", "-", say='{"status": "done"}')
assert (code, "summary: Field required" in said) == (1, True), said
assert tool("remember", "--kind", "fact", "--path", "calc.py", "The function add() lives in the file calc.py.")[0] == 0
assert tool("recommend", "--title", "Test more", "There is one test.")[0] == 0
assert tool("ask", "Shall it add floats?")[0] == 0
assert tool("own") == (0, "own\\n")
assert tool("submit", "-", say=json.dumps({"status": "done", "summary": "By submit."}))[0] == 0
write(sys.argv[1], "nonsense")
sys.exit(3)
"""
PLAN = """
plan = {"verdict": "plan", "title": "First", "summary": "S", "steps": ["Mend."], "files": ["calc.py"]}
code, said = tool("submit", "-", say=json.dumps(plan | {"verdict": "duplicate", "duplicate_of": 99, "reason": "So."}))
assert (code, "issue 99 is not among the plans" in said) == (1, True), said
assert tool("ask", "Shall it add floats?")[0] == 0
assert tool("remember", "--kind", "fact", "The function add() lives in the file calc.py.")[0] == 0
assert tool("submit", "-", say=json.dumps(plan))[0] == 0
%s
"""


@pytest.fixture
def lab(tmp_path: Path) -> Iterator[Lab]:
    lab = Lab(tmp_path)
    yield lab
    lab.close()


def test_a_result_that_was_handed_in_counts_also_where_its_agent_fails_afterwards(lab: Lab) -> None:
    own = lab.clone / ".twogate/promptware/ExecutePlan/Tools/own"
    own.parent.mkdir(parents=True)
    own.write_text("#!/bin/sh\necho own\n")
    own.chmod(0o755)
    lab.base = lab.commit({".twogate/promptware/ExecutPlan/Program.md": "Be kind."}, "A tool of our own, and a typo")
    scripted = lab.spec("good").agents
    report = lab.run("good", agents=scripted | lab.coded(EXECUTE))
    assert report.outcome is Outcome.VERIFIED, report
    assert report.work is not None
    assert report.work.summary is not None
    assert report.work.summary.summary == "By submit."
    assert [seen.title for seen in report.work.summary.recommendations] == ["Test more"]
    assert report.asked == ("Shall it add floats?",)
    notes = "\n".join(report.notes)
    assert "which counts; after that: Agent coded ended with exit code 3." in notes
    assert notes.count(".twogate/promptware/ExecutPlan/ is no unit's, so nothing in it counts.") == 1
    paths = lab.git("ls-tree", "-r", "--name-only", "plan/7", cwd=lab.remote)
    assert "ExecutePlan/Memory/" in paths


def test_an_agent_that_says_everything_by_tools_needs_no_result_file(lab: Lab) -> None:
    report = lab.run("good_by_tools")
    assert report.outcome is Outcome.VERIFIED, report
    assert report.asked == ("Shall it add floats?",)


@pytest.mark.parametrize(
    ("written", "title"),
    [("write(sys.argv[1], '{}')", "First"), ("give(plan | {'title': 'Later'})", "Later")],
    ids=["unfit", "valid"],
)
def test_the_later_valid_result_is_taken_and_questions_join_the_plan(lab: Lab, written: str, title: str) -> None:
    agents = lab.coded(PLAN % written, Unit.CREATE_PLAN)
    report = lab.run("plan", kind=JobKind.PLAN, sandbox=SandboxMode.AUTO, network=Network.OFF, agents=agents)
    assert report.outcome is Outcome.PLANNED, report
    assert report.plan is not None
    assert (report.plan.title, report.plan.questions) == (title, ("Shall it add floats?",))
    assert report.asked == ()
    assert [lesson.unit for lesson in report.lessons] == [Unit.CREATE_PLAN]


def test_an_executable_that_would_stand_in_for_a_tool_is_refused(lab: Lab) -> None:
    own = lab.clone / ".twogate/promptware/CreatePlan/Tools/submit"
    own.parent.mkdir(parents=True)
    own.write_text("#!/bin/sh\n")
    own.chmod(0o755)
    lab.base = lab.commit({}, "A tool that is none")
    report = lab.run("plan", kind=JobKind.PLAN)
    assert (report.outcome, "would stand in for a tool" in report.sentence) == (Outcome.RUNNER_FAILED, True)
