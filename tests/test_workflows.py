"""The workflow files: checked by actionlint and zizmor, and for the properties the product's safety rests on."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).parent.parent
GITHUB = ROOT / ".github"
TOOLS = Path(sys.executable).parent
USER_WORKFLOW = GITHUB / "workflows" / "twogate.yml"
ACTION = GITHUB / "actions" / "run" / "action.yml"
DEFINITIONS = sorted([*(GITHUB / "workflows").glob("*.yml"), ACTION])


def load(path: Path) -> dict[str, Any]:
    # BaseLoader keeps every scalar as text: YAML 1.1 would read the key `on` as a boolean.
    document = yaml.load(path.read_text(), Loader=yaml.BaseLoader)
    assert isinstance(document, dict)
    return document


def steps_of(document: dict[str, Any]) -> list[dict[str, Any]]:
    holders = [document["runs"]] if "runs" in document else document["jobs"].values()
    return [step for holder in holders for step in holder["steps"]]


def test_actionlint_finds_nothing() -> None:
    done = subprocess.run([TOOLS / "actionlint"], cwd=ROOT, capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stdout) == (0, "")


def test_zizmor_finds_nothing() -> None:
    command = [str(TOOLS / "zizmor"), "--offline", "--persona=pedantic", ".github"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("path", DEFINITIONS, ids=lambda path: path.name)
def test_no_expression_enters_a_script(path: Path) -> None:
    scripts = [step["run"] for step in steps_of(load(path)) if "run" in step]
    assert all("${{" not in script for script in scripts)


@pytest.mark.parametrize("path", DEFINITIONS, ids=lambda path: path.name)
def test_foreign_actions_are_pinned_to_a_commit(path: Path) -> None:
    for step in steps_of(load(path)):
        action, _, ref = step.get("uses", "").partition("@")
        assert not action or len(ref) == 40, f"{action} is not pinned to a commit"


@pytest.mark.parametrize("path", sorted((GITHUB / "workflows").glob("*.yml")), ids=lambda path: path.name)
def test_permissions_are_granted_by_the_job_alone(path: Path) -> None:
    document = load(path)
    assert document["permissions"] == {}
    expected = {"contents": "read", "id-token": "write"} if path == USER_WORKFLOW else {"contents": "read"}
    assert all(job["permissions"] == expected for job in document["jobs"].values())


def test_the_user_workflow_is_started_by_dispatch_alone_with_one_input() -> None:
    dispatch = load(USER_WORKFLOW)["on"]
    assert list(dispatch) == ["workflow_dispatch"]
    (name, declared) = next(iter(dispatch["workflow_dispatch"]["inputs"].items()))
    assert len(dispatch["workflow_dispatch"]["inputs"]) == 1
    assert (name, declared["required"], declared["type"]) == ("job", "true", "string")


def test_a_run_is_found_by_the_job_id_in_its_name() -> None:
    assert load(USER_WORKFLOW)["run-name"] == "twogate ${{ inputs.job }}"


def test_each_job_has_a_concurrency_group_that_ends_no_run() -> None:
    assert load(USER_WORKFLOW)["concurrency"] == {"group": "twogate-${{ inputs.job }}", "cancel-in-progress": "false"}


def test_the_user_workflow_is_one_step_on_a_self_hosted_machine() -> None:
    (job,) = load(USER_WORKFLOW)["jobs"].values()
    assert job["runs-on"] == ["self-hosted", "twogate"]
    assert int(job["timeout-minutes"]) > 0
    (step,) = job["steps"]
    assert step["uses"] == "OWNER/twogate/.github/actions/run@" + "0" * 40
    assert step["with"] == {"job": "${{ inputs.job }}", "url": "${{ vars.TWOGATE_URL }}"}


def test_the_action_hands_its_inputs_over_by_environment_alone() -> None:
    (find, run, clean) = load(ACTION)["runs"]["steps"]
    assert "env" not in find
    assert run["env"] == {
        "JOB": "${{ inputs.job }}",
        "TWOGATE_URL": "${{ inputs.url }}",
        "GITHUB_TOKEN": "${{ github.token }}",
        "PROGRAM": "${{ steps.find.outputs.program }}",
    }
    assert clean["if"].startswith("always()")
    assert clean["env"] == {name: value for name, value in run["env"].items() if name != "GITHUB_TOKEN"}


def find_runner(tmp_path: Path, **machine: str) -> tuple[int, str, str]:
    """Run the action's first script on a made-up machine: exit status, what it printed, its output file."""
    output = tmp_path / "output"
    output.touch()
    env = {"PATH": "/usr/bin:/bin", "GITHUB_OUTPUT": str(output), **machine}
    script = load(ACTION)["runs"]["steps"][0]["run"]
    shell = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", script]
    done = subprocess.run(shell, env=env, capture_output=True, text=True, timeout=60, check=False)
    return done.returncode, done.stdout, output.read_text()


def program(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("#!/bin/sh\n")
    path.chmod(0o755)
    return path


def test_the_action_prefers_the_runner_that_the_machine_names(tmp_path: Path) -> None:
    named, found = program(tmp_path / "own" / "runner"), program(tmp_path / "bin" / "twogate-runner")
    path = f"{found.parent}:/usr/bin:/bin"
    assert find_runner(tmp_path, PATH=path, TWOGATE_RUNNER=str(named)) == (0, "", f"program={named}\n")
    (tmp_path / "output").unlink()
    assert find_runner(tmp_path, PATH=path) == (0, "", f"program={found}\n")


def test_a_runner_that_cannot_be_executed_is_named(tmp_path: Path) -> None:
    status, printed, output = find_runner(tmp_path, TWOGATE_RUNNER="/nowhere/runner")
    assert (status, output) == (1, "")
    assert printed.startswith("::error::/nowhere/runner cannot be executed. Correct the variable TWOGATE_RUNNER")


def test_a_machine_without_a_runner_installs_the_action_s_own(tmp_path: Path) -> None:
    """The installation itself needs a package registry; here pip is a stand-in that notes what it is asked for."""
    root = tmp_path / "twogate"
    python = program(tmp_path / "bin" / "python3")
    python.write_text(
        "#!/bin/sh\n"
        'mkdir -p "$3/bin"; for p in python twogate-runner; do\n'
        'printf \'#!/bin/sh\\necho "pip $*"\\n\' > "$3/bin/$p"; chmod +x "$3/bin/$p"; done\n'
    )
    action = root / ".github" / "actions" / "run"
    status, printed, output = find_runner(
        tmp_path, PATH=f"{python.parent}:/usr/bin:/bin", RUNNER_TEMP=str(tmp_path), GITHUB_ACTION_PATH=str(action)
    )
    assert status == 0
    assert printed.splitlines()[-1].endswith(f"{action}/../../..")
    assert output == f"program={tmp_path}/twogate-runner/bin/twogate-runner\n"
