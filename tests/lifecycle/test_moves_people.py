"""What people say at each gate and elsewhere: where the plan is afterwards, what is done for it, what they are told."""

from __future__ import annotations

from decimal import Decimal

import pytest

from bot.lifecycle import effects as fx
from bot.lifecycle import events as ev
from bot.lifecycle.choices import AgentChoice, BudgetChoice, Choices, PlanPriority
from bot.lifecycle.plan import Failure, Hold, IssueSnapshot
from bot.lifecycle.states import Gate, HoldCause, State, Via, WaitingOn
from bot.lifecycle.transitions import TABLE, open_plan, transition
from runner.contract import Feedback, JobKind, Outcome
from runner.results import Unit
from runner.terms import Effort
from tests.lifecycle import makers, stories
from tests.lifecycle.makers import ALICE, HEAD, ISSUE, UID, said
from tests.lifecycle.stepping import STATUS, keys, plan, put, unchanged

SHA = "2" * 64
"""Of revision 2 in comment 902, posted at 200; the review stands in comment 903, posted at 400."""
AT_PLAN_GATE = plan(State.DRAFT, WaitingOn.PLAN_DECISION)
AT_DIFF_GATE = plan(State.IN_REVIEW, WaitingOn.DIFF_DECISION, **stories.REVIEWED)
FAILED = plan(State.FAILED, WaitingOn.PERSON, failure=stories.FAILURE, **stories.REVIEWED)
BY_REACTION = {"via": Via.REACTION}


def approved(at: float = 500.0, **fields) -> ev.Approved:
    return said(ev.Approved, at, **{"plan_sha256": SHA, "branch_head": HEAD, **fields})


def failure(during: JobKind) -> Failure:
    return Failure(outcome=Outcome.RUNNER_FAILED, sentence="It broke.", during=during)


@pytest.mark.parametrize(("before", "shown"), [(AT_PLAN_GATE, 902), (AT_DIFF_GATE, 903)], ids=["plan", "diff"])
def test_words_written_in_the_second_of_the_comment_count_where_they_were_written_after_it(before, shown):
    posted = {902: 200.0, 903: 400.0}[shown]
    early = put(before, approved(posted, comment_id=shown - 1))
    assert (early.plan.state, early.note) == (before.state, "nothing is up for decision now")
    assert put(before, approved(posted, comment_id=shown + 1)).plan.waiting_on is not before.waiting_on


def test_a_request_opens_a_draft_and_has_it_written():
    denied = plan(State.REJECTED, None, rejections=(Feedback(kind="rejection", author="bob", text="Too dear."),))
    step = open_plan(makers.requested(), UID, denied)
    assert step.plan.rejections == denied.rejections
    assert (step.plan.state, step.plan.waiting_on, step.plan.version) == (State.DRAFT, WaitingOn.RUNNER, 1)
    assert step.plan.job is not None
    assert (step.plan.job.kind, step.plan.job.unit) == (JobKind.PLAN, Unit.CREATE_PLAN)
    assert keys(step) == ["-1:dispatch", ":status:1"]
    assert step.plan.branch == "plan/12-2"
    assert step.note == "a plan was asked for"


def test_the_first_status_is_shown_at_once_and_later_ones_settle():
    first = open_plan(makers.requested(), UID).effects[-1]
    later = put(AT_PLAN_GATE, said(ev.CancelRequested)).effects[-1]
    assert isinstance(first, fx.ShowStatus)
    assert isinstance(later, fx.ShowStatus)
    assert (first.settle, later.settle) == (0.0, 8.0)


# the plan gate


@pytest.mark.parametrize("way", [{}, {"on_comment": 902, **BY_REACTION}], ids=["command", "reaction"])
def test_an_approved_plan_queues_and_the_approval_binds_to_what_was_read(way):
    step = put(AT_PLAN_GATE, approved(**way))
    assert (step.plan.state, step.plan.waiting_on) == (State.APPROVED, WaitingOn.SLOT)
    approval = step.plan.plan_approval
    assert approval is not None
    assert stories.REVISIONS[-1].content_sha256 == approval.content_sha256
    assert (approval.gate, approval.by, approval.binds_to, approval.at) == (Gate.PLAN, ALICE, SHA, 500.0)
    assert keys(step) == [STATUS]
    assert step.note == f"plan {SHA[:12]} approved"


