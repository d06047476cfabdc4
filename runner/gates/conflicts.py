"""Gate ``conflict markers``: no file of the change holds a conflict that nobody settled.

All three markers must stand in order at the start of lines; a row of equal signs alone is a heading in many a text. A
file that had the very same block at the base (a test's data, a book on git) is left in peace.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from runner.gates.verdict import failed, passed, shown

if TYPE_CHECKING:
    from runner.contract import GateResult
    from runner.gates.change import Change

NAME = "conflict markers"
START, MIDDLE, END = (re.compile(rb"%s{7}(?: |\r?$)" % mark) for mark in (b"<", b"=", b">"))
"""As git writes them: seven, then a space and a name, or the end of the line."""


def conflicts(change: Change) -> GateResult:
    """Return whether any changed file holds a whole set of conflict markers that is new."""
    faults = []
    for file in change.files:
        if not file.is_text_candidate:
            continue
        before = set(_blocks(change.whole_base(file.path)).values())
        new = [line for line, block in _blocks(change.whole(file.path)).items() if block not in before]
        faults += [f"{shown(file.path)}:{line}: a conflict that is not settled." for line in new]
    return failed(NAME, faults) if faults else passed(NAME, "No conflict markers.")


def _blocks(content: bytes) -> dict[int, bytes]:
    """Return each block from its start marker to its end marker, by the number of its first line."""
    found: dict[int, bytes] = {}
    start, middle = 0, False
    lines = content.split(b"\n")
    for number, line in enumerate(lines, start=1):
        if START.match(line):
            start, middle = number, False
        elif start and MIDDLE.match(line):
            middle = True
        elif start and middle and END.match(line):
            found[start] = b"\n".join(lines[start - 1 : number])
            start = 0
    return found
