"""Kill an agent in the middle of a plan: what is left on disk, and does it touch the next plan? (nothing; no)."""

from __future__ import annotations

import os
import random
import signal
import subprocess
from contextlib import suppress
from typing import TYPE_CHECKING

import pytest

from runner.contract import Outcome
from tests.runner.lab import Lab, wait_until

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from runner.contract import Report

LONGEST = 2.5
"""Seconds within which a job of the drill has gone through every phase on an idle machine."""


@pytest.fixture
def lab(tmp_path: Path) -> Iterator[Lab]:
    lab = Lab(tmp_path)
    yield lab
    lab.close()


def require_clean(lab: Lab, report: Report) -> None:
    """The next job did its work, and nothing of the killed one is there."""
    assert report.outcome is Outcome.VERIFIED, report
    assert report.work is not None
    assert [(file.path, file.added, file.removed) for file in report.work.files] == [("calc.py", 1, 1)]
    assert lab.left() == []
    assert lab.tip("trunk") == lab.base


def test_a_killed_agent_ends_its_job_and_leaves_nothing(lab: Lab) -> None:
    started = lab.folder / "started"
    spec = lab.spec("stop_here")
    with lab.start(spec.job, STARTED_FILE=str(started)) as process:
        wait_until(lambda: started.exists() and started.read_text())
        os.kill(int(started.read_text()), signal.SIGKILL)
        process.communicate(timeout=60)
    assert lab.bot.reports[spec.job].outcome is Outcome.AGENT_FAILED
    assert lab.left() == []
    require_clean(lab, lab.run("good", plan_uid="nextplan", branch="plan/8"))


@pytest.mark.parametrize("seed", [*range(3), *(pytest.param(seed, marks=pytest.mark.drill) for seed in range(3, 25))])
def test_a_runner_killed_at_any_moment_touches_neither_the_next_plan_nor_the_next_try(lab: Lab, seed: int) -> None:
    moment = random.Random(seed).uniform(0.2, LONGEST)
    spec = lab.spec("good")
    with lab.start(spec.job) as process:
        with suppress(subprocess.TimeoutExpired):
            process.wait(moment)
        process.kill()
        process.communicate(timeout=60)
    require_clean(lab, lab.run("good", plan_uid="nextplan", branch="plan/8"))
    require_clean(lab, lab.run("good"))
