"""Two plans that touch the same file: do both give a clean, separate diff?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from runner.contract import Outcome
from runner.results import Unit
from runner.terms import AgentSpec, GateSpec
from tests.runner.lab import Lab

if TYPE_CHECKING:
    from pathlib import Path

CODE = """
import json, pathlib, sys, time
own, other = pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3])
pathlib.Path("calc.py").write_text(sys.argv[4])
pathlib.Path("untracked").write_text("mine")
own.touch()
deadline = time.monotonic() + 60
while not other.exists() and time.monotonic() < deadline:
    time.sleep(0.01)
assert other.exists(), "the other plan never worked at the same time"
assert pathlib.Path("calc.py").read_text() == sys.argv[4]
pathlib.Path("untracked").unlink()
pathlib.Path(sys.argv[1]).write_text(json.dumps({"status": "done", "summary": "Mended."}))
"""


def agent(lab: Lab, own: str, other: str, content: str) -> dict[Unit, AgentSpec]:
    python = (lab.spec("good").agents[Unit.EXECUTE_PLAN].command or ())[0]
    places = (str(lab.folder / own), str(lab.folder / other))
    return {Unit.EXECUTE_PLAN: AgentSpec(name="x", command=(python, "-c", CODE, "{result_file}", *places, content))}


def test_two_plans_at_work_on_one_file_at_the_same_time_give_separate_diffs(tmp_path: Path) -> None:
    lab = Lab(tmp_path)
    try:
        contents = ["def add(a, b):\n    return a + b\n", "def add(a, b):\n    return sum((a, b))\n"]
        specs = [
            lab.spec("", plan_uid="planone1", branch="plan/1", agents=agent(lab, "one", "two", contents[0])),
            lab.spec("", plan_uid="plantwo2", branch="plan/2", agents=agent(lab, "two", "one", contents[1])),
        ]
        for process in [lab.start(spec.job) for spec in specs]:
            with process:
                process.communicate(timeout=120)
        for spec, content in zip(specs, contents, strict=True):
            report = lab.bot.reports[spec.job]
            assert report.outcome is Outcome.VERIFIED, report
            assert report.work is not None
            assert [(f.path, f.added, f.removed) for f in report.work.files] == [("calc.py", 1, 1)]
            assert report.work.base == lab.base
            assert lab.shown("calc.py", spec.branch) == content.strip()
        assert lab.left() == []
    finally:
        lab.close()


def test_what_one_plans_checks_leave_behind_is_not_in_the_next_plan(tmp_path: Path) -> None:
    lab = Lab(tmp_path)
    try:
        litter = GateSpec(name="litter", run="test ! -e litter && touch litter ../litter")
        for number in (1, 2):
            report = lab.run("good", branch=f"plan/{number}", plan_uid=f"planplan{number}", gates=(litter,))
            assert report.outcome is Outcome.VERIFIED, report
            assert report.work is not None
            assert [file.path for file in report.work.files] == ["calc.py"]
    finally:
        lab.close()
