"""The table of gates in the documentation is the one of the code."""

from __future__ import annotations

import re
from pathlib import Path

from bot.lifecycle.policy_values import BUILT_IN_GATES
from runner.gates.registry import BUILT_IN
from runner.terms import CheckMode

PAGE = Path(__file__).parent.parent / "docs" / "reference" / "gates.md"
WORDS = {CheckMode.BLOCK: "blocks", CheckMode.INFORM: "informs"}


def test_every_gate_is_in_the_table_in_its_order_with_what_a_policy_may_say() -> None:
    rows = [
        [cell.strip() for cell in row.split("|")[1:-1]]
        for row in PAGE.read_text().splitlines()
        if row.startswith("| `")
    ]
    documented = [
        (name.strip("`"), default, frozenset(re.findall(r"`(\w+)`", choices))) for name, _, default, choices, _ in rows
    ]
    assert documented == [(gate.name, WORDS[gate.mode], frozenset(map(str, gate.choices))) for gate in BUILT_IN]


def test_no_command_can_take_the_name_of_a_built_in_gate() -> None:
    assert {gate.name for gate in BUILT_IN} == set(BUILT_IN_GATES)
