"""A job's life, the queue's word, and what becomes of the plan at each turn."""

from __future__ import annotations

import pytest

from bot.lifecycle import events as ev
from bot.lifecycle.deadlines import JOB_OVERTIME, JOB_SILENCE, next_look
from bot.lifecycle.moves import spending
from bot.lifecycle.policy import Policy, parse_policy
from bot.lifecycle.reports import UNNAMED, can_end, event_of
from bot.lifecycle.states import State, WaitingOn
from runner.contract import GateStatus, JobKind, Outcome, Phase
from runner.results import Unit, Verdict
from runner.terms import GateSpec
from tests.lifecycle import makers, stories
from tests.lifecycle.makers import HEAD, UID, document, report, work
from tests.lifecycle.stepping import STATUS, keys, plan, put, unchanged

JOB = f"{UID}-3"
AT = {"at": 500.0, "source": "j-1"}
PLANNING = plan(State.DRAFT, WaitingOn.RUNNER, job=stories.job(JobKind.PLAN, Unit.UPDATE_PLAN))
EXECUTING = plan(State.EXECUTING, WaitingOn.RUNNER, job=stories.job(claimed=False, run_id=None), **stories.APPROVED)
VERIFYING = plan(State.VERIFYING, WaitingOn.RUNNER, job=stories.job(), **stories.APPROVED)
MERGING = plan(
    State.IN_REVIEW,
    WaitingOn.RUNNER,
    job=stories.job(JobKind.CHECK_BASE, None, head=HEAD),
    diff_approval=stories.DIFF_APPROVAL,
    **stories.REVIEWED,
)
APPROVED = plan(State.APPROVED, WaitingOn.SLOT, waits_for=("#3",), branch_head=HEAD, **stories.APPROVED)


def ended(outcome: Outcome, **fields):
    return event_of(report(JOB, outcome, **fields), **AT)


# the queue


@pytest.mark.parametrize(("carry_on", "head"), [(False, None), (True, HEAD)])
def test_a_slot_begins_the_work_on_the_base_or_where_the_branch_is(carry_on, head):
    before = APPROVED.model_copy(update={"carry_on": carry_on})
    step = put(before, ev.SlotGranted(**AT, overlaps=("#9",)))
    assert (step.plan.state, step.plan.waiting_on) == (State.EXECUTING, WaitingOn.RUNNER)
    assert (step.plan.waits_for, step.plan.overlaps) == ((), ("#9",))
    job = step.plan.job
    assert (job.id, job.kind, job.unit, job.head) == (f"{UID}-4", JobKind.EXECUTE, Unit.EXECUTE_PLAN, head)
    assert keys(step) == ["-4:dispatch", STATUS]


def test_what_it_waits_for_is_shown_once():
    waits = ev.QueueWaits(**AT, on=WaitingOn.OVERLAP, waits_for=("#7",))
    step = put(APPROVED, waits)
    assert (step.plan.waiting_on, step.plan.waits_for) == (WaitingOn.OVERLAP, ("#7",))
    assert (keys(step), step.note) == ([STATUS], "waits for overlap")
    again = put(step.plan, waits)
    assert (keys(again), again.note) == ([], "still waiting")


# its life


def test_a_dispatched_job_knows_its_run_and_the_policy_it_starts_with():
    policy = Policy(max_parallel=9)
    step = put(EXECUTING, ev.JobDispatched(**AT, job=JOB, run_id=42, policy=policy))
    assert (step.plan.job.run_id, step.plan.policy) == (42, policy)
    assert (keys(step), step.note) == ([], "run 42")


def test_a_trial_merge_adopts_no_policy():
    job = stories.job(JobKind.CHECK_BASE)
    before = plan(State.IN_REVIEW, WaitingOn.RUNNER, job=job, diff_approval=stories.DIFF_APPROVAL, **stories.REVIEWED)
    step = put(before, ev.JobDispatched(**AT, job=job.id, run_id=42, policy=Policy(protected=())))
    assert step.plan.policy == before.policy


