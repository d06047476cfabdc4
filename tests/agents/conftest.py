"""The table at the end of ``make test-agents``: agent by scenario, and "not tested" where a program is missing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.agents.clis import CLIS
from tests.agents.scenarios import SCENARIOS

if TYPE_CHECKING:
    import pytest

NOT_TESTED = "not tested"
COLUMN = 24


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    cells: dict[tuple[str, str], str] = {}
    for status in ("passed", "failed", "error"):
        for report in terminalreporter.getreports(status):
            name = report.nodeid.partition("test_conformance.py::test_agent[")[2].removesuffix("]")
            cli, _, scenario = name.partition("-")
            if scenario:
                outcome = dict(report.user_properties).get("outcome", "error")
                cells[cli, scenario] = outcome if status == "passed" else f"FAILED ({outcome})"
    if cells or terminalreporter.config.option.markexpr == "agents":
        _print(terminalreporter, cells)


def _print(terminal: pytest.TerminalReporter, cells: dict[tuple[str, str], str]) -> None:
    terminal.section("agents")
    width = max(len(scenario.name) for scenario in SCENARIOS) + 2
    terminal.write_line(" " * width + "".join(f"{cli.name:<{COLUMN}}" for cli in CLIS))
    for scenario in SCENARIOS:
        row = (cells.get((cli.name, scenario.name), NOT_TESTED) for cli in CLIS)
        terminal.write_line(f"{scenario.name:<{width}}" + "".join(f"{cell:<{COLUMN}}" for cell in row))
