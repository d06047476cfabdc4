"""Whether a unit did well, by facts: the report, its typed result, and the paths it names or changed."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from runner.contract import Outcome
from runner.globs import any_match, matches, may_meet
from runner.results import PlanDocument, SplitDocument, Unit
from runner.steps.describe import FROM_PLAN

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from runner.contract import Report
    from runner.evals.case import Case, Expected, Paths
    from runner.results import Message

GOOD = {
    Unit.EXECUTE_PLAN: Outcome.VERIFIED,
    Unit.CREATE_PR: Outcome.VERIFIED,
    Unit.INSPECT_DIFF: Outcome.VERIFIED,
    Unit.CREATE_ISSUE: Outcome.ISSUE_WRITTEN,
}
"""How a job of a unit ends well; all others end ``planned``."""
SHOWN = 5
"""Paths that a sentence names."""
MAX_PATTERN = 60
"""Characters of a pattern that a sentence shows."""


def first_failure(case: Case, report: Report) -> str:
    """Return the first expectation that does not hold, as a sentence; empty where all do, commands apart."""
    expected = case.told.expect
    outcome = expected.outcome or GOOD.get(case.unit, Outcome.PLANNED)
    if report.outcome is not outcome:
        return f"The job ended {report.outcome}, expected {outcome}: {report.sentence}"
    result = result_of(case.unit, report)
    if result is None and report.outcome.is_success:
        return f"There is no result of {case.unit}: {' '.join(report.notes)}"
    return next(_failures(case.unit, expected, report, result), "")


def result_of(unit: Unit, report: Report) -> Message | None:
    """Return what the unit handed in, None where it did not get that far."""
    work = report.work
    match unit:
        case Unit.EXECUTE_PLAN:
            return work and work.summary
        case Unit.CREATE_PR:
            return None if any(note.startswith(FROM_PLAN) for note in report.notes) else work and work.pull_request
        case Unit.INSPECT_DIFF:
            return report.inspection
    return report.plan or report.split or report.issue


def _failures(unit: Unit, expected: Expected, report: Report, result: Message | None) -> Iterator[str]:
    plans = _plans(result)
    verdicts = [plan.verdict for plan in plans if expected.verdict and plan.verdict not in expected.verdict]
    if verdicts:
        yield f"The verdict is {verdicts[0]}, expected {' or '.join(expected.verdict)}."
    asked = bool(report.asked or any(plan.questions for plan in plans))
    if expected.asks is not None and asked is not expected.asks:
        yield "It asks something." if asked else "It asks nothing."
    if unit is Unit.EXECUTE_PLAN:
        yield from _of_work([file.path for file in report.work.files] if report.work else [], expected.files)
    else:
        yield from _of_plan([pattern for plan in plans for pattern in plan.files], expected.files)
    yield from _lengths(result, expected)
    told = result.model_dump_json() if result is not None else report.sentence
    yield from (f"It does not say {_short(each)}." for each in expected.says if not _found(each, told))
    whole = told + (report.work.patch if report.work and unit is Unit.EXECUTE_PLAN else "")
    yield from (f"It says {_short(each)}." for each in expected.never if _found(each, whole))


def _plans(result: Message | None) -> tuple[PlanDocument, ...]:
    if isinstance(result, SplitDocument):
        return tuple(child.plan for child in result.children)
    return (result,) if isinstance(result, PlanDocument) else ()


def _of_work(changed: Sequence[str], paths: Paths) -> Iterator[str]:
    yield from _unless_empty("It did not change", [path for path in paths.include if path not in changed])
    outside = [] if paths.within is None else [path for path in changed if not any_match(paths.within, path)]
    yield from _unless_empty("It changed", outside)
    yield from _unless_empty("It changed", [path for path in changed if any_match(paths.exclude, path)])


def _of_plan(named: Sequence[str], paths: Paths) -> Iterator[str]:
    yield from _unless_empty("Its files leave out", [path for path in paths.include if not any_match(named, path)])
    outside = [] if paths.within is None else [one for one in named if not any(_inside(one, w) for w in paths.within)]
    yield from _unless_empty("Its files go beyond what is needed", outside)
    met = [one for one in named if any(may_meet(one, other) for other in paths.exclude)]
    yield from _unless_empty("Its files name what must not change", met)


def _inside(pattern: str, wider: str) -> bool:
    """Whether all that ``pattern`` covers is covered by ``wider``: a star in a name is a name like any other."""
    return matches(wider, pattern) and ("**" not in pattern or "**" in wider)


def _unless_empty(said: str, paths: Sequence[str]) -> Iterator[str]:
    if paths:
        more = f" and {len(paths) - SHOWN} more" if len(paths) > SHOWN else ""
        yield f"{said}: {', '.join(paths[:SHOWN])}{more}."


def _lengths(result: Message | None, expected: Expected) -> Iterator[str]:
    if result is None:
        return
    for name, most in expected.at_most.items():
        if (size := _size(result, name)) > most:
            yield f"{name} has {size}, at most {most} are wanted."
    for name, least in expected.at_least.items():
        if (size := _size(result, name)) < least:
            yield f"{name} has {size}, at least {least} are wanted."


def _size(result: Message, name: str) -> int:
    value: str | tuple[object, ...] | Mapping[str, object] | None = getattr(result, name)
    return len(value) if value is not None else 0


def _found(pattern: str, text: str) -> bool:
    return re.search(pattern, text, re.IGNORECASE) is not None


def _short(pattern: str) -> str:
    return repr(pattern if len(pattern) <= MAX_PATTERN else f"{pattern[: MAX_PATTERN - 1]}…")