@pytest.mark.parametrize(
    ("before", "event"),
    [
        pytest.param(plan(State.DRAFT, WaitingOn.RUNNER), approved(), id="it is being rewritten"),
        pytest.param(plan(State.DRAFT, WaitingOn.PLAN_DECISION, revisions=()), approved(), id="there is no text yet"),
        pytest.param(AT_PLAN_GATE, approved(at=199.0), id="said before the text was posted"),
        pytest.param(AT_PLAN_GATE, approved(on_comment=901), id="on the comment of an older revision"),
        pytest.param(
            plan(State.DRAFT, WaitingOn.PLAN_DECISION, revisions=(stories.REVISIONS[0].model_copy(update={"posted_at": None}),)),
            approved(),
            id="not posted yet",
        ),
        pytest.param(plan(State.IN_REVIEW, WaitingOn.BOT, **stories.REVIEWED), approved(), id="the review is being posted"),
        pytest.param(plan(State.IN_REVIEW, WaitingOn.DIFF_DECISION), approved(), id="there is no review"),
        pytest.param(AT_DIFF_GATE, approved(at=399.0), id="said before the diff was posted"),
        pytest.param(AT_DIFF_GATE, approved(on_comment=902), id="on the plan's comment, with the diff up for decision"),
    ],
)  # fmt: skip
def test_an_approval_of_nothing_that_was_seen_does_nothing(before, event):
    step = put(before, event)
    assert unchanged(before, step)
    assert keys(step) == [":say:nothing_to_decide:d-1"]
    assert step.effects[0].to == ALICE
    silent = put(before, event.model_copy(update=BY_REACTION))
    assert unchanged(before, silent)
    assert silent.effects == ()


@pytest.mark.parametrize("read", ["3" * 64, None], ids=["edited", "deleted"])
def test_an_approval_of_a_changed_comment_is_void_and_the_text_is_posted_anew(read):
    step = put(AT_PLAN_GATE, approved(plan_sha256=read))
    assert (step.plan.state, step.plan.waiting_on, step.plan.plan_approval) == (State.DRAFT, WaitingOn.BOT, None)
    assert step.plan.revision.number == 3
    assert step.plan.revision.document == stories.DOCUMENT
    assert set(keys(step)) == {":plan:3", ":superseded:2", ":say:approval_void:d-1", STATUS}
    assert step.note == "approval void: the plan comment was changed"


# the diff gate


def test_an_approved_diff_is_compared_with_the_default_branch():
    step = put(AT_DIFF_GATE, approved(via=Via.BUTTON))
    assert (step.plan.state, step.plan.waiting_on) == (State.IN_REVIEW, WaitingOn.BOT)
    approval = step.plan.diff_approval
    assert (approval.gate, approval.binds_to, approval.via) == (Gate.DIFF, HEAD, Via.BUTTON)
    assert keys(step) == [f":base:8:{HEAD}", STATUS]
    assert step.note == f"diff {HEAD[:12]} approved"


@pytest.mark.parametrize(("read", "where"), [("d" * 40, "is at dddddddddddd"), (None, "is gone")])
def test_an_approval_of_a_moved_branch_is_void_and_a_person_decides(read, where):
    step = put(AT_DIFF_GATE, approved(branch_head=read))
    assert (step.plan.state, step.plan.waiting_on, step.plan.diff_approval) == (State.FAILED, WaitingOn.PERSON, None)
    assert step.plan.branch_head == read
    assert where in step.plan.failure.sentence
    assert step.plan.failure.outcome is Outcome.BRANCH_MOVED
    assert keys(step) == [":check:2:8", STATUS, ":say:branch_moved:d-1"]


# the other words


def test_a_rejection_at_the_plan_gate_ends_the_plan_and_keeps_the_reason():
    step = put(AT_PLAN_GATE, said(ev.Rejected, reason="too big"))
    assert (step.plan.state, step.plan.waiting_on) == (State.REJECTED, None)
    assert step.plan.rejected_at_gate is Gate.PLAN
    assert [(r.kind, r.author, r.text) for r in step.plan.rejections] == [("rejection", "alice", "too big")]
    assert keys(step) == [STATUS]
    assert step.note == "rejected at the plan gate"


def test_a_rejection_at_the_diff_gate_tells_the_check_run():
    step = put(AT_DIFF_GATE, said(ev.Rejected))
    assert step.plan.rejected_at_gate is Gate.DIFF
    assert step.plan.rejections == ()
    assert keys(step) == [":check:2:8", STATUS]
    conclude = step.effects[0]
    assert isinstance(conclude, fx.ConcludeCheck)
    assert (conclude.check_run_id, conclude.conclusion, conclude.sentence) == (77, "failure", "Rejected by alice.")


