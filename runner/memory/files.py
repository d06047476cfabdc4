"""A lesson as a file: a head in YAML between two lines ``---``, then its text in Markdown."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from datetime import date
from typing import TYPE_CHECKING

import yaml
from pydantic import Field, ValidationError

from runner.head import BOM, FENCE
from runner.program import OVERRIDES
from runner.results import LessonKind, Line, Message, Unit
from runner.untrusted import clean_markdown, plain, without_sections

if TYPE_CHECKING:
    from collections.abc import Mapping

    from runner.results import Lesson

FOLDER = b"/Memory/"
"""What the path of every lesson holds."""
MAX_FILE = 8_000
"""Bytes of a lesson's file; a longer one is left out."""
MAX_TEXT = 1_000
"""Characters of a lesson."""
MAX_LESSON_PATHS = 20
"""Patterns of paths that one lesson is about."""
MAX_BRACKETS = 100
"""Opening brackets in a head: what is nested deeply takes YAML long to read, and a head is not."""
NO_MARKER = "\0"
"""Stands where a run's marker would: no text has it once it was found visible."""
SLUG_WORDS = 6
"""Words of the text that the file's name is made of."""
NAME = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}-[a-z0-9-]{1,100}\.md")
"""The name of a lesson's file."""
PLACE = re.compile(rf"{re.escape(OVERRIDES)}/(?P<unit>[A-Za-z]+)/Memory/(?P<name>{NAME.pattern})")
"""Where lessons lie."""
LOADER: type[yaml.SafeLoader | yaml.CSafeLoader] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
"""Heads are read by libyaml where it is there: ten times as fast."""
UNITS = frozenset(unit.value for unit in Unit)


class LessonHead(Message):
    """The head of a lesson's file; nothing else is known."""

    learned_from: Line = Field(min_length=1)
    """The plan that taught it: ``owner/name#12``."""
    kind: LessonKind
    paths: tuple[Line, ...] = Field(default=(), max_length=MAX_LESSON_PATHS)
    """Patterns of the paths that it is about; empty: it is about the whole repository."""
    created: date
    replaces: Line = Field(default="", pattern=rf"^({NAME.pattern})?$")
    """Name of an older lesson of the same unit that holds no more since this one."""
    adopted_by: Line = ""
    """Who took it over from a plan that was rejected."""


@dataclass(frozen=True, slots=True)
class LessonFile:
    """A lesson as it lies in the repository."""

    path: str
    unit: Unit
    learned_from: str
    kind: LessonKind
    paths: tuple[str, ...]
    created: date
    text: str
    replaces: str = ""
    adopted_by: str = ""

    @property
    def name(self) -> str:
        """Name of the file, without its folder."""
        return self.path.rpartition("/")[2]


def parse(files: Mapping[str, bytes]) -> tuple[LessonFile, ...]:
    """Return the valid lessons among ``files`` (path to content, of one commit); a damaged one is left out."""
    found = (read(path, data) for path, data in sorted(files.items()))
    return tuple(lesson for lesson in found if isinstance(lesson, LessonFile))


def read(path: str, data: bytes) -> LessonFile | str:
    """Return the lesson at ``path``, or the sentence that says why it is none."""
    try:
        return _read(path, data)
    except _DamagedError as error:
        return str(error)


class _DamagedError(Exception):
    """A file that is no lesson; the message says why."""


def _read(path: str, data: bytes) -> LessonFile:
    place = PLACE.fullmatch(path)
    if not place or place["unit"] not in UNITS:
        raise _DamagedError(
            f"A lesson lies at {OVERRIDES}/<Unit>/Memory/<year-month-day>-<words>.md, for a known unit."
        )
    if len(data) > MAX_FILE:
        raise _DamagedError(f"It has more than {MAX_FILE} bytes.")
    start, opening, rest = data.decode("utf-8", "replace").removeprefix(BOM).replace("\r\n", "\n").partition(FENCE)
    head, closing, body = rest.partition("\n" + FENCE)
    text = body.strip()
    if start or not opening or not closing or not text:
        raise _DamagedError("It has to begin with a head between two lines '---', followed by its text.")
    if len(text) > MAX_TEXT:
        raise _DamagedError(f"Its text has {len(text)} characters; {MAX_TEXT} are allowed.")
    return _lesson(path, Unit(place["unit"]), _head(head), text)


def _head(text: str) -> LessonHead:
    if text.count("[") > MAX_BRACKETS:
        raise _DamagedError("Its head is not valid: it is nested too deeply.")
    try:
        return LessonHead.model_validate(yaml.load(text, Loader=LOADER))  # noqa: S506 - a safe one
    except ValidationError as error:
        told = "; ".join(f"{'.'.join(map(str, f['loc'])) or 'head'}: {f['msg']}" for f in error.errors())
        raise _DamagedError(f"Its head is not valid: {plain(told)}.") from None
    except (yaml.YAMLError, ValueError, RecursionError):
        raise _DamagedError("Its head is not valid YAML.") from None


def _lesson(path: str, unit: Unit, head: LessonHead, text: str) -> LessonFile:
    return LessonFile(
        path,
        unit,
        head.learned_from,
        head.kind,
        head.paths,
        head.created,
        text,
        replaces=head.replaces,
        adopted_by=head.adopted_by,
    )


def file_of(lesson: Lesson, learned_from: str, today: date, adopted_by: str = "") -> tuple[LessonFile, bytes]:
    """Return a new lesson with its place, and the bytes to write there."""
    text = lesson.text.strip()
    head = LessonHead(
        learned_from=learned_from,
        kind=lesson.kind,
        paths=lesson.paths,
        created=today,
        replaces=lesson.replaces,
        adopted_by=adopted_by,
    )
    path = f"{OVERRIDES}/{lesson.unit}/Memory/{today.isoformat()}-{_slug(text, learned_from)}.md"
    said = {name: value for name, value in head.model_dump(mode="json").items() if value not in ("", [])}
    written = yaml.safe_dump(said, sort_keys=False, allow_unicode=True)
    return _lesson(path, lesson.unit, head, text), f"{FENCE}{written}{FENCE}\n{text}\n".encode()


def _slug(text: str, learned_from: str) -> str:
    """Return words of the text and a digest, by which two plans that learn the same write no file of one name."""
    words = re.findall(r"[a-z0-9]+", text.casefold())[:SLUG_WORDS]
    digest = hashlib.sha256(f"{learned_from}\n{text}".encode()).hexdigest()[:6]
    return "-".join([*("-".join(words)[:70].strip("-"),) * bool(words), digest])


def line(lesson: LessonFile | Lesson, marker: str = NO_MARKER) -> str:
    """Return a lesson as the prompt of the run with that marker shows it, one entry of a list."""
    where = f" ({', '.join(lesson.paths)})" if lesson.paths else ""
    told = without_sections(clean_markdown(f"- {lesson.kind}{where}: {lesson.text}", marker))
    return told.replace("\n", "\n  ")
