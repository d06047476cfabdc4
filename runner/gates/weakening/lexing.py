"""Source of the brace languages with comments and strings blanked, at the same offsets, and brackets matched.

Enough of a lexer that braces, calls and attributes can be found by patterns and are code where they are found.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass, field
from typing import Literal

Dialect = Literal["javascript", "go", "rust"]

STARTS = {
    "javascript": re.compile(r"//|/\*|[\"'`]|/"),
    "go": re.compile(r"//|/\*|[\"'`]"),
    "rust": re.compile(r"//|/\*|\bb?r#*\"|\"|'"),
}
LINE = re.compile(r"[^\n]*")
QUOTED = {q: re.compile(rf"{q}(?:[^{q}\\\n]|\\.)*+{q}?", re.DOTALL) for q in "\"'"}
RUST_STRING = re.compile(r'"(?:[^"\\]|\\.)*+"?', re.DOTALL)
RUST_CHARACTER = re.compile(r"'(?:[^'\\\n]|\\[^\n]{1,10}?)'")
GO_RAW = re.compile(r"`[^`]*`?")
REGEX = re.compile(r"/(?![*/])(?:[^/\\\[\n]|\\.|\[(?:[^\]\\\n]|\\.)*+\])++/[a-z]*")
BEFORE_REGEX = re.compile(r"(?:[(,=:\[!&|?{};+~<>%*-]|\b(?:return|typeof|case|in|of|do|else|yield|await)|^)\s*$")
"""What stands before a regular expression, and never before a division."""
TEMPLATE = re.compile(r"\\.|`|\$\{|[{}\"']", re.DOTALL)
NESTED = re.compile(r"/\*|\*/")
LOOK_BACK = 40
"""Characters before a slash that tell which of both it is."""
OPEN, CLOSE = "([{", ")]}"


@dataclass
class Source:
    """One file: its text, its code, and what of it are comments."""

    text: str
    code: str
    comments: list[tuple[int, str]]
    """Line and text of each comment, a line each."""
    ends: dict[int, int] = field(default_factory=dict)
    """Offset of the closing bracket by that of the opening one."""
    starts: list[int] = field(default_factory=list)
    """Offsets at which lines begin."""
    openings: dict[int, int] = field(default_factory=dict)
    """Offset of the opening bracket by that of the closing one."""

    def line(self, offset: int) -> int:
        """Return the number of the line that ``offset`` lies on."""
        return bisect_right(self.starts, offset)

    def end(self, opening: int) -> int:
        """Return the offset of the bracket that closes the one at ``opening``; the end of the file where none does."""
        return self.ends.get(opening, len(self.code))

    def arguments(self, opening: int) -> list[str]:
        """Return what stands between the brackets at ``opening``, split at its own commas."""
        end, parts, at = self.end(opening), [], opening + 1
        position = at
        while position < end:
            if self.code[position] in OPEN:
                position = self.end(position)
            elif self.code[position] == ",":
                parts.append(self.text[at:position].strip())
                at = position + 1
            position += 1
        last = self.text[at:end].strip()
        return [*parts, last] if last else parts


def lex(text: str, dialect: Dialect) -> Source:
    """Return ``text`` as a :class:`Source`; a string or comment that nothing ends, ends with the line or the file."""
    code: list[str] = []
    comments: list[tuple[int, str]] = []
    starts = [0, *(found.end() for found in re.finditer("\n", text))]
    at = 0
    while found := STARTS[dialect].search(text, at):
        start = found.start()
        end = _end(text, start, found[0], dialect)
        code.append(text[at:start])
        piece = text[start:end]
        if found[0] in {"//", "/*"}:
            first = bisect_right(starts, start)
            comments += [(first + number, line) for number, line in enumerate(piece.split("\n"))]
            code.append(_blank(piece))
        elif end - start > 1:
            code.append(piece[0] + _blank(piece[1:-1], "_") + piece[-1])
        else:
            code.append(piece)
        at = end
    code.append(text[at:])
    source = Source(text, "".join(code), comments, starts=starts)
    source.ends = _matched(source.code)
    source.openings = {end: start for start, end in source.ends.items()}
    return source


def _end(text: str, start: int, opening: str, dialect: Dialect) -> int:
    """Return where the token that begins at ``start`` ends."""
    if opening == "//":
        return _match_end(LINE, text, start)
    if opening == "/*":
        return _comment_end(text, start, nested=dialect == "rust")
    if opening == "`":
        return _match_end(GO_RAW, text, start) if dialect == "go" else _template_end(text, start)
    if opening == "/":
        before = text[max(0, start - LOOK_BACK) : start]
        return _match_end(REGEX, text, start) if BEFORE_REGEX.search(before) else start + 1
    if dialect == "rust":
        return _rust_end(text, start, opening)
    return _match_end(QUOTED[opening], text, start)


def _match_end(pattern: re.Pattern[str], text: str, start: int) -> int:
    found = pattern.match(text, start)
    return max(start + 1, found.end()) if found else start + 1


def _comment_end(text: str, start: int, *, nested: bool) -> int:
    depth, at = 1, start + 2
    while found := NESTED.search(text, at):
        at = found.end()
        depth += 1 if nested and found[0] == "/*" else -1 if found[0] == "*/" else 0
        if depth == 0:
            return at
    return len(text)


def _template_end(text: str, start: int) -> int:
    """Return the end of a template literal; what it holds in ``${}`` may hold braces and further templates."""
    at, holes = start + 1, [0]
    while found := TEMPLATE.search(text, at):
        at, piece = found.end(), found[0]
        if piece in QUOTED and holes[-1]:
            at = _match_end(QUOTED[piece], text, found.start())
        elif piece == "`":
            if holes[-1] == 0:
                holes.pop()
                if not holes:
                    return at
            else:
                holes.append(0)
        elif piece == "${" and holes[-1] == 0:
            holes[-1] = 1
        elif piece == "{" and holes[-1]:
            holes[-1] += 1
        elif piece == "}" and holes[-1]:
            holes[-1] -= 1
    return len(text)


def _rust_end(text: str, start: int, opening: str) -> int:
    if opening == "'":
        return _match_end(RUST_CHARACTER, text, start)
    if opening == '"':
        return _match_end(RUST_STRING, text, start)
    closing = '"' + "#" * opening.count("#")
    end = text.find(closing, start + len(opening))
    return len(text) if end < 0 else end + len(closing)


def _blank(piece: str, filler: str = " ") -> str:
    return re.sub(r"[^\n]", filler, piece)


def _matched(code: str) -> dict[int, int]:
    ends: dict[int, int] = {}
    stack: list[int] = []
    for found in re.finditer(r"[()\[\]{}]", code):
        bracket = found[0]
        if bracket in OPEN:
            stack.append(found.start())
        elif stack and OPEN.index(code[stack[-1]]) == CLOSE.index(bracket):
            ends[stack.pop()] = found.start()
    return ends
