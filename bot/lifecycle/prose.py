"""Which lines of a comment are its writer's own words, and not code, a quotation or hidden.

Follows CommonMark where it matters for a line's beginning: fenced code, quotations with their lazy continuation,
code spans and HTML that reach over several lines. Where Markdown could be read both ways, a line is *not* taken for own
words: a command that is missed can be said again, one that was only quoted can't be unsaid. Indented code needs no
rule here, since a command has at most three spaces before it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

_LIST = r"(?:(?:[-*+]|[0-9]{1,9}[.)])[ \t]+)*"
_FENCE = re.compile(rf"(?P<lead> {{0,3}}{_LIST})(?P<fence>`{{3,}}(?=[^`]*$)|~{{3,}})")
_LEAD = re.compile(rf" *{_LIST}")
_QUOTE = re.compile(rf" {{0,3}}{_LIST}>")
_OPENING = re.compile(r"(?P<ticks>`+)|(?P<comment><!--)|<(?P<tag>[A-Za-z][A-Za-z0-9-]*)(?=[\s/>])|</?[A-Za-z][^<>]*")
_BLANK = re.compile(r"\n[ \t]*(?:\n|\Z)")
_OPAQUE = frozenset({"pre", "code", "samp", "kbd", "script", "style", "textarea", "template", "blockquote", "del", "s"})
"""Elements whose content is code, a quotation, struck out or not shown."""


@dataclass(frozen=True, slots=True)
class Line:
    """One line without its end, and whether it begins as the writer's own words."""

    text: str
    own: bool


@dataclass(slots=True)
class _Fence:
    mark: str
    indent: int

    def closed_by(self, line: str) -> bool:
        stripped = line.strip(" \t")
        indent = len(line) - len(line.lstrip(" \t"))
        return indent <= self.indent and len(stripped) >= len(self.mark) and not stripped.strip(self.mark[0])


def normalised(text: str) -> str:
    """Return the text with plain newlines, whatever line ends it came with."""
    return text.replace("\r\n", "\n").replace("\r", "\n")


def lines(text: str) -> Iterator[Line]:
    """Yield the lines of a comment in order."""
    text = normalised(text)
    inline = _Inline(text)
    fence: _Fence | None = None
    quoted = False
    hidden_until = start = 0
    for line in text.split("\n"):
        end = start + len(line)
        own = False
        if fence is not None:
            fence = None if fence.closed_by(line) else fence
        elif start < hidden_until:
            hidden_until = inline.scan(hidden_until, end)
        elif not line.strip():
            quoted = False
        elif (opening := _FENCE.match(line)) is not None:
            listed = opening["lead"].strip(" ")
            fence = _Fence(opening["fence"], len(opening["lead"]) + 3 if listed else 3)
            quoted = False
        elif _QUOTE.match(line):
            quoted = True
        elif not quoted:
            own = True
            hidden_until = inline.scan(start, end)
        yield Line(line, own)
        start = end + 1


class _Inline:
    """Finds where code spans and HTML end that open within a line."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._paragraph_end = -1

    def scan(self, start: int, end: int) -> int:
        """Return how far what opens in this part of a line reaches; not beyond ``end`` where all is closed in it."""
        at = start
        while at < end and (opening := _OPENING.search(self._text, at, end)) is not None:
            at = self._end(opening)
        return at

    def _end(self, opening: re.Match[str]) -> int:
        """Return where what opens here ends. What never ends is plain text, except where it begins its line."""
        text, start = self._text, opening.start()
        begins_line = _LEAD.fullmatch(text, text.rfind("\n", 0, start) + 1, start) is not None
        tag = (opening["tag"] or "").lower()
        if opening["ticks"]:
            return self._find(rf"(?<!`){opening['ticks']}(?!`)", opening, block=False)
        if opening["comment"]:
            return self._find("-->", opening, block=begins_line)
        if tag in _OPAQUE:
            return self._find(rf"</{tag}\s*>", opening, block=begins_line)
        return self._find(r"(?=<)|>", opening, block=False)

    def _find(self, closing: str, opening: re.Match[str], *, block: bool) -> int:
        end = len(self._text) if block else self._paragraph(opening.end())
        found = re.compile(closing, re.IGNORECASE).search(self._text, opening.end(), end)
        if found is not None:
            return found.end()
        return end if block else opening.end()

    def _paragraph(self, at: int) -> int:
        """Return where the paragraph around ``at`` ends."""
        if at > self._paragraph_end:
            blank = _BLANK.search(self._text, at)
            self._paragraph_end = blank.start() if blank else len(self._text)
        return self._paragraph_end
