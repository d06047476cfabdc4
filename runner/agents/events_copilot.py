"""Copilot CLI's JSON Lines as events; see :mod:`runner.agents.copilot` for what its stream is like."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from runner.agents.base import table
from runner.agents.events import EventReader, Uses, changed, code_of, fault_of, size_of, tables, text_of
from runner.logs.events import Said, Thought, Warned

if TYPE_CHECKING:
    from collections.abc import Sequence

    from runner.logs.events import Event

KNOWN = ("session.", "assistant.", "user.", "tool.", "hook.", "permission.", "result")
"""How the types of its records begin that tell nothing more."""
PIECE = re.compile(r'^\{"type":"[a-z._]*(?:_delta|partial_result|progress)"')


class CopilotEvents(EventReader):
    """One run of Copilot CLI."""

    def __init__(self) -> None:
        self._uses = Uses(readers=("view",), writers={}, shells=("bash",))

    def take(self, record: dict[str, Any]) -> Sequence[Event] | None:
        """Return the events of a record."""
        kind, data = text_of(record, "type"), table(record, "data")
        match kind:
            case "assistant.message":
                thought, said = text_of(data, "reasoningText"), text_of(data, "content")
                thoughts: list[Event] = [Thought(text=thought)] if thought else []
                return [*thoughts, *([Said(text=said)] if said else [])]
            case "tool.execution_start":
                return [self._uses.call(data.get("toolCallId"), data.get("toolName"), table(data, "arguments"))]
            case "tool.execution_complete":
                return self._done(data)
            case "session.error" | "session.warning" | "error":
                return [Warned(text=fault_of(data) or fault_of(record))]
        return () if kind.startswith(KNOWN) else None

    def _done(self, data: dict[str, Any]) -> list[Event]:
        ok, code = data.get("success") is True, code_of(table(data, "shellExecution").get("exitCode"))
        size = size_of(table(data, "result").get("content"))
        events = self._uses.answer(data.get("toolCallId"), ok=ok and not code, size=size, exit_code=code)
        return events + [changed(text_of(edit, "path"), edit.get("kind")) for edit in tables(data, "fileEdits")]

    def is_piece(self, line: str) -> bool:
        """Return whether it tells how far something has come."""
        return PIECE.match(line) is not None
