"""Whether a lesson can be kept: asked when an agent hands it in, and once more when it is written."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from runner.gates.change import MODE_ABSENT, MODE_FILE, Change, Changed
from runner.gates.secrets import secrets
from runner.globs import fault
from runner.memory.advice import forbidden, mixed
from runner.memory.files import MAX_LESSON_PATHS, MAX_TEXT, NO_MARKER, LessonFile, line
from runner.memory.likeness import Shelf
from runner.memory.units import readers
from runner.untrusted import clean_markdown, visible, without_sections

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from runner.program import MemoryBudget
    from runner.results import Lesson

MIN_WORDS = 5
"""Words from which a sentence can teach something."""
SHOWN = 80
"""Characters of another lesson that a sentence quotes."""
CODE = re.compile(r"(?<![`\\])(`+)(?!`)[^\n]*?(?<!`)\1(?!`)")
"""Code within a line, where a mention is none."""
MENTION = re.compile(r"(?<![\w.+-])@[a-z0-9][\w/-]*", re.IGNORECASE)
CODED = re.compile(
    r"(?=[A-Za-z0-9+/]*[a-z])(?=[A-Za-z0-9+/]*[A-Z])(?=(?:[A-Za-z+/]*[0-9]+){3})[A-Za-z0-9+/]{60,}={0,2}"
)
"""What looks like Base64: nobody reads what it says. Digits in three places tell it from the path of a file."""
TURN = re.compile(
    r"<\|\w+\|>|\[/?INST\]|<</?SYS>>|</?s>|<(?:start|end)_of_turn>|<function_calls>|^(?:human|assistant|system|user):",
    re.IGNORECASE | re.MULTILINE,
)
"""What chat templates of models put between who says what: of no use in a lesson but to pose as another."""


def judge(lesson: Lesson, known: Sequence[LessonFile | Lesson], budget: MemoryBudget) -> str | None:
    """Return why ``lesson`` can't be kept, as the rest of a sentence ("it has …"); None where it can.

    ``known`` is what there is already, files of the base commit and what this plan has brought; ``budget`` is that of
    the lesson's unit.
    """
    text = lesson.text.strip()
    rules: tuple[Callable[[], str | None], ...] = (
        lambda: _form(text),
        lambda: _paths(lesson),
        lambda: forbidden(text) or next((ground for path in lesson.paths if (ground := _spoken(path))), None),
        lambda: "it looks like it holds a credential" if _has_secret(text) else None,
        lambda: _room(lesson, known, budget),
        lambda: _replaced(lesson, known),
        lambda: _repeated(lesson, known),
    )
    return next((ground for rule in rules if (ground := rule())), None)


def _form(text: str) -> str | None:
    word, mention = mixed(text), MENTION.search(CODE.sub(" ", text))
    grounds = (
        (len(text) > MAX_TEXT, f"it has {len(text)} characters, and {MAX_TEXT} are allowed"),
        (visible(text) != text, "it has characters that a reader does not see"),
        (
            clean_markdown(text, NO_MARKER) != text,
            "it has hidden comments, or lines that look like a fence around others",
        ),
        (without_sections(text) != text, "it begins a section of its own, or leaves a block of code open"),
        (bool(TURN.search(text)), "it holds signs by which programs tell the turns of a conversation apart"),
        (len(text.split()) < MIN_WORDS, f"it has fewer than {MIN_WORDS} words"),
        (bool(word), f"the word {word!r} mixes letters of different alphabets"),
        (bool(CODED.search(text)), "it holds coded text, which nobody can read"),
        (bool(mention), f"it mentions {mention and mention[0]!r}; put that between backquotes where it is no person"),
    )
    return next((said for holds, said in grounds if holds), None)


def _paths(lesson: Lesson) -> str | None:
    if len(lesson.paths) > MAX_LESSON_PATHS:
        return f"it names {len(lesson.paths)} paths, and {MAX_LESSON_PATHS} are allowed"
    if any(visible(path) != path for path in lesson.paths):
        return "a path of it has characters that a reader does not see"
    faults = (fault(path) for path in lesson.paths)
    return next((f"of its paths, {said.rstrip('.')}" for said in faults if said), None)


def _spoken(path: str) -> str | None:
    """Judge a path that is a sentence; one without blanks is a name."""
    return forbidden(path) if " " in path else None


def _has_secret(text: str) -> bool:
    """Ask the gate that the plan's own files go through."""
    file = Changed(b"lesson", MODE_ABSENT, MODE_FILE)
    return secrets(Change((file,), (), lambda _: text.encode(), lambda _: None, ())).holds_back


def _room(lesson: Lesson, known: Sequence[LessonFile | Lesson], budget: MemoryBudget) -> str | None:
    size = len(line(lesson).encode())
    if size > budget.bytes:
        return (
            f"with its paths it takes {size} bytes of a prompt, and unit {lesson.unit} has {budget.bytes} for lessons"
        )
    gone = {(other.unit, other.replaces) for other in (*known, lesson) if other.replaces}
    there = sum(other.unit is lesson.unit and (other.unit, _name(other)) not in gone for other in known)
    if there < budget.lessons:
        return None
    return (
        f"unit {lesson.unit} has {there} lessons, and its memory holds {budget.lessons}; a person has to make room "
        "with `twogate memory prune`"
    )


def _replaced(lesson: Lesson, known: Sequence[LessonFile | Lesson]) -> str | None:
    if not lesson.replaces or any(o.unit is lesson.unit and _name(o) == lesson.replaces for o in known):
        return None
    return f"it replaces {lesson.replaces[:SHOWN]!r}, and unit {lesson.unit} has no lesson of that file name"


def _repeated(lesson: Lesson, known: Sequence[LessonFile | Lesson]) -> str | None:
    """Look for a lesson that says nearly the same, or the contrary, and would be read by the same units."""
    shelf, replaced = Shelf(), (lesson.unit, lesson.replaces or None)
    for other in known:
        if other.unit in readers(lesson.unit) and (other.unit, _name(other)) != replaced:
            shelf.add(_called(other), other.text)
    like = shelf.like(lesson.text)
    if like is None:
        return None
    cure = "; where that holds no more, name the file as `replaces`" if like.endswith(".md") else ""
    return f"it says nearly what {like} says{cure}"


def _name(lesson: LessonFile | Lesson) -> str:
    """Return the name of a lesson's file, empty for one that has none yet."""
    return lesson.name if isinstance(lesson, LessonFile) else ""


def _called(lesson: LessonFile | Lesson) -> str:
    if isinstance(lesson, LessonFile):
        return lesson.path
    return f"this plan's lesson {' '.join(lesson.text.split())[:SHOWN]!r}"
