"""Five real agents, one suite: the same scenario, the same outcome, and a ledger that equals the script to the cent."""

from __future__ import annotations

import os
import signal
import threading
from typing import TYPE_CHECKING

import pytest

from tests.agents.clis import CLIS, Cli
from tests.agents.differences import DIFFERENCES
from tests.agents.processes import agent_of
from tests.agents.scenarios import SCENARIOS, WAITING, Scenario
from tests.agents.stage import Stage, stage
from tests.runner.lab import wait_until

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from runner.contract import Report

pytestmark = pytest.mark.agents
WAIT_SECONDS = 60.0


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda scenario: scenario.name)
@pytest.mark.parametrize("cli", CLIS, ids=lambda cli: cli.name)
def test_agent(cli: Cli, scenario: Scenario, tmp_path: Path, record_property: Callable[[str, object], None]) -> None:
    if cli.program is None:
        pytest.skip(f"not tested: {cli.name} is not installed; run `make test-agents`")
    with stage(tmp_path, cli, scenario.script, **scenario.fields) as played:
        report = _run(played, scenario.signal)
        if scenario.then is not None:
            report = played.go_on(**scenario.then)
        record_property("outcome", report.outcome.value)
        difference = DIFFERENCES.get((cli.name, scenario.name))
        expected = difference.outcome if difference else scenario.outcome
        assert report.outcome is expected, f"{report.sentence}\n{report.output_tail}"
        if difference is None:
            scenario.check(played)
        foreign = [seen for seen in played.api.seen if seen.key != played.api.key]
        assert not foreign, "the meter sends the real key"
        if scenario.billed:
            played.require_equal_ledger()


def _run(played: Stage, word: str) -> Report:
    if word == "":
        return played.run()
    if word == "cancel":
        return played.run_and_cancel(_waiting(played).exists, WAIT_SECONDS)
    killer = threading.Thread(target=_kill, args=(played, word))
    killer.start()
    try:
        return played.run()
    finally:
        killer.join(WAIT_SECONDS)


def _kill(played: Stage, word: str) -> None:
    wait_until(_waiting(played).exists, WAIT_SECONDS)
    os.kill(agent_of(os.getpid()), getattr(signal, word))


def _waiting(played: Stage) -> Path:
    """Return the file by which the scripted command says that it has begun."""
    return played.tree.parent / "home" / WAITING
