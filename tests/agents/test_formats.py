"""Agents that can speak to their models in several ways: the meter counts each of them, with the real program.

Codex offers its newer models one tool that runs JavaScript, and its older ones a tool for each thing. The run's own
tools are offered in each format, too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from runner.agents.tiers import MODELS
from runner.contract import Outcome
from runner.terms import Api, Tier
from tests.agents.clis import Cli
from tests.agents.scenarios import GOOD, SCENARIOS
from tests.agents.stage import stage

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.agents


@pytest.mark.parametrize(
    ("cli", "api"),
    [
        (Cli("codex", MODELS["codex"][Tier.BALANCED]), Api.RESPONSES),
        (Cli("opencode", "openai/gpt-5.5"), Api.RESPONSES),
        (Cli("opencode", "google/gemini-2.5-pro"), Api.GEMINI),
        (Cli("opencode", "house/kimi"), Api.CHAT),
        (Cli("copilot", "gpt-5.5"), Api.RESPONSES),
        (Cli("copilot", "kimi"), Api.CHAT),
    ],
    ids=lambda value: value if isinstance(value, Api) else value.name,
)
def test_a_file_is_edited_the_result_submitted_and_every_token_counted(cli: Cli, api: Api, tmp_path: Path) -> None:
    if cli.program is None:
        pytest.skip(f"not tested: {cli.name} is not installed; run `make test-agents`")
    scenario = next(each for each in SCENARIOS if each.name == "submits")
    with stage(tmp_path, cli, scenario.script, **scenario.fields) as played:
        report = played.run()
        assert report.outcome is Outcome.VERIFIED, f"{report.sentence}\n{report.output_tail}"
        assert {seen.api for seen in played.api.main} == {api}
        scenario.check(played)
        assert GOOD in played.lab.shown("calc.py")
        played.require_equal_ledger()
