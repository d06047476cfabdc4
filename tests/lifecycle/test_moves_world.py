"""What the bot finds on GitHub and what others do there."""

from __future__ import annotations

import pytest

from bot.lifecycle import effects as fx
from bot.lifecycle import events as ev
from bot.lifecycle.choices import PlanPriority
from bot.lifecycle.plan import Person, lane, pull_lane
from bot.lifecycle.policy import parse_policy
from bot.lifecycle.states import HoldCause, State, WaitingOn
from bot.lifecycle.transitions import TABLE
from runner.contract import JobKind, Outcome
from runner.results import Unit, Verdict
from tests.lifecycle import stories
from tests.lifecycle.makers import HEAD, ISSUE, UID, document, new_plan, said
from tests.lifecycle.stepping import STATUS, keys, plan, put, unchanged

AT = {"at": 500.0, "source": "w-1"}
BOB = Person(id=12, login="bob")
OTHER = "d" * 40
UNPOSTED = stories.REVISIONS[-1].model_copy(
    update={"comment_id": None, "node_id": None, "sha256": None, "posted_at": None}
)
POSTING = plan(State.DRAFT, WaitingOn.BOT, revisions=(stories.REVISIONS[0], UNPOSTED))
AT_PLAN_GATE = plan(State.DRAFT, WaitingOn.PLAN_DECISION)
APPROVED = plan(State.APPROVED, WaitingOn.SLOT, **stories.APPROVED)
EXECUTING = plan(State.EXECUTING, WaitingOn.RUNNER, job=stories.job(), **stories.APPROVED)
UNSHOWN = stories.GREEN.model_copy(
    update={"comment_id": None, "node_id": None, "check_run_id": None, "posted_at": None}
)
READING = plan(State.VERIFYING, WaitingOn.BOT, review=UNSHOWN, **stories.APPROVED)
SHOWING = plan(State.IN_REVIEW, WaitingOn.BOT, review=UNSHOWN, branch_head=HEAD, **stories.APPROVED)
AT_DIFF_GATE = plan(State.IN_REVIEW, WaitingOn.DIFF_DECISION, **stories.REVIEWED)
DIFF_APPROVED = plan(State.IN_REVIEW, WaitingOn.BOT, diff_approval=stories.DIFF_APPROVAL, **stories.REVIEWED)
PR_OPEN = plan(State.PR_OPEN, WaitingOn.MERGE, **stories.DONE)


def posted(revision: int) -> ev.PlanPosted:
    return ev.PlanPosted(**AT, revision=revision, comment_id=990, node_id="IC_9", sha256="9" * 64, posted_at=480.0)


def test_a_branch_that_reads_back_as_before_the_push_is_no_confirmation():
    before = plan(State.VERIFYING, WaitingOn.BOT, review=UNSHOWN, branch_head=OTHER, **stories.APPROVED)
    step = put(before, ev.BranchMoved(**AT, head=OTHER))
    assert (step.plan.state, step.plan.failure.outcome) == (State.FAILED, Outcome.BRANCH_MOVED)
    at_work = before.model_copy(update={"job": stories.job(), "waiting_on": WaitingOn.RUNNER})
    assert put(at_work, ev.BranchMoved(**AT, head=OTHER)).note == "the branch is where it should be"


# posted


@pytest.mark.parametrize(
    ("verdict", "waits"),
    [
        (Verdict.PLAN, WaitingOn.PLAN_DECISION),
        (Verdict.NEEDS_INFORMATION, WaitingOn.ANSWERS),
        (Verdict.ALREADY_DONE, WaitingOn.PERSON),
        (Verdict.REFUSE, WaitingOn.PERSON),
    ],
)
def test_a_posted_plan_waits_for_what_its_verdict_asks(verdict, waits):
    revision = UNPOSTED.model_copy(update={"document": document(verdict)})
    step = put(POSTING.model_copy(update={"revisions": (revision,)}), posted(2))
    assert (step.plan.state, step.plan.waiting_on) == (State.DRAFT, waits)
    now = step.plan.revision
    assert (now.comment_id, now.node_id, now.sha256, now.posted_at) == (990, "IC_9", "9" * 64, 480.0)
    assert keys(step) == [STATUS]


