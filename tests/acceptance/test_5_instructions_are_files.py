"""Does ``git log`` on the instructions' folder show every change of behaviour, memory included?"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from runner.contract import JobSpec, Outcome
from runner.results import Unit
from tests.runner.lab import Lab

if TYPE_CHECKING:
    from collections.abc import Iterator

FOLDER = ".twogate/promptware"
LESSON = "The function add() lives in calc.py."
OWN_WORDS = "Write tests before code, always."
SHIPPED = Path(__file__).parents[2] / "promptware"


@pytest.fixture
def lab(tmp_path: Path) -> Iterator[Lab]:
    lab = Lab(tmp_path)
    yield lab
    lab.close()


def prompts_of(lab: Lab, spec: JobSpec) -> str:
    """The exact prompts of a job's agents."""
    found = sorted((lab.home / "jobs" / spec.job).rglob("prompt.md"))
    assert found
    return "\n".join(path.read_text() for path in found)


def run(lab: Lab, branch: str) -> str:
    """Run one plan from the default branch's head and return its prompts."""
    base = lab.tip("trunk")
    report = lab.run("good", branch=branch, plan_uid=f"plan{branch.replace('/', '')}x", base=base)
    spec = lab.bot.specs[report.job]
    assert spec.base == base
    assert report.prompts[0].unit is Unit.EXECUTE_PLAN
    listed = lab.git("ls-tree", "-r", "--name-only", base, "--", f"{FOLDER}/ExecutePlan/Memory")
    assert report.prompts[0].lessons == tuple(listed.split())
    return prompts_of(lab, spec)


def test_a_lesson_is_a_commit_that_is_applied_after_its_merge_and_gone_after_its_revert(lab: Lab) -> None:
    assert LESSON not in run(lab, "plan/1")
    learned = lab.run("learn", branch="plan/2")
    assert learned.outcome is Outcome.VERIFIED, learned
    assert LESSON not in run(lab, "plan/3"), "what nobody merged is not applied"
    lab.git("fetch", "-q", "origin")
    lab.git("merge", "-q", "--no-ff", "-m", "Merge it", "origin/plan/2")
    lab.git("push", "-q", "origin", "HEAD:trunk")
    log = lab.git("log", "--format=%s", "trunk", "--", FOLDER, cwd=lab.remote).splitlines()
    assert "Note what was learned (#7)" in log
    assert LESSON in run(lab, "plan/4")
    commit = lab.git("log", "-1", "--format=%H", "--grep", "Note what was learned")
    lab.git("revert", "--no-edit", commit)
    lab.git("push", "-q", "origin", "HEAD:trunk")
    assert LESSON not in run(lab, "plan/5")
    log = lab.git("log", "--format=%s", "trunk", "--", FOLDER, cwd=lab.remote).splitlines()
    assert log[0].startswith("Revert")


def test_a_repositorys_own_instructions_are_read_from_its_base_commit(lab: Lab) -> None:
    program = (SHIPPED / Unit.EXECUTE_PLAN / "Program.md").read_text()
    lab.commit({f"{FOLDER}/ExecutePlan/Program.md": f"{program}\n{OWN_WORDS}\n"}, "Tests first")
    assert OWN_WORDS in run(lab, "plan/1")
    assert lab.git("log", "--format=%s", "trunk", "--", FOLDER, cwd=lab.remote) == "Tests first"
    lab.commit({f"{FOLDER}/ExecutePlan/Program.md": "---\nextends: built-in\ntools: [push]\n---\n"}, "Broken")
    report = lab.run("good", branch="plan/2", plan_uid="planplan2x", base=lab.tip("trunk"))
    assert report.outcome is Outcome.RUNNER_FAILED
    assert report.sentence.startswith(f"{FOLDER}/ExecutePlan/Program.md, line 3: tools: ")


@pytest.mark.xfail(strict=True, reason="lessons of units that only read wait for a branch; a later issue takes them in")
def test_what_planning_learned_is_kept_too(lab: Lab) -> None:
    from bot.lifecycle.plan import Plan

    assert "lessons" in Plan.model_fields, "the plan keeps them until it has a branch"
