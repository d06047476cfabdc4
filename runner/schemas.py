"""Publish the JSON Schemas of what agents return: ``python -m runner.schemas`` writes ``promptware/schemas/``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

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
}
"""By the name that a unit's front matter gives as its output."""
FOLDER = Path(__file__).parent.parent / "promptware" / "schemas"


def render(name: str) -> str:
    """Return the schema ``name`` as text, keys in the order of the model."""
    return json.dumps(SCHEMAS[name].model_json_schema(), indent=1, ensure_ascii=False) + "\n"


def main() -> None:
    """Write every schema."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name in SCHEMAS:
        (FOLDER / f"{name}.json").write_text(render(name), encoding="utf-8")


if __name__ == "__main__":
    main()
