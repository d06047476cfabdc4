"""Does ``git log`` on the instructions' folder show every change of behaviour, memory included?"""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from runner.contract import JobSpec, Outcome
from runner.job import Runner
from runner.results import Unit
from runner.settings import from_environment
from tests.runner.lab import Lab
from tests.standin.run_plan import identity_of
from tests.town.repository import git

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.scenarios.village import Village

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


LEARNER = """\
import json, pathlib, subprocess, sys
unit, prompt, result = sys.argv[1], pathlib.Path(sys.argv[2]).read_text(), pathlib.Path(sys.argv[3])
give = lambda found: result.write_text(json.dumps(found))
if unit == "CreatePlan":
    if "Teach us" in prompt:
        subprocess.run(["remember", "--kind", "pitfall", "--path", "shop/**", "--unit", "CreatePlan", LESSON], check=True)
    give({"verdict": "plan", "title": "Round it", "summary": "It is not.", "steps": ["Do."], "files": ["shop/basket.py"]})
elif unit == "ExecutePlan":
    pathlib.Path("shop/basket.py").write_text("ROUNDED = True\\n")
    give({"status": "done", "summary": "Rounded."})
else:
    give({"title": "Round it", "body": "It is rounded."})
"""
"""An agent whose planning learns something where the issue says so."""
MONDAYS = "The basket's prices are floats: round the total once, at the end."


class Week:
    """Days in a village whose bot and runner are the real ones: only the agent is a script."""

    def __init__(self, village: Village, folder: Path) -> None:
        self.village, self.home = village, folder / "runner"
        agent = folder / "learner.py"
        agent.write_text(LEARNER.replace("LESSON]", f"{MONDAYS!r}]"))
        command = [sys.executable, str(agent), "{unit}", "{prompt_file}", "{result_file}"]
        policy = {"agent": {"cli": "script"}, "agents": {"script": {"command": command}}, "sandbox": "off", "gates": []}
        village.push("alice", {".github/twogate.yml": json.dumps(policy)})
        village.github.hub.clock = village.clock

    def work(self, issue: int) -> str:
        """Carry out the issue's open job with a real runner and return the prompts of its agents."""
        job = self.village.plan(issue).job
        assert job is not None, self.village.known()
        attempt, hub = self.village.attempt(job.id), self.village.github.hub
        given = {
            "PATH": os.environ["PATH"],
            "HOME": str(self.home),
            "TWOGATE_URL": self.village.url,
            "TWOGATE_HOME": str(self.home),
            "GITHUB_TOKEN": hub.create_workflow_token(self.village.repo, {"contents": "read"}).raw,
            "GITHUB_SERVER_URL": self.village.github.url,
            "RUNNER_NAME": "week",
        }
        said: list[str] = []
        settings = from_environment(given | identity_of(hub, attempt))
        assert Runner(settings, time.time, said.append).run(job.id), said
        self.village.finish_run(attempt)
        self.village.settle()
        found = sorted((self.home / "jobs" / job.id).rglob("prompt.md"))
        return "\n".join(path.read_text() for path in found)

    def planned(self, title: str) -> tuple[int, str]:
        """Return an issue whose plan is written, and the prompts by which it was."""
        issue = self.village.opened(title)
        self.village.tom.label(issue, "agent")
        self.village.settle()
        prompts = self.work(issue)
        assert self.village.stands(issue) == "draft, waits for plan_decision", self.village.known()
        return issue, prompts

    def say(self, issue: int, words: str) -> None:
        self.village.alice.comment(issue, words)
        self.village.settle()


def test_what_planning_learned_on_monday_is_applied_on_tuesday_and_gone_after_its_revert(
    village: Village, tmp_path: Path
) -> None:
    week = Week(village, tmp_path)
    monday, prompts = week.planned("Teach us")
    assert MONDAYS not in prompts
    assert MONDAYS in village.text(monday, "plan 1")
    week.say(monday, "/approve")
    week.work(monday)
    assert MONDAYS in village.text(monday, "review 2").partition("**Checks**")[0]
    week.say(monday, "/approve")
    assert MONDAYS not in week.planned("Before the merge")[1]
    village.alice.merge(village.plan(monday).pull_request or 0)
    village.settle()

    tuesday, prompts = week.planned("The total, once more")
    assert MONDAYS in prompts
    (path,) = [each.path for each in village.plan(monday).lessons]
    assert f"A lesson of this repository used</summary>\n\n- `{path}`" in village.text(tuesday, "plan 1")
    (written,) = [entry for entry in village.journal(tuesday) if entry.event == "plan_written"]
    (prompt,) = written.details["prompts"]
    assert prompt["lessons"] == [path]

    clone = tmp_path / "clone"
    remote = village.github.hub.git_dir(village.repo)
    git(tmp_path, "clone", "--quiet", str(remote), str(clone))
    note = git(clone, "log", "--format=%H", "--grep", "Note what was learned", "--", FOLDER)
    git(clone, "revert", "--no-edit", note)
    git(clone, "push", "--quiet", village.push_url("alice"), "HEAD:main")
    assert MONDAYS not in week.planned("After the revert")[1]
    log = git(remote, "log", "--format=%s", "main", "--", FOLDER).splitlines()
    assert log == [f'Revert "Note what was learned (#{monday})"', f"Note what was learned (#{monday})"]
