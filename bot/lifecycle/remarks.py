"""A reply that quotes lines of the plan and says something to them: an annotation on those lines.

That is what GitHub's "Quote reply" makes, and what people write by hand. The words stand below the quotation, up to the
next one; where nothing follows the last one, above it. The words of a command below count as well, since "that" in them
is what was quoted. Quotations of anything but the plan are left alone.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from bot.lifecycle.commands import SPEAKS_ON, Command, pieces
from bot.lifecycle.likeness import Lines, words
from bot.lifecycle.prose import Kind
from runner.contract import Feedback

if TYPE_CHECKING:
    from bot.lifecycle.prose import Line

MOSTLY = 0.5
"""Share of a quotation's words that must be the plan's for it to be one of the plan."""
LONGEST_QUOTE = 2_000
"""Characters of the plan's lines that go with an annotation; somebody may quote the whole plan to say one thing."""
MOST_ANNOTATIONS = 30
"""Annotations taken from one comment, the first ones."""


@dataclass
class _Block:
    """Quoted lines that follow each other, and what was said to them."""

    quoted: list[str] = field(default_factory=list)
    said: list[str] = field(default_factory=list)

    @property
    def words(self) -> str:
        return "\n".join(self.said).strip()


def read_remarks(text: str, plan: str, author: str) -> tuple[Feedback, ...]:
    """Return what a comment says to lines of the plan, whose comment's text is given."""
    known = Lines.of(plan)
    found = [(_lines(block, known), block.words) for block in _blocks(text)[:MOST_ANNOTATIONS]]
    return tuple(
        Feedback(kind="annotation", author=author, text=said, quote=quote) for quote, said in found if quote and said
    )


def _blocks(text: str) -> list[_Block]:
    """Return the quotations of a comment, each with what is said to it."""
    blocks = [_Block()]
    for piece in pieces(text):
        block = blocks[-1]
        if isinstance(piece, Command):
            if piece.verb in SPEAKS_ON and not block.words:
                block.said.append(piece.argument)
            blocks.append(_Block())
        elif piece.kind is Kind.QUOTED:
            if block.words or not block.quoted:
                block = _Block()
                blocks.append(block)
            block.quoted.append(piece.quoted)
        elif piece.kind is not Kind.HIDDEN and not _is_swallowed(piece):
            block.said.append(piece.text)
    return _with_words_above(blocks)


def _is_swallowed(line: Line) -> bool:
    """Whether this was meant as a command, and without an empty line before it became a part of the quotation."""
    return line.kind is Kind.CONTINUED and line.text.lstrip().startswith("/")


def _with_words_above(blocks: list[_Block]) -> list[_Block]:
    """Return the blocks that quote; where the last one stands at the end of the comment, with the words before it."""
    if len(blocks) > 1 and blocks[-1].quoted and not blocks[-1].words and not blocks[-2].quoted:
        blocks[-1].said = blocks[-2].said
    return [block for block in blocks if block.quoted]


def _lines(block: _Block, known: Lines) -> str:
    """Return the plan's lines that a quotation holds, as they stand in the plan; nothing where it is not the plan's."""
    found: set[int] = set()
    of_plan = of_all = 0
    for line in block.quoted:
        if line.lstrip().startswith(">"):
            continue
        lines, weight = known.quoted_by(line), len(words(line))
        found.update(lines)
        of_all += weight
        of_plan += weight if lines else 0
    if not found or of_plan < MOSTLY * of_all:
        return ""
    return _cut("\n".join(known.lines[at] for at in sorted(found)))


def _cut(quote: str) -> str:
    if len(quote) <= LONGEST_QUOTE:
        return quote
    kept = quote[:LONGEST_QUOTE]
    whole = kept.rpartition("\n")[0]
    return f"{whole or kept}\n…"
