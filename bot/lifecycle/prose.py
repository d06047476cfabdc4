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
_ITEM = re.compile(r"(?:[-*+]|[0-9]{1,9}[.)])[ \t]+")
_LIST_LEAD = re.compile(rf" *(?:{_ITEM.pattern})+")
_NO_PARAGRAPH = re.compile(r" {0,3}(?:#{1,6}(?:[ \t]|$)|>|(?:[-_*=][ \t]*){3,}$)")
"""A heading, a quotation or a rule: what ends a paragraph instead of going on with it."""
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
    inside: int
    """Columns before the content of the list item that it stands in; 0: in none."""

    def closed_by(self, line: str) -> bool:
        stripped = line.strip(" \t")
        return _indent(line) <= self.inside + 3 and len(stripped) >= len(self.mark) and not stripped.strip(self.mark[0])

    def left_by(self, line: str) -> bool:
        """Whether the line is a fence before the content of the list item: it ends that, and begins other code."""
        return _indent(line) < self.inside and _FENCE.match(line) is not None


class _Items:
    """The list items that are open, by the columns before their content."""

    def __init__(self) -> None:
        self._columns: list[int] = []
        self._paragraph = False

    def take(self, line: str, *, fence: bool) -> int:
        """Take in a line outside of code; return the columns before the content of the innermost item around it."""
        text, indent = line.expandtabs(4), _indent(line)
        lead = _LIST_LEAD.match(text)
        goes_on = self._paragraph and not (fence or lead or _NO_PARAGRAPH.match(text))
        if line.strip() and not goes_on:
            self._columns = [columns for columns in self._columns if columns <= indent]
        if lead is not None:
            self._columns += [item.end() for item in _ITEM.finditer(text, 0, lead.end())]
        self._paragraph = bool(line.strip()) and not fence and not _NO_PARAGRAPH.match(text)
        return self._columns[-1] if self._columns else 0


def _indent(line: str) -> int:
    text = line.expandtabs(4)
    return len(text) - len(text.lstrip(" "))


def normalised(text: str) -> str:
    """Return the text with plain newlines, whatever line ends it came with."""
    return text.replace("\r\n", "\n").replace("\r", "\n")


def lines(text: str) -> Iterator[Line]:
    """Yield the lines of a comment in order."""
    text = normalised(text)
    inline = _Inline(text)
    items = _Items()
    fence: _Fence | None = None
    quoted = False
    hidden_until = start = 0
    for line in text.split("\n"):
        end = start + len(line)
        kind = Kind.BLANK
        if fence is not None and fence.left_by(line):
            fence = None
        opening = _FENCE.match(line) if fence is None and start >= hidden_until else None
        inside = items.take(line, fence=opening is not None) if fence is None else 0
        if fence is not None:
            kind = Kind.CODE
            fence = None if fence.closed_by(line) else fence
        elif start < hidden_until:
            kind = Kind.HIDDEN
            hidden_until = inline.scan(hidden_until, end)
        elif not line.strip():
            quoted = False
        elif opening is not None:
            kind = Kind.CODE
            fence = _Fence(opening["fence"], inside)
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
