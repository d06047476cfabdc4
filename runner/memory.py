"""Lessons: read from the base commit, chosen by path, written into the plan's branch.

A lesson is one file, ``.twogate/promptware/<Unit>/Memory/<date>-<slug>.md``: a head (``learned_from``, ``kind``,
``paths``, ``created``), then its text. The runner writes it from a validated record, never the agent; the reviewer of
the diff sees it, the merge publishes it, git reverts it.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from datetime import date
from itertools import pairwise
from typing import TYPE_CHECKING, Literal

import yaml
from pydantic import Field, ValidationError

from runner.gates.change import MODE_ABSENT, MODE_FILE, Change, Changed
from runner.gates.secrets import secrets
from runner.globs import fault, may_meet
from runner.program import OVERRIDES
from runner.results import Line, Message, Unit
from runner.untrusted import visible

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from runner.results import Lesson

MAX_MEMORY = 8_000
"""Bytes of lessons that a prompt gets: what is always read must be short."""
MAX_FILE = 4_000
"""Bytes of a lesson's file; a longer one is left out."""
MAX_NEW = 3
"""Lessons that one plan may add."""
MIN_WORDS = 5
"""Words from which a sentence can teach something."""
TOO_LIKE = 0.6
"""Share of common word pairs from which two lessons are the same one (Jaccard index)."""

UNITS = frozenset(unit.value for unit in Unit)
PLACE = re.compile(rf"{re.escape(OVERRIDES)}/(?P<unit>[A-Za-z]+)/Memory/\d{{4}}-\d\d-\d\d-[a-z0-9-]+\.md")
LOOSENING = re.compile(
    r"\b(?:skip|disable|ignore|bypass|avoid|omit|weaken|loosen|relax|comment out|turn off|switch off|delete|remove|"
    r"xfail|don'?t (?:run|write|add)|do not (?:run|write|add)|never (?:run|write|add)|no need (?:to|for)|without)\b"
    r"[^.\n]{0,60}\b(?:tests?|checks?|gates?|lint\w*|mypy|ruff|eslint|types?|typing|assert\w*|coverage|review\w*|"
    r"approv\w*|scope|sandbox|hooks?|ci|verif\w*|secrets?)\b|"
    r"--no-verify|noqa|type: ?ignore|eslint-disable|\bforce.push",
    re.IGNORECASE,
)
"""Advice to do with fewer checks. Now and then it stops a harmless lesson: nothing is lost but a note."""


class _Head(Message):
    learned_from: Line
    kind: Literal["fact", "convention", "pitfall"]
    paths: tuple[Line, ...] = Field(default=(), max_length=20)
    created: date


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
    return tuple(lesson for path, data in sorted(files.items()) if (lesson := _parse(path, data)))


def _parse(path: str, data: bytes) -> LessonFile | None:
    place = PLACE.fullmatch(path)
    if not place or len(data) > MAX_FILE or place["unit"] not in UNITS:
        return None
    start, opening, rest = data.decode("utf-8", "replace").replace("\r\n", "\n").partition("---\n")
    head, closing, text = rest.partition("\n---\n")
    if start or not opening or not closing or not text.strip():
        return None
    try:
        known = _Head.model_validate(yaml.safe_load(head))
    except (yaml.YAMLError, ValidationError):
        return None
    return LessonFile(
        path, Unit(place["unit"]), known.learned_from, known.kind, known.paths, known.created, text.strip()
    )


def choose(lessons: Iterable[LessonFile], unit: Unit, plan_files: Sequence[str]) -> tuple[LessonFile, ...]:
    """Return the lessons of ``unit`` for a plan over ``plan_files``: overlapping paths first, then the newest.

    A lesson about other paths is left out, one about none is for all; before there is a plan, all count. What does not
    fit into :data:`MAX_MEMORY` is left out, oldest first.
    """
    fitting = [
        lesson
        for lesson in lessons
        if lesson.unit is unit and (not lesson.paths or not plan_files or _overlap(lesson.paths, plan_files))
    ]
    fitting.sort(key=lambda lesson: (bool(lesson.paths), lesson.created, lesson.path), reverse=True)
    chosen, room = [], MAX_MEMORY
    for lesson in fitting:
        room -= len(lesson.text.encode()) + sum(len(path) for path in lesson.paths) + 40
        if room < 0:
            break
        chosen.append(lesson)
    return tuple(chosen)


def _overlap(some: Sequence[str], others: Sequence[str]) -> bool:
    return any(may_meet(one, other) for one in some for other in others)


def write(lessons: Sequence[Lesson], known: Sequence[LessonFile], learned_from: str, today: date) -> Written:
    """Return the files to commit for ``lessons``, and a sentence for each that is refused.

    ``known`` are the lessons of the base commit, ``learned_from`` names the plan (``owner/name#12``).
    """
    files: list[tuple[str, bytes]] = []
    refused: list[str] = []
    texts = [(lesson.unit, lesson.text) for lesson in known]
    for lesson in lessons:
        ground = "this plan has brought enough of them" if len(files) >= MAX_NEW else _ground(lesson, texts)
        if ground:
            refused.append(f"A lesson for {lesson.unit} was not kept: {ground}.")
            continue
        texts.append((lesson.unit, lesson.text))
        files.append(_file(lesson, learned_from, today))
    return Written(tuple(files), tuple(refused))


def _ground(lesson: Lesson, texts: Sequence[tuple[Unit, str]]) -> str | None:
    """Return why ``lesson`` can't be kept, None where it can."""
    text = lesson.text.strip()
    grounds: tuple[tuple[str, Callable[[], bool]], ...] = (
        ("it has characters that a reader does not see", lambda: visible(text) != text),
        (f"it has fewer than {MIN_WORDS} words", lambda: len(text.split()) < MIN_WORDS),
        ("it advises to do with fewer checks", lambda: bool(LOOSENING.search(" ".join(text.split())))),
        ("it names paths that this repository can't have", lambda: any(fault(path) for path in lesson.paths)),
        ("it looks like it holds a credential", lambda: _has_secret(text)),
        ("there is one that says the same", lambda: any(u is lesson.unit and _alike(text, t) for u, t in texts)),
    )
    return next((said for said, holds in grounds if holds()), None)


def _has_secret(text: str) -> bool:
    """Ask the gate that the plan's own files go through."""
    file = Changed(b"lesson", MODE_ABSENT, MODE_FILE)
    return secrets(Change((file,), (), lambda _: text.encode(), lambda _: None, ())).holds_back


def _alike(one: str, other: str) -> bool:
    ours, theirs = _pairs(one), _pairs(other)
    return len(ours & theirs) >= TOO_LIKE * len(ours | theirs)


def _pairs(text: str) -> set[tuple[str, str]]:
    words = re.findall(r"\w+", text.casefold())
    return set(pairwise(words)) or {(word, "") for word in words}


def _file(lesson: Lesson, learned_from: str, today: date) -> tuple[str, bytes]:
    head = _Head(learned_from=learned_from, kind=lesson.kind, paths=lesson.paths, created=today)
    text = lesson.text.strip()
    words = re.findall(r"[a-z0-9]+", text.casefold())[:6]
    slug = "-".join([*words, hashlib.sha256(text.encode()).hexdigest()[:6]])
    path = f"{OVERRIDES}/{lesson.unit}/Memory/{today.isoformat()}-{slug[:80].strip('-')}.md"
    written = yaml.safe_dump(head.model_dump(mode="json"), sort_keys=False, allow_unicode=True)
    return path, f"---\n{written}---\n\n{text}\n".encode()
