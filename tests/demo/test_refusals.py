"""What the demo can't do is said in a sentence, with exit code 2, before anything is started."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.town.repository import git

ROOT = Path(__file__).parent.parent.parent


def refused(tmp_path: Path, *arguments: str, **environment: str) -> str:
    """Run the demo, which must refuse; return what it said."""
    env = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "TMPDIR": str(tmp_path), **environment}
    command = [sys.executable, "-m", "tests.demo", "--output", str(tmp_path / "out"), *arguments]
    done = subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 2, done.stdout + done.stderr
    assert not list(tmp_path.glob("twogate-demo-*"))
    said = done.stderr.strip()
    assert said.startswith("make demo: ")
    assert "\n" not in said
    return said.removeprefix("make demo: ")


def repository(folder: Path, *, commit: bool = True) -> Path:
    folder.mkdir()
    git(folder, "init", "--quiet", "-b", "trunk")
    if commit:
        git(folder, "commit", "--quiet", "--allow-empty", "-m", "Start")
    return folder


def test_a_folder_that_is_none(tmp_path: Path) -> None:
    assert "is no folder" in refused(tmp_path, "--repo", str(tmp_path / "nowhere"))


def test_a_folder_that_is_no_repository(tmp_path: Path) -> None:
    (tmp_path / "plain").mkdir()
    assert "is no git repository" in refused(tmp_path, "--repo", str(tmp_path / "plain"))


def test_a_repository_without_commits(tmp_path: Path) -> None:
    empty = repository(tmp_path / "empty", commit=False)
    assert "has no commit yet" in refused(tmp_path, "--repo", str(empty))


def test_a_repository_on_no_branch(tmp_path: Path) -> None:
    detached = repository(tmp_path / "detached")
    git(detached, "checkout", "--quiet", "--detach")
    assert "is on no branch" in refused(tmp_path, "--repo", str(detached))


def test_a_shallow_clone(tmp_path: Path) -> None:
    deep = repository(tmp_path / "deep")
    git(deep, "commit", "--quiet", "--allow-empty", "-m", "More")
    git(tmp_path, "clone", "--quiet", "--depth=1", f"file://{deep}", "shallow")
    assert "is a shallow clone" in refused(tmp_path, "--repo", str(tmp_path / "shallow"))


def test_a_machine_without_git(tmp_path: Path) -> None:
    assert "git is not on PATH" in refused(tmp_path, PATH=str(tmp_path))


@pytest.mark.parametrize(
    "repo", ["pypi:toolz", "pypi:toolz==", "pypi:../x==1", "pypi:toolz==1==2", "pypi:a==not.a.version"]
)
def test_a_release_without_a_version(tmp_path: Path, repo: str) -> None:
    assert "names no release" in refused(tmp_path, "--repo", repo)


def test_an_index_that_can_not_be_reached(tmp_path: Path) -> None:
    said = refused(tmp_path, "--repo", "pypi:toolz==1.2.0", PIP_INDEX_URL="http://127.0.0.1:9/simple")
    assert "can't be reached" in said


def test_claude_that_is_not_installed(tmp_path: Path) -> None:
    said = refused(tmp_path, "--agent", "claude", PATH="/usr/bin:/bin", ANTHROPIC_API_KEY="k")
    assert "no program 'claude' on PATH" in said


def test_claude_without_a_credential(tmp_path: Path) -> None:
    program = tmp_path / "bin" / "claude"
    program.parent.mkdir()
    program.touch(0o755)
    said = refused(tmp_path, "--agent", "claude", PATH=f"{program.parent}:/usr/bin:/bin")
    assert "ANTHROPIC_API_KEY" in said


def test_an_agent_that_nobody_set_up(tmp_path: Path) -> None:
    assert "No agent 'mine' is set up" in refused(
        tmp_path, "--repo", str(repository(tmp_path / "r")), "--agent", "mine"
    )


def test_an_agent_whose_program_is_missing(tmp_path: Path) -> None:
    folder = repository(tmp_path / "r")
    (folder / ".github").mkdir()
    (folder / ".github/twogate.yml").write_text("agents:\n  mine: {command: [no-such-agent, '{prompt_file}']}\n")
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "-m", "Policy")
    assert "no program 'no-such-agent'" in refused(tmp_path, "--repo", str(folder), "--agent", "mine")
