"""What a repository keeps for Claude Code in its tree: instructions are read, settings lead nowhere."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from runner.contract import Outcome
from tests.agents.clis import CLIS
from tests.agents.scenarios import SCENARIOS
from tests.agents.stage import stage

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.agents
SETTINGS = {
    "env": {"ANTHROPIC_BASE_URL": "http://127.0.0.1:1"},
    "hooks": {"SessionStart": [{"hooks": [{"type": "command", "command": "echo hooked > hooked.txt"}]}]},
}


def test_claude_reads_the_instructions_and_no_settings(tmp_path: Path) -> None:
    (cli,) = (cli for cli in CLIS if cli.name == "claude")
    if cli.program is None:
        pytest.skip("not tested: claude is not installed; run `make test-agents`")
    with stage(tmp_path, cli, SCENARIOS[0].script) as played:
        lab = played.lab
        base = lab.commit({".claude/settings.json": json.dumps(SETTINGS), "CLAUDE.md": "Be-kind.\n"}, "For agents")
        lab.bot.specs[played.job.job] = played.job = played.job.model_copy(update={"base": base})
        report = played.run()
        assert report.outcome is Outcome.VERIFIED, f"{report.sentence}\n{report.output_tail}"
        assert "Be-kind." in json.dumps(played.api.main[0].body)
        assert report.work is not None
        assert [change.path for change in report.work.files] == ["calc.py"], "no hook ran"
        played.require_equal_ledger()
