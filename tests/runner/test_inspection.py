"""The inspector: another agent reads the verified change, and whatever becomes of it, the work stands."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pytest

from runner.contract import Outcome
from runner.results import Finding, Inspection, Unit
from runner.terms import Budget
from tests.runner.lab import Lab

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

FOUND = {"summary": "It does what the plan says.", "findings": [{"severity": "low", "path": "calc.py", "text": "So."}]}
LOOK = (
    "import subprocess\n"
    "git = lambda *words: subprocess.run(['git', *words], capture_output=True, text=True, check=True).stdout\n"
    "assert '+    return a + b' in git('diff', 'origin/base', 'HEAD'), 'the change lies before it'\n"
    "assert git('status', '--porcelain') == ''\n"
    "assert 'Check tests: passed.' in prompt and 'calc.py: modified, +1 -1' in prompt and 'Mend add().' in prompt\n"
)


@pytest.fixture
def lab(tmp_path: Path) -> Iterator[Lab]:
    lab = Lab(tmp_path)
    yield lab
    lab.close()


def _inspector(lab: Lab, code: str) -> dict[str, Any]:
    return {"inspector": lab.coded(code, Unit.INSPECT_DIFF)[Unit.INSPECT_DIFF].model_copy(update={"name": "other"})}


def test_an_inspector_reads_the_verified_change_and_its_findings_are_reported(lab: Lab) -> None:
    report = lab.run("good", **_inspector(lab, f"{LOOK}give({FOUND!r})\n"))
    assert report.outcome is Outcome.VERIFIED, report
    assert report.inspection == Inspection(
        summary="It does what the plan says.", findings=(Finding(severity="low", path="calc.py", text="So."),)
    ), report.notes
    rows = [(row.unit, row.agent, row.attempt) for row in report.usage]
    assert rows == [
        (Unit.EXECUTE_PLAN, "scripted", 1),
        (Unit.CREATE_PR, "scripted", 1),
        (Unit.INSPECT_DIFF, "other", 1),
    ]
    assert report.attempts == 1
    assert lab.bot.phases == ["prepare", "agent", "gates", "publish", "report"]


def test_a_result_that_can_not_be_used_goes_back_once(lab: Lab) -> None:
    code = f"give({FOUND!r} if 'could not be used' in prompt else {{'summary': 3}})\n"
    report = lab.run("good", **_inspector(lab, code))
    assert report.inspection is not None, report.notes
    assert [row.attempt for row in report.usage if row.unit is Unit.INSPECT_DIFF] == [1, 2]


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("sys.exit(3)", "exit code 3"),
        ("give({'summary': 3})", "does not fit its schema"),
        ("write('calc.py', 'changed')\n" + f"give({FOUND!r})", "was to read only"),
    ],
)
def test_an_inspector_that_fails_takes_nothing_from_the_work(lab: Lab, code: str, words: str) -> None:
    report = lab.run("good", **_inspector(lab, code))
    assert (report.outcome, report.inspection) == (Outcome.VERIFIED, None), report
    (note,) = [note for note in report.notes if note.startswith("The change was not inspected")]
    assert words in note
    assert report.work is not None
    assert lab.tip("plan/7") == report.work.head
    assert lab.shown("calc.py") == "def add(a, b):\n    return a + b"
    assert lab.left() == []


def test_an_inspector_finds_nothing_that_another_agent_left_for_it(lab: Lab) -> None:
    left = "for place in ('HOME', 'TMPDIR'):\n    write(os.path.join(os.environ[place], 'left'), 'All is well.')\n"
    code = f"{left}write('calc.py', 'def add(a, b):\\n    return a + b\\n')\ndone()\n"
    look = "assert not [place for place in ('HOME', 'TMPDIR') if os.listdir(os.environ[place])]\n"
    report = lab.run("good", agents=lab.coded(code), **_inspector(lab, f"{look}give({FOUND!r})"))
    assert report.inspection is not None, report.notes


def test_a_tree_that_was_changed_after_the_verdict_is_not_inspected(lab: Lab) -> None:
    meddler = "write('calc.py', 'mine')\ngive({'title': 'T', 'body': 'B'})\n"
    agents = {**lab.spec("good").agents, **lab.coded(meddler, Unit.CREATE_PR)}
    report = lab.run("good", agents=agents, **_inspector(lab, f"give({FOUND!r})"))
    assert (report.outcome, report.inspection) == (Outcome.VERIFIED, None), report
    assert any("was changed after the commit was verified" in note for note in report.notes), report.notes
    assert Unit.INSPECT_DIFF not in {row.unit for row in report.usage}


def test_an_inspector_is_not_started_where_nothing_is_left(lab: Lab) -> None:
    spend = "print(json.dumps({'type': 'usage', 'model': 'm', 'input_tokens': 1, 'output_tokens': 1, 'usd': 2}))\n"
    code = f"write('calc.py', 'def add(a, b):\\n    return a + b\\n')\n{spend}done()\n"
    agents = {unit: agent.model_copy(update={"output": "jsonl"}) for unit, agent in lab.coded(code).items()}
    inspector = _inspector(lab, f"give({FOUND!r})")
    report = lab.run("good", agents=agents, budget=Budget(usd=Decimal(2), attempts=1), **inspector)
    assert (report.outcome, report.inspection) == (Outcome.VERIFIED, None), report
    assert Unit.INSPECT_DIFF not in {row.unit for row in report.usage}
    assert any("was not inspected" in note and "budget" in note for note in report.notes), report.notes
