"""Units of promptware: find one, check its head, read its instructions.

A unit is a folder with a ``Program.md``. A repository's own, under ``.twogate/promptware/``, stands in for the built-in
one as a whole, or, where its head says ``extends: built-in``, changes it by sections (:mod:`runner.sections`). It is
read from the base commit: never from a branch, never from the working tree. It can be given and allowed less than the
built-in unit, never more.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import Field

from runner.commits import FILE
from runner.head import Head, PromptwareError
from runner.results import Message, Unit
from runner.sections import SectionError, overlay, split
from runner.terms import Tier, Tool
from runner.untrusted import visible

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from runner.commits import Commits

BUILT_IN = Path(__file__).parent.parent / "promptware"
"""The units that come with Twogate: beside this package in a checkout and in an installation."""
OVERRIDES = ".twogate/promptware"
"""Where a repository keeps its own."""
MAX_PROGRAM = 24_000
"""Bytes of a Program.md: longer instructions are not followed better."""
MOST_STRANGERS = 3
"""Folders of no unit that are told."""
MISSING = "or change sections of the built-in unit: extends: built-in"
"""What else a head that lacks keys may have been meant for."""

Minutes = Annotated[int, Field(gt=0, le=480)]
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


Inputs = tuple[Input, ...]
Tools = tuple[Tool, ...]


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
    minutes: Minutes
    """Minutes one run is given at most; the job's budget can only shorten it."""
    output: Output
    inputs: Inputs
    """What its prompt is made of."""
    tools: Tools
    """What its agent may call."""
    memory: MemoryBudget = MemoryBudget()


class Extension(Message):
    """The head of a repository's Program.md that changes sections of the built-in one; what it leaves out stays."""

    extends: Literal["built-in"]
    access: Access | None = None
    tier: Tier | None = None
    minutes: Minutes | None = None
    output: Output | None = None
    inputs: Inputs | None = None
    tools: Tools | None = None
    memory: MemoryBudget | None = None


@dataclass(frozen=True, slots=True)
class Program:
    """A unit's instructions."""

    unit: Unit
    front: FrontMatter
    text: str
    source: Literal["built-in", "repository"]

    @property
    def overridden(self) -> bool:
        """Whether the repository's own words count, in whole or in part."""
        return self.source == "repository"


def reader(store: Commits, commit: str) -> Callable[[str], bytes | None]:
    """Return what gives a unit's file of ``commit``, and of a long one as much as tells that it is too long.

    That raises :class:`PromptwareError` where something else stands in its place, or in that of a folder above: a link,
    a folder, a submodule, or a name that differs in case alone.
    """

    def read(path: str) -> bytes | None:
        places = {path, *map(str, PurePosixPath(path).parents)}
        for entry in store.entries(commit, [OVERRIDES.partition("/")[0].encode()]):
            name = entry.path.decode("utf-8", "replace")
            if name == path and entry.mode.startswith(FILE):
                return store.contents(commit, [entry.path], MAX_PROGRAM + 1)[entry.path]
            if name in places or f"{name}/".casefold().startswith(f"{path}/".casefold()):
                raise PromptwareError(f"{name} stands where {path} is looked for: put a plain file there, named so.")
        return None

    return read


def load(unit: Unit, read: Callable[[str], bytes | None]) -> Program:
    """Return ``unit`` with what the repository makes of it (``read`` gives a file of the base commit).

    Raises :class:`PromptwareError`, with file and line, where that is not valid; it is never passed over.
    """
    built_in = _built_in(unit)
    path = f"{OVERRIDES}/{unit}/Program.md"
    own = read(path)
    if own is None:
        return built_in
    front, text = _own(built_in, own, path)
    if len(text.encode()) > MAX_PROGRAM:
        raise PromptwareError(f"{path} makes {unit} {len(text.encode())} bytes long; keep it below {MAX_PROGRAM}.")
    return Program(unit, front, text, "repository")


def strangers(paths: Iterable[bytes]) -> tuple[str, ...]:
    """Return a sentence for each folder among ``paths`` that lies where units do and has the name of none."""
    start = f"{OVERRIDES}/".encode()
    below = (path.removeprefix(start).partition(b"/") for path in paths if path.startswith(start))
    names = dict.fromkeys(
        " ".join(visible(name.decode("utf-8", "replace")).split()) for name, slash, _ in below if slash
    )
    unknown = [name for name in names if name not in tuple(Unit)][:MOST_STRANGERS]
    units = ", ".join(Unit)
    return tuple(f"{OVERRIDES}/{name[:80]}/ is no unit's, so nothing in it counts. Units: {units}." for name in unknown)


def memory_of(unit: Unit, read: Callable[[str], bytes | None]) -> MemoryBudget:
    """Return how much the unit's memory holds; the default where the repository's instructions are not valid."""
    try:
        return load(unit, read).front.memory
    except PromptwareError:
        return MemoryBudget()


def _built_in(unit: Unit) -> Program:
    file = BUILT_IN / unit / "Program.md"
    head = Head.read(file.read_bytes(), str(file))
    return Program(unit, head.validated(FrontMatter), head.body.strip(), "built-in")


def _own(built_in: Program, data: bytes, path: str) -> tuple[FrontMatter, str]:
    if len(data) > MAX_PROGRAM:
        raise PromptwareError(f"{path} has more than {MAX_PROGRAM} bytes; keep it below that.")
    head = Head.read(data, path)
    extension = head.validated(Extension) if "extends" in head.lines else None
    front = _extended(built_in.front, extension) if extension else head.validated(FrontMatter, MISSING)
    _require_within(built_in, front, head)
    if extension is None and not head.body.strip():
        raise head.error(head.body_line + 1, "the instructions are missing; write them below the head.")
    try:
        return front, _words(built_in, visible(head.body), extends=extension is not None)
    except SectionError as error:
        raise head.error(head.body_line + error.line, str(error)) from None


def _extended(front: FrontMatter, by: Extension) -> FrontMatter:
    given = {name: value for name in FrontMatter.model_fields if (value := getattr(by, name)) is not None}
    return front.model_copy(update=given)


def _words(built_in: Program, body: str, *, extends: bool) -> str:
    if extends:
        return overlay(built_in.text, body)
    split(body)
    return body.strip()


def _require_within(built_in: Program, front: FrontMatter, head: Head) -> None:
    """Refuse a repository's unit that would be given, or allowed, more than the built-in one."""
    unit, known = built_in.unit, built_in.front
    if front.output != OUTPUT[unit]:
        raise head.error_at("output", f"the output of {unit} is {OUTPUT[unit]}, not {front.output}.")
    if front.access is Access.WRITE and known.access is not Access.WRITE:
        raise head.error_at("access", f"only {Unit.EXECUTE_PLAN} may write; set access: read-only.")
    for name in ("tools", "inputs"):
        allowed = getattr(known, name)
        if more := [str(one) for one in getattr(front, name) if one not in allowed]:
            has = ", ".join(allowed)
            raise head.error_at(name, f"{unit} has no {' and no '.join(more)}; it can have fewer than {has}, not more.")
    if Input.PLAN in known.inputs and Input.PLAN not in front.inputs:
        raise head.error_at("inputs", f"{unit} works on a plan; leave plan among its inputs.")
