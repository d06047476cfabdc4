"""Codex' JSON Lines as events; see :mod:`runner.agents.codex` for what its stream is like."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from runner.agents.base import table
from runner.agents.events import EventReader, changed, code_of, fault_of, size_of, tables, telling, text_of
from runner.logs.events import Answered, Called, Ran, Said, Thought, Warned

if TYPE_CHECKING:
    from collections.abc import Sequence

    from runner.logs.events import Event

SHELL = re.compile(r"^\S*/(?:ba|z|da)?sh -l?c '(.*)'$", re.DOTALL)
"""What it puts around a command; quotes within are the shell's."""
KNOWN = frozenset({"thread.started", "turn.started", "turn.completed", "item.updated"})
QUIET = frozenset({"todo_list", "web_search"})
"""Items that tell nothing more."""


class CodexEvents(EventReader):
    """One run of Codex."""

    def take(self, record: dict[str, Any]) -> Sequence[Event] | None:
        """Return the events of a record."""
        kind = record.get("type")
        if kind == "item.started":
            return self._begun(table(record, "item"))
        if kind == "item.completed":
            return self._done(table(record, "item"))
        if kind in {"error", "turn.failed"}:
            return [Warned(text=fault_of(record))]
        return () if kind in KNOWN else None

    def _begun(self, item: dict[str, Any]) -> Sequence[Event]:
        match item.get("type"):
            case "command_execution":
                return [Called(tool="shell", argument=_command(item))]
            case "mcp_tool_call":
                return [Called(tool=text_of(item, "tool"), argument=telling(table(item, "arguments")))]
        return ()

    def _done(self, item: dict[str, Any]) -> Sequence[Event] | None:
        match item.get("type"):
            case "agent_message":
                return [Said(text=text_of(item, "text"))]
            case "reasoning":
                return [Thought(text=text_of(item, "text"))]
            case "error":
                return [Warned(text=fault_of(item))]
            case "command_execution" | "file_change" | "mcp_tool_call" as kind:
                return self._used(kind, item, done=item.get("status") == "completed")
        return () if item.get("type") in QUIET else None

    def _used(self, kind: str, item: dict[str, Any], *, done: bool) -> Sequence[Event]:
        if kind == "command_execution":
            code = code_of(item.get("exit_code"))
            answer = Answered(tool="shell", ok=done and not code, size=size_of(item.get("aggregated_output")))
            return [answer, Ran(command=_command(item), exit_code=code, ok=answer.ok)]
        if kind == "mcp_tool_call":
            ok = done and not table(item, "error")
            return [Answered(tool=text_of(item, "tool"), ok=ok, size=size_of(item.get("result")))]
        if not done:
            return [Answered(tool="file_change", ok=False)]
        return [changed(text_of(change, "path"), change.get("kind")) for change in tables(item, "changes")]

    def is_piece(self, line: str) -> bool:
        """Return whether it tells how far something has come."""
        return line.startswith('{"type":"item.updated"')


def _command(item: dict[str, Any]) -> str:
    command = text_of(item, "command")
    inner = SHELL.match(command)
    return inner[1] if inner else command
