"""The short log of a run: what was read, changed, run, asked of tools and spent, and the agent's last words.

Markdown that reads as well in a terminal. What an agent or a file says stands in code alone, where nothing acts.
"""

from __future__ import annotations

import re
from collections import Counter
from datetime import UTC, datetime
from decimal import Decimal
from typing import TYPE_CHECKING

from runner.logs.events import Answered, Asked, Called, Changed, Cut, Ended, Ran, Read, Said, Started, Thought, Warned

if TYPE_CHECKING:
    from collections.abc import Iterable

    from runner.logs.events import Event

MOST_ROWS = 30
"""Rows of a section; how many more there are is said."""
MAX_ROW = 160
"""Characters of a path, a command or a fault in a row."""
LAST_WORDS = 2_000
"""Characters of the agent's last message."""
TICKS = re.compile("`+")
COUNTS = ("input_tokens", "cache_read_tokens", "cache_write_tokens", "output_tokens")


class Story:
    """What has happened in a run so far."""

    def __init__(self) -> None:
        self._started: Started | None = None
        self._ended: Ended | None = None
        self._cut: Cut | None = None
        self._read, self._tools, self._refused = Counter[str](), Counter[str](), Counter[str]()
        self._changed: dict[str, str] = {}
        self._ran, self._faults = Counter[tuple[str, str]](), Counter[str]()
        self._calls: list[Asked] = []
        self._said, self._thoughts = "", 0

    def take(self, event: Event) -> None:
        """Take in the next event."""
        match event:
            case Started():
                self._started = event
            case Ended():
                self._ended = event
            case Cut():
                self._cut = event
            case Asked():
                self._calls.append(event)
            case Said():
                self._said = event.text
            case Thought():
                self._thoughts += 1
            case Warned():
                self._faults[event.text] += 1
            case _:
                self._used(event)

    def _used(self, event: Event) -> None:
        match event:
            case Read():
                self._read[event.path] += 1
            case Changed():
                first = self._changed.setdefault(event.path, event.how)
                self._changed[event.path] = "added" if (first, event.how) == ("added", "edited") else event.how
            case Ran():
                code = (
                    f"exit code {event.exit_code}" if event.exit_code is not None else "well" if event.ok else "failed"
                )
                self._ran[event.command, code] += 1
            case Called():
                self._tools[event.tool] += 1
            case Answered(ok=False):
                self._refused[event.tool] += 1

    def render(self) -> str:
        """Return the log as text; of a run that goes on, how it stands."""
        changed = [f"{code(path)}: {how}" for path, how in self._changed.items()]
        ran = [f"{code(command)}: {ended}{_times(n)}" for (command, ended), n in self._ran.items()]
        tools = [self._tool(tool, n) for tool, n in self._tools.items()]
        sections = (
            _section("Read", [code(path) + _times(n) for path, n in self._read.items()]),
            _section("Changed", changed),
            _section("Run", ran),
            _section("Asked of tools", tools),
            _section("Faults that its program told of", [code(text) + _times(n) for text, n in self._faults.items()]),
        )
        return "\n\n".join(filter(None, (*self._head(), *sections, self._last_words()))) + "\n"

    def _tool(self, tool: str, n: int) -> str:
        refused = self._refused[tool]
        return f"{code(tool)}{_times(n)}" + (f", {refused} failed" if refused else "")

    def _head(self) -> Iterable[str]:
        begun, rows = self._started, []
        if begun is not None:
            yield f"# {begun.unit}, run {begun.number} of job {begun.job}"
            agent = code(begun.agent) + (f" with {code(begun.model)}" if begun.model else "")
            rows = [
                f"Plan: {code(begun.plan)}, revision {begun.revision}",
                f"Agent: {agent}, attempt {begun.attempt}{', in the session before' if begun.resumed else ''}",
                f"Begun: {moment(begun.at)}",
                f"Prompt: {begun.prompt_bytes:,} bytes, SHA-256 {begun.prompt_sha256[:12]}",
            ]
        rows.append(f"Ended: {self._end()}")
        rows.append(f"Spent: {spent(self._calls)}")
        if self._thoughts:
            rows.append(f"Thoughts: {self._thoughts}, in the events")
        if self._ended is not None and self._ended.unknown:
            rows.append(f"Not understood: {self._ended.unknown} of {self._ended.lines} lines, in the raw stream")
        if self._cut is not None:
            rows.append(f"Cut: the first {self._cut.events:,} events are kept, the rest is in the raw stream")
        yield "\n".join(f"- {row}" for row in rows)

    def _end(self) -> str:
        end = self._ended
        if end is None:
            return "not yet, or killed with its runner"
        exit_code = f", exit code {end.exit_code}" if end.exit_code is not None else ""
        sentence = f": {code(end.sentence)}" if end.sentence else ""
        return f"{end.outcome.replace('_', ' ')} after {end.seconds:,.0f} s{exit_code}{sentence}"

    def _last_words(self) -> str:
        words = self._said[:LAST_WORDS].strip().replace("<!--", "<! --")
        if not words:
            return ""
        more = "\n[cut]" if len(self._said) > LAST_WORDS else ""
        fence = "`" * max(3, 1 + max(map(len, TICKS.findall(words)), default=0))
        return f"## Last words\n\n{fence}text\n{words}{more}\n{fence}"


def spent(calls: Iterable[Asked]) -> str:
    """Return what calls to models came to, in one line."""
    calls = list(calls)
    if not calls:
        return "nothing that is known of"
    sums = [sum(getattr(call, name) or 0 for call in calls) for name in COUNTS]
    told = [f"{n:,} {what}" for n, what in zip(sums, ("in", "from cache", "to cache", "out"), strict=True)]
    known = [call.usd for call in calls if call.usd is not None]
    usd = f"${sum(known, Decimal(0)):.4f}" if known else "dollars unknown"
    least = "at least " if known and len(known) < len(calls) else ""
    source = "metered" if all(call.metered for call in calls) else "by its own word"
    n = sum(call.calls for call in calls)
    return f"{least}{usd}, {n} call{'s' * (n > 1)}, tokens: {', '.join(told)} ({source})"


def moment(at: float) -> str:
    """Return epoch seconds as people read them."""
    return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%d %H:%M UTC")


def code(text: str) -> str:
    """Return untrusted ``text`` as code on one line, in which neither Markdown nor a marker acts."""
    line = " ".join(text.split()).replace("<!--", "<! --")
    line = line if len(line) <= MAX_ROW else f"{line[: MAX_ROW - 1]}…"
    if not line:
        return "(nothing)"
    ticks = "`" * (1 + max(map(len, TICKS.findall(line)), default=0))
    room = " " if line.startswith("`") or line.endswith("`") else ""
    return f"{ticks}{room}{line}{room}{ticks}"


def _times(n: int) -> str:
    return f", {n} times" if n > 1 else ""


def _section(title: str, rows: list[str]) -> str:
    if not rows:
        return ""
    more = [f"and {len(rows) - MOST_ROWS} more"] if len(rows) > MOST_ROWS else []
    listed = "\n".join(f"- {row}" for row in (*rows[:MOST_ROWS], *more))
    return f"## {title} ({len(rows)})\n\n{listed}"