def test_more_paths_in_conflict_than_a_message_holds_go_back_as_far_as_they_fit():
    job = stories.job(JobKind.CHECK_BASE)
    before = plan(State.IN_REVIEW, WaitingOn.RUNNER, job=job, diff_approval=stories.DIFF_APPROVAL, **stories.REVIEWED)
    paths = tuple(f"{'deep/' * 40}{number}.py" for number in range(500))
    step = put(before, ev.BaseReported(**AT, job=job.id, conflicts=paths))
    assert step.plan.state is State.EXECUTING
    assert step.plan.feedback[-1].text.startswith(f"The default branch changed these files too:\n{paths[0]}\n")


def test_a_claimed_job_is_noted():
    step = put(EXECUTING, ev.JobClaimed(**AT, job=JOB))
    assert step.plan.job.claimed
    assert (keys(step), step.note) == ([], "claimed by a runner")


@pytest.mark.parametrize(
    ("before", "phase", "state", "shown"),
    [
        (EXECUTING, Phase.PREPARE, State.EXECUTING, []),
        (EXECUTING, Phase.AGENT, State.EXECUTING, []),
        (EXECUTING, Phase.GATES, State.VERIFYING, [STATUS]),
        (VERIFYING, Phase.PUBLISH, State.VERIFYING, []),
        (VERIFYING, Phase.AGENT, State.EXECUTING, [STATUS]),
    ],
)
def test_phases_show_as_executing_and_verifying(before, phase, state, shown):
    step = put(before, ev.JobProgressed(**AT, job=JOB, phase=phase))
    assert (step.plan.state, keys(step), step.note) == (state, shown, f"phase {phase}")


@pytest.mark.parametrize(
    "event",
    [
        ev.JobDispatched(**AT, job=f"{UID}-2", run_id=1, policy=Policy()),
        ev.JobClaimed(**AT, job=f"{UID}-2"),
        ev.JobLost(**AT, job=f"{UID}-2", sentence="silent"),
        event_of(report(f"{UID}-2", Outcome.VERIFIED, work=work()), **AT),
    ],
    ids=lambda event: event.type,
)
@pytest.mark.parametrize("before", [EXECUTING, APPROVED], ids=["another job is open", "none is open"])
def test_an_event_of_another_job_is_late(before, event):
    step = put(before, event)
    assert unchanged(before, step)
    shown = [STATUS] if isinstance(event, spending.ENDS) else []
    assert (keys(step), step.note) == (shown, f"late: job {UID}-2 is not open")


def test_what_a_late_report_spent_is_shown_wherever_it_stands():
    late = ev.JobLost(**AT, job=f"{UID}-2", sentence="killed")
    reviewed = plan(State.IN_REVIEW, WaitingOn.DIFF_DECISION, **stories.REVIEWED)
    merged = plan(State.MERGED, None, **stories.DONE)
    assert keys(put(reviewed, late)) == [STATUS, ":refresh:8"]
    assert keys(put(merged, late)) == [STATUS, ":pull:8"]


def test_a_move_of_a_job_needs_an_open_one():
    from bot.lifecycle.moves.jobs import claimed

    with pytest.raises(LookupError, match="without an open job"):
        claimed(APPROVED, ev.JobClaimed(**AT, job=JOB))


# its end


@pytest.mark.parametrize("verdict", list(Verdict))
def test_a_written_plan_is_posted_as_the_next_revision(verdict):
    step = put(PLANNING, ended(Outcome.PLANNED, plan=document(verdict)))
    assert (step.plan.state, step.plan.waiting_on, step.plan.job) == (State.DRAFT, WaitingOn.BOT, None)
    assert (step.plan.revision.number, step.plan.revision.gates) == (3, stories.POLICY.gates)
    assert keys(step) == [":plan:3", ":superseded:2", STATUS]
    assert step.note == f"revision 3 written: {verdict}"


def test_the_first_revision_supersedes_nothing_and_shows_the_checks_that_were_recognised():
    found = GateSpec(name="tests", run="pytest", detected=True)
    before = PLANNING.model_copy(update={"revisions": (), "policy": Policy()})
    step = put(before, ended(Outcome.PLANNED, plan=document(), detected_gates=(found,)))
    assert (step.plan.revision.number, step.plan.revision.gates) == (1, (found,))
    assert keys(step) == [":plan:1", STATUS]


