"""Lessons: read from the base commit, chosen by path, written into the plan's branch."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date  # noqa: TC003 - part of the public fields
from typing import TYPE_CHECKING, Literal

from runner.results import Unit  # noqa: TC001 - part of the public fields

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from runner.results import Lesson


@dataclass(frozen=True, slots=True)
class LessonFile:
    """A lesson as it lies in the repository."""

    path: str
    unit: Unit
    learned_from: str
    kind: Literal["fact", "convention", "pitfall"]
    paths: tuple[str, ...]
    created: date
    text: str


@dataclass(frozen=True, slots=True)
class Written:
    """Lessons to commit, and why others were left out."""

    files: tuple[tuple[str, bytes], ...]
    refused: tuple[str, ...]


def parse(files: Mapping[str, bytes]) -> tuple[LessonFile, ...]:
    """Return the valid lessons among ``files`` (path to content, of the base commit); a damaged one is left out."""
    raise NotImplementedError


def choose(lessons: Iterable[LessonFile], unit: Unit, plan_files: Sequence[str]) -> tuple[LessonFile, ...]:
    """Return the lessons of ``unit`` for a plan over ``plan_files``: overlapping paths first, then the newest."""
    raise NotImplementedError


def write(lessons: Sequence[Lesson], known: Sequence[LessonFile], learned_from: str, today: date) -> Written:
    """Return the files to commit for validated ``lessons``."""
    raise NotImplementedError