def test_a_cancellation_stops_the_run_and_gives_no_judgement():
    running = plan(State.EXECUTING, WaitingOn.RUNNER, job=stories.job(), **stories.REVIEWED)
    step = put(running, said(ev.CancelRequested))
    assert (step.plan.state, step.plan.job) == (State.CANCELLED, None)
    assert keys(step) == ["-3:stop", ":check:2:8", STATUS]
    stop, conclude = step.effects[:2]
    assert isinstance(stop, fx.StopRun)
    assert stop.run_id == 5551
    assert (conclude.conclusion, conclude.sentence) == ("cancelled", "Cancelled by alice.")


@pytest.mark.parametrize("fresh", [None, IssueSnapshot(title="Greet", body="In Basque too.", author=ALICE)])
def test_an_update_rewrites_the_plan_and_ends_every_approval(fresh):
    before = AT_DIFF_GATE.model_copy(update={"issue_stale": True})
    step = put(before, said(ev.UpdateRequested, text="smaller", issue=fresh))
    assert (step.plan.state, step.plan.waiting_on) == (State.DRAFT, WaitingOn.RUNNER)
    assert (step.plan.plan_approval, step.plan.diff_approval, step.plan.review) == (None, None, None)
    assert [(f.kind, f.text) for f in step.plan.feedback] == [("update", "smaller")]
    assert step.plan.job.unit is Unit.UPDATE_PLAN
    assert (step.plan.issue, step.plan.issue_stale) == ((fresh, False) if fresh else (ISSUE, True))
    assert keys(step) == ["-4:dispatch", ":check:2:8", STATUS, ":outdated:2"]


def test_a_retry_of_the_work_queues_and_carries_on_from_the_branch():
    step = put(FAILED, said(ev.RetryRequested, text="mind the umlauts"))
    assert (step.plan.state, step.plan.waiting_on, step.plan.carry_on) == (State.APPROVED, WaitingOn.SLOT, True)
    assert [(f.kind, f.text) for f in step.plan.feedback] == [("retry", "mind the umlauts")]
    assert (step.plan.failure, step.plan.review) == (None, None)
    assert keys(step) == [STATUS, ":outdated:2"]
    started = transition(step.plan, ev.SlotGranted(at=600.0, source="q-1"))
    assert started.plan.job.head == HEAD


def test_a_retry_before_the_pull_request_asks_for_the_diff_again():
    before = FAILED.model_copy(update={"failure": failure(JobKind.CHECK_BASE)})
    step = put(before, said(ev.RetryRequested))
    assert (step.plan.state, step.plan.waiting_on, step.plan.failure) == (
        State.IN_REVIEW,
        WaitingOn.DIFF_DECISION,
        None,
    )
    assert step.plan.review == stories.GREEN.model_copy(update={"buttons": False})
    assert keys(step) == [STATUS]


def test_each_failure_of_one_diff_tells_its_check_run_anew():
    refused = ev.EffectFailed(at=600.0, source="e-1", effect="open_pull_request", sentence="Not now.")
    once = put(AT_DIFF_GATE, approved(), refused)
    twice = put(once.plan, said(ev.RetryRequested), approved(), refused)
    assert len({key for key in keys(once) + keys(twice) if ":check:" in key}) == 2


@pytest.mark.parametrize(
    ("before", "expected"),
    [
        pytest.param(FAILED.model_copy(update={"failure": failure(JobKind.PLAN)}), "-4:dispatch", id="planning"),
        pytest.param(plan(State.FAILED, WaitingOn.PERSON, failure=stories.FAILURE), "-4:dispatch", id="not approved"),
        pytest.param(plan(State.FAILED, WaitingOn.PERSON, **stories.APPROVED), "-4:dispatch", id="cause unknown"),
    ],
)
def test_a_retry_of_planning_plans_again(before, expected):
    step = put(before, said(ev.RetryRequested))
    assert (step.plan.state, step.plan.plan_approval, step.plan.failure) == (State.DRAFT, None, None)
    assert keys(step)[:2] == [expected, STATUS]
    assert step.note == "planning again"


