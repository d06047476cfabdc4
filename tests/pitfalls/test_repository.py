"""Which repository a work tree belongs to: an agent can't make the runner take another one for it."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from runner.contract import Outcome
from runner.worktree import Finding
from tests.pitfalls.arena import IDENTITY
from tests.runner.lab import Lab
from tests.runner.workbench import sh

if TYPE_CHECKING:
    from tests.pitfalls.arena import Arena

TRAPPED = "git config core.fsmonitor $P; git config core.worktree $PWD"


@pytest.mark.parametrize(
    "script",
    [
        f"rm .git; git init -q .cache; mv .cache/.git .cache-git; rm -r .cache; echo 'gitdir: .cache-git' > .git; {TRAPPED}",
        f"rm .git; git init -q; {TRAPPED}",
        """git init -q --bare $TMPDIR/other; git -C $TMPDIR/other config core.bare false
        git -C $TMPDIR/other config core.fsmonitor $P; rm .git; ln -s $TMPDIR/other .git""",
        """d=$(git rev-parse --git-dir); cp -r $(git rev-parse --git-common-dir) $TMPDIR/common
        echo $TMPDIR/common > $d/commondir; git --git-dir=$TMPDIR/common config core.fsmonitor $P""",
    ],
)
def test_row_08_another_repository_behind_the_pointer(arena: Arena, script: str) -> None:
    arena.agent(f"echo precious > new.txt\n{script}")
    arena.armed("git status")
    seen = arena.finish()
    assert (seen.inspection.finding, seen.head) == (Finding.DAMAGED, None)
    assert (arena.workspace.tree / "new.txt").read_text() == "precious\n", "the files are kept"
    arena.agent("git status > /dev/null; git symbolic-ref HEAD | grep -q plan/7")


def test_row_09_no_pointer_in_a_tree_below_another_repository(arena: Arena) -> None:
    sh(
        arena.folder,
        "git init -q; echo edit > precious; git add precious; git commit -qm parent; echo edited > precious",
    )
    arena.agent("rm .git; echo x > new.txt")
    assert "new.txt" in arena.naive("git status --porcelain -uall . || :"), "the trap is not armed"
    arena.agent("git add -A :/ || :; git commit -qm stolen || :; git reset -q --hard || :; git clean -qfdx :/ || :")
    seen = arena.finish()
    assert (seen.inspection.finding, seen.head) == (Finding.DAMAGED, None)
    assert sh(arena.folder, "cat precious; git log --format=%s; git diff --cached --name-only") == "edited\nparent"


def test_row_09_the_agents_of_a_job_find_no_repository_above(tmp_path: Path) -> None:
    """In the layout where nothing else holds them: the same user, no sandbox."""
    sh(tmp_path, "git init -q; echo x > precious; git add precious; git commit -qm parent; echo edited > precious")
    lab = Lab(tmp_path)
    code = (
        "import subprocess\npathlib.Path('.git').unlink()\n"
        "said = subprocess.run('git add -A :/; git commit -qm stolen; git reset -q --hard', shell=True, capture_output=True)\n"
        "write('calc.py', said.stderr.decode()); done()"
    )
    try:
        report = lab.run("", agents=lab.spec("good").agents | lab.coded(code))
    finally:
        lab.close()
    assert report.outcome is Outcome.WORKSPACE_DAMAGED, report
    assert sh(tmp_path, "cat precious; git log --format=%s") == "edited\nparent"


def test_row_26_variables_of_the_starting_process(tmp_path: Path) -> None:
    lab, other = Lab(tmp_path), tmp_path / "other"
    other.mkdir()
    sh(other, "git init -q; echo x > a; git add a; git commit -qm other")
    before = sh(other, "git for-each-ref; git status --porcelain; sha256sum .git/index")
    leaked = {
        "GIT_DIR": str(other / ".git"),
        "GIT_INDEX_FILE": str(other / ".git/index"),
        "GIT_WORK_TREE": str(other),
        "GIT_OBJECT_DIRECTORY": str(other / ".git/objects"),
        "GIT_CONFIG_COUNT": "1",
        "GIT_CONFIG_KEY_0": "core.bare",
        "GIT_CONFIG_VALUE_0": "true",
    }
    agent = lab.coded(
        "import subprocess\nwrite('calc.py', 'def add(a, b):\\n    return a + b\\n')\n"
        f"subprocess.run(['git', 'commit', '--allow-empty', '-qam', 'mine'], check=True, env=dict(os.environ, **{IDENTITY!r}))\n"
        "os.makedirs('notes', exist_ok=True); write('notes/env', ' '.join(name for name in os.environ if name.startswith('GIT_'))); done()"
    )
    spec = lab.spec("good", agents=lab.spec("good").agents | agent)
    command = [sys.executable, "-m", "runner", "run", "--job", spec.job]
    try:
        done = subprocess.run(
            command, env=lab.environment | leaked, cwd=Path(__file__).parents[2], capture_output=True, check=False
        )
        report = lab.bot.reports[spec.job]
    finally:
        lab.close()
    assert report.outcome is Outcome.VERIFIED, (report, done)
    assert lab.shown("calc.py").endswith("return a + b")
    assert lab.shown("notes/env") == "GIT_CEILING_DIRECTORIES"
    assert sh(other, "git for-each-ref; git status --porcelain; sha256sum .git/index") == before


def test_row_27_trees_of_another_user(arena: Arena) -> None:
    if arena.sandbox.owner is None:
        pytest.skip("not root: files of another user were not tested")
    arena.agent(
        "echo two > a.txt; git add .; git commit -qm mine; echo three > b.txt; git status --porcelain | grep -q b.txt"
    )
    assert arena.workspace.tree.stat().st_uid == arena.sandbox.owner[0] != os.geteuid()
    refused = subprocess.run(
        ["git", "status"], cwd=arena.workspace.tree, env={"PATH": os.defpath}, capture_output=True, check=False
    )
    assert b"dubious ownership" in refused.stderr, "the trap is not armed"
    started = time.monotonic()
    assert arena.finish().changes == {b"a.txt": "M", b"b.txt": "A"}
    assert time.monotonic() - started < 30
