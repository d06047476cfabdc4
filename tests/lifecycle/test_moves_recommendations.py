"""What the agent recommends: numbered, accepted, written, made, and nothing that goes wrong with it moves the plan."""

from __future__ import annotations

import pytest

from bot.lifecycle import effects as fx
from bot.lifecycle import events as ev
from bot.lifecycle.choices import NotUnderstoodError, read_numbers
from bot.lifecycle.moves.recommendations import noted
from bot.lifecycle.states import State, WaitingOn
from runner.contract import Outcome
from runner.results import ExecutionSummary, IssueText, Lesson, Recommendation, Unit
from tests.lifecycle import stories
from tests.lifecycle.makers import UID, report, said, work
from tests.lifecycle.stepping import STATUS, keys, plan, put, unchanged

AT = {"at": 500.0, "source": "w-1"}
JOB = f"{UID}-4"
OPEN = plan(State.PR_OPEN, WaitingOn.MERGE, recommended=stories.RECOMMENDED, **stories.DONE)
TEXT = IssueText(title="Test the mail greeter", body="It has no test.")


def accept(*numbers):
    return said(ev.RecommendationsAccepted, numbers=numbers, thread=34)


WRITING = put(OPEN, accept(2)).plan
WRITTEN = ev.IssueWritten(**AT, job=JOB, report=report(JOB, Outcome.ISSUE_WRITTEN, issue=TEXT))
MAKING = put(WRITING, WRITTEN).plan


def test_numbers_stay_and_nothing_stands_there_twice():
    again = Recommendation(title="greet in *spanish* TOO", reason="Again.")
    new = Recommendation(title="Say it louder", reason="x")
    summary = ExecutionSummary(status="done", summary="x", recommendations=(again, new))
    assert [r.what.title for r in noted(OPEN, work(summary=summary))] == [
        "Greet in *Spanish* too", "Test the mail greeter", "Say it louder",
    ]  # fmt: skip
    assert noted(OPEN, work()) == OPEN.recommended


@pytest.mark.parametrize(
    ("words", "numbers"),
    [("1", (1,)), ("#2, 3", (2, 3)), ("3 and 1", (3, 1)), ("1, 1 & 2", (1, 2)), ("1,and 2", (1, 2))],
)
def test_numbers_as_people_write_them(words, numbers):
    assert read_numbers(words, "recommendations", "accept") == numbers


@pytest.mark.parametrize("words", ["", "all", "1-3", " ".join(map(str, range(1, 40)))])
def test_what_is_no_list_of_numbers_is_refused(words):
    with pytest.raises(NotUnderstoodError, match="/accept 1 3"):
        read_numbers(words, "recommendations", "accept")


@pytest.mark.parametrize(
    "before", [OPEN, plan(State.MERGED, None, **stories.DONE), plan(State.EXECUTING, WaitingOn.RUNNER, job=stories.job(), **stories.REWORKED)]
)  # fmt: skip
def test_accepted_a_job_of_its_own_writes_the_issue(before):
    before = before.model_copy(update={"recommended": stories.RECOMMENDED})
    step = put(before, accept(2))
    assert (step.plan.state, step.plan.job, keys(step)) == (before.state, before.job, ["-4:dispatch", STATUS])
    assert [job.id for job in step.plan.open_jobs][-1] == JOB


def test_what_is_one_already_or_on_its_way_or_nothing_is_told():
    step = put(WRITING, accept(1, 2, 7))
    assert step.effects[0].details == {"known": "1 41", "on_its_way": "2", "unknown": "7"}
    assert step.effects[0].issue_number == 34
    assert not any(isinstance(effect, fx.Dispatch) for effect in step.effects)
    assert put(MAKING, accept(2)).effects[0].details == {"on_its_way": "2"}


def test_its_job_lives_beside_the_plans():
    run = put(WRITING, ev.JobDispatched(**AT, job=JOB, run_id=9, policy=stories.POLICY))
    assert (run.plan.open_jobs[0].run_id, run.effects) == (9, ())
    assert unchanged(WRITING, put(WRITING, ev.JobClaimed(**AT, job=JOB)))


@pytest.mark.parametrize(("end", "outcome"), [(ev.IssueWritten, "issue_written"), (ev.JobFailed, "over_budget")])
def test_what_its_job_learned_waits_on_the_plan_once(end, outcome):
    learned = Lesson(unit=Unit.CREATE_ISSUE, kind="convention", text="Issues here name the version.")
    told = end(**AT, job=JOB, report=report(JOB, Outcome(outcome), lessons=(learned,)))
    step = put(WRITING, told)
    assert [lesson.text for lesson in step.plan.waiting] == [learned.text]
    assert put(step.plan, told).plan.waiting == step.plan.waiting


def test_written_it_is_made_and_told_once():
    step = put(WRITING, WRITTEN)
    assert step.effects == (fx.MakeIssue(key=f"{JOB}:issue", job=JOB, number=2, text=TEXT, again=False),)
    assert put(step.plan, WRITTEN).note == f"late: job {JOB} is not open"
    made = put(MAKING, ev.IssueMade(**AT, job=JOB, number=42))
    assert made.plan.recommended[1].issue == 42
    assert keys(made) == [":say:accepted_made:w-1", ":pull:10", ":status:10"]
    assert (made.effects[0].issue_number, made.effects[0].details) == (34, {"number": "2", "issue": "42"})
    assert unchanged(made.plan, put(made.plan, ev.IssueMade(**AT, job=JOB, number=42)))


@pytest.mark.parametrize(
    ("before", "event", "sentence"),
    [
        (WRITING, ev.JobFailed(**AT, job=JOB, report=report(JOB, Outcome.OVER_BUDGET)), "It ended: over_budget."),
        (
            WRITING,
            ev.IssueWritten(**AT, job=JOB, report=report(JOB, Outcome.ISSUE_WRITTEN)),
            "It ended: issue_written.",
        ),
        (WRITING, ev.JobLost(**AT, job=JOB, sentence="Silent."), "Silent."),
        (WRITING, ev.EffectFailed(**AT, effect="dispatch", job=JOB, sentence="422"), "422"),
        (MAKING, ev.EffectFailed(**AT, effect="make_issue", job=JOB, sentence="403"), "403"),
    ],
)
def test_whatever_goes_wrong_is_told_and_moves_no_plan(before, event, sentence):
    step = put(before, event)
    assert (step.plan.state, step.plan.failure, step.plan.accepted) == (State.PR_OPEN, None, OPEN.accepted)
    (told,) = [effect for effect in step.effects if isinstance(effect, fx.Say)]
    assert (told.topic, told.issue_number) == (fx.Topic.ACCEPTED_FAILED, 34)
    assert told.details == {"number": "2", "sentence": sentence}
    again = put(step.plan, accept(2), WRITTEN.model_copy(update={"job": f"{UID}-5"}))
    assert again.effects[0].again
