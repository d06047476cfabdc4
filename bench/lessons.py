"""What the choice of lessons for a prompt takes, of 200 in a repository of 20,000 files, and that of adopted ones.

The lessons are of a bad kind: half of their patterns are gone from the tree, a tenth begin with a star, and each shares
words with others. The baseline is reading the same 200 files, which no choice can do without. Of adopted lessons as
many wait as a repository keeps, and none is about the plan that starts; the baseline is reading their rows.
"""

from __future__ import annotations

import tempfile
from datetime import date, timedelta
from pathlib import Path

from bench.measure import Measure, best_of
from bot.lifecycle import globs
from bot.store import lessons as adopted
from bot.store.engine import open_store
from bot.store.migrate import migrate
from runner import memory
from runner.memory.files import file_of
from runner.program import MemoryBudget
from runner.results import Lesson, Unit, WaitingLesson

LESSONS, FILES = 200, 20_000
"""Lessons of one unit, and files of the repository."""
PLAN_FILES = 40
"""Patterns of the plan, a quarter of them with stars."""
MOST = 10
"""Adopted lessons that a start takes."""
ROUNDS = 5
"""Turns of each; the best counts."""


def measure() -> list[Measure]:
    """Measure both."""
    return [_choice(), _start()]


def _start() -> Measure:
    plan = [f"src/part{n}/folder{n % 7}/file{n}.py" if n % 4 else f"src/part{n}/**" for n in range(PLAN_FILES)]
    with tempfile.TemporaryDirectory(prefix="twogate-bench-") as home:
        url = f"sqlite:///{Path(home) / 'bot.sqlite3'}"
        migrate(url)
        store = open_store(url)
        with store.write() as tx:
            for number in range(adopted.MOST_KEPT):
                paths = (f"docs/part{number % 100}/**", f"lib/gone{number}/*.py")
                lesson = _lesson(number, paths)
                adopted.keep(tx, 1, WaitingLesson(**dict(lesson), learned_from="acme/shop#1"))

        def take() -> None:
            globs.forget()
            with store.write() as tx:
                assert not adopted.take(tx, 1, plan, MOST)

        def read() -> None:
            with store.write() as tx:
                assert not adopted.take(tx, 1, (), MOST)

        ours, theirs = best_of(ROUNDS, take), best_of(ROUNDS, read)
    return Measure(f"start among {adopted.MOST_KEPT:,} adopted lessons", ours, "ms", theirs, "reading them")


def _choice() -> Measure:
    paths = [f"src/part{n % 100}/folder{n % 7}/file{n}.py".encode() for n in range(FILES)]
    plan = [f"src/part{n}/folder{n % 7}/file{n}.py" if n % 4 else f"src/part{n}/**" for n in range(PLAN_FILES)]
    files = dict(_file(n) for n in range(LESSONS))
    lessons = memory.parse(files)
    budget = MemoryBudget()

    def choose() -> object:
        return memory.choose(lessons, Unit.EXECUTE_PLAN, plan, budget, memory.Paths(paths))

    ours, theirs = best_of(ROUNDS, choose), best_of(ROUNDS, lambda: memory.parse(files))
    return Measure(f"choice among {LESSONS} lessons, {FILES:,} files", ours, "ms", theirs, "reading them")


def _file(number: int) -> tuple[str, bytes]:
    patterns = (f"src/part{number % 100}/**", f"src/gone{number}/*.py", f"**/file{number}*.txt")
    paths = (patterns[number % 2], patterns[2]) if number % 10 == 0 else (patterns[number % 2],)
    kept, content = file_of(_lesson(number, paths), "acme/shop#1", date(2026, 1, 1) + timedelta(days=number))
    return kept.path, content


def _lesson(number: int, paths: tuple[str, ...]) -> Lesson:
    text = (
        f"The {number}th thing to know of part {number % 100} is that its state {number * 7} is kept in file {number}."
    )
    return Lesson(unit=Unit.EXECUTE_PLAN, kind="fact", text=text, paths=paths)
