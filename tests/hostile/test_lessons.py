"""As a lesson: it is refused, or it is a file that says what was handed in and stays in its place."""

from __future__ import annotations

import json
from datetime import date
from typing import TYPE_CHECKING

from runner.memory import judge, read, write
from runner.memory.files import PLACE, LessonFile
from runner.program import MemoryBudget
from runner.results import Lesson, Unit, WaitingLesson
from tests.hostile.prompts import unseen

if TYPE_CHECKING:
    from tests.hostile.texts import Hostile

SOUND = "The total is a sum of floats, so that it has to be rounded once."
DAY = date(2026, 11, 30)


def lesson(text: str, **fields: object) -> Lesson:
    """Return a lesson of a unit."""
    return Lesson.model_validate({"unit": Unit.EXECUTE_PLAN, "kind": "fact", "text": text, **fields})


def test_it_is_kept_only_where_the_table_says_so(hostile: Hostile) -> None:
    assert (judge(lesson(hostile.text), (), MemoryBudget()) is None) == hostile.kept


def test_what_is_kept_reads_as_it_was_handed_in_and_forges_no_head(hostile: Hostile) -> None:
    for one in (lesson(hostile.text), lesson(SOUND, paths=(hostile.text[:300],))):
        waiting = WaitingLesson(**dict(one), learned_from=hostile.text[:300], adopted_by=hostile.text[:300])
        written = write((waiting,), (), lambda _: MemoryBudget(), "o/r#1", DAY)
        assert len(written.files) + len(written.refused) == 1
        for path, data in written.files:
            assert PLACE.fullmatch(path)
            found = read(path, data)
            assert isinstance(found, LessonFile), found
            assert (found.text, found.paths) == (one.text.strip(), one.paths)
            assert (found.learned_from, found.adopted_by) == (waiting.learned_from, waiting.adopted_by)
            assert (found.created, found.kind, found.unit) == (DAY, "fact", Unit.EXECUTE_PLAN)
            assert unseen(found.text + "".join(found.paths)) == set()


def test_a_refusal_says_why_without_what_drives_a_terminal(hostile: Hostile) -> None:
    ground = judge(lesson(SOUND, replaces=hostile.text[:300] or "x"), (), MemoryBudget())
    assert ground is not None
    for path in (f".twogate/promptware/ExecutePlan/Memory/{hostile.text}", ".twogate/promptware/X/Memory/a.md"):
        assert isinstance(read(path, hostile.text.encode()), str)
    for said in (ground, judge(lesson(hostile.text), (), MemoryBudget()) or ""):
        assert said.isprintable(), said


def test_a_file_in_the_place_of_a_lesson_says_why_it_is_none(hostile: Hostile) -> None:
    path = ".twogate/promptware/ExecutePlan/Memory/2026-11-30-x.md"
    said = read(path, f"---\n{json.dumps(hostile.text)}: 1\n---\n{hostile.text}x".encode())
    assert isinstance(said, str)
    assert said.startswith("Its head is not valid")
    assert said.isprintable()
