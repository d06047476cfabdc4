"""A patch as rows of a page: files, hunks, lines with their numbers, and the colours of their syntax.

A patch is hostile text. What can't be seen in it is shown by its number, every measure of it is bounded, and colours
are names of classes around escaped text. Only lexers of the list below are used, on bounded pieces: some expressions
of lexers take very long on text that was made for it.
"""

from __future__ import annotations

import re
import time
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from markupsafe import Markup, escape
from pygments.lexers import get_lexer_by_name
from pygments.token import STANDARD_TYPES

from bot.lifecycle.patches import Section, sections
from bot.lifecycle.wording.escape import visible

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pygments.token import _TokenType

MOST_LINES = 3_000
"""Lines of a diff that a page shows; the comparison on GitHub shows all."""
LONGEST_LINE = 1_000
"""Characters of a line that a page shows."""
COLOURED_LINE = 300
"""A hunk with a longer line is shown without colours."""
COLOURED_HUNK = 20_000
"""Characters of a hunk up to which it is shown in colours."""
COLOURED_DIFF = 60_000
"""Characters of a diff that are shown in colours; what follows is shown plain."""
KEPT = 32
"""Diffs that a process keeps coloured, those that were asked for last: a patch never changes."""

LEXERS = {
    "bash": "sh bash zsh",
    "c": "c h",
    "cpp": "cc cpp cxx hh hpp hxx",
    "csharp": "cs",
    "css": "css",
    "go": "go",
    "html": "htm html",
    "ini": "cfg conf ini",
    "java": "java",
    "javascript": "cjs js mjs",
    "json": "json",
    "kotlin": "kt kts",
    "php": "php",
    "python": "py pyi",
    "ruby": "rb",
    "rust": "rs",
    "scss": "scss",
    "sql": "sql",
    "swift": "swift",
    "toml": "toml",
    "typescript": "cts mts ts tsx",
    "xml": "svg xml",
    "yaml": "yaml yml",
}
"""Lexer of Pygments -> the endings of the files that it colours."""

COLOURING_SECONDS = 1.0
"""Of the processor, for the colours of a whole diff: some code, written for it, takes a lexer minutes."""

_BY_ENDING = {ending: lexer for lexer, endings in LEXERS.items() for ending in endings.split()}
_HUNK = re.compile(r"@@ -(?P<old>[0-9]{1,9})(?:,[0-9]+)? \+(?P<new>[0-9]{1,9})(?:,[0-9]+)? @@(?P<place>.*)")
_QUIET = ("index ", "--- ", "+++ ", "diff --git ")
"""Lines of a file's head that the page says otherwise."""


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a hunk. ``sign`` is ``+``, ``-`` or a space; a number is None on the side that does not have it."""

    sign: str
    old: int | None
    new: int | None
    text: Markup


@dataclass(frozen=True, slots=True)
class Hunk:
    """Lines that belong together. ``place`` is what git takes for the function around them."""

    head: str
    place: str
    lines: tuple[Line, ...]


@dataclass(frozen=True, slots=True)
class FileDiff:
    """What a patch does to one file; ``notes`` are git's words on names, modes and binary contents."""

    anchor: str
    path: str
    notes: tuple[str, ...]
    hunks: tuple[Hunk, ...]
    added: int
    removed: int


@dataclass(frozen=True, slots=True)
class Diff:
    """A whole patch as far as a page shows it; ``left_out`` counts the lines that it does not."""

    files: tuple[FileDiff, ...]
    left_out: int


@lru_cache(maxsize=KEPT)
def read(patch: str) -> Diff:
    """Return the rows of a patch, which may be any text at all."""
    reader = _Reader()
    files = [reader.file(section) for section in sections(patch) if any(section.lines)]
    return Diff(files=tuple(file for file in files if file is not None), left_out=reader.left_out)


