"""The product on one page: what each event does to a plan in each state.

``TABLE`` holds every pair of state and event. A row names one event; its cells say in which states it makes which
move and where that can lead, and for all other states why nothing happens:

* ``go(states, move, to=...)``   the move is made; ``to`` lists every state it can lead to.
* ``at(states, move, to=...)``   the same, and it may as well leave the plan where it is.
* ``refuse(states, why)``        nothing changes, and a person who said it in words is told why.
* ``stay(states, why)``          nothing changes; the journal says why.

While a plan works on for its open pull request, the few pairs of :mod:`bot.lifecycle.rework` hold in their place.
Three rules stand before the table, in :func:`transition`: an event of a job that is not the plan's open one is late
and changes nothing; while a plan is held other than by a pause, or its parts are being made, nobody steers it, but
anybody may end it; and a move never skips a version.
"""

from __future__ import annotations

from typing import get_args

from bot.lifecycle import effects as fx
from bot.lifecycle import events as ev
from bot.lifecycle.moves import (
    ci,
    diff,
    jobs,
    lessons,
    people,
    pulls,
    queue,
    recommendations,
    rework,
    shaping,
    spending,
    split,
    world,
)
from bot.lifecycle.moves.common import Step, answer, changed, moved, post_revision, show_status, start_planning
from bot.lifecycle.plan import Hold, Learned, Part, Plan, Revision
from bot.lifecycle.rework import REWORK
from bot.lifecycle.rules import Cells, Rule, at, complete, go, refuse, stay
from bot.lifecycle.states import PAUSES, State, Via

EVENTS: tuple[type, ...] = get_args(get_args(ev.Event)[0])
"""Every kind of event."""


D, A, X, V, R, P = (
    State.DRAFT,
    State.APPROVED,
    State.EXECUTING,
    State.VERIFYING,
    State.IN_REVIEW,
    State.PR_OPEN,
)
M, F, I, N, C, S = (  # noqa: E741 - one letter a state keeps the table a table
    State.MERGED,
    State.FAILED,
    State.ICEBOX,
    State.REJECTED,
    State.CANCELLED,
    State.SPLIT,
)
ALL = frozenset(State)
OPEN = ALL - {M, N, C, S}
BEFORE_PR = OPEN - {P}
WORKING = frozenset({X, V})
HAS_JOBS = WORKING | {D, R}

NEW_TRY = "it has ended; a new request starts a new try"
UNDER_WAY = "it is under way"
PR_DECIDES = "its pull request is open: review, close or merge it there"
PR_REVISES = "its pull request is open; /revise there changes the work"
ENDED = "it has ended"
FINISHED = f"{ENDED}; /plan starts a new try"
NO_JOB = "no job is open here"
BEING_SPLIT = "it is being split, which takes seconds; each part then asks for its own decision"
LEARNS = "what it learns becomes part of its own branch; what is left of it after a rejection or the merge can be kept"
REOPENABLE = "it has ended; /reopen brings it back"

