"""The wheel, unpacked into a folder of its own, without a checkout beside it: is all that the product reads in it?"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import sysconfig
import zipfile
from dataclasses import dataclass
from importlib.metadata import PathDistribution
from pathlib import Path

import pytest
import yaml

from bot.lifecycle.plan import Revision
from bot.lifecycle.wording import render
from runner.contract import Issue
from runner.program import load
from runner.results import Unit
from tests.lifecycle import stories
from tests.web.lab import GitHub, github, settings_of

pytestmark = pytest.mark.slow

__all__ = ["github"]

ROOT = Path(__file__).parent.parent
COMMIT = "0123456789abcdef0123456789abcdef01234567"
DEADLINE = 120.0
"""Seconds that the build or one command may take."""

PROMPT = """
import json, sys
from pathlib import Path
from runner.contract import Issue
from runner.program import load
from runner.promptware import PromptInput, compose
from runner.results import PlanDocument, Unit

issue = Issue.model_validate_json(sys.argv[1])
plan = PlanDocument.model_validate_json(sys.argv[2])
programs = {unit: load(unit, lambda _: None) for unit in Unit}
parts = [PromptInput(program, Path("/result.json"), issue, plan=plan) for program in programs.values()]
print(json.dumps({part.program.unit: compose(part, "0" * 16) for part in parts}))
"""

SCHEMAS = """
from runner.schemas import FOLDER, SCHEMAS, render

for name in SCHEMAS:
    assert (FOLDER / f"{name}.json").read_text() == render(name), name
print(FOLDER)
"""

COMMENT = """
import sys
from bot.lifecycle.plan import Plan, Revision
from bot.lifecycle.wording import render

print(render.plan_comment(Plan.model_validate_json(sys.argv[1]), Revision.model_validate_json(sys.argv[2])))
"""


@dataclass(frozen=True)
class Installation:
    """The unpacked wheel, and an empty folder to work in."""

    folder: Path
    cwd: Path

    def python(self, *arguments: str, **settings: str) -> subprocess.CompletedProcess[str]:
        """Run Python on the wheel and its dependencies; ``-S`` keeps the checkout's editable install out."""
        found = os.pathsep.join((str(self.folder), sysconfig.get_path("purelib")))
        return subprocess.run(
            [sys.executable, "-S", *arguments],
            env={"PATH": os.environ["PATH"], "HOME": str(self.cwd), "PYTHONPATH": found, **settings},
            cwd=self.cwd,
            capture_output=True,
            text=True,
            timeout=DEADLINE,
            check=False,
        )

    def said(self, *arguments: str, **settings: str) -> str:
        """Run Python, which must succeed, and return its output."""
        done = self.python(*arguments, **settings)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("dist")
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    done = subprocess.run(build, cwd=ROOT, capture_output=True, text=True, timeout=DEADLINE, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    (made,) = folder.glob("*.whl")
    return made


@pytest.fixture(scope="module")
def unpacked(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("installed")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder)
    return folder


@pytest.fixture
def installed(unpacked: Path, tmp_path: Path) -> Installation:
    return Installation(unpacked, tmp_path)


def test_every_file_of_the_product_is_in_it(wheel: Path) -> None:
    listed = ["git", "ls-files", "-z", "bot", "runner", "promptware"]
    kept = subprocess.run(listed, cwd=ROOT, capture_output=True, text=True, timeout=DEADLINE, check=True).stdout
    wanted = {name for name in kept.split("\0") if name and (ROOT / name).exists()}
    names = set(zipfile.ZipFile(wheel).namelist())
    assert len(wanted) > 200
    assert wanted <= names, sorted(wanted - names)
    tops = {name.split("/")[0] for name in names}
    assert {top for top in tops if not top.endswith(".dist-info")} == {"bot", "runner", "promptware"}


def test_the_two_commands_are_there(unpacked: Path) -> None:
    (info,) = unpacked.glob("*.dist-info")
    scripts = {point.name: point.load() for point in PathDistribution(info).entry_points}
    assert set(scripts) == {"twogate", "twogate-runner"}
    assert all(map(callable, scripts.values()))


def test_what_runs_is_the_wheel(installed: Installation) -> None:
    code = "import bot, runner; print(bot.__file__); print(runner.__file__)"
    places = installed.said("-c", code).splitlines()
    assert places == [str(installed.folder / name / "__init__.py") for name in ("bot", "runner")]


def test_init_finds_the_workflow(installed: Installation) -> None:
    installed.said("-m", "bot", "init", "--owner", "acme", "--commit", COMMIT)
    workflow = yaml.safe_load((installed.cwd / ".github/workflows/twogate.yml").read_text())
    assert workflow["jobs"]["run"]["steps"][0]["uses"] == f"acme/twogate/.github/actions/run@{COMMIT}"


def test_migrate_finds_the_migrations_and_the_doctor_the_registration(installed: Installation, github: GitHub) -> None:
    settings = settings_of(github, "http://127.0.0.1:1", installed.cwd)
    assert "up to date" in installed.said("-m", "bot", "migrate", **settings)
    done = installed.python("-m", "bot", "doctor", **settings)
    assert (done.returncode, done.stderr) == (1, ""), "no worker has run yet"
    assert "The database answers and is up to date." in done.stdout
    assert "grants all that is needed" in done.stdout


def test_check_policy_judges(installed: Installation) -> None:
    (installed.cwd / "policy.yml").write_text("label: robot\nnonsense: 1\n")
    done = installed.python("-m", "bot", "check-policy", "policy.yml")
    assert (done.returncode, done.stdout.startswith("policy.yml:2: ")) == (1, True), done.stdout + done.stderr


def test_the_policy_schema_is_that_of_the_code(installed: Installation) -> None:
    code = "import json; from bot.lifecycle.policy_file import json_schema; print(json.dumps(json_schema()))"
    published = installed.folder / "bot/lifecycle/policy.schema.json"
    assert json.loads(installed.said("-c", code)) == json.loads(published.read_text())


def test_the_runner_says_what_the_machine_offers(installed: Installation) -> None:
    done = installed.python("-m", "runner", "doctor", TWOGATE_HOME=str(installed.cwd / "home"))
    assert (done.returncode, done.stderr) == (1, ""), "no bot is named"
    assert "twogate git: git version" in done.stdout
    assert "missing: bot: TWOGATE_URL is not set." in done.stdout


def test_a_prompt_of_each_unit_is_composed(installed: Installation) -> None:
    issue = Issue(number=7, title="Greet in French", body="Please.", author="ann")
    said = installed.said("-c", PROMPT, issue.model_dump_json(), stories.DOCUMENT.model_dump_json())
    prompts = json.loads(said)
    assert set(prompts) == set(Unit)
    for unit, prompt in prompts.items():
        assert load(Unit(unit), lambda _: None).text in prompt


def test_the_schemas_of_results_are_those_of_the_code(installed: Installation) -> None:
    assert installed.said("-c", SCHEMAS).strip() == str(installed.folder / "promptware" / "schemas")


def test_a_plan_is_worded_as_from_the_checkout(installed: Installation) -> None:
    plan, revision = stories.plan(), Revision(number=2, document=stories.DOCUMENT)
    said = installed.said("-c", COMMENT, plan.model_dump_json(), revision.model_dump_json())
    assert said == render.plan_comment(plan, revision) + "\n"
