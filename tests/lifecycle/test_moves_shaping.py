"""A plan is rewritten, written in more detail, cut into parts; its questions are answered."""

from __future__ import annotations

import pytest

from bot.lifecycle import effects as fx
from bot.lifecycle import events as ev
from bot.lifecycle.choices import Choices
from bot.lifecycle.moves.split import fault_of
from bot.lifecycle.plan import Child, Part, Person, Split
from bot.lifecycle.states import HoldCause, State, Via, WaitingOn
from bot.lifecycle.transitions import open_plan
from runner.contract import Feedback, JobKind, Outcome
from runner.results import SplitChild, SplitDocument, Unit, Verdict
from tests.lifecycle import makers, stories
from tests.lifecycle.makers import UID, cut, document, report, said
from tests.lifecycle.stepping import STATUS, keys, plan, put, unchanged

BOB = Person(id=12, login="bob")
AT = {"at": 600.0, "source": "effect"}
AT_PLAN_GATE = plan(State.DRAFT, WaitingOn.PLAN_DECISION)
AT_DIFF_GATE = plan(State.IN_REVIEW, WaitingOn.DIFF_DECISION, **stories.REVIEWED)
UNWRITTEN = plan(State.DRAFT, WaitingOn.RUNNER, revisions=())
REMARK = Feedback(kind="annotation", author="bob", quote="Add it.", text="Where?")

# rewriting


@pytest.mark.parametrize(
    ("kind", "unit", "word"),
    [
        (ev.UpdateRequested, Unit.UPDATE_PLAN, "update"),
        (ev.ExpandRequested, Unit.EXPAND_PLAN, "expand"),
        (ev.SplitRequested, Unit.SPLIT_PLAN, "split"),
    ],
)
def test_a_rewrite_takes_the_words_and_what_was_remarked(kind, unit, word):
    step = put(AT_PLAN_GATE, said(kind, text="more", by=BOB, remarks=(REMARK,), heard=("comment:7", "comment:8")))
    assert (step.plan.state, step.plan.waiting_on) == (State.DRAFT, WaitingOn.RUNNER)
    assert (step.plan.job.kind, step.plan.job.unit, step.plan.job.by) == (JobKind.PLAN, unit, BOB)
    assert step.plan.feedback == (REMARK, Feedback(kind=word, author="bob", text="more"))
    assert step.plan.heard == ("comment:7", "comment:8")
    assert keys(step) == ["-4:dispatch", STATUS]


def test_a_remark_that_is_kept_already_is_not_taken_twice():
    before = AT_PLAN_GATE.model_copy(update={"feedback": (REMARK,)})
    step = put(before, said(ev.UpdateRequested, text="more", remarks=(REMARK,)))
    assert [words.kind for words in step.plan.feedback] == ["annotation", "update"]


@pytest.mark.parametrize("kind", [ev.ExpandRequested, ev.SplitRequested])
def test_what_is_not_written_can_be_neither_expanded_nor_split(kind):
    step = put(UNWRITTEN, said(kind))
    assert unchanged(UNWRITTEN, step)
    assert keys(step) == [":say:not_now:d-1"]


def test_words_that_come_while_the_first_plan_is_written_are_taken_into_it():
    assert put(UNWRITTEN, said(ev.UpdateRequested, text="small")).plan.job.unit is Unit.CREATE_PLAN


@pytest.mark.parametrize("kind", [ev.ExpandRequested, ev.SplitRequested])
def test_a_rewrite_that_failed_is_tried_again_as_what_it_was(kind):
    asked = put(AT_PLAN_GATE, said(kind, by=BOB))
    job = asked.plan.job
    failed = put(asked.plan, ev.JobFailed(**AT, job=job.id, report=report(job.id, Outcome.AGENT_FAILED)))
    again = put(failed.plan, said(ev.RetryRequested)).plan.job
    assert (again.unit, again.by, again.number) == (job.unit, BOB, job.number + 1)
    lost = put(asked.plan, *(ev.JobLost(**AT, job=f"{UID}-{n}", sentence="silent") for n in (4, 5)))
    assert lost.plan.state is State.FAILED
    assert put(lost.plan, said(ev.RetryRequested)).plan.job.unit is job.unit


