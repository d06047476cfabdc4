"""As what an agent hands in: it is a word in a typed field, or it is refused; it names no tool and no unit."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from runner.agents.result import MODELS
from runner.results import Unit
from runner.terms import Tool
from runner.tools.toolbox import Toolbox
from tests.hostile.prompts import line

if TYPE_CHECKING:
    from tests.hostile.texts import Hostile

EXECUTION = {"status": "done", "summary": "Done."}


@pytest.mark.parametrize("unit", [Unit.CREATE_PLAN, Unit.EXECUTE_PLAN], ids=str)
def test_a_result_is_its_schema_and_nothing_else(hostile: Hostile, unit: Unit) -> None:
    box = Toolbox(unit, tuple(Tool))
    tried = (hostile.text, json.dumps(hostile.text), json.dumps({**EXECUTION, hostile.text: 1}), f"```\n{hostile.text}")
    for said in tried:
        assert not box.call_json("submit", said.encode()).ok, said
    for field in ("status", "verdict", "unit", "files"):
        assert not box.call("submit", {**EXECUTION, field: hostile.text}).ok


def test_a_field_is_what_was_written_into_it(hostile: Hostile) -> None:
    box = Toolbox(Unit.EXECUTE_PLAN, tuple(Tool))
    assert box.call("submit", {**EXECUTION, "summary": hostile.text, "blocked_by": hostile.text}).ok
    assert box.result is not None
    assert box.result.model_dump()["summary"] == hostile.text
    assert box.call("recommend", {"title": line(hostile.text), "reason": hostile.text}).ok
    assert [one.reason for one in box.records.recommendations] == [hostile.text]
    assert box.records.lessons == []


def test_no_tool_is_called_by_a_name_that_is_none(hostile: Hostile) -> None:
    box = Toolbox(Unit.CREATE_PLAN, (Tool.SUBMIT,))
    for name in (hostile.text, f"submit\n{hostile.text}", Tool.REMEMBER, Tool.ASK):
        answer = box.call(name, {"text": hostile.text})
        assert (answer.ok, answer.text) == (False, "There is no such tool. This run has: submit.")
    assert set(MODELS) == set(Unit)