ROWS: dict[type, tuple[Cells, ...]] = {
    # what people say
    ev.PlanRequested: (stay(OPEN, "a plan of this issue exists"), stay(ALL - OPEN, NEW_TRY)),
    ev.Approved: (
        at(D, people.approve_plan, to=A),
        at(R, people.approve_diff, to=F),
        refuse(A, "it is approved already and waits its turn"),
        refuse(WORKING, f"{UNDER_WAY}; the diff is yours to decide once it is verified"),
        refuse(F, "it failed; /retry, /update or /reject it"),
        refuse(I, "it is in the icebox"),
        refuse(P, PR_DECIDES),
        refuse({N, C}, REOPENABLE),
        refuse({M, S}, FINISHED),
    ),
    ev.Rejected: (
        go(BEFORE_PR, people.reject, to=N),
        refuse(P, PR_DECIDES),
        refuse({M, S}, FINISHED),
        at(N, pulls.give_reason),
        stay(C, "it has ended already"),
    ),
    ev.UpdateRequested: (
        go(BEFORE_PR - {I}, shaping.update, to=D),
        refuse(I, "it is in the icebox"),
        refuse(P, PR_REVISES),
        refuse({N, C}, REOPENABLE),
        refuse({M, S}, FINISHED),
    ),
    ev.ExpandRequested: (
        at({D, A, F}, shaping.expand, to=D),
        refuse(WORKING | {R}, "the work of this plan is under way or done; /update has it rewritten and starts over"),
        refuse(I, "it is in the icebox"),
        refuse(P, PR_REVISES),
        refuse({N, C}, REOPENABLE),
        refuse({M, S}, FINISHED),
    ),
    ev.SplitRequested: (
        at(BEFORE_PR - {I}, shaping.split, to=D),
        refuse(I, "it is in the icebox"),
        refuse(P, PR_REVISES),
        refuse({N, C}, REOPENABLE),
        refuse({M, S}, FINISHED),
    ),
    ev.Answered: (
        at(D, shaping.take_answers),
        refuse(OPEN - {D}, "the plan asks nothing now"),
        refuse({N, C}, REOPENABLE),
        refuse({M, S}, FINISHED),
    ),
    ev.RetryRequested: (
        go(F, people.retry, to={D, A, R, V}),
        refuse({D, A, R, I}, "nothing of it has failed"),
        refuse(WORKING, UNDER_WAY),
        refuse(P, PR_REVISES),
        refuse({N, C}, REOPENABLE),
        refuse({M, S}, FINISHED),
    ),
    ev.ReviseRequested: (
        at(R, diff.revise, to=X),
        refuse({D, A, I}, "there is no work to revise yet; /update rewrites the plan"),
        refuse(WORKING, f"{UNDER_WAY}; the work can be revised once its diff is up for decision"),
        refuse(F, "it failed; /retry takes words for the agent"),
        at(P, rework.revise, to=X),
        refuse({N, C}, REOPENABLE),
        refuse({M, S}, FINISHED),
    ),
    ev.FixRequested: (
        at(P, rework.fix, to=X),
        refuse({D, A, I}, "there is no pull request yet; /fix mends what fails on one"),
        refuse(WORKING, UNDER_WAY),
        refuse(R, "/fix mends what fails on a pull request; /revise changes this diff"),
        refuse(F, "it failed; /retry takes words for the agent"),
        refuse({N, C}, REOPENABLE),
        refuse({M, S}, FINISHED),
    ),
    ev.RecommendationsAccepted: (
        at({P, M}, recommendations.accept),
        refuse(BEFORE_PR, "what the agent recommends can be accepted once the pull request is open"),
        refuse({N, C}, REOPENABLE),
        refuse(S, ENDED),
    ),
    ev.LessonsAdopted: (
        at({N, M}, lessons.remember),
        refuse(OPEN, LEARNS),
        refuse({C, S}, f"{ENDED}; what rejected and merged plans learned can be kept"),
    ),
    ev.CancelRequested: (
        go(BEFORE_PR, people.cancel, to=C),
        refuse(P, PR_DECIDES),
        refuse(ALL - OPEN, ENDED),
    ),
    ev.ReopenRequested: (
        go({N, C}, people.reopen, to=D),
        refuse(OPEN, "it has not ended"),
        refuse({M, S}, "it is finished; /plan starts a new try"),
    ),
    ev.StatusRequested: (at(ALL, people.tell_status),),
    ev.CostsRequested: (at(ALL, people.tell_costs),),
    ev.Shelved: (
        go({D, A, F}, people.shelve, to=I),
        refuse(WORKING | {R}, f"{UNDER_WAY}; /cancel it first"),
        refuse(P, PR_DECIDES),
        refuse(I, "it is in the icebox already"),
        refuse(ALL - OPEN, ENDED),
    ),
    ev.Thawed: (go(I, people.thaw, to=D), refuse(ALL - {I}, "it is not in the icebox")),
    ev.AgentChosen: (
        at({D, F, I, R, P} | WORKING, people.choose_agent),
        at(A, people.choose_agent, to=D),
        refuse(ALL - OPEN, ENDED),
    ),
    ev.BudgetChosen: (
        at({D, F, I, R, P} | WORKING, people.choose_budget),
        at(A, people.choose_budget, to=D),
        refuse(ALL - OPEN, ENDED),
    ),
    ev.PriorityChosen: (at(OPEN, people.choose_priority), refuse(ALL - OPEN, ENDED)),
    ev.DependsChosen: (
        at({D, A, F, I}, queue.choose_dependencies),
        refuse(WORKING | {R, P}, "its work has begun; what it waits for is chosen before that"),
        refuse(ALL - OPEN, ENDED),
    ),
    ev.StartRequested: (
        at(A, people.start_past_overlap),
        refuse({D, I}, "it is not approved yet"),
        refuse(WORKING, UNDER_WAY),
        refuse({F, R, P}, "it does not wait to be started"),
        refuse(ALL - OPEN, ENDED),
    ),
    # what a job's life brings; transition() has made sure that the job is the open one
    ev.JobDispatched: (at(HAS_JOBS, jobs.dispatched), stay(ALL - HAS_JOBS, NO_JOB)),
    ev.JobClaimed: (at(HAS_JOBS, jobs.claimed), stay(ALL - HAS_JOBS, NO_JOB)),
    ev.JobProgressed: (
        go(WORKING, jobs.progressed, to=WORKING),
        stay(ALL - WORKING, "its phase moves nothing here"),
    ),
    ev.PlanWritten: (at(D, jobs.plan_written, to=F), stay(ALL - {D}, "only a draft takes a plan")),
    ev.SplitWritten: (at(D, split.split_written, to=F), stay(ALL - {D}, "only a draft is split")),
    ev.IssueWritten: (stay(ALL, "no recommendation waits for it"),),
    ev.WorkVerified: (
        go(WORKING, jobs.work_verified, to={V, F}),
        stay(ALL - WORKING, "only a plan under way takes work"),
    ),
    ev.BaseReported: (
        at(R, jobs.base_reported, to={X, F}),
        stay(ALL - {R}, "only an approved diff is merged on trial"),
    ),
    ev.JobFailed: (go(HAS_JOBS, jobs.job_failed, to=F), stay(ALL - HAS_JOBS, NO_JOB)),
    ev.JobLost: (
        at({D, R}, jobs.job_lost, to=F),
        go(WORKING, jobs.job_lost, to={X, F}),
        stay(ALL - HAS_JOBS, NO_JOB),
    ),
    # what the bot's own effects found
    ev.PlanPosted: (at(ALL, world.plan_posted),),
    ev.StatusPosted: (at(ALL, world.status_posted),),
    ev.BranchConfirmed: (at(V, ci.branch_confirmed, to=R), stay(ALL - {V}, "nothing waits for it")),
    ev.CiReported: (
        at(V, ci.ci_reported, to={R, F}),
        at(R, ci.ci_reported),
        at(P, rework.mend, to=X),
        stay(ALL - {V, R, P}, "no pushed commit waits for checks or is in review"),
    ),
    ev.CiDue: (at({V, P}, ci.ci_due), stay(ALL - {V, P}, "nothing waits for checks")),
    ev.ReviewPosted: (at(R, world.review_posted), stay(ALL - {R}, "no longer in review")),
    ev.BaseChecked: (at(R, world.base_checked), stay(ALL - {R}, "no longer in review")),
    ev.PullRequestOpened: (
        at({R, F}, pulls.opened, to=P),
        stay(ALL - {R, F}, "no longer in review"),
    ),
    ev.ApprovalVoid: (
        go(WORKING | {A}, world.approval_void, to=D),
        stay(ALL - WORKING - {A}, "no approval waits to be used"),
    ),
    ev.ChildMade: (at(D, split.child_made, to=S), at(ALL - {D}, split.child_noted)),
    ev.EffectFailed: (at(BEFORE_PR, world.effect_failed, to=F), at(ALL - BEFORE_PR, world.refusal_noted)),
    # the queue
    ev.SlotGranted: (go(A, jobs.start_execution, to=X), stay(ALL - {A}, "not in the queue")),
    ev.QueueWaits: (at(A, queue.wait), stay(ALL - {A}, "not in the queue")),
    ev.DependencyEnded: (
        at({D, A, F, I}, queue.dependency_ended),
        stay(WORKING | {R, P}, "its work has begun"),
        stay(ALL - OPEN, ENDED),
    ),
    # what others do on GitHub
    ev.PlanCommentChanged: (
        at(D, world.plan_comment_changed),
        go(A, world.plan_comment_changed, to=D),
        stay(ALL - {D, A}, "its text was compared when it was used"),
    ),
    ev.IssueEdited: (
        at(BEFORE_PR - {A}, world.issue_edited),
        at(A, world.issue_edited, to=D),
        stay(P, "its work is done"),
        stay(ALL - OPEN, ENDED),
    ),
    ev.BranchMoved: (
        at({R, V}, world.branch_moved, to=F),
        at(P, pulls.pushed),
        stay(X, "the runner compares the branch when it pushes"),
        stay({D, A, F, I}, "the branch is read again before it is used"),
        stay(ALL - OPEN, ENDED),
    ),
    ev.IssueMade: (at(ALL, recommendations.made),),
    ev.BranchAdvanced: (at(P, pulls.moved_late), stay(ALL - {P}, "no further work waits to join")),
    ev.PullRequestMerged: (go({P, N}, pulls.merged, to=M), stay(ALL - {P, N}, "no pull request is open")),
    ev.PullRequestClosed: (go(P, pulls.closed, to=N), stay(ALL - {P}, "no pull request is open")),
    ev.PullRequestReopened: (at(N, pulls.reopened, to=P), stay(ALL - {N}, "it was not closed")),
    ev.PullRequestQueued: (at(P, pulls.queued), stay(ALL - {P}, "no pull request is open")),
    ev.BranchExpired: (at(N, pulls.branch_expired), stay(ALL - {N}, "the branch is in use, or gone")),
    ev.HoldPlaced: (
        at(OPEN, world.hold),
        stay(ALL - OPEN, ENDED),
    ),
    ev.HoldLifted: (at(OPEN, world.lift), stay(ALL - OPEN, "it is not held")),
    ev.Gone: (go(OPEN, world.gone, to=C), stay(ALL - OPEN, ENDED)),
}


