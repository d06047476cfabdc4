"""What the choice of lessons for a prompt takes, of 200 in a repository of 20,000 files.

The lessons are of a bad kind: half of their patterns are gone from the tree, a tenth begin with a star, and each shares
words with others. The baseline is reading the same 200 files, which no choice can do without.
"""

from __future__ import annotations

from datetime import date, timedelta

from bench.measure import Measure, best_of
from runner import memory
from runner.memory.files import file_of
from runner.program import MemoryBudget
from runner.results import Lesson, Unit

LESSONS, FILES = 200, 20_000
"""Lessons of one unit, and files of the repository."""
PLAN_FILES = 40
"""Patterns of the plan, a quarter of them with stars."""
ROUNDS = 5
"""Turns of each; the best counts."""


def measure() -> list[Measure]:
    """Measure it."""
    paths = [f"src/part{n % 100}/folder{n % 7}/file{n}.py".encode() for n in range(FILES)]
    plan = [f"src/part{n}/folder{n % 7}/file{n}.py" if n % 4 else f"src/part{n}/**" for n in range(PLAN_FILES)]
    files = dict(_file(n) for n in range(LESSONS))
    lessons = memory.parse(files)
    budget = MemoryBudget()

    def choose() -> object:
        return memory.choose(lessons, Unit.EXECUTE_PLAN, plan, budget, memory.Paths(paths))

    ours, theirs = best_of(ROUNDS, choose), best_of(ROUNDS, lambda: memory.parse(files))
    return [Measure(f"choice among {LESSONS} lessons, {FILES:,} files", ours, "ms", theirs, "reading them")]


def _file(number: int) -> tuple[str, bytes]:
    patterns = (f"src/part{number % 100}/**", f"src/gone{number}/*.py", f"**/file{number}*.txt")
    paths = (patterns[number % 2], patterns[2]) if number % 10 == 0 else (patterns[number % 2],)
    text = (
        f"The {number}th thing to know of part {number % 100} is that its state {number * 7} is kept in file {number}."
    )
    lesson = Lesson(unit=Unit.EXECUTE_PLAN, kind="fact", text=text, paths=paths)
    kept, content = file_of(lesson, "acme/shop#1", date(2026, 1, 1) + timedelta(days=number))
    return kept.path, content
