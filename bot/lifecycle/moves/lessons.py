"""What jobs learn is kept on their plan; what no branch took to a merge a person adopts, for the next on its paths."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bot.lifecycle import effects as fx
from bot.lifecycle.lessons import reported
from bot.lifecycle.moves.common import Step, changed, say

if TYPE_CHECKING:
    from bot.lifecycle import events
    from bot.lifecycle.plan import Learned, Plan


def heard(plan: Plan, event: events.Event) -> Plan:
    """Return the plan with what the job learned whose end the event tells."""
    report = getattr(event, "report", None)
    return plan if report is None else changed(plan, lessons=reported(plan, report))


def remember(plan: Plan, event: events.LessonsAdopted) -> Step:
    """Give the lessons of these numbers to the repository; what was given before is told.

    The status stays as it is: the plan may be that of an earlier try, and the issue shows the newest.
    """
    lessons = list(plan.lessons)
    told: dict[str, list[str]] = {"kept": [], "known": [], "merged": [], "unknown": []}
    keepable = {number for number, _ in plan.keepable}
    for number in event.numbers:
        if not 0 < number <= len(lessons):
            told["unknown"].append(str(number))
        elif lessons[number - 1].given:
            told["known"].append(str(number))
        elif number not in keepable:
            told["merged"].append(str(number))
        else:
            lessons[number - 1] = _given(lessons[number - 1], event.by.login)
            told["kept"].append(str(number))
    details = {name: ", ".join(numbers) for name, numbers in told.items() if numbers}
    answer = say(plan, fx.Topic.REMEMBERED, event, event.by, **details, known_in_all=str(len(lessons)))
    return Step(changed(plan, lessons=tuple(lessons)), (answer,), f"{len(told['kept'])} lessons adopted")


def _given(lesson: Learned, login: str) -> Learned:
    adopted = lesson.what.model_copy(update={"adopted_by": login})
    return lesson.model_copy(update={"what": adopted, "given": True})
