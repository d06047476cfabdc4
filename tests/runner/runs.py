"""What the tests of agents share: one run, with its folders made."""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING, Any

from runner.agents.base import AgentRun
from runner.results import Unit
from runner.terms import AgentSpec, Budget

if TYPE_CHECKING:
    from pathlib import Path


def run_in(folder: Path, **changes: Any) -> AgentRun:
    """Return a run of unit ExecutePlan below ``folder``; ``changes`` override any of its fields."""
    for name in ("tree", "home/tmp", "out"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    prompt = folder / "prompt.md"
    prompt.write_text("Do it.\n", encoding="utf-8")
    fields: dict[str, Any] = {
        "unit": Unit.EXECUTE_PLAN,
        "spec": AgentSpec(name="claude", model="claude-sonnet-4-5"),
        "attempt": 1,
        "prompt_file": prompt,
        "result_file": folder / "out" / "result.json",
        "worktree": folder / "tree",
        "home": folder / "home",
        "session": str(uuid.uuid4()),
        "budget": Budget(),
    }
    return AgentRun(**{**fields, **changes})
