"""What a plan learns: it waits for the branch, is there once, and of a rejected plan it is kept where a person says so."""

from __future__ import annotations

import pytest

from bot.lifecycle import effects as fx
from bot.lifecycle import events as ev
from bot.lifecycle.lessons import MOST_LEARNED, concerns, newly_given, of_part, sent
from bot.lifecycle.plan import Learned
from bot.lifecycle.states import State, WaitingOn
from runner.contract import JobKind, Outcome, PromptUsed
from runner.results import MOST_WAITING, Lesson, Unit, WaitingLesson, WrittenLesson
from tests.lifecycle import stories
from tests.lifecycle.makers import HEAD, UID, document, report, said, work
from tests.lifecycle.stepping import keys, plan, put, unchanged

AT = {"at": 500.0, "source": "l-1"}
JOB = f"{UID}-3"
PLANNING = plan(State.DRAFT, WaitingOn.RUNNER, job=stories.job(JobKind.PLAN, Unit.UPDATE_PLAN))
EXECUTING = plan(
    State.EXECUTING, WaitingOn.RUNNER, job=stories.job(), lessons=stories.LEARNED, **stories.APPROVED
)  # fmt: skip
REJECTED = plan(State.REJECTED, None, lessons=stories.LEARNED)


def lesson(text: str, **fields) -> Lesson:
    return Lesson(**{"unit": Unit.CREATE_PLAN, "kind": "fact", "text": text, **fields})


def planned(*lessons: Lesson, **fields) -> ev.PlanWritten:
    return ev.PlanWritten(
        **AT, job=JOB, report=report(JOB, Outcome.PLANNED, plan=document(), lessons=lessons, **fields)
    )


def verified(*lessons: WrittenLesson, job: str = JOB, head: str = HEAD, **fields) -> ev.WorkVerified:
    done = report(job, Outcome.VERIFIED, work=work(head=head, lessons=lessons), **fields)
    return ev.WorkVerified(**AT, job=job, report=done)


def written(what: WaitingLesson, name: str) -> WrittenLesson:
    return WrittenLesson(**what.model_dump(), path=f"{stories.MEMORY}{name}.md")


BOTH = (written(stories.PITFALL, "mail"), written(stories.ADOPTED, "names"))
CONFIRMED = ev.BranchConfirmed(**AT, head=HEAD)


def test_what_planning_learns_waits_on_the_plan_without_doubles_and_is_sent_with_its_work():
    fact = lesson("The total is computed in `shop/basket.py`.", paths=("shop/**",))
    once = put(PLANNING, planned(fact, lesson("the TOTAL is computed in shop/basket.py!", paths=("x",)))).plan
    (kept,) = once.waiting
    assert kept == WaitingLesson(**fact.model_dump(), learned_from="acme/shop#12")
    again = once.model_copy(update={"job": PLANNING.job})
    other = fact.model_copy(update={"unit": Unit.EXECUTE_PLAN})
    twice = put(again, planned(fact, other)).plan
    assert sent(twice) == (kept, WaitingLesson(**other.model_dump(), learned_from="acme/shop#12"))


@pytest.mark.parametrize(
    "bad",
    [lesson("\u200b…"), lesson("Sound words.", paths=("../x",)), lesson("Sound words.", paths=("/etc/**",)), lesson("Sound words.", paths=("a",) * 21)],
)  # fmt: skip
def test_what_can_be_no_lesson_is_left_out(bad):
    assert put(PLANNING, planned(bad)).plan.lessons == ()


def test_a_job_that_failed_taught_something_too_and_all_of_it_is_bounded():
    found = tuple(lesson(f"Fact number {n} holds here.") for n in range(MOST_LEARNED + 5))
    failed = ev.JobFailed(
        **AT, job=JOB, report=report(JOB, Outcome.AGENT_FAILED, lessons=found, asked=(" Why? ", "Why?", " "))
    )
    step = put(PLANNING, failed)
    assert len(step.plan.lessons) == MOST_LEARNED
    assert len(sent(step.plan)) == MOST_WAITING
    assert step.plan.failure.asked == ("Why?",)
    late = failed.model_copy(update={"job": f"{UID}-1"})
    assert unchanged(PLANNING, put(PLANNING, late))


def test_agents_questions_join_those_of_the_plan_and_lessons_used_stand_with_it():
    prompts = tuple(
        PromptUsed(unit=Unit.CREATE_PLAN, attempt=n, sha256="0" * 64, lessons=("a.md", f"b{n}.md")) for n in (1, 2)
    )
    asking = document(questions=("Which?",))
    told = planned(prompts=prompts, asked=("Which?", "Since when?"))
    told = told.model_copy(update={"report": told.report.model_copy(update={"plan": asking})})
    revision = put(PLANNING, told).plan.revision
    assert revision.document.questions == ("Which?", "Since when?")
    assert revision.used == ("a.md", "b1.md", "b2.md")


def test_a_lesson_waits_until_it_is_in_the_branch_that_is_shown():
    own = written(stories.PITFALL.model_copy(update={"text": "Greetings have no full stop."}), "stop")
    pushed = put(EXECUTING, verified(*BOTH, own, asked=("Shall it?",))).plan
    assert len(pushed.waiting) == 2
    assert pushed.review.asked == ("Shall it?",)
    shown = put(pushed, CONFIRMED).plan
    assert shown.waiting == ()
    assert [each.path for each in shown.lessons] == [each.path for each in (*BOTH, own)]


def test_what_the_runner_refused_waits_no_longer():
    shown = put(EXECUTING, verified(BOTH[1]), CONFIRMED).plan
    assert [each.what for each in shown.lessons] == [stories.ADOPTED]


