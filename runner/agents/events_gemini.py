"""Gemini CLI's ``stream-json`` as events; see :mod:`runner.agents.gemini` for what its stream is like."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from runner.agents.base import table
from runner.agents.events import EventReader, Uses, fault_of, size_of, text_of
from runner.logs.events import MAX_TEXT, Said, Warned

if TYPE_CHECKING:
    from collections.abc import Sequence

    from runner.logs.events import Event

KNOWN = frozenset({"init", "result"})


class GeminiEvents(EventReader):
    """One run of Gemini CLI; its messages come in pieces, which are put together."""

    def __init__(self) -> None:
        self._uses = Uses(
            readers=("read_file",), writers={"write_file": "write", "replace": "edit"}, shells=("run_shell_command",)
        )
        self._saying = ""

    def take(self, record: dict[str, Any]) -> Sequence[Event] | None:
        """Return the events of a record, and before them the message that it ends."""
        kind = record.get("type")
        if kind == "message":
            if record.get("role") == "assistant":
                self._saying += text_of(record, "content")[: MAX_TEXT + 1 - len(self._saying)]
            return ()
        events = self._told(kind, record)
        return None if events is None else [*self.rest(), *events]

    def _told(self, kind: object, record: dict[str, Any]) -> Sequence[Event] | None:
        match kind:
            case "tool_use":
                return [self._uses.call(record.get("tool_id"), record.get("tool_name"), table(record, "parameters"))]
            case "tool_result":
                ok = record.get("status") == "success"
                return self._uses.answer(record.get("tool_id"), ok=ok, size=size_of(record.get("output")))
            case "error":
                return [Warned(text=fault_of(record))]
        return () if kind in KNOWN else None

    def rest(self) -> Sequence[Event]:
        """Return the message under way."""
        said, self._saying = self._saying, ""
        return [Said(text=said)] if said else ()

    def is_piece(self, line: str) -> bool:
        """Return whether it is a part of a message."""
        return '"delta":true' in line[-200:] and '"role":"assistant"' in line[:200]
