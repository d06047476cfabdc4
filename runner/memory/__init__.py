"""Lessons: what one plan taught, kept as files that people review, chosen for the prompts of later plans.

A lesson is one file, ``.twogate/promptware/<Unit>/Memory/<date>-<slug>.md`` (:mod:`runner.memory.files`). The runner
writes it from a validated record (:mod:`runner.memory.writing`), never the agent; the reviewer of the diff sees it, the
merge publishes it, git reverts it. Lessons are read from the base commit alone, and chosen by path and age
(:mod:`runner.memory.selection`).
"""

from runner.memory.files import FOLDER, MAX_FILE, LessonFile, LessonHead, line, parse, read
from runner.memory.judging import judge
from runner.memory.selection import choose
from runner.memory.staleness import Paths, stale
from runner.memory.units import readers
from runner.memory.writing import Written, refusal, write

__all__ = [
    "FOLDER",
    "MAX_FILE",
    "LessonFile",
    "LessonHead",
    "Paths",
    "Written",
    "choose",
    "judge",
    "line",
    "parse",
    "read",
    "readers",
    "refusal",
    "stale",
    "write",
]
