"""What a plan waits for by a person's word: plans of other issues that have to be merged before it starts.

The words behind ``/depends`` are read here, and refused where the wait could never end: for itself, for an issue
without a plan, for a plan that ended unmerged, in a circle. The newest plan of an issue counts. A later try begins
without choices, and a merged plan waits for nothing more; so no circle can arise but by these words.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING

from bot.lifecycle.choices import BACK, NotUnderstoodError
from bot.lifecycle.states import Frozen, State

if TYPE_CHECKING:
    from bot.lifecycle.plan import Plan

MOST_DEPENDENCIES = 20
"""Issues that one plan can wait for: a status names them, and a plan that builds on more is no single change."""
NewestPlan = Callable[[int], "Plan | None"]
"""Looks up the newest plan of an issue of the repository, by the issue's number."""
_ISSUE = re.compile(r"#?(?P<number>[1-9][0-9]{0,9})", re.ASCII)


class RefusedDependencyError(ValueError):
    """A plan can't wait for that; the message says why, and what could be done."""


class Wish(Frozen):
    """What the words ask for: issues to wait for, or no longer to wait for."""

    issues: tuple[int, ...]
    drop: bool = False


def read_dependencies(words: str) -> Wish:
    """Return what ``#12 #13``, ``drop #12`` or ``default`` asks for; raise NotUnderstoodError."""
    first, *rest = words.casefold().replace(",", " ").split() or [""]
    if first == BACK and not rest:
        return Wish(issues=(), drop=True)
    drop = first == "drop"
    found = [_ISSUE.fullmatch(word) for word in (rest if drop else [first, *rest])]
    issues = tuple(dict.fromkeys(int(match["number"]) for match in found if match is not None))
    if None in found or not issues:
        raise NotUnderstoodError(
            "Write issues of this repository behind it: `/depends #12 #13`, `/depends drop #12`, or `/depends default`."
        )
    return Wish(issues=issues, drop=drop)


def grant(wish: Wish, plan: Plan, newest: NewestPlan) -> tuple[int, ...]:
    """Return what the plan depends on once the wish is granted; raise RefusedDependencyError."""
    now = set(plan.choices.depends_on)
    if wish.drop:
        strange = [issue for issue in wish.issues if issue not in now]
        if strange:
            raise RefusedDependencyError(f"This plan does not wait for {_named(strange)}.")
        return tuple(sorted(now - set(wish.issues))) if wish.issues else ()
    for issue in wish.issues:
        _check(issue, plan, newest)
    granted = tuple(sorted(now | set(wish.issues)))
    if len(granted) > MOST_DEPENDENCIES:
        raise RefusedDependencyError(f"A plan can wait for at most {MOST_DEPENDENCIES} others.")
    return granted


def _check(issue: int, plan: Plan, newest: NewestPlan) -> None:
    other = newest(issue)
    if issue == plan.issue_number:
        raise RefusedDependencyError("A plan can't wait for itself.")
    if other is None:
        raise RefusedDependencyError(f"There is no plan of #{issue} to wait for; `/plan` there asks for one.")
    if ended_unmerged(other):
        raise RefusedDependencyError(
            f"The plan of #{issue} has ended without a merge ({other.state}), so the wait would have no end."
        )
    circle = _way(issue, plan.issue_number, newest)
    if circle:
        steps = zip([plan.issue_number, *circle], circle, strict=False)
        said = ", ".join(f"#{a} {'for' if n else 'waits for'} #{b}" for n, (a, b) in enumerate(steps))
        raise RefusedDependencyError(f"The wait would have no end: {said}.")


def _way(start: int, goal: int, newest: NewestPlan) -> list[int]:
    """Return the issues from one to another, each waiting for the next; empty where no such way leads there."""
    came_from = {start: start}
    todo = [start]
    while todo:
        issue = todo.pop(0)
        plan = newest(issue)
        waits_for = plan.choices.depends_on if plan is not None and plan.state is not State.MERGED else ()
        for after in waits_for:
            if after not in came_from:
                came_from[after] = issue
                todo.append(after)
    if goal not in came_from:
        return []
    way = [goal]
    while way[0] != start:
        way.insert(0, came_from[way[0]])
    return way


def ended_unmerged(plan: Plan) -> bool:
    """Whether nothing of the plan will be merged unless a person brings it back."""
    return plan.ended and plan.state is not State.MERGED


def _named(issues: list[int]) -> str:
    return " and ".join(f"#{issue}" for issue in issues)
