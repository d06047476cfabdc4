"""Two hundred lessons, half stale or said twice: the prompt gets the right ones, within its budget."""

from __future__ import annotations

from datetime import date, timedelta

from runner.memory import LessonFile, Paths, choose, line, stale
from runner.program import MemoryBudget
from runner.results import Unit
from runner.trusted import lessons

START = date(2026, 1, 1)
PARTS = ("parser", "printer", "queue", "billing", "search")
TREE = Paths([f"src/{part}/main.py".encode() for part in PARTS] + [b"db/schema.sql"])
PLAN = ("src/parser/main.py", "src/queue/**")
KINDS = 5
"""What the lessons of the story are: two good ones, one whose paths are gone, one said again, one replaced."""


def _lesson(number: int, text: str, *paths: str, replaces: str = "", unit: Unit = Unit.EXECUTE_PLAN) -> LessonFile:
    created = START + timedelta(days=number)
    path = f".twogate/promptware/{unit}/Memory/{created}-{number}.md"
    return LessonFile(path, unit, "o/r#1", "fact", paths, created, text, replaces=replaces)


def _said(number: int) -> str:
    """A sentence that shares few words with any other one."""
    return " ".join(f"w{number * word}x{word}" for word in range(3, 15))


def two_hundred() -> tuple[list[LessonFile], list[str]]:
    """Forty rounds of five lessons, and the names of the stale ones."""
    lessons, gone = [], []
    for n in range(0, 200, KINDS):
        part = PARTS[n // KINDS % len(PARTS)]
        lessons += [
            _lesson(n, _said(n), f"src/{part}/**"),
            _lesson(n + 1, _said(n + 1), f"src/removed{n}/**", f"old/{n}.py"),
            _lesson(n + 2, f"{_said(n + 3)} maybe", f"src/{part}/*.py"),
            _lesson(n + 3, _said(n + 3), f"src/{part}/main.py"),
            _lesson(n + 4, _said(n + 4), "db/schema.sql" if n % 2 else f"src/{part}/", replaces=f"{START}-none.md"),
        ]
        gone += [lessons[-4].path, lessons[-3].path]
    for n in range(0, 100, KINDS):
        lessons[n + 4] = _lesson(n + 4, _said(n + 4), replaces=lessons[n].name)
        gone.append(lessons[n].path)
    return lessons, gone


def test_of_two_hundred_lessons_the_right_ones_are_chosen() -> None:
    lessons, gone = two_hundred()
    found = stale(lessons, TREE)
    assert sorted(found) == sorted(gone)
    assert len(gone) == len(lessons) // 2
    assert {reason.split(" ", 1)[1].split(":")[0] for reason in found.values()} == {
        "of its paths is there any more",
        "replaces it.",
        "which is newer, says nearly the same or the contrary.",
    }
    right = [
        lesson
        for lesson in sorted(lessons, key=lambda lesson: (bool(lesson.paths), lesson.created), reverse=True)
        if lesson.path not in gone
        and (not lesson.paths or any(part in path for path in lesson.paths for part in ("/parser/", "/queue/")))
    ]
    everything = MemoryBudget(lessons=100, bytes=32_000)
    assert list(choose(lessons, Unit.EXECUTE_PLAN, PLAN, everything, TREE)) == right
    for budget in (MemoryBudget(), MemoryBudget(lessons=7), MemoryBudget(bytes=1_000), MemoryBudget(lessons=0)):
        chosen = choose(lessons, Unit.EXECUTE_PLAN, PLAN, budget, TREE)
        assert list(chosen) == right[: len(chosen)], "the first that does not fit ends the list"
        assert len(chosen) <= budget.lessons
        sizes = [len(line(lesson).encode()) + 2 for lesson in right]
        assert sum(sizes[: len(chosen)]) <= budget.bytes
        assert (
            len(chosen) == budget.lessons or sum(sizes[: len(chosen) + 1]) > budget.bytes or len(chosen) == len(right)
        )


def test_the_budget_is_that_of_what_the_prompt_shows() -> None:
    tall = [_lesson(n, f"{_said(n)}\n" + "a\n" * 420 + "b") for n in range(40)]
    shown = "\n".join(lessons(choose(tall, Unit.EXECUTE_PLAN, PLAN, MemoryBudget(), TREE), "m" * 16))
    assert "w" in shown
    assert len(shown.encode()) <= MemoryBudget().bytes + len(lessons(tall[:1], "m" * 16)[0].partition("- fact")[0])


def test_planning_units_share_what_is_about_planning() -> None:
    split, work = _lesson(1, _said(1), unit=Unit.SPLIT_PLAN), _lesson(2, _said(2))
    assert choose([split, work], Unit.CREATE_PLAN, (), MemoryBudget(), TREE) == (split,)
    assert choose([split, work], Unit.EXECUTE_PLAN, (), MemoryBudget(), TREE) == (work,)
    again = _lesson(3, _said(1), unit=Unit.UPDATE_PLAN)
    assert choose([split, again], Unit.EXPAND_PLAN, (), MemoryBudget(), TREE) == (again,)


def test_a_lesson_is_gone_with_the_last_of_its_paths() -> None:
    for there in ("src/parser/main.py", "src/parser", "src/parser/", "src/*/main.py", "**/*.sql", "**", "s?c/**"):
        assert not stale([_lesson(1, _said(1), "gone.py", there)], TREE), there
    for gone in ("src/parse", "src/parser/main.py/", "src/*.py", "**/*.md", "lib/**", "?/**"):
        assert stale([_lesson(1, _said(1), gone)], TREE), gone
