"""What a plan learned: kept without doubles, sent with its work, and where it goes if the plan comes to nothing.

A lesson waits on its plan until it is a file of the plan's branch, where whoever decides on the diff sees it. The merge
alone takes it to prompts. What a rejected plan learned waits in the repository where a person adopts it: for the branch
of the next plan on its paths.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from bot.lifecycle.globs import overlapping
from bot.lifecycle.likeness import words
from bot.lifecycle.plan import Learned, Plan
from runner.contract import MAX_LESSONS
from runner.results import MOST_WAITING, Lesson, WaitingLesson

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from bot.lifecycle.plan import Split
    from runner.contract import Report, Work

MOST_LEARNED = 30
"""Lessons of one plan that are kept; what comes later is left out."""
MOST_PATHS = 20
"""Paths that one lesson may name, as in its file."""
LONGEST_PATH = 300
"""Characters kept of the name of a lesson's file."""


def origin(plan: Plan) -> str:
    """Return how a lesson names the plan that it comes from."""
    return f"{plan.repo.owner}/{plan.repo.name}#{plan.issue_number}"


def reported(plan: Plan, report: Report) -> tuple[Learned, ...]:
    """Return the plan's list with what a job without a branch learned behind it."""
    found = (WaitingLesson(**dict(each), learned_from=origin(plan)) for each in report.lessons if _is_sound(each))
    return joined(plan.lessons, map(_waits, found))


def _waits(lesson: WaitingLesson) -> Learned:
    return Learned(what=lesson)


def _is_sound(lesson: Lesson) -> bool:
    """Whether it can be a lesson at all; whether it may is judged by the runner, again when it is written."""
    outside = any(path.startswith("/") or ".." in path.split("/") for path in lesson.paths)
    return bool(words(lesson.text)) and len(lesson.paths) <= MOST_PATHS and not outside


def joined(known: Sequence[Learned], new: Iterable[Learned]) -> tuple[Learned, ...]:
    """Return the list with new ones behind it: numbers stay, and nothing stands there twice."""
    found = list(known)
    for one in new:
        if not any(_same(one.what, other.what) for other in found) and len(found) < MOST_LEARNED:
            found.append(one)
    return tuple(found)


def _same(one: Lesson, other: Lesson) -> bool:
    return one.unit is other.unit and words(one.text) == words(other.text)


def sent(plan: Plan) -> tuple[WaitingLesson, ...]:
    """Return what an execution of the plan is to write into its branch beside what it learns itself."""
    return plan.waiting[:MOST_WAITING]


def in_branch(plan: Plan, work: Work) -> tuple[Learned, ...]:
    """Return the list once this work is in the branch. What was sent along and is not there was refused, and goes."""
    refused = [lesson for lesson in sent(plan) if not any(_same(lesson, there) for there in work.lessons)]
    kept = (each for each in plan.lessons if each.path or each.given or each.what not in refused)
    placed = tuple(_placed(each, work) for each in kept)
    own = (Learned(what=WaitingLesson(**_plain(each)), path=each.path) for each in work.lessons)
    return joined(placed, own)


def _plain(lesson: Lesson) -> dict[str, object]:
    return {name: getattr(lesson, name) for name in WaitingLesson.model_fields}


def _placed(each: Learned, work: Work) -> Learned:
    path = next((there.path for there in work.lessons if _same(each.what, there)), each.path)
    return each.model_copy(update={"path": path})


def started_over(plan: Plan) -> tuple[Learned, ...]:
    """Return the list where the branch begins anew: all of it waits again."""
    return tuple(each.model_copy(update={"path": ""}) for each in plan.lessons)


def without(plan: Plan, work: Work) -> tuple[Learned, ...]:
    """Return the list where this work was dropped: what it put into the branch waits again."""
    gone = {there.path for there in work.lessons}
    return tuple(each.model_copy(update={"path": ""}) if each.path in gone else each for each in plan.lessons)


def given_back(plan: Plan) -> tuple[Learned, ...]:
    """Return the list of a plan that ends without a judgement: what it had taken over waits in the repository again."""
    return tuple(each.model_copy(update={"given": True}) if each.what.adopted_by else each for each in plan.lessons)


def newly_given(before: Plan | None, plan: Plan) -> tuple[WaitingLesson, ...]:
    """Return what waits in the repository from this step on."""
    known = [each.what for each in before.lessons if each.given] if before else []
    given = (each.what for each in plan.lessons if each.given)
    return tuple(lesson for lesson in given if not any(_same(lesson, other) for other in known))


def concerns(lesson: Lesson, files: Sequence[str]) -> bool:
    """Whether a lesson is about any of these files; one that names no path is about all, a folder needs no slash."""
    below = (f"{path.removesuffix('/')}/" for path in lesson.paths)
    return not lesson.paths or overlapping((*lesson.paths, *below), files)


def of_part(plan: Plan, split: Split, position: int) -> tuple[WaitingLesson, ...]:
    """Return what goes on with one part of a plan: each lesson with the first part that it is about, else the first."""
    return tuple(lesson for lesson in plan.waiting if _goes_to(lesson, split) == position)[:MOST_WAITING]


def _goes_to(lesson: Lesson, split: Split) -> int:
    parts = enumerate(split.children, 1)
    return next((n for n, child in parts if concerns(lesson, child.document.files)), 1)


def used(report: Report) -> tuple[str, ...]:
    """Return the files of the lessons that a job's agents were told, each once."""
    told = (path[:LONGEST_PATH] for prompt in report.prompts for path in prompt.lessons)
    return tuple(dict.fromkeys(told))[:MAX_LESSONS]


def asked(report: Report) -> tuple[str, ...]:
    """Return what a job's agents asked, each question once."""
    return tuple(dict.fromkeys(question.strip() for question in report.asked if question.strip()))
