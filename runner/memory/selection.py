"""Which lessons a prompt gets: those about the plan's files, then those about everything, the newest first."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from runner.contract import MAX_LESSONS
from runner.globs import matches, may_meet
from runner.memory.files import line
from runner.memory.staleness import age, stale
from runner.memory.units import readers

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from runner.memory.files import LessonFile
    from runner.memory.staleness import Paths
    from runner.program import MemoryBudget
    from runner.results import Unit

BETWEEN = 2
"""Bytes between two lessons in a prompt."""
WILD = re.compile("[*?]")


def choose(
    lessons: Sequence[LessonFile], unit: Unit, plan_files: Sequence[str], budget: MemoryBudget, tree: Paths
) -> tuple[LessonFile, ...]:
    """Return the lessons for a prompt of ``unit`` about ``plan_files``; ``tree`` is what the base commit holds.

    What is stale is left out, and so is a lesson about other paths; one about none is for all, and before there is a
    plan all count. The first that does not fit into the budget ends the list: older ones do not slip in by being short.
    """
    ours = [lesson for lesson in lessons if lesson.unit in readers(unit)]
    gone = stale(ours, tree)
    patterns = _Patterns(plan_files)
    fitting = [
        lesson
        for lesson in ours
        if lesson.path not in gone and (not lesson.paths or not plan_files or patterns.meet(lesson.paths))
    ]
    fitting.sort(key=lambda lesson: (bool(lesson.paths), *age(lesson)), reverse=True)
    return tuple(_fill(fitting, min(budget.lessons, MAX_LESSONS), budget.bytes))


def _fill(fitting: Sequence[LessonFile], count: int, room: int) -> Iterable[LessonFile]:
    for lesson in fitting[:count]:
        room -= len(line(lesson).encode()) + BETWEEN
        if room < 0:
            return
        yield lesson


class _Patterns:
    """A plan's files, to be met by patterns of lessons: what names one path is told apart from what may cover more."""

    def __init__(self, patterns: Iterable[str]) -> None:
        self._known: dict[str, bool] = {}
        self._paths: set[str] = set()
        self._wild: list[tuple[str, str]] = []
        for pattern in patterns:
            if _head(pattern) == pattern and not pattern.endswith("/"):
                self._paths.add(pattern)
            else:
                self._wild.append((pattern, _head(pattern)))

    def meet(self, others: Iterable[str]) -> bool:
        return any(self._meet(other) for other in others)

    def _meet(self, other: str) -> bool:
        if other not in self._known:
            self._known[other] = self._meets(other)
        return self._known[other]

    def _meets(self, other: str) -> bool:
        head = _head(other)
        if head == other and not other.endswith("/"):
            if self._meet(f"{other}/"):  # the name of a folder, as a lesson may say it
                return True
            return other in self._paths or any(other.startswith(h) and matches(p, other) for p, h in self._wild)
        return any(path.startswith(head) and matches(other, path) for path in self._paths) or any(
            (own.startswith(head) or head.startswith(own)) and may_meet(other, pattern) for pattern, own in self._wild
        )


def _head(pattern: str) -> str:
    """Return what a pattern begins with before anything that is no character."""
    return WILD.split(pattern, maxsplit=1)[0]
