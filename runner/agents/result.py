"""The typed result of an agent: read as hostile, checked against the unit's schema, refused with a sentence.

The result is the file that the prompt names. An agent that left none may have ended with it instead: where the adapter
knows exactly which message was the last (Claude Code's ``result``), a fenced ``json`` block that closes that message is
taken in its stead. A file that is there always wins, valid or not.
"""

from __future__ import annotations

import os
import re
import stat
from collections import Counter
from contextlib import ExitStack
from typing import TYPE_CHECKING

from pydantic import ValidationError

from runner.gates.scope import never
from runner.globs import any_match, fault
from runner.results import (
    ExecutionSummary,
    Inspection,
    IssueText,
    PlanDocument,
    PullRequestText,
    SplitDocument,
    Unit,
    Verdict,
)

if TYPE_CHECKING:
    from pathlib import Path

Result = PlanDocument | SplitDocument | ExecutionSummary | Inspection | PullRequestText | IssueText

MAX_RESULT = 512 * 1024
"""Bytes of a result; a plan that fits a comment is an eighth of it."""
MAX_FAULTS = 8
"""Faults told at once."""
MOST_PATTERNS = 200
"""Patterns of one plan; more is no plan that a person reads."""
MOST_WEAKENED = 50
"""Files of one plan in which less is checked."""
FINAL_BLOCK = re.compile(r"```json[ \t]*\n((?:(?!```).)*)```\s*\Z", re.DOTALL)
"""A fenced block of JSON with nothing after it."""

MODELS: dict[Unit, type[Result]] = {
    Unit.CREATE_PLAN: PlanDocument,
    Unit.EXPAND_PLAN: PlanDocument,
    Unit.UPDATE_PLAN: PlanDocument,
    Unit.SPLIT_PLAN: SplitDocument,
    Unit.EXECUTE_PLAN: ExecutionSummary,
    Unit.INSPECT_DIFF: Inspection,
    Unit.CREATE_PR: PullRequestText,
    Unit.CREATE_ISSUE: IssueText,
}
"""What each unit returns."""


class InvalidResultError(Exception):
    """There is no valid result; the message says what is wrong in words that can be given back to the agent."""


def read_result(path: Path, unit: Unit, final_text: str | None = None) -> Result:
    """Return the validated result of ``unit``; raise :class:`InvalidResultError`.

    The folder of ``path`` must be one that the agent can't replace; the file itself may be anything.
    """
    data = _read(path)
    if data is None and final_text is not None and (block := FINAL_BLOCK.search(final_text[-MAX_RESULT:])):
        data = block[1].encode("utf-8", "replace")
    if data is None:
        raise InvalidResultError(f"There is no result: nothing was written to {path}.")
    return parse_result(data, unit)


def parse_result(data: bytes, unit: Unit) -> Result:
    """Return the validated result of ``unit`` that ``data`` is in JSON; raise :class:`InvalidResultError`."""
    try:
        result = MODELS[unit].model_validate_json(data)
    except ValidationError as error:
        raise InvalidResultError(f"The result does not fit its schema. {faults_of(error)}") from None
    if faults := _further_faults(result):
        raise InvalidResultError(f"The result can't be used. {' '.join(faults[:MAX_FAULTS])}")
    return result


def _read(path: Path) -> bytes | None:
    """Return the file's bytes, None where there is no file; never wait on a pipe, never follow a link."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise InvalidResultError(f"The result {path} can't be read as a file: {error.strerror}.") from None
    with ExitStack() as stack:
        stack.callback(os.close, handle)
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            raise InvalidResultError(f"The result {path} is no regular file.")
        data = stack.enter_context(os.fdopen(handle, "rb", closefd=False)).read(MAX_RESULT + 1)
    if len(data) > MAX_RESULT:
        raise InvalidResultError(f"The result is longer than {MAX_RESULT} bytes.")
    return data


def faults_of(error: ValidationError) -> str:
    """Name the places and what is wrong there, without what stood there: it may be anything."""
    faults = error.errors(include_url=False, include_context=False, include_input=False)
    told = [
        f"{'.'.join(str(p) for p in f['loc'])[:100] or 'the whole'}: {f['msg'][:200]}." for f in faults[:MAX_FAULTS]
    ]
    more = [f"And {len(faults) - MAX_FAULTS} more."] if len(faults) > MAX_FAULTS else []
    return " ".join([*told, *more])


def _further_faults(result: Result) -> list[str]:
    """Return what the schema alone can't say."""
    match result:
        case PlanDocument():
            return _plan_faults(result)
        case SplitDocument():
            return _split_faults(result)
        case ExecutionSummary(status="blocked"):
            return [] if result.blocked_by.strip() else ["blocked_by: say what blocks."]
        case PullRequestText() | IssueText():
            title = result.title.strip()
            return [] if title and title.isprintable() else ["title: one line of printable text."]
        case _:
            return []


def _plan_faults(plan: PlanDocument) -> list[str]:
    if plan.verdict is not Verdict.PLAN:
        unsaid = [] if plan.reason.strip() else [f"reason: verdict {plan.verdict} needs one."]
        unnamed = plan.verdict is Verdict.DUPLICATE and plan.duplicate_of is None
        return unsaid + ["duplicate_of: verdict duplicate names the issue."] * unnamed
    needed = {"summary": plan.summary.strip(), "steps": plan.steps, "files": plan.files}
    missing = [f"{name}: a plan needs it." for name, value in needed.items() if not value]
    if len(plan.files) > MOST_PATTERNS or len(plan.weakens) > MOST_WEAKENED:
        most = f"{MOST_PATTERNS} patterns and `weakens` at most {MOST_WEAKENED}"
        return [*missing, f"files: it names at most {most}; plan a first part, and the rest by itself."]
    faults = [f"files: {said}" for glob in plan.files if (said := fault(glob) or never(glob))]
    return missing + faults + [f"weakens: {said}" for path in plan.weakens if (said := _inexact(path, plan))]


def _inexact(path: str, plan: PlanDocument) -> str | None:
    if fault(path) or set(path) & set("*?") or path.endswith("/"):
        return f"{path!r} must be the exact path of a file; patterns don't count here."
    return None if any_match(plan.files, path) else f"{path!r} is not covered by `files`."


def _split_faults(split: SplitDocument) -> list[str]:
    """Return what keeps a split from becoming issues, child by child."""
    titles = Counter(_alike(child.plan.title) for child in split.children)
    numbers = range(1, len(split.children) + 1)
    faults = []
    for number, child in zip(numbers, split.children, strict=True):
        said = [f"verdict: a child is a plan, not {child.plan.verdict}."] * (child.plan.verdict is not Verdict.PLAN)
        said += _plan_faults(child.plan)
        said += ["title: another child has the same."] * (titles[_alike(child.plan.title)] > 1)
        said += [f"depends_on: there is no child {other}." for other in child.depends_on if other not in numbers]
        said += ["depends_on: a child can't wait for itself."] * (number in child.depends_on)
        faults += [f"child {number}: {fault}" for fault in said]
    return faults or _circle(split)


def _alike(title: str) -> str:
    return " ".join(title.casefold().split())


def _circle(split: SplitDocument) -> list[str]:
    """Name the children that wait for each other, or for themselves."""
    waiting = {number: set(child.depends_on) for number, child in enumerate(split.children, start=1)}
    while free := [number for number, others in waiting.items() if not others & waiting.keys()]:
        for number in free:
            del waiting[number]
    return [f"depends_on: children {', '.join(map(str, waiting))} wait for each other in a circle."] if waiting else []
