"""Lessons on their way through a job: read from the base commit, chosen for a prompt, written into the plan's branch.

What a job learns while there is a branch to write to becomes a commit of the runner's own, with what had waited on the
plan. What is learned by a unit that only reads goes into the report and waits.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from runner import memory
from runner.contract import MAX_LESSONS
from runner.git import display
from runner.program import OVERRIDES, MemoryBudget, memory_of, reader
from runner.results import WrittenLesson

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from runner.memory import LessonFile
    from runner.program import Program
    from runner.results import Lesson, Unit
    from runner.steps.context import Job

PROMPTWARE = OVERRIDES.encode()
"""Where a repository keeps its lessons and its own units."""
MOST_FILES = 1_000
"""Lessons of a repository that are read, the newest of all; units hold 40 each by default."""


def chosen(job: Job, program: Program, plan_files: Sequence[str]) -> tuple[LessonFile, ...]:
    """Return the lessons of the base commit for a prompt about ``plan_files``."""
    tree = memory.Paths(job.store.files(job.spec.base))
    return memory.choose(known(job), program.unit, plan_files, program.front.memory, tree)


def known(job: Job, head: str | None = None) -> tuple[LessonFile, ...]:
    """Return the valid lessons of the base commit, and of ``head`` on the plan's branch as well."""
    sources = _sources(job, job.spec.base)
    return memory.parse(sources | _sources(job, head) if head else sources)


def budget_of(job: Job) -> Callable[[Unit], MemoryBudget]:
    """Return what tells how much a unit's memory holds, by the base commit's instructions."""
    return lambda unit: memory_of(unit, reader(job.store, job.spec.base))


def ground_against(job: Job, lesson: Lesson, brought: Sequence[Lesson]) -> str | None:
    """Return why ``lesson`` can't be kept beside the base commit's, those that wait and what was ``brought`` before."""
    return memory.judge(lesson, [*known(job), *job.spec.lessons, *brought], budget_of(job)(lesson.unit))


def hand_in(job: Job, lessons: Sequence[Lesson]) -> None:
    """Put what a unit that only reads has learned into the report; what can't be kept becomes a note."""
    waiting: tuple[Lesson, ...] = job.ledger.fields.get("lessons", ())
    for lesson in lessons:
        if lesson in waiting or len(waiting) >= MAX_LESSONS:
            continue
        if ground := ground_against(job, lesson, waiting):
            job.ledger.note(memory.refusal(lesson, ground))
        else:
            waiting = (*waiting, lesson)
    if waiting:
        job.ledger.fields["lessons"] = waiting


def to_write(job: Job, head: str, lessons: Sequence[Lesson]) -> memory.Written:
    """Return what to write into the branch at ``head``: what waited on the plan, and what this job has learned.

    What the branch has already, from an earlier job or attempt, is passed over.
    """
    there = known(job, head)
    same = {(lesson.unit, lesson.text) for lesson in there}
    new = [lesson for lesson in (*job.spec.lessons, *lessons) if (lesson.unit, lesson.text.strip()) not in same]
    return memory.write(new, there, budget_of(job), job.spec.plan_name, job.today)


def inherited(job: Job, head: str, base: str) -> dict[bytes, bytes]:
    """Return the lessons that the branch brings along from the plan's earlier jobs: path to content.

    They passed the gates when they were written, and people have seen them since.
    """
    before = _sources(job, base)
    return {
        path.encode(): content
        for path, content in _sources(job, head).items()
        if before.get(path) is None and isinstance(memory.read(path, content), memory.LessonFile)
    }


def written_of(lesson: LessonFile) -> WrittenLesson:
    """Return a lesson of the branch as the report names it."""
    return WrittenLesson(
        unit=lesson.unit,
        kind=lesson.kind,
        text=lesson.text,
        paths=lesson.paths,
        replaces=lesson.replaces,
        learned_from=lesson.learned_from,
        adopted_by=lesson.adopted_by,
        path=lesson.path,
    )


def _sources(job: Job, sha: str) -> dict[str, bytes]:
    """Return the files of a commit that may be lessons, by path."""
    store = job.store
    paths = [path for path in store.files(sha, [PROMPTWARE]) if memory.FOLDER in path]
    newest = sorted(paths, key=lambda path: path.rpartition(b"/")[2], reverse=True)[:MOST_FILES]
    return {display(path): content for path, content in store.contents(sha, newest, memory.MAX_FILE + 1).items()}
