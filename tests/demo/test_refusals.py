"""What the demo can't do is said in a sentence, with exit code 2, before anything is started."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Protocol

import pytest

from tests.demo.__main__ import main
from tests.town.repository import git

ROOT = Path(__file__).parent.parent.parent


class Refused(Protocol):
    """Play the demo, which must refuse; return what it said."""

    def __call__(self, *arguments: str, **environment: str) -> str: ...


@pytest.fixture
def refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Refused:
    def play(*arguments: str, **environment: str) -> str:
        wanted = {**surroundings(tmp_path), **environment}
        for name in [name for name in os.environ if not name.startswith("PYTEST_")]:
            monkeypatch.delenv(name)
        for name, value in wanted.items():
            monkeypatch.setenv(name, value)
        monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
        assert main(["--output", str(tmp_path / "out"), *arguments]) == 2
        return sentence(tmp_path, capsys.readouterr().err)

    return play


def surroundings(folder: Path) -> dict[str, str]:
    return {"PATH": os.environ["PATH"], "HOME": str(folder), "TMPDIR": str(folder)}


def sentence(folder: Path, said: str) -> str:
    """Return the one sentence that was said; nothing else is left."""
    assert not list(folder.glob("twogate-demo-*"))
    assert said.startswith("make demo: ")
    assert said.count("\n") == 1
    return said.strip().removeprefix("make demo: ")


def repository(folder: Path, *, commit: bool = True) -> Path:
    folder.mkdir()
    git(folder, "init", "--quiet", "-b", "trunk")
    if commit:
        git(folder, "commit", "--quiet", "--allow-empty", "-m", "Start")
    return folder


def test_a_folder_that_is_none(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "tests.demo", "--repo", str(tmp_path / "nowhere")]
    env = surroundings(tmp_path)
    done = subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 2, done.stdout + done.stderr
    assert "is no folder" in sentence(tmp_path, done.stderr)


def test_a_folder_that_is_no_repository(tmp_path: Path, refused: Refused) -> None:
    (tmp_path / "plain").mkdir()
    assert "is no git repository" in refused("--repo", str(tmp_path / "plain"))


def test_a_repository_without_commits(tmp_path: Path, refused: Refused) -> None:
    empty = repository(tmp_path / "empty", commit=False)
    assert "has no commit yet" in refused("--repo", str(empty))


def test_a_repository_on_no_branch(tmp_path: Path, refused: Refused) -> None:
    detached = repository(tmp_path / "detached")
    git(detached, "checkout", "--quiet", "--detach")
    assert "is on no branch" in refused("--repo", str(detached))


def test_a_shallow_clone(tmp_path: Path, refused: Refused) -> None:
    deep = repository(tmp_path / "deep")
    git(deep, "commit", "--quiet", "--allow-empty", "-m", "More")
    git(tmp_path, "clone", "--quiet", "--depth=1", f"file://{deep}", "shallow")
    assert "is a shallow clone" in refused("--repo", str(tmp_path / "shallow"))


def test_a_machine_without_git(tmp_path: Path, refused: Refused) -> None:
    assert "git is not on PATH" in refused(PATH=str(tmp_path))


@pytest.mark.parametrize(
    "repo", ["pypi:toolz", "pypi:toolz==", "pypi:../x==1", "pypi:toolz==1==2", "pypi:a==not.a.version"]
)
def test_a_release_without_a_version(refused: Refused, repo: str) -> None:
    assert "names no release" in refused("--repo", repo)


def test_an_index_that_can_not_be_reached(refused: Refused) -> None:
    said = refused("--repo", "pypi:toolz==1.2.0", PIP_INDEX_URL="http://127.0.0.1:9/simple", PIP_RETRIES="0")
    assert "can't be reached" in said


def test_claude_that_is_not_installed(refused: Refused) -> None:
    said = refused("--agent", "claude", PATH="/usr/bin:/bin", ANTHROPIC_API_KEY="k")
    assert "no program 'claude' on PATH" in said


def test_claude_without_a_credential(tmp_path: Path, refused: Refused) -> None:
    program = tmp_path / "bin" / "claude"
    program.parent.mkdir()
    program.touch(0o755)
    said = refused("--agent", "claude", PATH=f"{program.parent}:/usr/bin:/bin")
    assert "ANTHROPIC_API_KEY" in said


def test_an_agent_that_nobody_set_up(tmp_path: Path, refused: Refused) -> None:
    assert "No agent 'mine' is set up" in refused("--repo", str(repository(tmp_path / "r")), "--agent", "mine")


def test_an_agent_whose_program_is_missing(tmp_path: Path, refused: Refused) -> None:
    folder = repository(tmp_path / "r")
    (folder / ".github").mkdir()
    (folder / ".github/twogate.yml").write_text("agents:\n  mine: {command: [no-such-agent, '{prompt_file}']}\n")
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "-m", "Policy")
    assert "no program 'no-such-agent'" in refused("--repo", str(folder), "--agent", "mine")