def test_a_plan_without_its_text_is_the_runners_failure():
    step = put(PLANNING, ended(Outcome.PLANNED))
    assert (step.plan.state, step.plan.failure.during) == (State.FAILED, JobKind.PLAN)
    assert step.plan.failure.outcome is Outcome.RUNNER_FAILED
    assert keys(step) == ["-3:stop", STATUS]


@pytest.mark.parametrize("before", [EXECUTING, VERIFYING])
def test_verified_work_is_read_back_before_anybody_is_asked(before):
    done = ended(Outcome.VERIFIED, work=work(), gates=(makers.gate(),), attempts=2, notes=("A note.",))
    step = put(before, done)
    assert (step.plan.state, step.plan.waiting_on, step.plan.job) == (State.VERIFYING, WaitingOn.BOT, None)
    review = step.plan.review
    assert (review.number, review.work.head, review.attempts, review.notes) == (3, HEAD, 2, ("A note.",))
    assert keys(step) == ["-3:read_back", STATUS]


@pytest.mark.parametrize(
    "fields",
    [{}, {"work": work(), "gates": (makers.gate(GateStatus.FAILED),)}],
    ids=["no commit", "a blocking check failed"],
)
def test_a_report_that_contradicts_itself_reaches_no_reviewer(fields):
    step = put(VERIFYING, ended(Outcome.VERIFIED, **fields))
    assert (step.plan.state, step.plan.review) == (State.FAILED, None)
    assert keys(step) == ["-3:stop", STATUS]
    assert "without its commit, or with a blocking check that failed" in step.plan.failure.sentence


def test_a_check_that_does_not_block_holds_nothing_back():
    gates = (makers.gate(GateStatus.FAILED, blocking=False),)
    assert put(VERIFYING, ended(Outcome.VERIFIED, work=work(), gates=gates)).plan.state is State.VERIFYING


def test_a_clean_merge_opens_the_pull_request():
    step = put(MERGING, ended(Outcome.BASE_CLEAN))
    assert (step.plan.state, step.plan.waiting_on, step.plan.job) == (State.IN_REVIEW, WaitingOn.BOT, None)
    assert keys(step) == [f":pr:{step.plan.version}:{HEAD}", STATUS]


@pytest.mark.parametrize("paths", [("src/greet.py", "README.md"), ()], ids=["named", "unnamed"])
def test_a_conflict_goes_back_to_the_agent_and_needs_a_new_approval(paths):
    step = put(MERGING, ended(Outcome.BASE_CONFLICT, conflicts=paths))
    assert (step.plan.state, step.plan.diff_approval) == (State.EXECUTING, None)
    job = step.plan.job
    assert (job.kind, job.head, job.merge_base_in) == (JobKind.EXECUTE, HEAD, True)
    named = "\n".join(paths or (UNNAMED,))
    assert step.plan.feedback[-1].text.endswith(named)
    assert keys(step) == [":say:base_conflict:j-1", "-4:dispatch", STATUS]
    assert step.effects[0].details == {"paths": named}


@pytest.mark.parametrize("missing", ["diff_approval", "review"])
def test_without_an_approval_a_clean_merge_opens_nothing(missing):
    step = put(MERGING.model_copy(update={missing: None}), ended(Outcome.BASE_CLEAN))
    assert (step.plan.state, step.plan.failure.during) == (State.FAILED, JobKind.CHECK_BASE)
    assert not [key for key in keys(step) if ":pr:" in key]


@pytest.mark.parametrize(
    ("before", "during"),
    [(PLANNING, JobKind.PLAN), (EXECUTING, JobKind.EXECUTE), (MERGING, JobKind.CHECK_BASE)],
    ids=["planning", "executing", "merging"],
)
def test_a_failed_job_stops_with_everything_that_is_known(before, during):
    gates = (makers.gate(GateStatus.FAILED),)
    step = put(before, ended(Outcome.GATES_FAILED, gates=gates, output_tail="E  boom", notes=("A note.",)))
    assert (step.plan.state, step.plan.waiting_on, step.plan.job) == (State.FAILED, WaitingOn.PERSON, None)
    failure = step.plan.failure
    assert (failure.during, failure.gates, failure.output_tail, failure.notes) == (
        during,
        gates,
        "E  boom",
        ("A note.",),
    )
    assert keys(step)[-1] == STATUS
    assert "stop" not in "".join(keys(step)), "it has ended by itself"


