"""What tests cost: seconds of the processor, which other work on the machine does not change as it does the clock's.

    .venv/bin/python -m pytest -p tests.cpu tests/runner

Told at the end, by file: tests, seconds of the process itself, of the processes that it waited for, and by the clock.
Set-up and teardown count with the test for which they were made. What a daemon used counts where it is ended and waited
for; what nobody waits for is not counted.
"""

from __future__ import annotations

import resource
import time
from collections import defaultdict
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Generator

SHOWN = 40
"""Files, those that cost most."""
_began: list[float] = []
_costs: defaultdict[str, list[float]] = defaultdict(lambda: [0.0] * 4)


def _used() -> list[float]:
    usages = map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return [*(usage.ru_utime + usage.ru_stime for usage in usages), time.monotonic()]


@pytest.hookimpl(tryfirst=True)
def pytest_runtestloop() -> None:
    _began[:] = _used()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    now = _used()
    report.cost = [after - before for before, after in zip(_began, now, strict=True)]
    _began[:] = now
    return report


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    sums = _costs[report.nodeid.partition("::")[0]]
    sums[:] = [a + b for a, b in zip(sums, [report.when == "call", *report.cost], strict=True)]


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    terminalreporter.section("seconds of the processor")
    terminalreporter.line("tests     own  others'   clock")
    rows = sorted(_costs.items(), key=lambda row: -row[1][1] - row[1][2])
    whole = [sum(column) for column in zip(*_costs.values(), strict=True)]
    for name, (tests, own, others, clock) in [*rows[:SHOWN], ("all", whole)] if rows else []:
        terminalreporter.line(f"{tests:5.0f} {own:7.1f} {others:8.1f} {clock:7.1f}  {name}")