def test_a_comment_that_is_known_is_not_replaced():
    step = put(AT_PLAN_GATE, posted(2))
    assert unchanged(AT_PLAN_GATE, step)
    assert keys(step) == []


@pytest.mark.parametrize(
    ("before", "revision"),
    [
        pytest.param(POSTING, 1, id="an older revision"),
        pytest.param(POSTING.model_copy(update={"revisions": ()}), 1, id="no revision"),
        pytest.param(POSTING.model_copy(update={"waiting_on": WaitingOn.RUNNER}), 2, id="rewritten meanwhile"),
        pytest.param(POSTING.model_copy(update={"state": State.CANCELLED, "waiting_on": None}), 2, id="cancelled"),
    ],
)
def test_a_late_comment_is_noted_and_asks_nobody(before, revision):
    step = put(before, posted(revision))
    assert (step.plan.state, step.plan.waiting_on) == (before.state, before.waiting_on)
    assert (keys(step), step.note) == ([], f"comment of revision {revision} noted")


def test_the_status_comment_is_remembered():
    step = put(AT_PLAN_GATE, ev.StatusPosted(**AT, comment_id=77))
    assert (step.plan.status_comment_id, keys(step)) == (77, [])


def test_a_branch_read_back_as_verified_is_shown():
    step = put(READING, ev.BranchConfirmed(**AT, head=HEAD))
    assert (step.plan.state, step.plan.waiting_on, step.plan.branch_head) == (State.IN_REVIEW, WaitingOn.BOT, HEAD)
    assert keys(step) == [":review:2", STATUS]


@pytest.mark.parametrize("before", [READING, READING.model_copy(update={"review": None})])
def test_the_read_back_of_an_older_push_shows_nothing(before):
    step = put(before, ev.BranchConfirmed(**AT, head=OTHER))
    assert unchanged(before, step)
    assert keys(step) == []


def test_a_posted_review_is_up_for_decision():
    event = ev.ReviewPosted(**AT, head=HEAD, comment_id=950, node_id="IC_5", check_run_id=6, posted_at=490.0)
    step = put(SHOWING, event)
    assert step.plan.waiting_on is WaitingOn.DIFF_DECISION
    shown = step.plan.review
    assert (shown.comment_id, shown.node_id, shown.check_run_id, shown.posted_at) == (950, "IC_5", 6, 490.0)
    assert keys(step) == [STATUS]
    for other in (step.plan, SHOWING.model_copy(update={"review": None})):
        assert keys(put(other, event)) == []
    assert keys(put(SHOWING, event.model_copy(update={"head": OTHER}))) == []


# between the diff gate and the pull request


def test_where_nothing_can_conflict_the_pull_request_opens():
    step = put(DIFF_APPROVED, ev.BaseChecked(**AT, head=HEAD, clean=True))
    assert (keys(step), step.note) == ([f":pr:{step.plan.version}:{HEAD}"], "nothing that could conflict")


def test_where_something_can_a_runner_tries_the_merge():
    step = put(DIFF_APPROVED, ev.BaseChecked(**AT, head=HEAD, clean=False))
    assert (step.plan.state, step.plan.waiting_on) == (State.IN_REVIEW, WaitingOn.RUNNER)
    assert (step.plan.job.kind, step.plan.job.unit, step.plan.job.head) == (JobKind.CHECK_BASE, None, HEAD)
    assert keys(step) == ["-4:dispatch", STATUS]


@pytest.mark.parametrize(
    ("before", "head"), [(AT_DIFF_GATE, HEAD), (DIFF_APPROVED, OTHER)], ids=["no approval", "another commit"]
)
def test_without_an_approval_of_this_commit_nothing_opens(before, head):
    step = put(before, ev.BaseChecked(**AT, head=head, clean=True))
    assert (keys(step), step.note) == ([], "no approval for this commit any more")


