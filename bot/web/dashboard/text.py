"""Foreign text on a page: escaped, whatever it says, with the little form that people and agents write in.

Paragraphs, lists, fenced code and code spans keep their form; everything else is shown as it was written, and what
can't be seen is shown by its number.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from markupsafe import Markup, escape

from bot.lifecycle.wording.escape import visible

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

LONGEST = 20_000
"""Characters of one piece of prose that a page shows."""
CUT = "\n\n… (cut)"

_REFERENCE = re.compile(r"(?<![\w#/])#([0-9]{1,12})\b")
_ANSI = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\-_])")
_CODE = Markup("<code>{}</code>")
_LINK = Markup('<a href="{}/issues/{}">#{}</a>')
_SPAN = re.compile(r"(?<!`)`([^`\n]{1,500})`(?!`)")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})[^`]*")
_ITEM = re.compile(r" {0,3}(?:(?P<point>[-*+])|[0-9]{1,3}[.)]) +(?P<text>\S.*)")


def inline(text: str) -> Markup:
    """Return one line, its code spans as code."""
    return spans(" ".join(text[:LONGEST].split()))


def spans(text: str) -> Markup:
    """Return a piece of a line as it is, its code spans as code."""
    return _coded(visible(text), escape)


def linked(text: str, repository: str) -> Markup:
    """Return one line in which numbers of issues are links; ``repository`` is the address of theirs on GitHub."""

    def with_links(piece: str) -> Markup:
        parts = enumerate(_REFERENCE.split(piece))
        return Markup("").join(_LINK.format(repository, part, part) if n % 2 else escape(part) for n, part in parts)

    return _coded(" ".join(visible(text[:LONGEST]).split()), with_links if "#" in text else escape)


def _coded(line: str, plain: Callable[[str], Markup]) -> Markup:
    """Return a line, its code spans as code; ``plain`` is for what lies between them."""
    if "`" not in line:
        return plain(line)
    pieces = enumerate(_SPAN.split(line))
    return Markup("").join(_CODE.format(piece) if n % 2 else plain(piece) for n, piece in pieces)


def prose(text: str) -> Markup:
    """Return paragraphs, lists and fenced code."""
    shown = visible(text[:LONGEST]) + (CUT if len(text) > LONGEST else "")
    return Markup("\n").join(_blocks(shown.strip().split("\n")))


def output(text: str) -> Markup:
    """Return a program's output for the inside of ``<pre>``, without the codes that colour a terminal."""
    return escape(visible(_ANSI.sub("", text)).strip("\n"))


def _blocks(lines: list[str]) -> Iterator[Markup]:
    at = 0
    while at < len(lines):
        if not lines[at].strip():
            at += 1
            continue
        make = _code if _FENCE.fullmatch(lines[at]) else _list if _ITEM.fullmatch(lines[at]) else _paragraph
        block, at = make(lines, at)
        yield block


def _code(lines: list[str], at: int) -> tuple[Markup, int]:
    match = _FENCE.fullmatch(lines[at])
    fence = match[1] if match else "```"
    end = next((n for n in range(at + 1, len(lines)) if lines[n].strip() == fence), len(lines))
    return Markup("<pre><code>{}</code></pre>").format("\n".join(lines[at + 1 : end])), end + 1


def _list(lines: list[str], at: int) -> tuple[Markup, int]:
    """Return the items from here on; a line that is none continues the one before it."""
    first = _ITEM.fullmatch(lines[at])
    points = first is not None and first["point"] is not None
    items: list[str] = []
    while at < len(lines) and lines[at].strip() and not _FENCE.fullmatch(lines[at]):
        match = _ITEM.fullmatch(lines[at])
        if match is None:
            items[-1] += f" {lines[at].strip()}"
        elif (match["point"] is not None) != points:
            break
        else:
            items.append(match["text"])
        at += 1
    shape = Markup("<ul>{}</ul>") if points else Markup("<ol>{}</ol>")
    return shape.format(Markup("").join(Markup("<li>{}</li>").format(inline(item)) for item in items)), at


def _paragraph(lines: list[str], at: int) -> tuple[Markup, int]:
    end = at
    while (
        end < len(lines)
        and lines[end].strip()
        and not _FENCE.fullmatch(lines[end])
        and (end == at or not _ITEM.fullmatch(lines[end]))
    ):
        end += 1
    return Markup("<p>{}</p>").format(Markup("<br>").join(map(inline, lines[at:end]))), end
