"""OpenCode's JSON Lines as events; see :mod:`runner.agents.opencode` for what its stream is like."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from runner.agents.base import table
from runner.agents.events import EventReader, Uses, changed, code_of, size_of, text_of
from runner.logs.events import Said, Thought, Warned

if TYPE_CHECKING:
    from collections.abc import Sequence

    from runner.logs.events import Event

KNOWN = frozenset({"step_start", "step_finish"})
PATCHED = re.compile(r"^([AMD]) (.+)$", re.MULTILINE)
"""A file in the answer of its tool ``apply_patch``."""
HOW = {"A": "add", "M": "edit", "D": "delete"}


class OpenCodeEvents(EventReader):
    """One run of OpenCode; a tool call is told when it is over."""

    def __init__(self) -> None:
        self._uses = Uses(readers=("read",), writers={"write": "write", "edit": "edit"}, shells=("bash",))

    def take(self, record: dict[str, Any]) -> Sequence[Event] | None:
        """Return the events of a record."""
        kind, part = record.get("type"), table(record, "part")
        match kind:
            case "text":
                return [Said(text=text_of(part, "text"))]
            case "reasoning":
                return [Thought(text=text_of(part, "text"))]
            case "tool_use":
                return self._used(part, table(part, "state"))
            case "error":
                error = table(record, "error")
                return [Warned(text=f"{error.get('name')}: {table(error, 'data').get('message')}")]
        return () if kind in KNOWN else None

    def _used(self, part: dict[str, Any], state: dict[str, Any]) -> list[Event]:
        tool, name, output = text_of(part, "tool"), part.get("callID"), text_of(state, "output")
        code = code_of(table(state, "metadata").get("exit"))
        ok = state.get("status") == "completed"
        call = self._uses.call(name, tool, table(state, "input") or {"name": text_of(state, "title")})
        events = self._uses.answer(name, ok=ok and not code, size=size_of(output), exit_code=code)
        patched = PATCHED.findall(output) if ok and tool == "apply_patch" else []
        return [call, *events, *(changed(path, HOW[letter]) for letter, path in patched)]