def test_an_open_pull_request_is_out_of_our_hands():
    step = put(DIFF_APPROVED, ev.PullRequestOpened(**AT, number=34, url="https://github.com/acme/shop/pull/34"))
    assert (step.plan.state, step.plan.waiting_on, step.plan.pull_request) == (State.PR_OPEN, WaitingOn.MERGE, 34)
    assert keys(step) == [":check:2:8", STATUS]
    assert step.effects[0].conclusion == "success"


# voided


@pytest.mark.parametrize("what", ["plan_comment", "policy"])
@pytest.mark.parametrize("before", [APPROVED, EXECUTING], ids=["queued", "dispatching"])
def test_an_approval_void_at_use_asks_anew(before, what):
    policy = parse_policy("gates: [{name: other, run: 'true'}]") if what == "policy" else None
    step = put(before, ev.ApprovalVoid(**AT, what=what, policy=policy))
    assert (step.plan.state, step.plan.plan_approval, step.plan.job) == (State.DRAFT, None, None)
    assert step.plan.policy == (policy or before.policy)
    assert step.plan.revision.gates == step.plan.policy.gates
    stops = ["-3:stop"] if before.job else []
    assert keys(step) == [":say:approval_void:w-1", *stops, ":plan:3", ":superseded:2", STATUS]
    assert step.effects[0].details == {"what": what}


def test_recognised_checks_stay_when_the_policy_names_none():
    from bot.lifecycle.policy import Policy

    step = put(APPROVED, ev.ApprovalVoid(**AT, what="policy", policy=Policy()))
    assert step.plan.revision.gates == stories.POLICY.gates


@pytest.mark.parametrize("before", [AT_PLAN_GATE, APPROVED], ids=["up for decision", "approved"])
def test_a_changed_plan_comment_is_posted_again(before):
    step = put(before, ev.PlanCommentChanged(**AT, by=BOB))
    assert (step.plan.state, step.plan.waiting_on, step.plan.plan_approval) == (State.DRAFT, WaitingOn.BOT, None)
    assert keys(step) == [":say:approval_void:w-1", ":plan:3", ":superseded:2", STATUS]
    assert step.effects[0].to == BOB


def test_a_comment_that_is_being_replaced_may_change():
    before = plan(State.DRAFT, WaitingOn.RUNNER, job=stories.job(JobKind.PLAN, Unit.UPDATE_PLAN))
    step = put(before, ev.PlanCommentChanged(**AT, by=BOB))
    assert unchanged(before, step)
    assert keys(step) == []


EDITED = ev.IssueEdited(**AT, sha256="9" * 64)


def test_an_edited_issue_is_said_once():
    step = put(AT_DIFF_GATE, EDITED)
    assert (step.plan.state, step.plan.issue_stale) == (State.IN_REVIEW, True)
    assert keys(step) == [":say:issue_edited:w-1", STATUS]
    again = put(step.plan, EDITED)
    assert (keys(again), again.note) == ([], "stale already")
    back = put(step.plan, ev.IssueEdited(**AT, sha256=ISSUE.sha256))
    assert (back.plan.issue_stale, keys(back)) == (False, [])


def test_an_issue_edited_before_the_approval_was_used_is_asked_anew():
    step = put(APPROVED, EDITED)
    assert (step.plan.state, step.plan.plan_approval, step.plan.issue_stale) == (State.DRAFT, None, True)
    assert keys(step) == [":say:issue_edited:w-1", ":plan:3", ":superseded:2", STATUS]


# the branch


