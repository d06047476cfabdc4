"""Claude Code's ``stream-json`` as events; see :mod:`runner.agents.claude` for what its stream is like."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from runner.agents.base import table
from runner.agents.events import EventReader, Uses, size_of, tables, text_of
from runner.logs.events import Said, Thought, Warned

if TYPE_CHECKING:
    from collections.abc import Sequence

    from runner.logs.events import Event

EXIT = re.compile(r"Exit code (\d{1,3})\b")
"""How the answer of its shell begins where a command failed."""
KNOWN = frozenset({"system", "stream_event", "result", "rate_limit_event", "tool_progress"})


class ClaudeEvents(EventReader):
    """One run of Claude Code."""

    def __init__(self) -> None:
        self._uses = Uses(
            readers=("Read",),
            writers={"Write": "write", "Edit": "edit", "MultiEdit": "edit", "NotebookEdit": "edit"},
            shells=("Bash",),
        )

    def take(self, record: dict[str, Any]) -> Sequence[Event] | None:
        """Return the events of a record; parts of messages tell nothing, since each comes whole as well."""
        kind = record.get("type")
        if kind == "assistant":
            parts = tables(table(record, "message"), "content")
            return [event for part in parts if (event := self._said(part)) is not None]
        if kind == "user":
            parts = tables(table(record, "message"), "content")
            return [event for part in parts if part.get("type") == "tool_result" for event in self._answered(part)]
        if record.get("subtype") == "api_retry":
            return [Warned(text=f"API error {record.get('error_status')}: {record.get('error')}")]
        return () if kind in KNOWN else None

    def _said(self, part: dict[str, Any]) -> Event | None:
        match part.get("type"):
            case "text":
                return Said(text=text_of(part, "text"))
            case "thinking":
                return Thought(text=text_of(part, "thinking"))
            case "tool_use":
                return self._uses.call(part.get("id"), part.get("name"), table(part, "input"))
        return None

    def _answered(self, part: dict[str, Any]) -> list[Event]:
        content, failed = part.get("content"), part.get("is_error") is True
        code = EXIT.match(content) if failed and isinstance(content, str) else None
        exit_code = int(code[1]) if code else None if failed else 0
        return self._uses.answer(part.get("tool_use_id"), ok=not failed, size=size_of(content), exit_code=exit_code)

    def is_piece(self, line: str) -> bool:
        """Return whether it is a part of a message."""
        return '"content_block_delta"' in line and '"stream_event"' in line[:40]
