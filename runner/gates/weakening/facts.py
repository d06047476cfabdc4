"""What a language's reader tells of one file: its tests, what they expect, and marks that take something away."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

UNCOUNTED = -1
"""Cases of a table that is computed."""
TRIVIAL, WEAK, EXACT = 0, 1, 2
"""How much an expectation tells: nothing (it can't fail), some property of a result, the result itself."""


@dataclass(frozen=True, slots=True)
class Expectation:
    """One assertion, as it is written but for its message and spacing."""

    text: str
    line: int
    strength: int
    tolerance: float | None = None
    """How far off a number may be, where that is said; ``text`` is without it then."""


@dataclass(frozen=True, slots=True)
class Test:
    """One test, or (``helper``) a function beside tests, which they may call."""

    name: str
    line: int
    lines: tuple[str, ...]
    """The statements of its body, each on a line, spacing apart."""
    expectations: tuple[Expectation, ...]
    skip: str = ""
    """What keeps it from running, or from counting: a marker, a condition."""
    cases: int = 1
    """Rows of its table of cases, where that is written out; :data:`UNCOUNTED` where it is not."""
    helper: bool = False

    @property
    def real(self) -> list[Expectation]:
        """What it expects and could be disappointed in."""
        return [one for one in self.expectations if one.strength > TRIVIAL]


@dataclass(frozen=True, slots=True)
class Mark:
    """Something in a file that takes strength away wherever it is added: a silenced rule, a focused test."""

    text: str
    """What it is compared by."""
    line: int
    what: str
    """The sentence about it, after path and line."""
    mild: bool = False
    """Whether it is narrow enough to be shown and not to block: one named rule, on one line or item."""


@dataclass(frozen=True, slots=True)
class Sheet:
    """Everything that is known of one file at one commit."""

    tests: tuple[Test, ...] = ()
    marks: tuple[Mark, ...] = ()


@dataclass(frozen=True, slots=True, order=True)
class Loss:
    """One thing that became weaker, for a line of the result."""

    path: bytes
    line: int
    what: str
    mild: bool = False
    """Whether it is shown and does not block."""


def words(text: str) -> frozenset[str]:
    """Return the words of ``text``: a table that is easier to read as one line."""
    return frozenset(text.split())


def squeezed(text: str) -> str:
    """Return ``text`` without the spacing that means nothing."""
    return re.sub(r"\s+", " ", text).strip()


def body_lines(text: str) -> tuple[str, ...]:
    """Return the lines of a body that hold more than brackets."""
    lines = (squeezed(line) for line in text.splitlines())
    return tuple(line for line in lines if line.strip("(){}[];,"))


def quoted(text: str, limit: int = 80) -> str:
    """Return code as it is shown in a sentence: one line, short, free of what breaks a table."""
    line = "".join(c for c in squeezed(text) if c.isprintable()).replace("`", "'")
    return f"`{line if len(line) <= limit else line[: limit - 1] + '…'}`"


def first_lines(marks: Sequence[Mark]) -> dict[str, int]:
    """Return the line on which each text is seen first."""
    found: dict[str, int] = {}
    for mark in marks:
        found.setdefault(mark.text, mark.line)
    return found
