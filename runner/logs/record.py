"""Writing the log of one run while it lasts: the stream as it comes, what it tells, and at its end the short log.

What an agent prints is hostile: every text is bounded, rid of what drives a terminal or hides, and of secrets, before
it reaches the disk. Nothing in a stream is an error here; what is not understood is counted and stands in the raw one.
"""

from __future__ import annotations

import json
import tempfile
from typing import TYPE_CHECKING

from runner.agents.base import MAX_LINE
from runner.logs import EVENTS_FILE, LOG_FILE, PROMPT_FILE, STDERR_FILE, STDOUT_FILE
from runner.logs.events import MAX_SHORT, MAX_TEXT, Asked, Cut, Ended
from runner.logs.story import Story
from runner.steps.sieve import Sieve
from runner.untrusted import ESCAPES, visible

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from pathlib import Path

    from runner.agents.events import EventReader
    from runner.logs.events import Event
    from runner.steps.redact import Redactor

MAX_EVENTS = 20_000
"""Events of one run that are kept; its calls to the model and its end come on top."""
MAX_EVENT_BYTES = 20_000_000
"""Bytes of them."""
LOOKED_AT = 4
"""How many times what is kept of a text is looked at, since cleaning shortens it."""
TEXTS = frozenset({"text", "sentence"})
"""Fields that may be long and have lines."""


class RunLog:
    """The log of one run; its folder must not exist yet, since a log is never written twice."""

    def __init__(
        self,
        folder: Path,
        reader: EventReader,
        redact: Redactor,
        now: Callable[[], float],
        places: Mapping[str, str],
    ) -> None:
        """``places`` gives a short name to folders of this machine, the longer paths first. Raises OSError."""
        folder.mkdir(mode=0o700)
        self.folder, self._reader, self._now, self._places = folder, reader, now, places
        self.redact = redact
        for name in (PROMPT_FILE, STDOUT_FILE, STDERR_FILE, EVENTS_FILE):
            (folder / name).touch(mode=0o600, exist_ok=False)
        self.raw = tempfile.TemporaryFile(dir=folder)  # noqa: SIM115 - closed at the end of the run
        """The stream with everything in it, for whoever reads what the run cost: a file without a name, which ends
        with this process."""
        self._events = (folder / EVENTS_FILE).open("ab", buffering=0)
        self._began, self._lines, self._unknown, self._count, self._bytes = now(), 0, 0, 0, 0
        self._story = Story()
        self.exit_code: int | None = None

    def begin(self, started: Event, prompt: str) -> None:
        """Write what the run was asked."""
        (self.folder / PROMPT_FILE).write_text(self.redact(prompt), encoding="utf-8", errors="replace")
        self._write(started)

    def sieve(self) -> Sieve:
        """Return what stands between a stream of the run and its file."""
        return Sieve(self.redact, self._reader.is_piece)

    def hear(self, line: bytes) -> None:
        """Take a line of the agent's standard output."""
        self._lines += 1
        events = self._understood(line)
        if events is None:
            self._unknown += 1
        self._keep(events or ())

    def _understood(self, line: bytes) -> Sequence[Event] | None:
        if len(line) > MAX_LINE:
            return None
        try:
            record = json.loads(line)
        except (ValueError, RecursionError):
            return self._reader.plain(line.decode("utf-8", "replace"))
        try:
            return self._reader.take(record) if isinstance(record, dict) else None
        except (ValueError, TypeError, ArithmeticError, RecursionError):  # a record that only looks like one
            return None

    def _keep(self, events: Iterable[Event]) -> None:
        for event in events:
            if self._count < MAX_EVENTS and self._bytes < MAX_EVENT_BYTES:
                self._write(event)
                if self._count == MAX_EVENTS or self._bytes >= MAX_EVENT_BYTES:
                    self._write(Cut(events=self._count))

    def spent(self, calls: Iterable[Asked]) -> None:
        """Take the calls to models that the run made."""
        for call in calls:
            self._write(call)

    def end(self, outcome: str, sentence: str) -> None:
        """Write how the run ended, and the short log; nothing is added afterwards."""
        self._keep(self._reader.rest())
        self._write(
            Ended(
                outcome=outcome,
                sentence=sentence,
                seconds=round(self._now() - self._began, 1),
                exit_code=self.exit_code,
                lines=self._lines,
                unknown=self._unknown,
            )
        )
        self.close()
        (self.folder / LOG_FILE).write_text(self._story.render(), encoding="utf-8")
        for path in self.folder.iterdir():
            path.chmod(0o400)

    def close(self) -> None:
        """Let go of the files; a log that is only closed reads as one of a run that was killed."""
        self._events.close()
        self.raw.close()

    def _write(self, event: Event) -> None:
        texts = {name: self._clean(value, name) for name, value in event if isinstance(value, str) and name != "kind"}
        event = event.model_copy(update={**texts, "at": event.at or round(self._now(), 3)})
        line = event.model_dump_json().encode() + b"\n"
        self._events.write(line)
        self._count += 1
        self._bytes += len(line)
        self._story.take(event)

    def _clean(self, text: str, name: str) -> str:
        limit = MAX_TEXT if name in TEXTS else MAX_SHORT
        seen = visible(ESCAPES.sub("", text[: LOOKED_AT * limit]))
        seen = self.redact(seen, cut=len(text) > LOOKED_AT * limit)
        for place, short in self._places.items():
            seen = seen.replace(place, short)
        if name not in TEXTS:
            seen = " ".join(seen.split())
        return seen if len(text) <= LOOKED_AT * limit and len(seen) <= limit else f"{seen[:limit]} [cut]"
