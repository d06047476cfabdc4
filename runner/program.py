"""Units of promptware: find one, check its head, read its instructions.

A unit is a folder with a ``Program.md``. A repository's own, under ``.twogate/promptware/``, stands in for the built-in
one as a whole, and is read from the base commit: never from a branch, never from the working tree.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import yaml
from pydantic import Field, ValidationError

from runner.results import Message, Unit
from runner.terms import Tier, Tool

if TYPE_CHECKING:
    from collections.abc import Callable

BUILT_IN = Path(__file__).parent.parent / "promptware"
"""The units that come with Twogate: beside this package in a checkout and in an installation."""
OVERRIDES = ".twogate/promptware"
"""Where a repository keeps its own."""
MAX_PROGRAM = 24_000
"""Bytes of a Program.md: longer instructions are not followed better."""
FENCE = "---\n"

Output = Literal["plan", "split", "execution", "inspection", "pull_request", "issue"]
"""Names of the schemas of results."""
OUTPUT: dict[Unit, Output] = {
    Unit.CREATE_PLAN: "plan",
    Unit.EXPAND_PLAN: "plan",
    Unit.UPDATE_PLAN: "plan",
    Unit.SPLIT_PLAN: "split",
    Unit.EXECUTE_PLAN: "execution",
    Unit.INSPECT_DIFF: "inspection",
    Unit.CREATE_PR: "pull_request",
    Unit.CREATE_ISSUE: "issue",
}
"""The schema each unit's result must fit; a Program.md that says another would be refused its result."""


class PromptwareError(Exception):
    """A unit can't be used as it is written, or its prompt would be too long; the message says what to change."""


class Access(StrEnum):
    """What a unit may do to the worktree."""

    READ_ONLY = "read-only"
    WRITE = "write"


class Input(StrEnum):
    """What a prompt can be made of beside the unit itself; a unit is given what it names, where there is any."""

    POLICY = "policy"
    """Which checks will run, which paths are protected, what may be spent."""
    PLAN = "plan"
    """The plan as it stands."""
    FEEDBACK = "feedback"
    """What people said of the plan or the work."""
    LESSONS = "lessons"
    """What earlier plans taught, from the base commit."""
    REJECTIONS = "rejections"
    """Why earlier attempts were denied."""
    PLANS = "plans"
    """Plans of other issues."""
    RECOMMENDATION = "recommendation"
    """What an issue is to be written from."""
    LEDGER = "ledger"
    """Where the work stands that is gone on with."""
    FACTS = "facts"
    """Sentences of the runner: where the work begins, what changed, how the checks ended."""
    CONFLICTS = "conflicts"
    """Paths with conflict markers."""
    CHECKS = "checks"
    """Checks that failed, with their output."""
    ISSUE = "issue"
    """Title and body of the issue."""


class MemoryBudget(Message):
    """How many lessons a prompt of the unit gets at most."""

    lessons: int = Field(default=40, ge=0, le=100)
    bytes: int = Field(default=8_000, ge=0, le=32_000)
    """Of their text, in UTF-8."""


class FrontMatter(Message):
    """The head of a Program.md; every key but ``memory`` is required and nothing else is known."""

    access: Access
    tier: Tier
    """How able a model the unit asks for where the policy names neither model nor tier."""
    minutes: int = Field(gt=0, le=480)
    """Minutes one run is given at most; the job's budget can only shorten it."""
    output: Output
    inputs: tuple[Input, ...]
    """What its prompt is made of."""
    tools: tuple[Tool, ...]
    """What its agent may call."""
    memory: MemoryBudget = MemoryBudget()


@dataclass(frozen=True, slots=True)
class Program:
    """A unit's instructions."""

    unit: Unit
    front: FrontMatter
    text: str
    source: Literal["built-in", "repository"]


def load(unit: Unit, read: Callable[[str], bytes | None]) -> Program:
    """Return ``unit``, the repository's own version (``read`` gives a file of the base commit) before the built-in.

    Raises :class:`PromptwareError` where the one that counts is not valid; a broken override is never passed over.
    """
    path = f"{OVERRIDES}/{unit}/Program.md"
    own = read(path)
    if own is not None:
        return _program(unit, own, path, "repository")
    file = BUILT_IN / unit / "Program.md"
    return _program(unit, file.read_bytes(), file.name, "built-in")


def _program(unit: Unit, data: bytes, path: str, source: Literal["built-in", "repository"]) -> Program:
    if len(data) > MAX_PROGRAM:
        raise PromptwareError(f"{path} has {len(data)} bytes; keep it below {MAX_PROGRAM}.")
    try:
        text = data.decode("utf-8").replace("\r\n", "\n")
    except UnicodeDecodeError:
        raise PromptwareError(f"{path} is not UTF-8.") from None
    head, body = _split(text, path)
    front = _front(head, path)
    if front.output != OUTPUT[unit]:
        raise PromptwareError(f"{path}: the output of {unit} is {OUTPUT[unit]}, not {front.output}.")
    if front.access is Access.WRITE and unit is not Unit.EXECUTE_PLAN:
        raise PromptwareError(f"{path}: only {Unit.EXECUTE_PLAN} may write; set access: read-only.")
    return Program(unit, front, body.strip(), source)


def _split(text: str, path: str) -> tuple[str, str]:
    start, fence, rest = text.partition(FENCE)
    head, end, body = rest.partition("\n" + FENCE)
    if start or not fence or not end or not body.strip():
        raise PromptwareError(f"{path} must begin with a head between two lines '---', followed by instructions.")
    return head, body


def _front(head: str, path: str) -> FrontMatter:
    try:
        return FrontMatter.model_validate(yaml.safe_load(head))
    except yaml.YAMLError:
        raise PromptwareError(f"The head of {path} is not valid YAML.") from None
    except ValidationError as error:
        told = "; ".join(f"{'.'.join(map(str, f['loc'])) or 'head'}: {f['msg']}" for f in error.errors())
        raise PromptwareError(f"The head of {path} is not valid: {told}.") from None
