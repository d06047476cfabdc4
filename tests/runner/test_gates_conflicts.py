"""Gate conflict markers: whole sets of markers, new ones, and no headings."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

import pytest

from runner.contract import GateStatus
from runner.gates.change import MODE_FILE, MODE_GITLINK, Change, Changed
from runner.gates.conflicts import conflicts

if TYPE_CHECKING:
    from pathlib import Path

BLOCK = "<<<<<<< HEAD\nours\n=======\ntheirs\n>>>>>>> main\n"


def _passes(now: str, before: str | None = None, mode: int = MODE_FILE) -> bool:
    change = Change(
        (Changed(b"a.md", MODE_FILE, mode),),
        (),
        read=lambda _: now.encode(),
        read_base=lambda _: None if before is None else before.encode(),
        tree=(b"a.md",),
    )
    return conflicts(change).status is GateStatus.PASSED


@pytest.mark.parametrize(
    "text",
    [
        BLOCK,
        BLOCK.replace("\n", "\r\n"),
        "a\n" + BLOCK,
        "<<<<<<< HEAD\nours\n||||||| base\nwas\n=======\ntheirs\n>>>>>>> main",
        "<<<<<<< HEAD\nours\n" + BLOCK,
        "<<<<<<<\n=======\n>>>>>>>\n",
    ],
)
def test_conflicts(text: str) -> None:
    assert not _passes(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Title\n=======\n\ntext\n",
        ">>>>>>> a quote seven deep\n",
        "<<<<<<< alone\n",
        "    <<<<<<< HEAD\n    =======\n    >>>>>>> main\n",
        ">>>>>>> x\n=======\n<<<<<<< y\n",
        "<<<<<<<<\n========\n>>>>>>>>\n",
    ],
)
def test_no_conflicts(text: str) -> None:
    assert _passes(text)


def test_a_block_that_was_there_is_left_in_peace() -> None:
    assert _passes("intro\n" + BLOCK + "more\n", before=BLOCK)
    assert not _passes(BLOCK + BLOCK.replace("ours", "mine"), before=BLOCK)


def test_a_submodule_has_no_lines() -> None:
    assert _passes(BLOCK, mode=MODE_GITLINK)


def test_what_git_really_writes(tmp_path: Path) -> None:
    def git(*arguments: str, check: bool = True) -> None:
        identity = ("-c", "user.name=t", "-c", "user.email=t@example.com", "-c", "init.defaultBranch=main")
        subprocess.run(["git", *identity, *arguments], cwd=tmp_path, check=check, capture_output=True, timeout=60)

    file = tmp_path / "a.txt"
    git("init", "-q")
    for branch, text in (("main", "base\n"), ("other", "theirs\n")):
        git("checkout", "-q", "-B", branch)
        file.write_text(text, encoding="utf-8")
        git("add", "a.txt")
        git("commit", "-qm", branch)
    git("checkout", "-q", "main")
    file.write_text("ours\n", encoding="utf-8")
    git("commit", "-qam", "ours")
    git("merge", "other", check=False)
    assert not _passes(file.read_text(encoding="utf-8"))