TABLE = complete(ROWS, EVENTS)
"""(state, event) -> rule, for every pair."""


def rule_of(plan: Plan, event: type) -> Rule:
    """Return what holds of such an event for the plan as it is."""
    beside = REWORK.get((plan.state, event)) if plan.rework is not None else None
    return beside or TABLE[plan.state, event]


STEERING = (
    *(ev.Approved, ev.UpdateRequested, ev.ExpandRequested, ev.SplitRequested, ev.Answered),
    *(
        ev.RetryRequested,
        ev.ReviseRequested,
        ev.FixRequested,
        ev.RecommendationsAccepted,
        ev.ReopenRequested,
        ev.Shelved,
        ev.Thawed,
    ),
    *(ev.AgentChosen, ev.BudgetChosen, ev.PriorityChosen, ev.DependsChosen, ev.StartRequested),
)
"""What nobody can do to a plan that is held, or whose parts are being made."""
_JOB_EVENTS = get_args(ev.JobEvent)
_QUEUE_EVENTS = (ev.SlotGranted, ev.QueueWaits)


def transition(plan: Plan, event: ev.Event) -> Step:
    """Return what an event does to a plan. The plan comes back with the next version, also where nothing changed."""
    step = recommendations.beside(plan, event) or _step(plan, event).then(*spending.shown(plan, event))
    stands = (step.plan.state, step.plan.waiting_on) == (plan.state, plan.waiting_on)
    step = step.then(*diff.folded(plan, step.plan))
    update = {"version": plan.version + 1, "since": plan.since if stands else event.at}
    return Step(step.plan.model_copy(update=update), step.effects, step.note)