class _Reader:
    """Reads a patch from front to back; what it may still show and colour shrinks as it goes."""

    def __init__(self) -> None:
        self._lines, self._colours, self._files = MOST_LINES, COLOURED_DIFF, 0
        self._until = time.thread_time() + COLOURING_SECONDS
        self.left_out = 0

    def file(self, section: Section) -> FileDiff | None:
        """Return the part about one file, or None where nothing more is shown."""
        if self._lines <= 0:
            self.left_out += len(section.lines)
            return None
        self._files += 1
        start = next((n for n, line in enumerate(section.lines) if _HUNK.fullmatch(line)), len(section.lines))
        hunks = tuple(self._hunks(section.path, section.lines[start:]))
        signs = [line.sign for hunk in hunks for line in hunk.lines]
        head = (visible(line)[:LONGEST_LINE] for line in section.lines[:start] if line)
        return FileDiff(
            anchor=f"file-{self._files}",
            path=visible(section.path or "")[:LONGEST_LINE] or "a file whose name the patch does not tell",
            notes=tuple(line for line in head if not line.startswith(_QUIET))[:10],
            hunks=hunks,
            added=signs.count("+"),
            removed=signs.count("-"),
        )

    def _hunks(self, path: str, lines: Sequence[str]) -> Iterator[Hunk]:
        starts = [n for n, line in enumerate(lines) if _HUNK.fullmatch(line)]
        for start, end in pairwise([*starts, len(lines)]):
            body = [line for line in lines[start + 1 : end] if line[:1] in {" ", "+", "-"}]
            shown = body[: max(self._lines, 0)]
            self.left_out += len(body) - len(shown)
            self._lines -= len(shown)
            if shown:
                yield self._hunk(path, lines[start], shown)

    def _hunk(self, path: str, head: str, lines: Sequence[str]) -> Hunk:
        match = _HUNK.fullmatch(head)
        assert match is not None  # noqa: S101 - hunks are cut where it matches
        texts = _cut(lines)
        coloured = iter(self._coloured(path, texts, lines))
        old, new, rows = int(match["old"]), int(match["new"]), []
        for line in lines:
            sign = line[0]
            rows.append(Line(sign, None if sign == "+" else old, None if sign == "-" else new, next(coloured)))
            old += sign != "+"
            new += sign != "-"
        numbers, _, _ = head[3:].partition(" @@")
        return Hunk(head=f"@@ {numbers} @@", place=visible(match["place"].strip())[:LONGEST_LINE], lines=tuple(rows))

    def _coloured(self, path: str, texts: Sequence[str], lines: Sequence[str]) -> list[Markup]:
        """Return each line's text; both sides of the change are read as the code they are."""
        size = sum(map(len, texts)) + len(texts)
        lexer = _BY_ENDING.get(PurePosixPath(path.lower()).suffix[1:])
        if lexer is None or size > min(COLOURED_HUNK, self._colours) or any(len(t) > COLOURED_LINE for t in texts):
            return [escape(text) for text in texts]
        self._colours -= size
        sides = [[text for text, line in zip(texts, lines, strict=True) if line[0] != other] for other in "-+"]
        try:
            after, before = (iter(_lexed(lexer, side, self._until)) for side in sides)
        except TimeoutError:
            self._colours = 0
            return [escape(text) for text in texts]
        rows = []
        for line in lines:
            if line[0] == " ":
                next(before)
            rows.append(next(before) if line[0] == "-" else next(after))
        return rows


def _cut(lines: Sequence[str]) -> list[str]:
    shown = [visible(line[1 : LONGEST_LINE + 1].replace("\r", "␍")) for line in lines]
    return [f"{text} …" if len(line) > LONGEST_LINE + 1 else text for text, line in zip(shown, lines, strict=True)]


def _lexed(lexer: str, texts: Sequence[str], until: float) -> list[Markup]:
    """Return lines with the classes of their syntax, as many as there were. Raises ``TimeoutError``."""
    rows: list[list[Markup]] = [[]]
    made = get_lexer_by_name(lexer, stripnl=False, ensurenl=True)
    for kind, value in made.get_tokens("\n".join(texts)):
        if time.thread_time() > until:
            raise TimeoutError
        name = _class(kind)
        first, *rest = value.split("\n")
        rows[-1].append(_span(name, first))
        rows += [[_span(name, piece)] for piece in rest]
    lines = [Markup("").join(row) for row in rows]
    return (lines + [Markup("")] * len(texts))[: len(texts)]


def _span(name: str, text: str) -> Markup:
    if not text or not name:
        return escape(text)
    return Markup('<span class="{}">{}</span>').format(f"s-{name}", text)


@lru_cache(maxsize=256)
def _class(kind: _TokenType) -> str:
    """Return the short name of a kind of token, or that of the nearest kind above it."""
    while kind not in STANDARD_TYPES and kind.parent is not None:
        kind = kind.parent
    return "" if STANDARD_TYPES.get(kind, "") in {"", "n", "p", "w", "err"} else STANDARD_TYPES[kind]