@pytest.mark.parametrize("before", [AT_DIFF_GATE, READING], ids=["in review", "before it was read back"])
@pytest.mark.parametrize("head", [OTHER, None], ids=["pushed to", "deleted"])
def test_a_branch_that_moved_before_the_pull_request_is_a_persons_to_decide(before, head):
    step = put(before, ev.BranchMoved(**AT, head=head, by=BOB))
    assert (step.plan.state, step.plan.failure.outcome, step.plan.branch_head) == (
        State.FAILED,
        Outcome.BRANCH_MOVED,
        head,
    )
    assert keys(step)[-1] == ":say:branch_moved:w-1"
    assert step.effects[-1].details == {"head": head or ""}


def test_a_branch_where_it_should_be_has_not_moved():
    for before in (AT_DIFF_GATE, READING, PR_OPEN):
        step = put(before, ev.BranchMoved(**AT, head=HEAD))
        assert unchanged(before, step)
        assert keys(step) == []


# refused effects


@pytest.mark.parametrize(
    ("before", "effect", "job", "during"),
    [
        (EXECUTING, "dispatch", f"{UID}-3", JobKind.EXECUTE),
        (POSTING, "post_plan", None, JobKind.PLAN),
        (READING, "read_back", None, JobKind.EXECUTE),
        (SHOWING, "post_review", None, JobKind.EXECUTE),
        (DIFF_APPROVED, "check_base", None, JobKind.CHECK_BASE),
        (DIFF_APPROVED, "open_pull_request", None, JobKind.CHECK_BASE),
    ],
)
def test_a_refused_effect_that_the_plan_needs_fails_it(before, effect, job, during):
    step = put(before, ev.EffectFailed(**AT, effect=effect, job=job, sentence="GitHub said no."))
    assert (step.plan.state, step.plan.failure.during) == (State.FAILED, during)
    assert step.plan.failure.sentence == "GitHub said no."


@pytest.mark.parametrize(
    ("before", "effect", "job"),
    [
        pytest.param(EXECUTING, "dispatch", f"{UID}-2", id="another job's dispatch"),
        pytest.param(APPROVED, "dispatch", f"{UID}-3", id="no job is open"),
        pytest.param(AT_DIFF_GATE, "post_plan", None, id="nothing waits for it"),
        pytest.param(DIFF_APPROVED, "say", None, id="an answer"),
    ],
)
def test_other_refusals_are_journalled(before, effect, job):
    step = put(before, ev.EffectFailed(**AT, effect=effect, job=job, sentence="GitHub said no."))
    assert unchanged(before, step)
    assert (keys(step), step.note) == ([], f"{effect} was refused: GitHub said no.")


# ends


def test_what_is_gone_ends_without_a_word():
    step = put(EXECUTING, ev.Gone(**AT, what="the issue"))
    assert (step.plan.state, keys(step), step.note) == (State.CANCELLED, ["-3:stop"], "the issue was deleted")


# held

CLOSED = ev.HoldPlaced(**AT, cause=HoldCause.ISSUE_CLOSED, by=BOB)
UNLABELLED = ev.HoldPlaced(**AT, cause=HoldCause.LABEL_REMOVED, by=BOB)
REOPENED = ev.HoldLifted(**AT, cause=HoldCause.ISSUE_CLOSED)
LABELLED = ev.HoldLifted(**AT, cause=HoldCause.LABEL_REMOVED)


def test_a_held_plan_stands_still_and_goes_on_with_what_was_interrupted():
    held = put(EXECUTING, CLOSED)
    assert (held.plan.state, held.plan.job) == (State.EXECUTING, None)
    assert (held.plan.hold.causes, held.plan.hold.by) == ((HoldCause.ISSUE_CLOSED,), BOB)
    assert (keys(held), held.note) == (["-3:stop", STATUS], "held: issue_closed")
    lifted = put(held.plan, REOPENED)
    assert (lifted.plan.hold, lifted.plan.job.kind) == (None, JobKind.EXECUTE)
    assert keys(lifted) == ["-4:dispatch", ":status:9"]