def test_splitting_the_work_in_review_drops_it():
    step = put(AT_DIFF_GATE, said(ev.SplitRequested))
    assert (step.plan.state, step.plan.plan_approval, step.plan.review) == (State.DRAFT, None, None)
    assert keys(step) == ["-4:dispatch", ":check:2:8", STATUS, ":outdated:2"]


def test_a_text_posted_again_is_the_text_that_was_remarked_on():
    again = put(AT_PLAN_GATE.model_copy(update={"heard": ("comment:7",)}), said(ev.PriorityChosen, priority="high"))
    again = put(again.plan, said(ev.BudgetChosen, budget={"attempts": 2}))
    assert (again.plan.revision.number, again.plan.revision.repeats, again.plan.heard) == (3, 2, ("comment:7",))
    assert again.plan.text_origin == stories.REVISIONS[1]
    thrice = put(again.plan, said(ev.BudgetChosen, budget=None))
    assert thrice.plan.revision.repeats == 2
    assert plan(State.DRAFT, WaitingOn.RUNNER, revisions=()).text_origin is None


# answers

ASKING = document(Verdict.NEEDS_INFORMATION, questions=("Web or mail?", "Swiss French?"))
ASKED = stories.REVISIONS[1].model_copy(update={"document": ASKING})
WAITS = plan(State.DRAFT, WaitingOn.ANSWERS, revisions=(ASKED,))


def answered(number: int, text: str = "Mail.", **fields) -> ev.Answered:
    return said(ev.Answered, 500.0, answers=(ev.Answer(number=number, text=text),), comment_id=950 + number, **fields)


def test_the_last_answer_has_the_plan_go_on():
    first = put(WAITS, answered(1))
    assert (first.plan.waiting_on, first.note) == (WaitingOn.ANSWERS, "answered: 1 of 2 questions")
    assert first.plan.open_questions == ((2, "Swiss French?"),)
    assert keys(first) == [STATUS]
    last = put(first.plan, answered(2, "No.", by=BOB, via=Via.REPLY))
    assert (last.plan.waiting_on, last.plan.job.unit) == (WaitingOn.RUNNER, Unit.UPDATE_PLAN)
    assert last.plan.feedback == (
        Feedback(kind="answer", author="alice", quote="Web or mail?", text="Mail."),
        Feedback(kind="answer", author="bob", quote="Swiss French?", text="No."),
    )
    assert last.plan.heard == ("comment:951", "comment:952")


def test_a_second_answer_to_a_question_counts_instead_of_the_first():
    step = put(WAITS, answered(1), answered(1, "Web."))
    assert [words.text for words in step.plan.feedback] == ["Web."]


def test_answers_to_a_plan_up_for_decision_wait_for_the_next_rewrite():
    before = plan(State.DRAFT, WaitingOn.PLAN_DECISION, feedback=(REMARK,))
    step = put(before, said(ev.Answered, 500.0, answers=(ev.Answer(number=1, text="Oui."),)))
    assert (step.plan.waiting_on, step.plan.job) == (WaitingOn.PLAN_DECISION, None)
    assert [words.kind for words in step.plan.feedback] == ["annotation", "answer"]
    assert step.plan.heard == ()


@pytest.mark.parametrize(
    ("before", "event", "topic"),
    [
        pytest.param(WAITS, answered(3), "not_understood", id="no such question"),
        pytest.param(WAITS, answered(0), "not_understood", id="no question zero"),
        pytest.param(WAITS, answered(1).model_copy(update={"at": 1.0}), "not_now", id="older than the questions"),
        pytest.param(plan(State.DRAFT, WaitingOn.RUNNER), answered(1), "not_now", id="being rewritten"),
        pytest.param(UNWRITTEN, answered(1), "not_now", id="nothing written"),
        pytest.param(plan(State.DRAFT, WaitingOn.PERSON, revisions=stories.REVISIONS[:1]), answered(1), "not_now", id="nothing asked"),
    ],
)  # fmt: skip
def test_an_answer_to_nothing_is_answered_where_it_was_a_command(before, event, topic):
    step = put(before, event)
    assert unchanged(before, step)
    assert keys(step) == [f":say:{topic}:d-1"]
    assert put(before, event.model_copy(update={"via": Via.REPLY})).effects == ()


