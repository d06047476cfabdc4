"""As a policy file: it is a valid policy or a fault, and what is said of a fault neither acts nor drives a terminal."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from bot.cli import main
from bot.lifecycle.commands import parse
from bot.lifecycle.policy import PolicyError, parse_policy
from bot.lifecycle.wording.policy_check import policy_check
from tests.hostile.pages import SHOWN
from tests.hostile.prompts import unseen
from tests.lifecycle.markdown_seen import links, mentions, references, tags

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

    from tests.hostile.texts import Hostile


def test_a_fault_of_it_is_told_in_words_that_do_nothing(
    hostile: Hostile, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    said, told = json.dumps(hostile.text), 0
    keys = ("label", "sandbox", "gates", "agent", "budget", "protected", "approvers", "prices", "agents", "commands")
    for text in (hostile.text, f"{said}: 1", *(f"{key}: {said}" for key in keys), f"agents: {{{said}: {said}}}"):
        try:
            parse_policy(text)
        except PolicyError as fault:
            told += 1
            title, summary = policy_check(fault.line, fault.reason)
            assert mentions(title) == references(title) == set()
            assert parse(summary) == ()
            assert mentions(summary) == references(summary) == tags(summary) == links(summary) == set(), text
            assert unseen(title + summary) <= SHOWN, text
            file = tmp_path / "twogate.yml"
            file.write_text(text)
            assert main(["check-policy", str(file)]) == 1
    assert told > len(keys) // 2
    assert all(line.isprintable() for line in capsys.readouterr().out.splitlines())