LOST = ev.JobLost(**AT, job=JOB, sentence="The runner fell silent.")


@pytest.mark.parametrize(
    ("before", "state"),
    [(PLANNING, State.DRAFT), (EXECUTING, State.EXECUTING), (VERIFYING, State.EXECUTING), (MERGING, State.IN_REVIEW)],
    ids=["planning", "executing", "verifying", "merging"],
)
def test_a_lost_job_is_tried_once_more_as_it_was(before, state):
    step = put(before, LOST)
    old, new = before.job, step.plan.job
    assert (step.plan.state, step.plan.waiting_on) == (state, WaitingOn.RUNNER)
    assert (new.kind, new.unit, new.head, new.merge_base_in) == (old.kind, old.unit, old.head, old.merge_base_in)
    assert (new.id, new.lost_before, new.claimed) == (f"{UID}-4", True, False)
    assert keys(step) == ["-3:stop", "-4:dispatch", STATUS]


def test_a_second_loss_in_a_row_is_a_persons_to_look_at():
    once = put(VERIFYING, LOST)
    twice = put(once.plan, LOST.model_copy(update={"job": f"{UID}-4"}))
    assert (twice.plan.state, twice.plan.failure.outcome) == (State.FAILED, Outcome.LOST)
    assert twice.plan.failure.sentence == "The runner fell silent."
    assert (keys(twice), twice.note) == (["-4:stop", ":status:9"], "lost twice")


# what a report means


@pytest.mark.parametrize("kind", list(JobKind))
def test_a_runner_can_report_only_what_such_a_job_can_end_as(kind):
    allowed = {outcome for outcome in Outcome if can_end(kind, outcome)}
    failures = {outcome for outcome in Outcome if not outcome.is_success}
    own = {
        JobKind.PLAN: {Outcome.PLANNED},
        JobKind.EXECUTE: {Outcome.VERIFIED},
        JobKind.WRITE_ISSUE: {Outcome.ISSUE_WRITTEN},
        JobKind.CHECK_BASE: {Outcome.BASE_CLEAN, Outcome.BASE_CONFLICT},
    }[kind]
    assert allowed == failures | own


def test_a_report_is_its_event():
    expected = {
        Outcome.PLANNED: ev.PlanWritten,
        Outcome.VERIFIED: ev.WorkVerified,
        Outcome.ISSUE_WRITTEN: ev.IssueWritten,
        Outcome.BASE_CLEAN: ev.BaseReported,
        Outcome.BASE_CONFLICT: ev.BaseReported,
        Outcome.LOST: ev.JobLost,
    }
    assert {o: type(ended(o)) for o in Outcome} == {o: expected.get(o, ev.JobFailed) for o in Outcome}


def test_a_job_is_looked_after_when_it_falls_silent_or_does_not_end():
    assert next_look(1_000.0, 1_000.0, 60) == 1_000.0 + JOB_SILENCE
    assert next_look(1_000.0 + 3_600 + JOB_OVERTIME, 1_000.0, 60) == 1_000.0 + 3_600 + JOB_OVERTIME


def test_the_policys_checks_and_the_text_are_what_an_approval_of_content_covers():
    revision = stories.REVISIONS[-1]
    assert revision.content_sha256 == revision.model_copy(update={"comment_id": 1, "sha256": "x"}).content_sha256
    other = parse_policy("gates: [{name: tests, run: 'true'}]").gates
    assert revision.content_sha256 != revision.model_copy(update={"gates": other}).content_sha256
    assert plan(State.DRAFT, None).lane == "500:12"
    assert not plan(State.FAILED, None).ended
    assert plan(State.MERGED, None).ended
