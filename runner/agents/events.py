"""From an agent's stream to what happened in the run (:mod:`runner.logs.events`): what all mappings share.

A mapping decides nothing: what an agent prints is shown, and counts for no more. One that meets a record it does not
know answers None; the record is counted, and stands in the raw stream.
"""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

from runner.agents.base import table
from runner.logs.events import Answered, Called, Changed, Ran, Read

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from runner.logs.events import Event

MAX_OPEN = 1_000
"""Tool calls that may be unanswered at once; the answer to an older one is shown without its call."""
TELLING = ("file_path", "filePath", "absolute_path", "path", "command", "pattern", "query", "url", "name", "text")
"""Arguments that tell most of a call, the better ones first."""


class EventReader(ABC):
    """One agent's stream on its way into events; a fresh one a run."""

    @abstractmethod
    def take(self, record: dict[str, Any]) -> Sequence[Event] | None:
        """Return the events of a record, none where it tells nothing new; None where it is not known."""

    def plain(self, line: str) -> Sequence[Event] | None:  # noqa: ARG002 - for those that speak in plain text
        """Return the events of a line that is no record; None where such a line is not known."""
        return None

    def rest(self) -> Sequence[Event]:
        """Return what the end of the stream completes."""
        return ()

    def is_piece(self, line: str) -> bool:  # noqa: ARG002 - for those that come in pieces
        """Return whether a line is a part of something that comes whole as well, or that :meth:`take` puts together.

        Such a line is not kept: a secret in pieces is none that could be found.
        """
        return False


class Uses:
    """Tool calls that wait for their answers."""

    def __init__(self, readers: Sequence[str], writers: Mapping[str, str], shells: Sequence[str]) -> None:
        """Name the agent's own tools: which read a file, which change one and how, which run a command."""
        self._readers, self._writers, self._shells = readers, writers, shells
        self._open: dict[str, tuple[str, str]] = {}

    def call(self, name: object, tool: object, arguments: Mapping[str, Any]) -> Called:
        """Take a call by its id."""
        argument = telling(arguments)
        if len(self._open) < MAX_OPEN:
            self._open[str(name)] = (str(tool), argument)
        return Called(tool=str(tool), argument=argument)

    def answer(self, name: object, *, ok: bool, size: int, exit_code: int | None = None) -> list[Event]:
        """Return what the answer to a call tells."""
        tool, argument = self._open.pop(str(name), ("", ""))
        events: list[Event] = [Answered(tool=tool, ok=ok, size=size)]
        if tool in self._shells:
            return [*events, Ran(command=argument, exit_code=exit_code, ok=ok)]
        if ok and argument and tool in self._readers:
            events.append(Read(path=argument))
        if ok and argument and tool in self._writers:
            events.append(changed(argument, self._writers[tool]))
        return events


WORDS = {"add": "added", "create": "added", "update": "edited", "edit": "edited", "modify": "edited"}
GONE = {"delete": "removed", "remove": "removed"}


def changed(path: str, how: object) -> Changed:
    """Return a change of a file, by the agent's word for it."""
    return Changed.model_validate({"path": path, "how": (WORDS | GONE).get(str(how), "written")})


def telling(arguments: Mapping[str, Any]) -> str:
    """Return what tells most of a call's arguments."""
    found = next((arguments[name] for name in TELLING if isinstance(arguments.get(name), str)), None)
    if found is not None:
        return str(found)
    return json.dumps(arguments, default=str, ensure_ascii=False) if arguments else ""


def size_of(content: object) -> int:
    """Return the characters of an answer, whatever it is made of."""
    if isinstance(content, list):
        return sum(size_of(part) for part in content)
    if isinstance(content, dict):
        return size_of(content["text"] if "text" in content else content.get("content"))
    return len(content) if isinstance(content, str) else 0


def text_of(record: Mapping[str, Any], name: str) -> str:
    """Return the text ``name`` of ``record``, empty where it is missing or something else."""
    value = record.get(name)
    return value if isinstance(value, str) else ""


def tables(record: Mapping[str, Any], name: str) -> list[dict[str, Any]]:
    """Return the objects in the list ``name`` of ``record``."""
    value = record.get(name)
    return [entry for entry in value if isinstance(entry, dict)] if isinstance(value, list) else []


def fault_of(record: Mapping[str, Any]) -> str:
    """Return what a record says of a fault, as a text or as an object with a message."""
    error = table(record, "error")
    return text_of(error, "message") or text_of(record, "message") or text_of(record, "error")


def code_of(value: object) -> int | None:
    """Return an exit code, None where the value is none."""
    return value if isinstance(value, int) and not isinstance(value, bool) and abs(value) < 2**31 else None
