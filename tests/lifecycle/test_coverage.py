"""Every branch of the lifecycle is taken by the lifecycle's own direct tests; less fails here, not in a report.

Measured in a process of its own, so that it holds however the suite is started. The tests that draw at random, take
their time, or say one thing of very many inputs are left out: what counts must be reached on purpose, by the rest.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent
LEFT_OUT = (
    "any_history", "every_message_fits", "no_long_time", "no_mixture_of_signs", "longer_patterns_meet", "several_patterns_overlap",
    "never_more_at_once", "every_pair_of_small", "very_many_models", "most_approvers", "status_for_every_state", "foreign_text",
    "edited_comment", "in_no_team", "says_for_a_person", "a_listed_bot", "a_person_may_what", "leaves_the_pull_request",
    "too_late_or_too_early", "can_not_be_now",
)  # fmt: skip
DEADLINE = 240
"""Seconds; it takes about ten on a machine at rest."""


def test_every_branch_of_the_lifecycle_is_taken(tmp_path):
    command = [
        sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", str(HERE), f"--basetemp={tmp_path / 'their'}",
        f"--ignore={__file__}", "-k", " and ".join(f"not {name}" for name in LEFT_OUT),
        "--cov=bot.lifecycle", "--cov-branch", "--cov-report=term-missing:skip-covered", "--cov-fail-under=100",
    ]  # fmt: skip
    environ = {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST_", "COV_", "UPDATE_"))}
    environ["COVERAGE_FILE"] = str(tmp_path / "coverage")
    done = subprocess.run(
        command, cwd=HERE.parents[1], env=environ, capture_output=True, text=True, timeout=DEADLINE, check=False
    )
    assert done.returncode == 0, done.stdout[-4_000:] + done.stderr[-2_000:]