def test_a_written_plan_that_was_never_posted_is_posted_rather_than_written_again():
    unposted = stories.REVISIONS[-1].model_copy(update={"comment_id": None, "posted_at": None, "sha256": None})
    before = plan(State.FAILED, WaitingOn.PERSON, failure=failure(JobKind.PLAN), revisions=(unposted,))
    step = put(before, said(ev.RetryRequested))
    assert keys(step) == [":plan:3", STATUS]
    assert step.plan.revision.document == stories.DOCUMENT
    told = put(before, said(ev.RetryRequested, text="smaller"))
    assert keys(told) == ["-4:dispatch", STATUS], "with words of a person it is written again"


@pytest.mark.parametrize("state", [State.REJECTED, State.CANCELLED])
def test_a_reopened_plan_is_posted_for_a_decision_made_anew(state):
    before = plan(state, None, rejected_at_gate=Gate.DIFF, **stories.DONE)
    step = put(before, said(ev.ReopenRequested))
    assert (step.plan.state, step.plan.waiting_on) == (State.DRAFT, WaitingOn.BOT)
    assert (step.plan.plan_approval, step.plan.diff_approval, step.plan.pull_request) == (None, None, None)
    assert step.plan.rejected_at_gate is None
    assert keys(step) == [":plan:3", ":superseded:2", STATUS, ":outdated:2"]


def test_a_plan_cancelled_before_it_was_written_is_written_when_reopened():
    step = put(plan(State.CANCELLED, None, revisions=()), said(ev.ReopenRequested))
    assert step.plan.job.unit is Unit.CREATE_PLAN
    assert keys(step) == ["-4:dispatch", STATUS]


def test_into_the_icebox_and_out_of_it():
    drafting = plan(State.DRAFT, WaitingOn.RUNNER, job=stories.job(JobKind.PLAN, Unit.UPDATE_PLAN))
    iced = put(drafting, said(ev.Shelved))
    assert (iced.plan.state, iced.plan.waiting_on, iced.plan.job) == (State.ICEBOX, WaitingOn.PERSON, None)
    assert keys(iced) == ["-3:stop", STATUS]
    thawed = put(iced.plan, said(ev.Thawed))
    assert (thawed.plan.state, thawed.plan.waiting_on) == (State.DRAFT, WaitingOn.BOT)
    assert keys(thawed) == [":plan:3", ":superseded:2", ":status:9"]


CODEX = AgentChoice(name="codex", effort=Effort.HIGH)
CHOSEN = {
    ev.AgentChosen: ({"agent": CODEX}, Choices(agent=CODEX)),
    ev.BudgetChosen: (
        {"budget": BudgetChoice(usd=Decimal(8))},
        Choices(budget=BudgetChoice(usd=Decimal(8))),
    ),
}


@pytest.mark.parametrize("kind", list(CHOSEN))
def test_a_plan_that_names_another_agent_or_budget_is_up_for_decision_anew(kind):
    fields, choices = CHOSEN[kind]
    for before in (
        plan(State.DRAFT, WaitingOn.PLAN_DECISION),
        plan(State.APPROVED, WaitingOn.SLOT, **stories.APPROVED),
    ):
        step = put(before, said(kind, **fields))
        assert (step.plan.state, step.plan.waiting_on, step.plan.choices) == (State.DRAFT, WaitingOn.BOT, choices)
        assert step.plan.plan_approval is None
        assert keys(step) == [":plan:3", ":superseded:2", STATUS]
        again = put(step.plan, said(kind, **fields))
        assert keys(again) == [":status:9"], "the same choice again asks nobody anew"


@pytest.mark.parametrize("kind", list(CHOSEN))
@pytest.mark.parametrize("state", [State.EXECUTING, State.VERIFYING, State.FAILED, State.IN_REVIEW, State.PR_OPEN])
def test_what_is_chosen_for_work_under_way_counts_from_the_next_job_on(state, kind):
    fields, choices = CHOSEN[kind]
    before = plan(state, WaitingOn.PERSON, **stories.APPROVED)
    step = put(before, said(kind, **fields))
    assert (step.plan.state, step.plan.choices, step.plan.plan_approval) == (state, choices, before.plan_approval)
    assert keys(step) == [STATUS]