def test_a_branch_that_begins_anew_needs_all_of_them_again_one_that_goes_on_none():
    kept = {"lessons": stories.KEPT, **stories.APPROVED}
    anew = put(plan(State.APPROVED, WaitingOn.SLOT, **kept), ev.SlotGranted(**AT))
    assert anew.plan.waiting == (stories.PITFALL, stories.ADOPTED)
    on = plan(State.APPROVED, WaitingOn.SLOT, carry_on=True, branch_head=HEAD, **kept)
    assert put(on, ev.SlotGranted(**AT)).plan.waiting == ()


def test_an_adopted_lesson_goes_with_the_plan_that_starts():
    before = plan(State.APPROVED, WaitingOn.SLOT, lessons=stories.LEARNED[:1], **stories.APPROVED)
    granted = ev.SlotGranted(**AT, lessons=(stories.ADOPTED, stories.PITFALL))
    assert sent(put(before, granted).plan) == (stories.PITFALL, stories.ADOPTED)


def test_further_work_that_is_dropped_leaves_its_lessons_waiting():
    before = plan(State.VERIFYING, WaitingOn.BOT, lessons=stories.LEARNED, **stories.REWORK_SHOWN)
    shown = before.review.model_copy(update={"work": before.review.work.model_copy(update={"lessons": BOTH[:1]})})
    confirmed = put(
        before.model_copy(update={"review": shown, "lessons": (stories.LEARNED[0], stories.KEPT[1])}),
        CONFIRMED.model_copy(update={"head": stories.NEXT}),
    ).plan
    assert confirmed.waiting == ()
    assert put(confirmed, said(ev.Rejected)).plan.lessons == (stories.LEARNED[0], stories.KEPT[1])
    joined = put(confirmed, ev.BranchAdvanced(**AT, head=stories.NEXT, branch="plan/12")).plan
    assert joined.waiting == ()


def test_a_person_keeps_lessons_of_a_rejected_plan_each_once():
    step = put(REJECTED, said(ev.LessonsAdopted, numbers=(2, 7)))
    assert keys(step) == [":say:remembered:d-1"]
    assert step.effects[0].details == {"kept": "2", "unknown": "7", "known_in_all": "2"}
    (given,) = newly_given(REJECTED, step.plan)
    assert given == stories.ADOPTED.model_copy(update={"adopted_by": "alice"})
    assert step.plan.waiting == (stories.PITFALL,)
    again = put(step.plan, said(ev.LessonsAdopted, numbers=(1, 2)))
    assert again.effects[0].details == {"kept": "1", "known": "2", "known_in_all": "2"}
    assert [each.learned_from for each in newly_given(step.plan, again.plan)] == ["acme/shop#12"]


def test_of_a_merged_plan_what_came_too_late_for_its_branch_is_kept():
    in_time = stories.LEARNED[0].model_copy(update={"path": f"{stories.MEMORY}mail.md"})
    merged = plan(State.MERGED, None, lessons=(in_time, stories.LEARNED[1]))
    assert [number for number, _ in merged.keepable] == [2]
    step = put(merged, said(ev.LessonsAdopted, numbers=(1, 2)))
    assert step.effects[0].details == {"kept": "2", "merged": "1", "known_in_all": "2"}
    assert newly_given(merged, step.plan) == (stories.ADOPTED.model_copy(update={"adopted_by": "alice"}),)
    assert step.plan.leaves_lessons
    assert not plan(State.MERGED, None, lessons=(in_time,)).leaves_lessons


@pytest.mark.parametrize("state", sorted(set(State) - {State.REJECTED, State.MERGED}))
def test_elsewhere_nothing_is_kept_and_why_is_said(state):
    before = plan(state, None, lessons=stories.LEARNED)
    step = put(before, said(ev.LessonsAdopted, numbers=(1,)))
    assert unchanged(before, step)
    assert [effect.topic for effect in step.effects if isinstance(effect, fx.Say)] == [fx.Topic.NOT_NOW]


def test_a_cancelled_plan_gives_back_what_it_had_taken_over_and_a_rejected_one_waits_to_be_asked():
    cancelled = put(EXECUTING, said(ev.CancelRequested)).plan
    assert newly_given(EXECUTING, cancelled) == (stories.ADOPTED,)
    assert newly_given(cancelled, cancelled) == ()
    assert newly_given(EXECUTING, put(EXECUTING, said(ev.Rejected)).plan) == ()
    assert newly_given(None, EXECUTING) == ()


def test_of_a_plan_in_parts_each_lesson_goes_on_with_the_first_part_that_it_is_about():
    parts = tuple(
        child.model_copy(update={"document": document(files=(path,))})
        for child, path in zip(stories.PARTS, ("src/app.py", "src/mail.py", "docs/x"), strict=True)
    )
    elsewhere = Learned(what=stories.PITFALL.model_copy(update={"text": "Elsewhere.", "paths": ("web/**",)}))
    cut = stories.SPLIT.model_copy(update={"children": parts})
    whole = plan(State.DRAFT, WaitingOn.BOT, split=cut, lessons=(*stories.LEARNED, elsewhere))
    assert of_part(whole, cut, 1) == (stories.ADOPTED, elsewhere.what)
    assert of_part(whole, cut, 2) == (stories.PITFALL,)
    assert of_part(whole, cut, 3) == ()


def test_a_lesson_may_name_a_folder_without_its_slash() -> None:
    about = Lesson(unit=Unit.EXECUTE_PLAN, kind="fact", text="Said.", paths=("src",))
    assert concerns(about, ["src/a.py"])
    assert not concerns(about, ["srcs/a.py"])