# splitting

SPLITTING = put(AT_PLAN_GATE, said(ev.SplitRequested, by=BOB)).plan
PARTS = cut()


def written(parts: SplitDocument | None = PARTS) -> ev.SplitWritten:
    return ev.SplitWritten(**AT, job=f"{UID}-4", report=report(f"{UID}-4", Outcome.PLANNED, split=parts))


def made(position: int, split: int = 4) -> ev.ChildMade:
    return ev.ChildMade(**AT, split=split, position=position, number=40 + position, issue_id=9_000 + position)


CUT = put(SPLITTING, written()).plan


def test_the_parts_get_their_issues_one_after_the_other_and_then_go_on():
    begun = put(SPLITTING, written())
    assert (begun.plan.waiting_on, begun.plan.job, begun.plan.feedback) == (WaitingOn.BOT, None, ())
    assert keys(begun) == [":child:4:1:9", ":status:9"]
    first = put(begun.plan, made(1))
    assert (first.plan.state, keys(first)) == (State.DRAFT, [":child:4:2:10", ":status:10"])
    assert first.plan.split.numbers == ("#41",)
    last = put(first.plan, made(2))
    assert (last.plan.state, last.plan.waiting_on, last.plan.waits_for) == (State.SPLIT, None, ("#41", "#42"))
    assert keys(last) == [":open:4:1", ":open:4:2", ":say:split_done:effect", ":superseded:2", ":status:11"]
    assert last.note == "split into #41, #42"
    unposted = tuple(revision.model_copy(update={"comment_id": None}) for revision in first.plan.revisions)
    assert ":superseded:2" not in keys(put(first.plan.model_copy(update={"revisions": unposted}), made(2)))


def test_the_parts_have_the_checks_of_the_plan_or_those_that_were_recognised():
    assert CUT.split.gates == stories.POLICY.gates
    found = SPLITTING.model_copy(update={"policy": SPLITTING.policy.model_copy(update={"gates": None})})
    event = written()
    told = event.model_copy(update={"report": event.report.model_copy(update={"detected_gates": (stories.spec(),)})})
    assert put(found, told).plan.split.gates == (stories.spec(),)


@pytest.mark.parametrize(
    ("before", "event"),
    [
        pytest.param(SPLITTING, written(None), id="no parts"),
        pytest.param(put(AT_PLAN_GATE, said(ev.UpdateRequested, text="x")).plan, written(), id="asked to rewrite"),
        pytest.param(plan(State.DRAFT, WaitingOn.RUNNER, job=stories.job(JobKind.PLAN, Unit.SPLIT_PLAN, id=f"{UID}-4")), written(), id="nobody asked"),
        pytest.param(SPLITTING, written(cut(depends_on=(2,))), id="no order"),
    ],
)  # fmt: skip
def test_parts_that_can_not_be_taken_on_fail_the_plan(before, event):
    step = put(before, event)
    assert (step.plan.state, step.plan.failure.outcome) == (State.FAILED, Outcome.INVALID_RESULT)
    assert step.plan.failure.job.id == event.job


REFUSING = document(Verdict.REFUSE)


@pytest.mark.parametrize(
    ("parts", "fault"),
    [
        (cut(), None),
        (cut(document(), REFUSING), "part 2 is no plan"),
        (cut(depends_on=(3,)), "part 2 builds on a part that there is not"),
        (cut(depends_on=(0,)), "part 2 builds on a part that there is not"),
        (
            SplitDocument(
                summary="x",
                children=(
                    SplitChild(plan=document()),
                    SplitChild(plan=document(), depends_on=(3, 1)),
                    SplitChild(plan=document(), depends_on=(2,)),
                ),
            ),
            "parts 2, 3 wait for each other",
        ),
    ],
)
def test_parts_are_plans_that_can_be_merged_in_some_order(parts, fault):
    assert fault_of(parts) == fault


@pytest.mark.parametrize("kind", [ev.Approved, ev.UpdateRequested, ev.ExpandRequested, ev.Shelved])
def test_nobody_steers_a_plan_whose_parts_are_being_made(kind):
    step = put(CUT, said(kind))
    assert unchanged(CUT, step)
    assert keys(step) == [":say:not_now:d-1"]


