"""Which mapping reads whose stream."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from runner.agents.events import EventReader
from runner.agents.events_claude import ClaudeEvents
from runner.agents.events_codex import CodexEvents
from runner.agents.events_copilot import CopilotEvents
from runner.agents.events_gemini import GeminiEvents
from runner.agents.events_opencode import OpenCodeEvents
from runner.logs.events import MAX_TEXT, Said

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from runner.logs.events import Event
    from runner.terms import AgentSpec

BUILT_IN: dict[str, Callable[[], EventReader]] = {
    "claude": ClaudeEvents,
    "codex": CodexEvents,
    "gemini": GeminiEvents,
    "opencode": OpenCodeEvents,
    "copilot": CopilotEvents,
}


class GenericEvents(EventReader):
    """An agent of one's own: its text is its words; of its JSON the usage records alone are known."""

    def __init__(self) -> None:
        self._saying: list[str] = []

    def take(self, record: dict[str, Any]) -> Sequence[Event] | None:
        """Return no event: what a usage record tells comes with the costs of the run."""
        return () if record.get("type") == "usage" else None

    def plain(self, line: str) -> Sequence[Event] | None:
        """Gather lines of text, until there are as many as one event takes."""
        self._saying.append(line[: MAX_TEXT + 1])
        return self.rest() if sum(map(len, self._saying)) + len(self._saying) > MAX_TEXT else ()

    def rest(self) -> Sequence[Event]:
        """Return the lines that were gathered."""
        said, self._saying = "\n".join(self._saying).strip(), []
        return [Said(text=said)] if said else ()


def reader_for(spec: AgentSpec) -> EventReader:
    """Return a fresh mapping for one run."""
    return GenericEvents() if spec.command is not None else BUILT_IN.get(spec.name, GenericEvents)()
