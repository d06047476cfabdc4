"""``twogate-runner prompt``, on a checkout."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from runner.results import PlanDocument, Verdict

if TYPE_CHECKING:
    from pathlib import Path

OVERLAY = "\ufeff---\nextends: built-in\n---\n## House style\n\nBritish spelling.\n"
LESSON = "---\nlearned_from: o/r#1\nkind: fact\ncreated: 2026-11-02\n---\n\nThe tests need no network at all.\n"
FOLDER = ".twogate/promptware/ExecutePlan"


def git(repo: Path, *arguments: str) -> None:
    name = ["-c", "user.name=a", "-c", "user.email=a@example.com"]
    subprocess.run(["git", "-C", str(repo), *name, *arguments], check=True, capture_output=True)


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    repo = tmp_path / "repo"
    git(tmp_path, "init", "-q", str(repo))
    git(repo, "commit", "-q", "--allow-empty", "-m", "Begin")
    for path, text in ((f"{FOLDER}/Program.md", OVERLAY), (f"{FOLDER}/Memory/2026-11-02-network-a1b2c3.md", LESSON)):
        (repo / path).parent.mkdir(parents=True, exist_ok=True)
        (repo / path).write_text(text, encoding="utf-8")
    git(repo, "add", ".")
    git(repo, "commit", "-qm", "Ours")
    return repo


def ask(repo: Path, *more: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "runner", "prompt", "--unit", "ExecutePlan", "--issue", "7", "--repo", str(repo)]
    return subprocess.run(
        [*command, *more], input="It breaks\n\nWhen I press it.\n", capture_output=True, text=True, check=False
    )


def test_a_prompt_is_made_of_a_commit_and_files_alone(repo: Path) -> None:
    plan = repo.parent / "plan.json"
    plan.write_text(
        PlanDocument(verdict=Verdict.PLAN, title="Mend it", summary="S.", files=("a.py",)).model_dump_json()
    )
    now, before = ask(repo, "--plan", str(plan)), ask(repo, "--plan", str(plan), "--base", "HEAD~1")
    assert (now.returncode, before.returncode) == (0, 0), now.stderr + before.stderr
    assert "Title: It breaks" in now.stdout
    assert "- `a.py`" in now.stdout
    assert "British spelling." in now.stdout
    assert "The tests need no network at all." in now.stdout
    assert "British spelling." not in before.stdout
    hashes = [said.stderr.split("sha256 ")[1][:64] for said in (now, before, ask(repo, "--plan", str(plan)))]
    assert hashes[0] != hashes[1]
    assert hashes[0] == hashes[2]


@pytest.mark.parametrize("there", ["link", "folder above that is a link", "folder", "another case", "huge"])
def test_what_stands_in_the_place_of_a_unit_is_not_passed_over(repo: Path, there: str) -> None:
    program = repo / FOLDER / "Program.md"
    program.unlink()
    match there:
        case "link":
            program.symlink_to("/etc/hostname")
        case "folder above that is a link":
            (repo / FOLDER).rename(repo / "elsewhere")
            (repo / FOLDER).symlink_to("../../elsewhere")
        case "folder":
            program.mkdir()
            (program / "x").touch()
        case "another case":
            program.with_name("program.md").write_text(OVERLAY)
        case "huge":
            program.write_bytes(b"x" * 2_000_000)
    git(repo, "add", "--all")
    git(repo, "commit", "-qm", "Odd")
    said = ask(repo)
    assert (said.returncode, said.stdout) == (2, "")
    assert f"{FOLDER}/Program.md" in said.stderr


def test_what_can_not_be_used_is_named(repo: Path) -> None:
    (repo / f"{FOLDER}/Program.md").write_text(OVERLAY.replace("built-in", "ours"))
    assert ask(repo).returncode == 0, "the work tree does not count"
    git(repo, "commit", "-qam", "Broken")
    said = ask(repo)
    assert (said.returncode, said.stdout) == (2, "")
    assert said.stderr.startswith(f"prompt: {FOLDER}/Program.md, line 2: extends: ")
    assert ask(repo, "--base", "nowhere").returncode == 2
    plan = repo.parent / "plan.json"
    plan.write_text("{")
    said = ask(repo, "--base", "HEAD~1", "--plan", str(plan))
    assert said.stderr.startswith("prompt: PlanDocument can't be used. the whole: Invalid JSON")
    assert said.stderr.count("\n") == 1
