"""What plans learn: it waits for the branch, and what a rejected plan learned goes no further than a person says."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bot.lifecycle.states import Via
from runner.contract import Outcome, PromptUsed
from runner.results import Lesson, Unit, WrittenLesson
from tests.scenarios.runner import plan_document
from tests.scenarios.test_people import does

if TYPE_CHECKING:
    from runner.contract import JobSpec
    from tests.scenarios.village import Village

ROUNDING = Lesson(
    unit=Unit.CREATE_PLAN, kind="pitfall", text="Prices are floats: round once, at the end.", paths=("shop/**",)
)
DOCS = Lesson(
    unit=Unit.EXECUTE_PLAN, kind="convention", text="Pages in docs end with a line break.", paths=("docs/**",)
)
MEMORY = ".twogate/promptware/CreatePlan/Memory/2026-11-30-rounding.md"
PROMPT = PromptUsed(unit=Unit.CREATE_PLAN, attempt=1, sha256="5" * 64, overridden=True, lessons=(MEMORY,))


def planned(village: Village, *lessons: Lesson, prompts: tuple[PromptUsed, ...] = (), **document: Any) -> int:
    """A plan up for decision whose planning learned something."""
    issue = village.labelled()
    runner = village.runner(issue)
    runner.claim()
    found = {"lessons": lessons, "prompts": prompts, "usage": runner.usage()}
    runner.end(Outcome.PLANNED, plan=plan_document(**document), **found)
    return issue


def told(village: Village, issue: int) -> JobSpec:
    """What the runner of the plan is told once a person has approved it."""
    village.alice.comment(issue, "/approve")
    village.settle()
    return village.runner(issue).claim()


def texts(spec: JobSpec) -> list[str]:
    return [lesson.text for lesson in spec.lessons]


def test_a_lesson_waits_on_the_plan_becomes_part_of_the_branch_and_is_told_with_the_prompts_that_used_it(
    village: Village,
) -> None:
    issue = planned(village, ROUNDING, ROUNDING, prompts=(PROMPT,))
    comment = village.text(issue, "plan 1")
    assert "Learned on the way: a lesson, which becomes part of the branch" in comment
    assert "round once, at the end" in comment
    assert "A lesson of this repository used" in comment
    (entry,) = (entry for entry in village.journal(issue) if entry.event == "plan_written")
    assert entry.details["prompts"] == [PROMPT.model_dump(mode="json")]
    village.alice.comment(issue, "/approve")
    village.settle()
    runner = village.runner(issue)
    head = runner.publish({"shop/basket.py": "rounded", MEMORY: ROUNDING.text})
    (waiting,) = runner.spec.lessons
    assert waiting.learned_from == f"{village.repository}#{issue}"
    verified = runner.verified(head, prompts=(PROMPT.model_copy(update={"unit": Unit.EXECUTE_PLAN}),))
    kept = WrittenLesson(**waiting.model_dump(), path=MEMORY)
    runner.end(Outcome.VERIFIED, **verified | {"work": verified["work"].model_copy(update={"lessons": (kept,)})})
    review = village.text(issue, f"review {village.plan(issue).review.number}")  # type: ignore[union-attr]
    first, _, rest = review.partition("**Checks**")
    assert f"`{MEMORY}`, a pitfall for CreatePlan about `shop/**`: Prices are floats" in first
    assert rest.index(f"+++ b/{MEMORY}") < rest.index("+++ b/shop/basket.py")
    village.alice.comment(issue, "/revise Half to even.")
    village.settle()
    assert village.runner(issue).claim().lessons == ()
    village.alice.comment(issue, "/update Anew.")
    village.settle()
    village.runner(issue).write_plan()
    assert texts(told(village, issue)) == [ROUNDING.text], "the branch begins anew without it"


def test_what_a_rejected_plan_learned_goes_where_a_person_says_and_into_no_prompt(village: Village) -> None:
    issue = planned(village, ROUNDING, DOCS)
    village.alice.comment(issue, "/reject Nobody asked for it.")
    village.settle()
    status = village.text(issue, "status")
    assert "1. A pitfall for CreatePlan about `shop/**`: Prices are floats" in status
    assert "2. A convention for ExecutePlan about `docs/**`" in status
    village.rita.comment(issue, "/remember 1")
    village.settle()
    assert village.thread(issue)[-1] == "not_allowed"
    other = planned(village)
    assert told(village, other).lessons == (), "nobody said so"
    village.alice.comment(other, "/cancel")
    village.settle()
    rejected = village.plan(issue)
    assert does(village, "alice", issue, Via.DASHBOARD, verb="plan") == "counted: a plan was asked for"
    runner = village.runner(issue)
    (denied,) = runner.claim().feedback
    assert (denied.kind, denied.author, denied.text) == ("rejection", "alice", "Nobody asked for it.")
    runner.tell_plan()
    answer = does(village, "bob", issue, Via.DASHBOARD, plan=rejected, verb="remember", text="1 2 5")
    assert answer.startswith("counted: ")
    assert "Kept: each of the lessons 1, 2." in answer
    assert "No lesson has the number 5" in answer
    second = planned(village, files=("shop/price.py",))
    assert village.plan(second).waiting == ()
    spec = told(village, second)
    assert [(each.text, each.adopted_by) for each in spec.lessons] == [(ROUNDING.text, "bob")]
    assert told(village, issue).lessons == (), "it goes with one plan alone"
    village.alice.comment(second, "/cancel")
    village.settle()
    third = planned(village, files=("docs/**", "shop/**"))
    assert texts(told(village, third)) == [DOCS.text, ROUNDING.text], "a plan that was cancelled gives it back"


def test_why_the_other_was_denied_is_told_to_what_was_called_its_duplicate(village: Village) -> None:
    first = village.planned()
    issue = village.labelled()
    village.runner(issue).write_plan(verdict="duplicate", duplicate_of=first, reason="The same.")
    village.alice.comment(first, "/reject Prices will be whole cents soon.")
    village.settle()
    village.alice.comment(issue, "/update That one is over.")
    village.settle()
    said = village.runner(issue).claim().feedback
    assert [(words.kind, words.text) for words in said] == [
        ("update", "That one is over."),
        ("rejection", "Prices will be whole cents soon."),
    ]