def test_it_goes_on_only_when_no_cause_is_left():
    twice = put(AT_PLAN_GATE, CLOSED, UNLABELLED, CLOSED)
    assert twice.plan.hold.causes == (HoldCause.ISSUE_CLOSED, HoldCause.LABEL_REMOVED)
    half = put(twice.plan, REOPENED)
    assert (half.plan.hold.causes, half.note) == ((HoldCause.LABEL_REMOVED,), "still held: label_removed")
    whole = put(half.plan, LABELLED)
    assert (whole.plan.hold, whole.note) == (None, "goes on")


@pytest.mark.parametrize("before", [AT_PLAN_GATE, put(AT_PLAN_GATE, CLOSED).plan], ids=["not held", "for another"])
def test_what_did_not_hold_it_lifts_nothing(before):
    step = put(before, LABELLED)
    assert unchanged(before, step)
    assert (keys(step), step.note) == ([], "not held for that")


STEERING = [
    *(said(kind) for kind in (ev.Approved, ev.RetryRequested, ev.ReopenRequested, ev.Shelved, ev.Thawed)),
    said(ev.UpdateRequested, text="x"),
    said(ev.AgentChosen, agent=None),
    said(ev.BudgetChosen, budget=None),
    said(ev.PriorityChosen, priority=PlanPriority.HIGH),
    said(ev.DependsChosen, depends_on=(7,)),
    said(ev.StartRequested),
]


@pytest.mark.parametrize("event", STEERING, ids=lambda event: event.type)
def test_nobody_steers_a_held_plan(event):
    held = put(AT_PLAN_GATE, CLOSED).plan
    step = put(held, event)
    assert unchanged(held, step)
    (told,) = step.effects
    assert (told.topic, told.details) == (fx.Topic.PLAN_HELD, {"cause": HoldCause.ISSUE_CLOSED})


@pytest.mark.parametrize(("kind", "state"), [(ev.Rejected, State.REJECTED), (ev.CancelRequested, State.CANCELLED)])
def test_anybody_who_may_ends_a_held_plan(kind, state):
    step = put(put(EXECUTING, CLOSED).plan, said(kind))
    assert (step.plan.state, step.plan.hold) == (state, None)


@pytest.mark.parametrize("event", [ev.SlotGranted(**AT), ev.QueueWaits(**AT, on=WaitingOn.SLOT)])
def test_the_queue_passes_a_held_plan_by(event):
    held = put(APPROVED, CLOSED).plan
    step = put(held, event)
    assert unchanged(held, step)
    assert (keys(step), step.note) == ([], "held: issue_closed")


def test_a_held_plan_whose_approval_became_void_does_not_go_on_with_the_work():
    held = put(EXECUTING, CLOSED, ev.ApprovalVoid(**AT, what="plan_comment"))
    assert held.plan.state is State.DRAFT
    lifted = put(held.plan, REOPENED)
    assert (lifted.plan.state, lifted.plan.job) == (State.DRAFT, None)
    assert not [effect for effect in lifted.effects if isinstance(effect, fx.Dispatch)]


def test_a_held_plan_that_failed_meanwhile_stays_failed():
    merging = plan(
        State.IN_REVIEW,
        WaitingOn.RUNNER,
        job=stories.job(JobKind.CHECK_BASE, None, head=HEAD),
        diff_approval=stories.DIFF_APPROVAL,
        **stories.REVIEWED,
    )
    step = put(merging, CLOSED, ev.BranchMoved(**AT, head=OTHER), REOPENED)
    assert (step.plan.state, step.plan.waiting_on, step.plan.job) == (State.FAILED, WaitingOn.PERSON, None)


@pytest.mark.parametrize("clean", [True, False])
def test_a_diff_compared_while_the_plan_is_held_is_compared_again_afterwards(clean):
    held = put(DIFF_APPROVED, CLOSED)
    checked = put(held.plan, ev.BaseChecked(**AT, head=HEAD, clean=clean))
    assert (keys(checked), checked.plan.job) == ([], None)
    lifted = put(checked.plan, REOPENED)
    assert keys(lifted) == [f":base:10:{HEAD}", ":status:10"]


