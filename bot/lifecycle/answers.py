"""Answers to the plan's questions, by their numbers: ``1: yes``, ``2) no, because``.

Read in the words of ``/answer`` and in what a comment says beside its commands, as people number answers: ``1:``,
``1.``, ``2)``, ``(2)``, ``Q1:``, ``**1.**``, ``- 1:``, ``1 -``, ``1 and 2:``; several on a line where their numbers
follow each other. A quotation of a question with words below it answers that. An answer goes on over the lines below
up to a number that is asked and not answered yet, so a numbered list within an answer stays in it.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from bot.lifecycle import prose
from bot.lifecycle.choices import NotUnderstoodError
from bot.lifecycle.commands import Command, pieces
from bot.lifecycle.likeness import Lines
from bot.lifecycle.prose import Kind

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

_START = re.compile(
    r" {0,3}(?:[-*+] +)?[*_(]{0,3}(?i:questions? |answers? |q|a|#)?"
    r"(?P<numbers>\d{1,3}(?: ?(?:,|&|and) ?\d{1,3}){0,8})"
    r"[*_]{0,2}(?:[:：、](?!\d)|[.．]?[)）](?=[*_\s]|\Z)|[.．](?=[*_\s]|\Z)| ?[-–—=](?=\s)(?!\s*\d))"  # noqa: RUF001
    r"[*_]{0,3}[ \t]*(?P<words>.*)",
    re.DOTALL,
)
_NEXT = re.compile(r"[ \t]+(?P<number>\d{1,3})[:)](?=[ \t])[ \t]*")


def answers_beside(text: str, questions: Sequence[str]) -> dict[int, str]:
    """Return what a comment answers beside its commands, by the questions' numbers."""
    return _Answers(questions).read(pieces(text))


def read_answers(said: str, questions: Sequence[str]) -> dict[int, str]:
    """Return the answers behind ``/answer``, by the questions' numbers; raise NotUnderstoodError.

    Where one question is asked, its answer needs no number.
    """
    if not questions:
        raise NotUnderstoodError("The plan asks nothing, so there is nothing to answer.")
    found = _Answers(questions).read(prose.lines(said))
    if not found and len(questions) == 1 and said:
        return {1: said}
    if not found:
        most = f" from 1 to {len(questions)}" if len(questions) > 1 else ""
        raise NotUnderstoodError(f"Write the question's number{most} and then the answer, such as `/answer 1: yes`.")
    return found


class _Answers:
    """Collects answers line by line."""

    def __init__(self, questions: Sequence[str]) -> None:
        self._open = set(range(1, len(questions) + 1))
        self._questions = [Lines.of(f"{number}. {question}") for number, question in enumerate(questions, 1)]
        self._found: list[tuple[set[int], list[str]]] = []
        self._goes_on = False
        self._quoted: set[int] | None = set()
        """The questions that the quotation just above holds; None where it holds something else."""

    def read(self, given: Iterable[prose.Line | Command]) -> dict[int, str]:
        for piece in given:
            if isinstance(piece, Command):
                self._goes_on, self._quoted = False, set()
            elif piece.kind is Kind.QUOTED:
                self._quote(piece.quoted)
            elif piece.kind in {Kind.OWN, Kind.BLANK, Kind.CODE}:
                self._line(piece)
        texts = [(numbers, "\n".join(said).strip()) for numbers, said in self._found]
        return {number: text for numbers, text in texts if text for number in sorted(numbers)}

    def _begin(self, numbers: set[int]) -> None:
        self._open -= numbers
        self._found.append((numbers, []))
        self._goes_on = True

    def _quote(self, line: str) -> None:
        if self._goes_on:
            self._goes_on, self._quoted = False, set()
        asked = {number for number in self._open if self._questions[number - 1].quoted_by(line)}
        if not asked and line.strip():
            self._quoted = None
        elif self._quoted is not None:
            self._quoted |= asked

    def _line(self, line: prose.Line) -> None:
        words = line.text
        start = _START.fullmatch(words) if line.own else None
        numbers = {int(number) for number in re.findall(r"\d+", start["numbers"])} if start else set()
        if start and numbers <= self._open:
            self._begin(numbers)
            words = self._split(max(numbers), start["words"])
        elif self._quoted and line.own:
            self._begin(self._quoted)
        if line.kind is not Kind.BLANK:
            self._quoted = set()
        if self._goes_on:
            self._found[-1][1].append(words)

    def _split(self, last: int, words: str) -> str:
        """Begin the answers that stand on the same line, each with the number after the one before; return the rest."""
        while last + 1 in self._open:
            following = next((found for found in _NEXT.finditer(words) if int(found["number"]) == last + 1), None)
            if following is None:
                break
            self._found[-1][1].append(words[: following.start()].rstrip(" \t,;"))
            last, words = last + 1, words[following.end() :]
            self._begin({last})
        return words
