"""What the tools of one conversation have collected, over all of its runs: lessons, recommendations, questions."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeVar

from runner.results import MOST_RECOMMENDATIONS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from runner.results import ExecutionSummary, Lesson, PlanDocument, Recommendation

T = TypeVar("T")

MOST_LESSONS = 3
"""Lessons of one conversation: one that has more to say has not chosen."""
MOST_QUESTIONS = 5
"""Questions of one conversation."""


@dataclass
class Records:
    """Validated, and without doubles."""

    lessons: list[Lesson] = field(default_factory=list)
    recommendations: list[Recommendation] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)

    def remember(self, lesson: Lesson) -> str:
        """Keep a lesson; return why not, empty where it was kept."""
        return _keep(self.lessons, lesson, [each.text for each in self.lessons], lesson.text, MOST_LESSONS, "lesson")

    def recommend(self, seen: Recommendation) -> str:
        """Likewise."""
        titles = [each.title for each in self.recommendations]
        return _keep(self.recommendations, seen, titles, seen.title, MOST_RECOMMENDATIONS, "recommendation")

    def ask(self, question: str) -> str:
        """Likewise."""
        return _keep(self.asked, question, self.asked, question, MOST_QUESTIONS, "question")

    def added_to(self, summary: ExecutionSummary) -> ExecutionSummary:
        """Return the summary with what was recorded beside it, each thing once."""
        lessons = {alike(each.text): each for each in (*summary.lessons, *self.lessons)}
        seen = {alike(each.title): each for each in (*summary.recommendations, *self.recommendations)}
        changes = {"lessons": tuple(lessons.values()), "recommendations": tuple(seen.values())[:MOST_RECOMMENDATIONS]}
        return summary.model_copy(update=changes)

    def asked_in(self, plan: PlanDocument) -> PlanDocument:
        """Return the plan with the questions that it does not have itself: there they are answered."""
        questions = {alike(each): each for each in (*plan.questions, *self.asked)}
        return plan.model_copy(update={"questions": tuple(questions.values())})


def alike(text: str) -> str:
    """Return ``text`` without what makes no difference."""
    return " ".join(text.casefold().split())


def _keep(kept: list[T], new: T, known: Sequence[str], text: str, most: int, what: str) -> str:
    if alike(text) in map(alike, known):
        return f"This {what} has been recorded already; there is no need to say it again."
    if len(kept) >= most:
        return f"No more than {most} {what}s are kept, and there are as many. Leave it, or name it in your result."
    kept.append(new)
    return ""
