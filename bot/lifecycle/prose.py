"""Which lines of a comment are its writer's own words, and not code, a quotation, struck out or hidden.

Follows CommonMark where it matters for a line's beginning: fenced code, quotations with their lazy continuation, and
code spans, struck out words and HTML that reach over several lines. Where Markdown could be read both ways, a line is
*not* taken for own words: a command that is missed can be said again, one that was only quoted can't be unsaid.
Indented code needs no rule here, since a command has at most three spaces before it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum, auto
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

_LIST = r"(?:(?:[-*+]|[0-9]{1,9}[.)])[ \t]+)*"
_FENCE = re.compile(rf"(?P<lead> {{0,3}}{_LIST})(?P<fence>`{{3,}}(?=[^`]*$)|~{{3,}})")
_LEAD = re.compile(rf" *{_LIST}")
_QUOTE = re.compile(rf" {{0,3}}{_LIST}> ?(?P<quoted>.*)")
_OPENING = re.compile(
    r"(?P<ticks>`+)|(?<![~\\])(?P<waves>~{1,2})(?=[^\s~])"
    r"|(?P<comment><!--)|<(?P<tag>[A-Za-z][A-Za-z0-9-]*)(?=[\s/>])|</?[A-Za-z][^<>]*"
)
_CODE = r"^ {0,3}(?P<fence>`{3,}(?=[^`\n]*$)|~{3,})|(?P<ticks>`+)"
_BLANK = re.compile(r"\n[ \t]*(?:\n|\Z)")
_OPAQUE = frozenset(
    {"pre", "code", "samp", "kbd", "script", "style", "textarea", "template"}
    | {"blockquote", "q", "del", "s", "strike", "details"}
)
"""Elements whose content is code, a quotation, struck out or not shown."""


class Kind(Enum):
    """What a line is."""

    OWN = auto()
    """It begins as the writer's own words."""
    BLANK = auto()
    QUOTED = auto()
    """It begins with the mark of a quotation."""
    CONTINUED = auto()
    """It follows a quotation without an empty line, so that GitHub shows it as a part of that."""
    CODE = auto()
    """A fence, or a line within it."""
    HIDDEN = auto()
    """It begins with an HTML comment, or within code or HTML that began on a line before it."""


@dataclass(frozen=True, slots=True)
class Line:
    """One line without its end."""

    text: str
    kind: Kind

    @property
    def own(self) -> bool:
        """Whether it begins as the writer's own words."""
        return self.kind is Kind.OWN

    @property
    def quoted(self) -> str:
        """What a quoted line quotes: the text behind its first mark; empty in any other line."""
        match = _QUOTE.fullmatch(self.text) if self.kind is Kind.QUOTED else None
        return match["quoted"] if match else ""


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
        kind = Kind.BLANK
        if fence is not None:
            kind = Kind.CODE
            fence = None if fence.closed_by(line) else fence
        elif start < hidden_until:
            kind = Kind.HIDDEN
            hidden_until = inline.scan(hidden_until, end)
        elif not line.strip():
            quoted = False
        elif (opening := _FENCE.match(line)) is not None:
            kind = Kind.CODE
            listed = opening["lead"].strip(" ")
            fence = _Fence(opening["fence"], len(opening["lead"]) + 3 if listed else 3)
            quoted = False
        elif _QUOTE.match(line):
            kind = Kind.QUOTED
            quoted = True
        elif quoted:
            kind = Kind.CONTINUED
        else:
            kind = Kind.HIDDEN if line.lstrip().startswith("<!--") else Kind.OWN
            hidden_until = inline.scan(start, end)
        yield Line(line, kind)
        start = end + 1


class _Inline:
    """Finds where code spans, struck out words and HTML end that open within a line."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._paragraph_end = -1
        self._elements: dict[str, dict[int, int]] = {}
        self._unclosed: dict[str, int] = {}  # what closes -> the end up to which nothing does

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
            return self._find(rf"(?<!`){opening['ticks']}(?!`)", opening)
        if opening["waves"]:
            return self._find(rf"(?<=[^\s~]){opening['waves']}(?!~)", opening)
        if opening["comment"]:
            return self._find("-->", opening, block=begins_line)
        if tag in _OPAQUE:
            return self._ends_of(tag).get(start, len(text) if begins_line else opening.end())
        return self._find(r"(?=<)|>", opening)

    def _find(self, closing: str, opening: re.Match[str], *, block: bool = False) -> int:
        end = len(self._text) if block else self._paragraph(opening.end())
        found = None
        if self._unclosed.get(closing) != end:
            found = re.compile(closing).search(self._text, opening.end(), end)
        if found is not None:
            return found.end()
        self._unclosed[closing] = end
        return end if block else opening.end()

    def _ends_of(self, tag: str) -> dict[int, int]:
        """Return where each element of a kind ends, by where it begins; those that are never closed are not in it."""
        if tag not in self._elements:
            ends: dict[int, int] = {}
            open_: list[int] = []
            for part in self._tags(tag):
                if not part["end"]:
                    open_.append(part.start())
                elif open_:
                    ends[open_.pop()] = part.end()
            self._elements[tag] = ends
        return self._elements[tag]

    def _tags(self, tag: str) -> Iterator[re.Match[str]]:
        """Yield the tags of a kind that are not shown as code."""
        parts = re.compile(rf"{_CODE}|<(?P<end>/?){tag}(?=[\s/>])[^<>]*>?", re.IGNORECASE | re.MULTILINE)
        at = 0
        while (part := parts.search(self._text, at)) is not None:
            at = part.end()
            if part["fence"]:
                closing = rf"(?m)^ {{0,3}}{part['fence']}{part['fence'][0]}*[ \t]*$"
                at = self._find(closing, part, block=True)
            elif part["ticks"]:
                at = self._find(rf"(?<!`){part['ticks']}(?!`)", part)
            else:
                yield part

    def _paragraph(self, at: int) -> int:
        """Return where the paragraph around ``at`` ends."""
        if at > self._paragraph_end:
            blank = _BLANK.search(self._text, at)
            self._paragraph_end = blank.start() if blank else len(self._text)
        return self._paragraph_end
