"""The text of a patch in its parts: which file a part is about, and what stands in a line of it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from bot.lifecycle.states import Frozen

if TYPE_CHECKING:
    from collections.abc import Iterator

_NEW_PATH = re.compile(r"\+\+\+ (?:\"b/(?P<quoted>.*)\"|b/(?P<plain>.*?))\t?")
_OLD_PATH = re.compile(r"--- (?:\"a/(?P<quoted>.*)\"|a/(?P<plain>.*?))\t?")
_HUNK = re.compile(r"@@ -[0-9]+(?:,[0-9]+)? \+(?P<start>[0-9]{1,9})(?:,[0-9]+)? @@.*")


class Section(Frozen):
    """The part of a patch that is about one file."""

    path: str
    """As it is called afterwards; empty where the patch does not tell, as for binary files."""
    lines: tuple[str, ...]


def sections(patch: str) -> tuple[Section, ...]:
    """Return the parts of a patch in order; what stands before the first file counts as a part of no file."""
    parts: list[list[str]] = []
    for line in patch.split("\n"):
        if line.startswith("diff --git ") or not parts:
            parts.append([])
        parts[-1].append(line)
    return tuple(Section(path=_path(lines), lines=tuple(lines)) for lines in parts)


def _path(lines: list[str]) -> str:
    """Return the file's path by its header, which ends where the first hunk begins."""
    old = ""
    for line in lines:
        if line.startswith("@@"):
            break
        if (found := _NEW_PATH.fullmatch(line)) is not None:
            return found["plain"] or found["quoted"] or ""
        if (found := _OLD_PATH.fullmatch(line)) is not None:
            old = found["plain"] or found["quoted"] or ""
    return old


def line_at(patch: str, path: str, number: int) -> str:
    """Return the text of a line of a file as the patch leaves it; empty where the patch does not show it."""
    for section in sections(patch):
        if section.path == path:
            return next((text for at, text in _numbered(section) if at == number), "")
    return ""


def _numbered(section: Section) -> Iterator[tuple[int, str]]:
    """Yield the lines that the file has afterwards, with their numbers."""
    at: int | None = None
    for line in section.lines:
        if (hunk := _HUNK.fullmatch(line)) is not None:
            at = int(hunk["start"])
        elif at is not None and line[:1] in {" ", "+"}:
            yield at, line[1:]
            at += 1
