"""From validated records to the files of one commit: judged again, since what was known may have grown."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from runner.memory.files import file_of
from runner.memory.judging import judge
from runner.results import WaitingLesson

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from datetime import date

    from runner.memory.files import LessonFile
    from runner.program import MemoryBudget
    from runner.results import Lesson, Unit

MAX_NEW = 3
"""Lessons that one job may add of its own; those that waited on the plan come on top."""


@dataclass(frozen=True, slots=True)
class Written:
    """Lessons to commit, and why others were left out."""

    files: tuple[tuple[str, bytes], ...]
    refused: tuple[str, ...]
    lessons: tuple[LessonFile, ...]


def write(
    lessons: Iterable[Lesson],
    known: Sequence[LessonFile],
    budget: Callable[[Unit], MemoryBudget],
    learned_from: str,
    today: date,
    most: int = MAX_NEW,
) -> Written:
    """Return the files to commit for ``lessons``, and a sentence for each that is refused.

    ``known`` are the lessons that the branch holds, ``learned_from`` names the plan (``owner/name#12``). What waited
    bears the name of the plan that it comes from, and who adopted it; of the job's own, ``most`` are taken.
    """
    files: list[tuple[str, bytes]] = []
    refused: list[str] = []
    taken: list[LessonFile] = []
    for lesson in lessons:
        waited = lesson if isinstance(lesson, WaitingLesson) else None
        ground = "this plan has brought enough of them" if most <= 0 and waited is None else None
        ground = ground or judge(lesson, [*known, *taken], budget(lesson.unit))
        if ground:
            refused.append(refusal(lesson, ground))
            continue
        source, by = (waited.learned_from, waited.adopted_by) if waited else (learned_from, "")
        kept, content = file_of(lesson, source, today, by)
        most -= waited is None
        taken.append(kept)
        files.append((kept.path, content))
    return Written(tuple(files), tuple(refused), tuple(taken))


def refusal(lesson: Lesson, ground: str) -> str:
    """Return the sentence that says why a lesson was not kept."""
    return f"A lesson for {lesson.unit} was not kept: {ground}."
