"""An agent with a log-in of an operator's and no meter: what it used is read from its own records, attempt by attempt."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from runner.contract import Outcome, UsdSource
from tests.agents.clis import Cli
from tests.agents.scenarios import SCENARIOS
from tests.agents.stage import KEY, Stage, stage

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.agents
PROVIDER = """
model_provider = "house"
[model_providers.house]
name = "house"
base_url = "{url}/v1"
wire_api = "responses"
requires_openai_auth = true
"""


def test_codex_with_a_log_in_counts_from_its_session_log(tmp_path: Path) -> None:
    cli = Cli("codex", "gpt-5.5")
    if cli.program is None:
        pytest.skip("not tested: codex is not installed; run `make test-agents`")
    scenario = next(scenario for scenario in SCENARIOS if scenario.name == "resumes")
    with stage(tmp_path, cli, scenario.script) as played:
        played.metered = False
        _log_in(played)
        report = played.run()
        assert report.outcome is Outcome.VERIFIED, f"{report.sentence}\n{report.output_tail}"
        scenario.check(played)
        assert [row.usd_source for row in played.rows] == [UsdSource.PRICES] * 2
        played.require_equal_ledger()
        assert any("was not metered" in note for note in report.notes)


def _log_in(played: Stage) -> None:
    folder = played.lab.home / "logins/codex/.codex"
    folder.mkdir(parents=True)
    (folder / "auth.json").write_text(json.dumps({"OPENAI_API_KEY": KEY}))
    (folder / "config.toml").write_text(PROVIDER.format(url=played.api.url))
