"""Units of promptware: load one, compose its prompt, fence what is not trusted."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path  # noqa: TC003 - part of the public fields
from typing import TYPE_CHECKING, Literal

from runner.results import Message, PlanDocument, Unit

if TYPE_CHECKING:
    from collections.abc import Callable

    from runner.contract import Feedback, Issue
    from runner.memory import LessonFile


class PromptwareError(Exception):
    """A unit can't be used as it is written, or its prompt would be too long; the message says what to change."""


class Access(StrEnum):
    """What a unit may do to the worktree."""

    READ_ONLY = "read-only"
    WRITE = "write"


class FrontMatter(Message):
    """The head of a Program.md; every key is required and nothing else is known."""

    access: Access
    tier: Literal["strong", "standard", "fast"]
    minutes: int
    output: Literal["plan", "execution", "pull_request"]


@dataclass(frozen=True, slots=True)
class Program:
    """A unit's instructions."""

    unit: Unit
    front: FrontMatter
    text: str
    source: Literal["built-in", "repository"]


@dataclass(frozen=True, slots=True)
class FailedGate:
    """A gate the agent must answer."""

    name: str
    summary: str
    output: Path
    """The whole of what it printed, readable by the agent."""
    tail: str


@dataclass(frozen=True, slots=True)
class PromptInput:
    """Everything a prompt is made of."""

    program: Program
    result_file: Path
    issue: Issue
    lessons: tuple[LessonFile, ...] = ()
    plan: PlanDocument | None = None
    feedback: tuple[Feedback, ...] = ()
    failed_gates: tuple[FailedGate, ...] = ()
    conflicts: tuple[str, ...] = ()
    """Paths with conflict markers that the agent must settle."""
    facts: tuple[str, ...] = ()
    """Sentences of the runner: the diffstat for unit CreatePr, why the last result was invalid, files that moved."""
    resumed: bool = False
    """The agent still has the first prompt in its session: only what is new is said."""


def load(unit: Unit, read: Callable[[str], bytes | None]) -> Program:
    """Return ``unit``, the repository's own version (``read`` gives a file of the base commit) before the built-in."""
    raise NotImplementedError


def compose(parts: PromptInput, marker: str) -> str:
    """Return the prompt; ``marker`` is random, of this run alone (:func:`secrets.token_hex`)."""
    raise NotImplementedError