def _step(plan: Plan, event: ev.Event) -> Step:
    if isinstance(event, _JOB_EVENTS) and (plan.job is None or plan.job.id != event.job):
        return Step(plan, spending.shown_afresh(plan, event), f"late: job {event.job} is not open")
    plan = lessons.heard(plan, event)
    if plan.hold is not None and isinstance(event, _QUEUE_EVENTS):
        return Step(plan, (), f"held: {plan.hold.causes[0]}")
    if isinstance(event, STEERING) and (stopped := _nobody_steers(plan, event)) is not None:
        return stopped
    rule = rule_of(plan, type(event))
    if rule.move is not None:
        return rule.move(plan, event)
    if rule.answered and isinstance(event, get_args(ev.HumanEvent)):
        return answer(plan, event, fx.Topic.NOT_NOW, rule.why, why=rule.why)
    return Step(plan, (), rule.why)


def _nobody_steers(plan: Plan, event: ev.HumanEvent) -> Step | None:
    if plan.hold is not None and plan.frozen:
        cause = next(cause for cause in plan.hold.causes if cause not in PAUSES)
        return answer(plan, event, fx.Topic.PLAN_HELD, "held: nobody steers it now", cause=cause)
    if plan.splitting:
        return answer(plan, event, fx.Topic.NOT_NOW, BEING_SPLIT, why=BEING_SPLIT)
    return None


def open_plan(event: ev.PlanRequested, uid: str, before: Plan | None = None) -> Step:
    """Return a new plan for an issue: a draft whose text a runner is asked to write, or that a split has written.

    ``uid`` is random lowercase hexadecimal, made by the caller since nothing here is random; ``before`` is the issue's
    plan of the try before, of which why it was rejected is told on.
    """
    plan = Plan(
        uid=uid,
        repo=event.repo,
        issue_number=event.issue_number,
        try_number=before.try_number + 1 if before else 1,
        rejections=before.rejections if before else (),
        policy=event.policy,
        issue=event.issue,
        requester=event.by,
        requested_at=event.at,
        since=event.at,
        label=event.policy.label if event.via is Via.LABEL or event.part else None,
        hold=Hold(causes=event.pauses, at=event.at, by=event.by) if event.pauses else None,
    )
    step = _first(plan) if event.part is None else _part(plan, event.part)
    return Step(step.plan.model_copy(update={"version": 1}), step.effects, step.note)


def _first(plan: Plan) -> Step:
    plan, effects = start_planning(plan)
    return moved(plan, "a plan was asked for", *effects)


def _part(plan: Plan, part: Part) -> Step:
    choices = plan.choices.model_copy(update={"depends_on": part.depends_on})
    learned = tuple(Learned(what=lesson) for lesson in part.lessons)
    plan = changed(plan, part_of=part.of, updated_by=part.authors, choices=choices, lessons=learned)
    plan, effects = post_revision(plan, Revision(number=1, document=part.document, gates=part.gates))
    above = show_status(plan).model_copy(update={"priority": fx.Priority.SAY})
    return Step(plan, (above, *effects), f"part {part.position} of {part.total} of #{part.of}")