def test_a_plan_that_is_being_written_takes_the_choice_without_a_new_revision():
    before = plan(State.DRAFT, WaitingOn.RUNNER, job=stories.job(JobKind.PLAN, Unit.UPDATE_PLAN))
    step = put(before, said(ev.AgentChosen, agent=CODEX))
    assert (step.plan.job, step.plan.choices.agent, keys(step)) == (before.job, CODEX, [STATUS])
    hold = Hold(causes=(HoldCause.LABEL_PAUSED,), at=1.0, interrupted=before.job)
    held = before.model_copy(update={"job": None, "hold": hold})
    kept = put(held, said(ev.AgentChosen, agent=CODEX))
    assert (kept.plan.hold, keys(kept)) == (hold, [STATUS]), "the rewrite that a pause keeps from starting is not lost"


def test_a_choice_can_be_taken_back():
    before = plan(State.FAILED, WaitingOn.PERSON, choices=Choices(agent=CODEX))
    assert put(before, said(ev.AgentChosen, agent=None)).plan.choices == Choices()


def test_a_priority_is_the_plans_own():
    step = put(plan(State.APPROVED, WaitingOn.SLOT), said(ev.PriorityChosen, priority=PlanPriority.HIGH))
    assert (step.plan.state, step.plan.choices.priority, keys(step)) == (State.APPROVED, PlanPriority.HIGH, [STATUS])


def test_a_start_past_an_overlap_counts_for_one_start():
    waiting = plan(State.APPROVED, WaitingOn.OVERLAP, waits_for=("#3",), **stories.APPROVED)
    let = put(waiting, said(ev.StartRequested))
    assert let.plan.choices.past_overlap
    started = put(let.plan, ev.SlotGranted(at=1.0, source="queue", overlaps=("#3",)))
    assert (started.plan.state, started.plan.choices.past_overlap) == (State.EXECUTING, False)


def test_nothing_is_started_that_waits_for_something_else():
    before = plan(State.APPROVED, WaitingOn.SLOT)
    step = put(before, said(ev.StartRequested))
    assert unchanged(before, step)
    assert keys(step) == [":say:not_now:d-1"]


@pytest.mark.parametrize("state", list(State))
def test_the_status_is_told_in_every_state(state):
    before = plan(state, WaitingOn.PERSON)
    step = put(before, said(ev.StatusRequested))
    assert unchanged(before, step)
    assert keys(step) == [":say:status:d-1", STATUS]


@pytest.mark.parametrize("state", list(State))
def test_the_costs_are_told_in_every_state_where_they_were_asked_for(state):
    before = plan(state, WaitingOn.PERSON)
    step = put(before, said(ev.CostsRequested, repo=before.repo, month=7.0))
    assert unchanged(before, step)
    (told,) = step.effects
    assert told == fx.TellCosts(key="say:costs:d-1", repo=before.repo, issue_number=before.thread, to=ALICE, month=7.0)
    elsewhere = put(before, said(ev.CostsRequested, repo=before.repo, month=7.0, thread=99))
    assert [effect.issue_number for effect in elsewhere.effects] == [99]


# refusals

EXTRA = {
    ev.UpdateRequested: {"text": "x"},
    ev.Answered: {"answers": ()},
    ev.PriorityChosen: {"priority": PlanPriority.LOW},
    ev.DependsChosen: {"depends_on": (7,)},
    ev.RecommendationsAccepted: {"numbers": (1,)},
    ev.LessonsAdopted: {"numbers": (1,)},
    **{kind: fields for kind, (fields, _) in CHOSEN.items()},
}
REFUSED = [
    (state, event)
    for (state, event), rule in TABLE.items()
    if rule.answered
]  # fmt: skip


@pytest.mark.parametrize(("state", "kind"), REFUSED, ids=[f"{s}-{e.__name__}" for s, e in REFUSED])
def test_who_says_what_can_not_be_now_is_told_why(state, kind):
    before = plan(state, WaitingOn.PERSON)
    step = put(before, said(kind, **EXTRA.get(kind, {})))
    assert unchanged(before, step)
    (told,) = step.effects
    assert isinstance(told, fx.Say)
    assert (told.topic, told.to, told.details) == (fx.Topic.NOT_NOW, ALICE, {"why": TABLE[state, kind].why})
    silent = put(before, said(kind, via=Via.REACTION, **EXTRA.get(kind, {})))
    assert (silent.effects, silent.note) == ((), told.details["why"])


@pytest.mark.parametrize("state", list(State))
def test_a_second_request_changes_nothing_and_is_journalled(state):
    before = plan(state, WaitingOn.PERSON)
    step = put(before, makers.requested())
    assert unchanged(before, step)
    assert step.effects == ()
    assert step.note == TABLE[state, ev.PlanRequested].why
