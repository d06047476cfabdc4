"""The lessons that a job's base commit holds."""

from __future__ import annotations

from typing import TYPE_CHECKING

from runner import memory
from runner.git import display

if TYPE_CHECKING:
    from collections.abc import Sequence

    from runner.memory import LessonFile
    from runner.steps.context import Job

PROMPTWARE = ".twogate/promptware/"
"""Where a repository keeps its lessons and its own units."""


def lessons_of(job: Job) -> tuple[LessonFile, ...]:
    """Return the valid lessons of the base commit."""
    return memory.parse(lesson_sources(job))


def lesson_sources(job: Job) -> dict[str, bytes]:
    """Return the files of the base commit that may be lessons, by path."""
    store, base = job.store, job.spec.base
    paths: Sequence[bytes] = [path for path in store.files(base) if path.startswith(PROMPTWARE.encode())]
    found = {display(path): store.read(base, path) for path in paths if b"/Memory/" in path}
    return {path: content for path, content in found.items() if content is not None}