@pytest.mark.parametrize(("kind", "state"), [(ev.CancelRequested, State.CANCELLED), (ev.Rejected, State.REJECTED)])
def test_who_ends_it_in_between_stops_it_and_what_was_made_is_remembered(kind, state):
    ended = put(CUT, made(1), said(kind))
    assert ended.plan.state is state
    late = put(ended.plan, made(2))
    assert (late.plan.state, keys(late)) == (state, [":status:12"])
    assert late.plan.split.numbers == ("#41", "#42")
    back = put(late.plan, said(ev.ReopenRequested))
    assert (back.plan.state, back.plan.split, back.plan.splitting) == (State.DRAFT, None, False)
    assert put(back.plan, made(2)).note == "of another splitting"
    assert put(ended.plan, made(2, split=3)).note == "of another splitting"


def test_a_hold_stops_between_two_parts_and_what_lifts_it_goes_on():
    held = put(CUT, ev.HoldPlaced(**AT, cause=HoldCause.ISSUE_CLOSED), made(1))
    assert (held.note, keys(held)) == ("part 1 is #41; held before the next one", [":status:11"])
    lifted = put(held.plan, ev.HoldLifted(**AT, cause=HoldCause.ISSUE_CLOSED))
    (again,) = [effect for effect in lifted.effects if isinstance(effect, fx.MakeChild)]
    assert (again.key, again.position, again.again) == (f"{UID}:child:4:2:12", 2, True)
    through = put(CUT, made(1), ev.HoldPlaced(**AT, cause=HoldCause.ISSUE_CLOSED), made(2))
    assert (through.plan.state, through.plan.hold) == (State.SPLIT, None)


def test_a_part_that_github_refuses_fails_the_plan_and_retry_goes_on_with_it():
    refused = ev.EffectFailed(**AT, effect="make_child", sentence="GitHub said no.")
    failed = put(CUT, made(1), refused)
    assert (failed.plan.state, failed.plan.failure.sentence) == (State.FAILED, "GitHub said no.")
    again = put(failed.plan, said(ev.RetryRequested))
    assert (again.plan.splitting, again.plan.waiting_on) == (True, WaitingOn.BOT)
    assert [(e.position, e.again) for e in again.effects if isinstance(e, fx.MakeChild)] == [(2, True)]
    anew = put(failed.plan, said(ev.UpdateRequested, text="in one piece"))
    assert (anew.plan.split, anew.plan.job.unit) == (None, Unit.UPDATE_PLAN)


def test_a_comment_that_changes_or_comes_late_does_not_disturb_a_split():
    assert put(CUT, ev.PlanCommentChanged(**AT)).note == "it is being split"
    posted = {"revision": 2, "comment_id": 902, "node_id": "n", "sha256": "2" * 64, "posted_at": 1.0}
    assert put(CUT, ev.PlanPosted(**AT, **posted)).plan.waiting_on is WaitingOn.BOT


def test_a_part_starts_as_a_draft_with_its_plan_written():
    part = Part(of=12, position=2, total=3, document=stories.DOCUMENT, gates=(stories.spec(),), depends_on=(41,))
    step = open_plan(makers.requested(part=part, by=BOB, issue_number=42), UID)
    opened = step.plan
    assert (opened.state, opened.waiting_on, opened.job) == (State.DRAFT, WaitingOn.BOT, None)
    assert (opened.requester, opened.label, opened.part_of) == (BOB, "agent", 12)
    assert (opened.revision.document, opened.revision.gates) == (stories.DOCUMENT, (stories.spec(),))
    assert opened.choices == Choices.model_validate({"depends_on": (41,)})
    assert keys(step) == [":status:1", ":plan:1"]
    assert step.effects[0].priority == step.effects[1].priority
    assert step.note == "part 2 of 3 of #12"


def test_what_github_refuses_of_an_ended_plan_is_journalled():
    done = plan(State.SPLIT, None, split=Split(number=4, by=BOB, summary="x", children=(Child(document=document()),)))
    step = put(done, ev.EffectFailed(**AT, effect="open_child", sentence="no"))
    assert (step.note, step.effects) == ("open_child was refused: no", ())
