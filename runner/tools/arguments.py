"""What each tool is given: models by which the runner judges, and from which MCP's JSON Schemas are made."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field, StringConstraints, create_model

from runner.agents.result import MODELS
from runner.results import Lesson, Message, Recommendation, Unit
from runner.terms import Tool

MAX_SAID = 300
"""Characters of a line of progress; as the heartbeat has it."""
MAX_QUESTION = 500
"""Characters of a question."""

DESCRIPTIONS = {
    Tool.PROGRESS: "Say in one line what you are doing now. It is shown to the people who wait, and decides nothing.",
    Tool.SUBMIT: (
        "Hand in your result. What does not fit comes back with what to mend: mend it and submit again. Do it last; "
        "a later submit replaces an earlier one."
    ),
    Tool.REMEMBER: (
        "Keep a lesson about this repository for later plans: a fact, a convention or a pitfall that is new, true, "
        "checked and useful again. Mostly there is none. People review it."
    ),
    Tool.RECOMMEND: (
        "Name something worth doing that is not part of your task. People decide about it; don't do it yourself."
    ),
    Tool.ASK: (
        "Put a question to the people. Nobody answers during this run: decide as well as you can, go on, and say in "
        "your result what you decided."
    ),
}
"""What an agent is told of each tool."""
OURS = ("title", "description")
"""What pydantic makes of our own names and docstrings; what fields mean stands in the unit's instructions."""


class Saying(Message):
    """Arguments of ``progress``."""

    text: Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=MAX_SAID)]


class Question(Message):
    """Arguments of ``ask``."""

    text: Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=MAX_QUESTION)]


def arguments_of(tool: Tool, unit: Unit) -> type[Message]:
    """Return the model of what ``tool`` takes in a run of ``unit``."""
    match tool:
        case Tool.PROGRESS:
            return Saying
        case Tool.SUBMIT:
            return MODELS[unit]
        case Tool.REMEMBER:
            return create_model("Lesson", __base__=Lesson, unit=(Unit, Field(default=unit)))
        case Tool.RECOMMEND:
            return Recommendation
        case Tool.ASK:
            return Question


def schema_of(tool: Tool, unit: Unit) -> dict[str, Any]:
    """Return the JSON Schema of the same, without :data:`OURS`: each of an agent's requests to its model carries it."""
    bare: dict[str, Any] = _bare(arguments_of(tool, unit).model_json_schema())
    return bare


def _bare(part: Any) -> Any:
    if isinstance(part, list):
        return [_bare(each) for each in part]
    if not isinstance(part, dict):
        return part
    return {name: _bare(value) for name, value in part.items() if not (name in OURS and isinstance(value, str))}