def test_a_pull_request_that_opened_all_the_same_is_held_no_longer():
    held = put(DIFF_APPROVED, CLOSED)
    step = put(held.plan, ev.PullRequestOpened(**AT, number=34, url="https://github.com/acme/shop/pull/34"))
    assert (step.plan.state, step.plan.hold) == (State.PR_OPEN, None)


# paused

PAUSE = ev.HoldPlaced(**AT, cause=HoldCause.LABEL_PAUSED, by=BOB)
RESUME = ev.HoldLifted(**AT, cause=HoldCause.LABEL_PAUSED)
NOT_DISPATCHED = EXECUTING.model_copy(update={"job": EXECUTING.job.model_copy(update={"run_id": None})})


def test_a_pause_lets_work_end_that_has_a_run():
    paused = put(EXECUTING, PAUSE)
    assert (paused.plan.job, paused.plan.hold.interrupted) == (EXECUTING.job, None)
    assert (paused.plan.frozen, keys(paused)) == (False, [STATUS])
    resumed = put(paused.plan, RESUME)
    assert (resumed.plan.job, resumed.plan.hold, keys(resumed)) == (EXECUTING.job, None, [":status:9"])


def test_a_pause_takes_back_what_has_no_run_yet():
    paused = put(NOT_DISPATCHED, PAUSE)
    assert (paused.plan.job, paused.plan.hold.interrupted) == (None, NOT_DISPATCHED.job)
    assert keys(paused) == ["-3:stop", STATUS]
    assert keys(put(paused.plan, RESUME)) == ["-4:dispatch", ":status:9"]


@pytest.mark.parametrize(("first", "second"), [(PAUSE, CLOSED), (CLOSED, PAUSE)], ids=["pause first", "pause second"])
def test_what_freezes_a_paused_plan_stops_its_work_and_the_pause_outlasts_it(first, second):
    both = put(EXECUTING, first, second)
    assert (both.plan.frozen, both.plan.job, both.plan.hold.interrupted) == (True, None, EXECUTING.job)
    told = put(both.plan, said(ev.UpdateRequested, text="x"))
    assert told.effects[0].details == {"cause": HoldCause.ISSUE_CLOSED}
    left = put(both.plan, REOPENED)
    assert (left.plan.frozen, left.plan.job, keys(left)) == (False, None, [":status:10"])
    assert keys(put(left.plan, RESUME)) == ["-4:dispatch", ":status:11"]


def test_people_decide_on_a_paused_plan_and_what_follows_begins_after_the_pause():
    asked = put(put(AT_PLAN_GATE, PAUSE).plan, said(ev.UpdateRequested, text="smaller"))
    assert (asked.plan.state, asked.plan.waiting_on, asked.plan.job) == (State.DRAFT, WaitingOn.RUNNER, None)
    assert keys(asked) == [":status:9"]
    begun = put(asked.plan, RESUME)
    assert begun.plan.job.unit is Unit.UPDATE_PLAN
    assert [feedback.text for feedback in begun.plan.feedback] == ["smaller"]
    assert put(asked.plan, said(ev.CancelRequested)).plan.hold is None


def test_a_job_lost_in_a_pause_is_tried_again_after_it():
    lost = put(EXECUTING, PAUSE, ev.JobLost(**AT, job=EXECUTING.job.id, sentence="silent"))
    assert (lost.plan.job, lost.plan.hold.interrupted.lost_before) == (None, True)
    assert not any(isinstance(effect, fx.Dispatch) for effect in lost.effects)
    assert put(lost.plan, RESUME).plan.job.lost_before


