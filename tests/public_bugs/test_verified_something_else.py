"""What was judged is not what was published, or was not published at all.

gh-aw#9654 (success reported, nothing pushed), wienerdog#117 (gates ran on the working tree), vllm.cpp#2369 (an ignored
file makes a gate pass), Tendril#2115 (the word "error" fails a job), gh-aw#33545 (the patch is the whole history).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from runner.contract import Outcome
from tests.runner.lab import Lab

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

GOOD = "def add(a, b):\n    return a + b\n"


@pytest.fixture
def lab(tmp_path: Path) -> Iterator[Lab]:
    lab = Lab(tmp_path)
    yield lab
    lab.close()


def test_a_push_that_the_server_takes_and_loses_is_no_success(lab: Lab) -> None:
    hook = lab.remote / "hooks" / "post-receive"
    hook.write_text("#!/bin/sh\nread old new ref\ngit update-ref -d $ref\n")
    hook.chmod(0o755)
    report = lab.run("good")
    assert report.outcome is Outcome.RUNNER_FAILED, report
    assert "reads absent afterwards" in report.sentence


def test_an_ignored_file_of_the_agent_lets_no_check_pass(lab: Lab) -> None:
    lab.base = lab.commit({".gitignore": "__pycache__/\nhelper.py\n"}, "Ignore")
    code = f"write('helper.py', {GOOD!r}); write('calc.py', 'from helper import add\\n'); done()"
    report = lab.run("", agents=lab.coded(code))
    assert report.outcome is Outcome.GATES_FAILED, report
    assert "No module named 'helper'" in report.gates[-1].tail


def test_a_file_hidden_from_git_by_the_agents_index_is_committed_all_the_same(lab: Lab) -> None:
    code = (
        "import subprocess as s; s.run(['git', 'update-index', '--skip-worktree', 'calc.py'], check=True); "
        f"write('calc.py', {GOOD!r}); done()"
    )
    report = lab.run("", agents=lab.coded(code))
    assert report.outcome is Outcome.VERIFIED, report
    assert lab.shown("calc.py") == GOOD.strip()


def test_words_decide_nothing(lab: Lab) -> None:
    code = f"print('ERROR: fatal failure, exit code 1'); write('calc.py', {GOOD!r}); done()"
    assert lab.run("", agents=lab.coded(code)).outcome is Outcome.VERIFIED


def test_the_patch_is_the_change_alone_when_the_default_branch_went_on(lab: Lab) -> None:
    lab.commit({"README.md": "On and on\n"}, "Readme")
    report = lab.run("good")
    assert report.outcome is Outcome.VERIFIED, report
    assert report.work is not None
    assert [file.path for file in report.work.files] == ["calc.py"]
    assert report.work.moved_base_paths == ()
