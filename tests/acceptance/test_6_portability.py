"""Run one plan with another agent or model: is it a setting, with no code change?"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from runner.contract import Outcome
from runner.results import Unit
from runner.terms import AgentSpec
from tests.runner.lab import AGENT, Lab

if TYPE_CHECKING:
    from pathlib import Path

SHELL = """printf 'def add(a, b):\\n    return a + b\\n' > calc.py
printf '{"status": "done", "summary": "%s"}' "$2" > "$1" """


def test_one_plan_by_two_agents_differs_in_settings_alone(tmp_path: Path) -> None:
    arguments = ("{unit}", "{attempt}", "{prompt_file}", "{result_file}")
    agents = [
        AgentSpec(name="python", command=(sys.executable, str(AGENT), "good", *arguments)),
        AgentSpec(name="shell", model="m-1", command=("sh", "-c", SHELL, "sh", "{result_file}", "{model}")),
    ]
    lab = Lab(tmp_path)
    try:
        trees = set()
        for number, agent in enumerate(agents, 1):
            report = lab.run("", branch=f"plan/{number}", agents={Unit.EXECUTE_PLAN: agent})
            assert report.outcome is Outcome.VERIFIED, report
            assert report.work is not None
            assert [(row.agent, row.model) for row in report.usage] == [(agent.name, agent.model)]
            trees.add(report.work.tree)
        assert len(trees) == 1
    finally:
        lab.close()
