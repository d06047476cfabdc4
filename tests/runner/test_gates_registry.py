"""What a policy may make of the built-in gates."""

from __future__ import annotations

import pytest

from runner.gates.registry import BUILT_IN, check
from runner.terms import CheckMode
from tests.runner.changes import change

HOLES = change(
    {"tests/test_a.py": "def test_a():\n    assert f() == 1\n", "a.js": ""},
    {"tests/test_a.py": "", "a.js": "eval(x)\n", "requirements.txt": "reqeusts\n"},
)


def modes(checks: dict[str, CheckMode]) -> dict[str, bool]:
    return {result.name: result.holds_back for result in check(HOLES, lambda: 0.0, checks) if result.status != "passed"}


def test_the_defaults() -> None:
    assert modes({}) == {"security": False, "dependencies": False, "weakening": True}


def test_a_policy_may_raise_and_lower_some() -> None:
    raised = {"security": CheckMode.BLOCK, "dependencies": CheckMode.OFF, "weakening": CheckMode.INFORM}
    assert modes(raised) == {"security": True, "weakening": False}


@pytest.mark.parametrize("mode", [CheckMode.INFORM, CheckMode.OFF])
def test_some_can_not_be_lowered(mode: CheckMode) -> None:
    for gate in BUILT_IN[:3]:
        assert gate.chosen({gate.name: mode}) is CheckMode.BLOCK
    assert BUILT_IN[-1].chosen({"weakening": CheckMode.OFF}) is CheckMode.BLOCK