@pytest.mark.parametrize("cause", [HoldCause.POLICY_PAUSED, HoldCause.LABEL_PAUSED])
def test_a_pause_reaches_a_plan_whose_pull_request_is_open(cause):
    paused = put(PR_OPEN, ev.HoldPlaced(**AT, cause=cause))
    assert (paused.plan.state, paused.plan.hold.causes) == (State.PR_OPEN, (cause,))
    assert put(paused.plan, ev.HoldLifted(**AT, cause=cause)).plan.hold is None
    frozen = put(PR_OPEN, CLOSED)
    assert unchanged(PR_OPEN, frozen)
    assert frozen.note == "nothing is held: its pull request goes on by itself"


def test_a_pull_request_that_opens_in_a_pause_stays_paused():
    step = put(DIFF_APPROVED, PAUSE, ev.PullRequestOpened(**AT, number=34, url="https://github.com/acme/shop/pull/34"))
    assert (step.plan.state, step.plan.hold.causes) == (State.PR_OPEN, (HoldCause.LABEL_PAUSED,))


def test_a_plan_that_begins_in_a_pause_begins_nothing():
    pauses = (HoldCause.POLICY_PAUSED,)
    new = new_plan(pauses=pauses)
    assert (new.state, new.job, new.hold.causes, new.hold.interrupted.unit) == (
        State.DRAFT,
        None,
        pauses,
        Unit.CREATE_PLAN,
    )
    ended = plan(State.CANCELLED, None)
    again = put(ended, said(ev.ReopenRequested, pauses=pauses))
    assert (again.plan.state, again.plan.hold.causes) == (State.DRAFT, pauses)
    assert put(ended, said(ev.ReopenRequested)).plan.hold is None


# pairs that change nothing

EXTRA = {
    ev.BranchConfirmed: {"head": HEAD},
    ev.CiReported: {"head": HEAD, "checks": ()},
    ev.CiDue: {"head": HEAD},
    ev.ReviewPosted: {"head": HEAD, "comment_id": 1, "node_id": "n", "check_run_id": None, "posted_at": 1.0},
    ev.BaseChecked: {"head": HEAD, "clean": True},
    ev.PullRequestQueued: {"queued": True},
    ev.BranchAdvanced: {"head": HEAD},
    ev.IssueMade: {"job": "x-1", "number": 1},
    ev.PullRequestOpened: {"number": 1, "url": "https://github.com/acme/shop/pull/1"},
    ev.ApprovalVoid: {"what": "policy"},
    ev.EffectFailed: {"effect": "post_plan", "sentence": "no"},
    ev.QueueWaits: {"on": WaitingOn.SLOT},
    ev.IssueEdited: {"sha256": "9" * 64},
    ev.BranchMoved: {"head": OTHER},
    ev.HoldPlaced: {"cause": HoldCause.PAUSED},
    ev.HoldLifted: {"cause": HoldCause.PAUSED},
    ev.Gone: {"what": "the issue"},
    ev.DependencyEnded: {"issue": 7, "how": State.REJECTED},
}
STAYS = [
    (state, event)
    for (state, event), rule in TABLE.items()
    if rule.move is None and not issubclass(event, ev.HumanEvent | ev.PlanRequested | ev.JobEvent)
]


@pytest.mark.parametrize(("state", "kind"), STAYS, ids=[f"{s}-{e.__name__}" for s, e in STAYS])
def test_what_comes_too_late_or_too_early_is_journalled(state, kind):
    before = plan(state, WaitingOn.PERSON)
    step = put(before, kind(**AT, **EXTRA.get(kind, {})))
    assert unchanged(before, step)
    assert (step.effects, step.note) == ((), TABLE[state, kind].why)


def test_a_pull_request_without_any_work_of_the_plan_is_not_taken_for_its_own():
    before = plan(State.FAILED, WaitingOn.PERSON, failure=stories.FAILURE)
    step = put(before, ev.PullRequestOpened(at=9.0, source="d-1", number=3, url="http://x/3"))
    assert unchanged(before, step)
    assert step.note == "no work of this plan is offered"


def test_a_pull_request_of_people_has_a_lane_of_its_own():
    assert pull_lane(500, 7) == "pull:500:7"
    assert pull_lane(500, 7) != lane(500, 7)
