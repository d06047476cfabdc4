"""Cases: a folder each, ``<cases>/<Unit>/<name>/``, with a ``case.yml`` that says what is given and what is expected.

Beside it lie ``repository/`` (the files of the base commit), ``work/`` for units CreatePr and InspectDiff (the files
that the described change sets or adds), and ``hidden/`` (files that are laid over the work before ``commands`` run, so
that no agent has seen them).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path  # noqa: TC003 - part of the public fields
from typing import Annotated, Any, Self

import yaml
from pydantic import AfterValidator, Field, ValidationError, model_validator

from runner.contract import Feedback, KnownPlan, Outcome
from runner.program import OUTPUT
from runner.results import Line, Message, PlanDocument, Recommendation, Text, Unit, Verdict
from runner.schemas import SCHEMAS
from runner.terms import GateSpec

CASE_FILE, REPOSITORY, WORK, HIDDEN = "case.yml", "repository", "work", "hidden"
MAX_CASE = 200_000
"""Bytes of a case.yml; what is larger is no small case."""
MAX_CASES = 500
"""Cases of one unit."""
DESCRIBING = frozenset({Unit.CREATE_PR, Unit.INSPECT_DIFF})
"""Units that describe or judge a change, which the case brings along."""
REWRITING = frozenset({Unit.EXPAND_PLAN, Unit.UPDATE_PLAN, Unit.SPLIT_PLAN})
"""Units that begin with a plan and write another."""
NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,60}")


class CaseError(Exception):
    """Cases can't be used; the message names the file and what to mend."""


def _expression(pattern: str) -> str:
    try:
        re.compile(pattern)
    except re.error as error:
        raise ValueError(f"{pattern!r} is no regular expression: {error}") from None
    return pattern


Pattern = Annotated[Text, AfterValidator(_expression)]
"""A regular expression, searched for without regard to case."""
Bounds = dict[Line, Annotated[int, Field(ge=0)]]
"""By the name of a field of the result: characters of a text, entries of a list."""


class CaseIssue(Message):
    """The issue, as it stood when it was labelled."""

    title: Line
    body: Text = ""
    author: Line = "somebody"


class Paths(Message):
    """What the plan may name, or the work may have changed."""

    include: tuple[Line, ...] = ()
    """Paths each of which must be covered by the plan's files, or be among the changed ones."""
    within: tuple[Line, ...] | None = None
    """Patterns of all that may be named or changed; None: anything. An empty list: nothing at all."""
    exclude: tuple[Line, ...] = ()
    """Patterns of what may be neither named nor changed."""


class Expected(Message):
    """The facts that decide. All must hold; the first that does not is what is told."""

    outcome: Outcome | None = None
    """How the job must end; None: well."""
    verdict: tuple[Verdict, ...] = ()
    """Of a plan: one of these."""
    asks: bool | None = None
    """Whether the people are asked something."""
    files: Paths = Paths()
    at_most: Bounds = Field(default_factory=dict)
    at_least: Bounds = Field(default_factory=dict)
    says: tuple[Pattern, ...] = ()
    """What the result must say, as its JSON has it; where the job ended otherwise, its sentence."""
    never: tuple[Pattern, ...] = ()
    """What neither the result nor the change may say."""
    commands: tuple[GateSpec, ...] = ()
    """Of work: what must pass on it once ``hidden/`` is laid over it."""


class CaseFile(Message):
    """What a ``case.yml`` holds."""

    about: Line
    """What the case tries, in one sentence."""
    issue: CaseIssue
    plan: PlanDocument | None = None
    feedback: tuple[Feedback, ...] = ()
    known: tuple[KnownPlan, ...] = ()
    """Plans of other issues."""
    recommendation: Recommendation | None = None
    gates: tuple[GateSpec, ...] = ()
    """The repository's checks."""
    expect: Expected

    @model_validator(mode="after")
    def _says_something(self) -> Self:
        if self.expect == Expected():
            raise ValueError("expect: name at least one fact that decides")
        return self


@dataclass(frozen=True)
class Case:
    """One case of a unit."""

    unit: Unit
    name: str
    folder: Path
    told: CaseFile


def json_schema() -> dict[str, Any]:
    """Return the JSON Schema of ``case.yml``; it lies beside this module as ``case.schema.json``."""
    schema = CaseFile.model_json_schema()
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema, "title": "Twogate case"}


def load_cases(folder: Path, unit: Unit, names: tuple[str, ...] = ()) -> tuple[Case, ...]:
    """Return the cases of ``unit`` in the order of their names, those of ``names`` where some are named.

    Raises :class:`CaseError`.
    """
    found = {path.parent.name: path for path in sorted((folder / unit).glob(f"*/{CASE_FILE}"))}
    if not found:
        raise CaseError(f"{folder / unit} holds no case: a case is a folder in it, with a {CASE_FILE}.")
    if unknown := next((name for name in names if name not in found), None):
        raise CaseError(f"There is no case {unknown} of {unit}. There are {', '.join(found)}.")
    if len(found) > MAX_CASES:
        raise CaseError(f"{folder / unit} holds {len(found)} cases; {MAX_CASES} are as many as are measured at once.")
    return tuple(_load(path, unit) for name, path in found.items() if not names or name in names)


def _load(path: Path, unit: Unit) -> Case:
    folder = path.parent
    try:
        if path.stat().st_size > MAX_CASE:
            raise CaseError(f"{path} is larger than {MAX_CASE} bytes.")
        told = CaseFile.model_validate(yaml.safe_load(path.read_text("utf-8")))
    except (OSError, UnicodeDecodeError) as error:
        raise CaseError(f"{path} can't be read: {error}") from None
    except yaml.YAMLError as error:
        raise CaseError(f"{path} is not valid YAML: {error}") from None
    except ValidationError as error:
        faults = "; ".join(f"{'.'.join(map(str, f['loc'])) or 'case'}: {f['msg']}" for f in error.errors())
        raise CaseError(f"{path}: {faults}.") from None
    if fault := _fault(unit, folder, told):
        raise CaseError(f"{path}: {fault}")
    return Case(unit, folder.name, folder, told)


def _fault(unit: Unit, folder: Path, told: CaseFile) -> str:
    """Return why the case is none of ``unit``, empty where it is."""
    fields = SCHEMAS[OUTPUT[unit]].model_fields
    unknown = next((name for name in (*told.expect.at_most, *told.expect.at_least) if name not in fields), None)
    works = unit is Unit.EXECUTE_PLAN
    grounds = {
        f"call the folder by small letters, digits and '-', not {folder.name!r}": not NAME.fullmatch(folder.name),
        f"{REPOSITORY}/ is missing": not (folder / REPOSITORY).is_dir(),
        f"{unit} needs a plan": told.plan is None and (works or unit in DESCRIBING | REWRITING),
        f"{unit} needs a recommendation": told.recommendation is None and unit is Unit.CREATE_ISSUE,
        f"{unit} needs {WORK}/, the change that it is about": unit in DESCRIBING and not (folder / WORK).is_dir(),
        f"the result of {unit} has no {unknown}; it has {', '.join(fields)}": unknown is not None,
        f"{unit} returns no verdict": bool(told.expect.verdict) and OUTPUT[unit] != "plan",
        f"{unit} leaves no work to run commands on": bool(told.expect.commands) and not works,
    }
    return next((f"{said}." for said, holds in grounds.items() if holds), "")
