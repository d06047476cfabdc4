"""Publish JSON Schemas: of what agents return, and of the head of a Program.md.

``python -m runner.schemas`` writes ``promptware/schemas/``. The dialect is draft 2020-12; only the schema for editors
names it, since those of results stand in prompts, where each byte counts.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import TypeAdapter

from runner.memory.files import LessonHead
from runner.program import Extension, FrontMatter
from runner.results import ExecutionSummary, Inspection, IssueText, PlanDocument, PullRequestText, SplitDocument

if TYPE_CHECKING:
    from runner.results import Message

SCHEMAS: dict[str, type[Message]] = {
    "plan": PlanDocument,
    "split": SplitDocument,
    "execution": ExecutionSummary,
    "inspection": Inspection,
    "pull_request": PullRequestText,
    "issue": IssueText,
    "lesson": LessonHead,
}
"""By the name that a unit's front matter gives as its output; the last is the head of a lesson's file."""
DIALECT = "https://json-schema.org/draft/2020-12/schema"
FOLDER = Path(__file__).parent.parent / "promptware" / "schemas"


def render(name: str) -> str:
    """Return the schema ``name`` as text, keys in the order of the model."""
    return _text(SCHEMAS[name].model_json_schema())


def published() -> dict[str, str]:
    """Return every schema that is published, by its file's name."""
    head = TypeAdapter(FrontMatter | Extension).json_schema()
    about = {"$schema": DIALECT, "title": "Head of a Program.md", **head}
    return {f"{name}.json": render(name) for name in SCHEMAS} | {"program.json": _text(about)}


def _text(schema: dict[str, Any]) -> str:
    return json.dumps(schema, indent=1, ensure_ascii=False) + "\n"


def main() -> None:
    """Write every schema."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name, text in published().items():
        (FOLDER / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
