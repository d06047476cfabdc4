"""The lines that a change adds: those of its files at head that none of its files had at base, moved ones left out."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from runner.gates.change import Change

Added = dict[bytes, dict[int, str]]
"""By path: number of the line, counted from 1, and its text."""


def added_lines(change: Change) -> Added:
    """Return what is new, line by line; spacing at the ends does not count, binary files have none."""
    left: Counter[str] = Counter()
    for file in change.files:
        left.update(line.strip() for line in _lines(change.read_base(file.path)))
    found: Added = {}
    for file in (file for file in change.files if file.is_text_candidate):
        for number, line in enumerate(_lines(change.read(file.path)), start=1):
            if left[line.strip()]:
                left[line.strip()] -= 1
            elif line.strip():
                found.setdefault(file.path, {})[number] = line
    return found


def _lines(content: bytes | None) -> list[str]:
    return [] if content is None or b"\0" in content else content.decode("utf-8", "replace").split("\n")
