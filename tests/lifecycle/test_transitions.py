"""The transition table, and what no history of events may ever do to a plan."""

from __future__ import annotations

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from bot.lifecycle import effects as fx
from bot.lifecycle import events as ev
from bot.lifecycle.choices import AgentChoice, BudgetChoice, PlanPriority
from bot.lifecycle.ci import CiCheck, CiState, outlook
from bot.lifecycle.plan import Person
from bot.lifecycle.policy import CiPolicy, Policy
from bot.lifecycle.states import HoldCause, State, Via, WaitingOn
from bot.lifecycle.transitions import EVENTS, ROWS, TABLE, complete, rule_of, transition
from runner.contract import Feedback, GateStatus, JobKind, Outcome, Phase
from runner.results import Unit, Verdict
from tests.lifecycle import makers
from tests.lifecycle.promises import Promises


def test_every_pair_is_listed():
    assert list(TABLE) == [(s, e) for e in EVENTS for s in State]
    assert all(rule.why for rule in TABLE.values())


def test_a_pair_listed_twice_or_not_at_all_is_refused():
    twice = {**ROWS, ev.Thawed: (*ROWS[ev.Thawed], *ROWS[ev.Thawed])}
    with pytest.raises(ValueError, match="Thawed in icebox is listed twice"):
        complete(twice, EVENTS)
    with pytest.raises(ValueError, match="not in the table: Gone in draft"):
        complete({event: cells for event, cells in ROWS.items() if event is not ev.Gone}, EVENTS)


def test_a_rule_says_where_it_can_lead():
    assert TABLE[State.DRAFT, ev.Approved].leads_to(State.DRAFT) == {State.DRAFT, State.APPROVED}
    assert TABLE[State.ICEBOX, ev.Thawed].leads_to(State.ICEBOX) == {State.DRAFT}
    assert TABLE[State.MERGED, ev.Approved].leads_to(State.MERGED) == {State.MERGED}


def test_every_state_can_be_entered_and_every_open_one_left():
    targets = {s: {t for (f, _), r in TABLE.items() if f is s and r.move for t in r.to} for s in State}
    entered = {State.DRAFT}.union(*(t - {s} for s, t in targets.items()))
    assert entered == set(State)
    for state in (State.MERGED, State.SPLIT):
        assert targets[state] - set(State) == set()
    for state in set(State) - {State.MERGED, State.SPLIT}:
        assert targets[state] - {state}, f"{state} has no way out"


WITH_CI = Policy(ci=CiPolicy(require=("build",)))
HEADS = [c * 40 for c in "adef"]
PEOPLE = [makers.ALICE, Person(id=12, login="bob")]
SHAS = ["1" * 64, "2" * 64]


class AnyHistory(Promises, RuleBasedStateMachine):
    """Throws every kind of event at a plan, in any order, repeated, late or invented, and watches what comes out."""

    @initialize()
    def start(self):
        self.clock, self.count, self.keys, self.running = 10.0, 0, set(), set()
        self.past_jobs, self.events = [], []
        self.pushed_ok, self.plan = True, None
        from bot.lifecycle.transitions import open_plan

        self._take(open_plan(makers.requested(), makers.UID))

    def _take(self, step):
        before = self.plan
        self.plan = step.plan
        for effect in step.effects:
            assert effect.key not in self.keys, f"{effect.key} twice"
            self.keys.add(effect.key)
            self._check(effect)
        if before is not None:
            assert self.plan.version == before.version + 1
        return step

    def _check(self, effect):
        plan = self.plan
        if isinstance(effect, fx.StopRun):
            self.running.discard(effect.job)
        if isinstance(effect, fx.Dispatch):
            assert plan.job is not None
            assert plan.job.id == effect.job
            self.running.add(effect.job)
            self.past_jobs.append(effect.job)
            assert plan.hold is None, "work was begun while the plan is held"
            if plan.job.kind is not JobKind.PLAN:
                assert plan.plan_approval is not None, "work without the plan gate"
                assert plan.plan_approval.binds_to == plan.revision.sha256
        if isinstance(effect, fx.OpenPullRequest):
            assert plan.diff_approval is not None, "a pull request without the diff gate"
            assert plan.diff_approval.binds_to == effect.head == plan.review.work.head
            assert plan.plan_approval is not None
            assert not any(g.holds_back for g in plan.review.gates)
        if isinstance(effect, fx.AdvanceBranch):
            assert plan.diff_approval is not None, "a pull request's branch moved without the diff gate"
            assert plan.diff_approval.binds_to == effect.head == plan.review.work.head
            assert effect.expected == plan.rework.on
            assert not any(g.holds_back for g in plan.review.gates)
        if isinstance(effect, fx.PostReview):
            assert not any(g.holds_back for g in plan.review.gates), "a failing check reached a reviewer"
            stands = outlook(plan.policy.ci.require, plan.review.ci)
            assert not stands.failed, "work that failed a required check reached a reviewer"
            assert not stands.awaited, "work that passed not all required checks reached a reviewer"

    def _send(self, kind, **fields):
        self.count += 1
        self.clock += 1
        event = kind(**{"at": self.clock, "source": f"d-{self.count}", **fields})
        self.events.append(event)
        rule_ = rule_of(self.plan, kind)
        before = self.plan
        step = self._take(transition(self.plan, event))
        if isinstance(event, ev.JobEvent) and before.job and before.job.id == event.job:
            ended = (ev.PlanWritten, ev.SplitWritten, ev.WorkVerified, ev.BaseReported, ev.JobFailed)
            if isinstance(event, ended) and step.plan.job != before.job:
                self.running.discard(event.job)
        late = isinstance(event, ev.JobEvent) and (before.job is None or before.job.id != event.job)
        if not late and before.hold is None and not before.splitting:
            assert step.plan.state in rule_.leads_to(before.state), (
                f"{kind.__name__}: {before.state} -> {step.plan.state} is not listed"
            )

    def _job(self, data):
        known = [*self.past_jobs, "ffffffffffff-1"]
        if self.plan.job and data.draw(st.integers(0, 3)):
            return self.plan.job.id
        return data.draw(st.sampled_from(known))

    @rule(kind=st.sampled_from([ev.Approved]), data=st.data(), via=st.sampled_from([Via.COMMAND, Via.REACTION]))
    def approve(self, kind, data, via):
        shown = [c for c in (self.plan.revision, self.plan.review) if c and c.comment_id]
        on = data.draw(st.sampled_from([c.comment_id for c in shown] + [1])) if via is Via.REACTION else None
        right = data.draw(st.integers(0, 3)) > 0
        sha = self.plan.revision.sha256 if right and self.plan.revision else data.draw(st.sampled_from(SHAS))
        head = self.plan.review.work.head if right and self.plan.review else data.draw(st.sampled_from(HEADS))
        self._send(
            kind, by=data.draw(st.sampled_from(PEOPLE)), via=via, on_comment=on, plan_sha256=sha, branch_head=head
        )

    @rule(
        kind=st.sampled_from(
            [
                ev.Rejected,
                ev.RetryRequested,
                ev.CancelRequested,
                ev.ReopenRequested,
                ev.StatusRequested,
                ev.Shelved,
                ev.Thawed,
            ]
        ),
        via=st.sampled_from([Via.COMMAND, Via.REACTION]),
    )
    def command(self, kind, via):
        self._send(kind, by=makers.ALICE, via=via)

    @rule(
        said=st.sampled_from(
            [
                (ev.AgentChosen, {"agent": AgentChoice(name="codex")}),
                (ev.AgentChosen, {"agent": None}),
                (ev.BudgetChosen, {"budget": BudgetChoice(attempts=2)}),
                (ev.PriorityChosen, {"priority": PlanPriority.LOW}),
                (ev.DependsChosen, {"depends_on": (7,)}),
                (ev.StartRequested, {}),
                (ev.ReviseRequested, {"text": "smaller"}),
                (ev.ReviseRequested, {}),
            ]
        )
    )
    def choose(self, said):
        kind, fields = said
        self._send(kind, by=makers.ALICE, via=Via.COMMAND, **fields)

    @rule(fresh=st.booleans())
    def update(self, fresh):
        issue = makers.ISSUE if fresh else None
        self._send(ev.UpdateRequested, by=makers.ALICE, via=Via.COMMAND, text="smaller", issue=issue)

    @rule(kind=st.sampled_from([ev.ExpandRequested, ev.SplitRequested]))
    def reshape(self, kind):
        self._send(kind, by=makers.ALICE, via=Via.COMMAND, text="in two")

    @rule(number=st.integers(0, 3), via=st.sampled_from([Via.COMMAND, Via.REPLY]))
    def answer(self, number, via):
        self._send(ev.Answered, by=makers.ALICE, via=via, answers=(ev.Answer(number=number, text="yes"),))

    @rule()
    def request_again(self):
        self._send(
            ev.PlanRequested,
            by=makers.ALICE,
            via=Via.LABEL,
            repo=makers.REPO,
            issue_number=12,
            issue=makers.ISSUE,
            policy=Policy(),
        )

    @rule(data=st.data())
    def job_lives(self, data):
        job = self._job(data)
        kind = data.draw(st.sampled_from([ev.JobDispatched, ev.JobClaimed, ev.JobProgressed, ev.JobLost]))
        extra = {
            ev.JobDispatched: {"run_id": 9, "policy": data.draw(st.sampled_from([Policy(), WITH_CI]))},
            ev.JobProgressed: {"phase": data.draw(st.sampled_from(list(Phase)))},
            ev.JobLost: {"sentence": "silent"},
        }
        self._send(kind, job=job, **extra.get(kind, {}))

    @rule(data=st.data(), verdict=st.sampled_from(list(Verdict)))
    def plan_written(self, data, verdict):
        job = self._job(data)
        self._send(
            ev.PlanWritten,
            job=job,
            report=makers.report(job, Outcome.PLANNED, plan=makers.document(verdict)),
        )

    @rule(data=st.data(), chain=st.sampled_from([(), (1,), (2,)]))
    def split_written(self, data, chain):
        job = self._job(data)
        cut = makers.cut(depends_on=chain)
        self._send(ev.SplitWritten, job=job, report=makers.report(job, Outcome.PLANNED, split=cut))

    def _child(self, data):
        split = self.plan.split.number if self.plan.split else 1
        position = data.draw(st.integers(1, 2))
        return {"split": split, "position": position, "number": 40 + position, "issue_id": 9_000 + position}

    @rule(data=st.data(), head=st.sampled_from(HEADS), bad=st.booleans())
    def work_verified(self, data, head, bad):
        job = self._job(data)
        gates = (makers.gate(GateStatus.FAILED if bad else GateStatus.PASSED),)
        self._send(
            ev.WorkVerified,
            job=job,
            report=makers.report(job, Outcome.VERIFIED, work=makers.work(head), gates=gates),
        )

    @rule(data=st.data(), conflicts=st.sampled_from([(), ("src/greet.py",)]))
    def base_reported(self, data, conflicts):
        self._send(ev.BaseReported, job=self._job(data), conflicts=conflicts)

    @rule(data=st.data(), outcome=st.sampled_from([o for o in Outcome if not o.is_success]))
    def job_failed(self, data, outcome):
        job = self._job(data)
        self._send(ev.JobFailed, job=job, report=makers.report(job, outcome))

    @precondition(lambda self: self.plan.revisions)
    @rule(data=st.data(), sha=st.sampled_from(SHAS))
    def plan_posted(self, data, sha):
        number = data.draw(st.integers(1, len(self.plan.revisions)))
        self._send(
            ev.PlanPosted,
            revision=number,
            comment_id=1000 + number,
            node_id=f"IC_{number}",
            sha256=sha,
            posted_at=self.clock,
        )

    @rule(head=st.sampled_from(HEADS), kind=st.sampled_from([ev.BranchConfirmed, ev.BranchMoved, ev.ReviewPosted]))
    def branch(self, head, kind):
        extra = (
            {"comment_id": 2000 + self.count, "node_id": "IC_r", "check_run_id": 5, "posted_at": self.clock}
            if kind is ev.ReviewPosted
            else {}
        )
        if kind is ev.ReviewPosted and self.plan.review and self.count % 3:
            head = self.plan.review.work.head
        if kind is ev.BranchConfirmed and self.plan.review and self.count % 3:
            head = self.plan.review.work.head
        self._send(kind, head=head, **extra)

    @rule(data=st.data(), states=st.dictionaries(st.sampled_from(["build", "docs"]), st.sampled_from(list(CiState))))
    def checks(self, data, states):
        heads = [*HEADS, self.plan.review.work.head] if self.plan.review else HEADS
        head, late = data.draw(st.sampled_from(heads)), data.draw(st.booleans())
        found = tuple(CiCheck(name=name, state=state) for name, state in states.items())
        self.clock += 4_000 * late
        self._send(ev.CiReported, head=head, checks=found)
        self._send(ev.CiDue, head=head)

    @rule(data=st.data(), clean=st.booleans())
    def base_checked(self, data, clean):
        heads = [*HEADS, self.plan.review.work.head] if self.plan.review else HEADS
        self._send(ev.BaseChecked, head=data.draw(st.sampled_from(heads)), clean=clean)

    @rule(
        data=st.data(),
        kind=st.sampled_from(
            [
                ev.PullRequestOpened,
                ev.PullRequestMerged,
                ev.PullRequestClosed,
                ev.PullRequestReopened,
                ev.PullRequestQueued,
                ev.BranchExpired,
                ev.SlotGranted,
                ev.QueueWaits,
                ev.DependencyEnded,
                ev.PlanCommentChanged,
                ev.IssueEdited,
                ev.ApprovalVoid,
                ev.EffectFailed,
                ev.ChildMade,
                ev.HoldPlaced,
                ev.HoldLifted,
                ev.StatusPosted,
            ]
        ),
    )
    def world(self, data, kind):
        extra = {
            ev.PullRequestOpened: {"number": 3, "url": "http://x/3"},
            ev.PullRequestQueued: {"queued": data.draw(st.booleans())},
            ev.StatusPosted: {"comment_id": 77},
            ev.QueueWaits: {"on": WaitingOn.OVERLAP, "waits_for": ("#3",)},
            ev.DependencyEnded: {"issue": 7, "how": State.REJECTED},
            ev.IssueEdited: {"sha256": data.draw(st.sampled_from([makers.ISSUE.sha256, "9" * 64]))},
            ev.ApprovalVoid: {"what": "plan_comment"},
            ev.EffectFailed: {
                "effect": data.draw(
                    st.sampled_from(
                        [
                            "dispatch",
                            "post_plan",
                            "say",
                            "open_pull_request",
                            "advance_branch",
                            "read_back",
                            "make_child",
                        ]
                    )
                ),
                "job": self._job(data),
                "sentence": "422",
            },
            ev.ChildMade: self._child(data),
            ev.HoldPlaced: {"cause": data.draw(st.sampled_from(list(HoldCause)))},
            ev.HoldLifted: {"cause": data.draw(st.sampled_from(list(HoldCause)))},
        }
        self._send(kind, **extra.get(kind, {}))

    @rule(steps=st.integers(1, 14), gladly=st.booleans())
    def forward(self, steps, gladly):
        """What leads on from here, so that long lives are lived too and not only broken ones."""
        for _ in range(steps):
            self._forward(gladly)
            self.keep_promises()

    def _forward(self, gladly):
        plan, job = self.plan, self.plan.job.id if self.plan.job else ""
        if plan.hold is not None:
            self._send(ev.HoldLifted, cause=plan.hold.causes[0])
        elif plan.waiting_on in {WaitingOn.PLAN_DECISION, WaitingOn.DIFF_DECISION}:
            sha = plan.revision.sha256 if plan.revision else None
            head = plan.review.work.head if plan.review else None
            self._send(ev.Approved, by=makers.ALICE, via=Via.COMMAND, plan_sha256=sha, branch_head=head)
        elif plan.waiting_on is WaitingOn.RUNNER:
            self._job_done(job)
        elif plan.waiting_on is WaitingOn.BOT:
            self._bot_done()
        elif plan.state is State.APPROVED:
            self._send(ev.SlotGranted)
        elif plan.state is State.PR_OPEN and gladly:
            remarks = (Feedback(kind="ci", author="ci", text="failed"),)
            head = plan.branch_head
            self._send(ev.FixRequested, by=makers.ALICE, via=Via.COMMAND, remarks=remarks, branch_head=head)
        elif plan.state is State.FAILED:
            self._send(ev.RetryRequested, by=makers.ALICE, via=Via.COMMAND)
        elif plan.state in {State.REJECTED, State.CANCELLED}:
            self._send(ev.ReopenRequested, by=makers.ALICE, via=Via.COMMAND)

    def _job_done(self, job):
        kind = self.plan.job.kind
        if kind is JobKind.PLAN and self.plan.job.unit is Unit.SPLIT_PLAN:
            report = makers.report(job, Outcome.PLANNED, split=makers.cut(depends_on=()))
            self._send(ev.SplitWritten, job=job, report=report)
        elif kind is JobKind.PLAN:
            report = makers.report(job, Outcome.PLANNED, plan=makers.document())
            self._send(ev.PlanWritten, job=job, report=report)
        elif kind is JobKind.EXECUTE:
            work = makers.work(HEADS[self.count % len(HEADS)])
            report = makers.report(job, Outcome.VERIFIED, work=work, gates=(makers.gate(),))
            self._send(ev.WorkVerified, job=job, report=report)
        else:
            self._send(ev.BaseReported, job=job)

    def _bot_done(self):
        plan = self.plan
        if plan.state is State.DRAFT and plan.revision is not None:
            number = plan.revision.number
            shown = {"comment_id": 1000 + number, "node_id": f"IC_{number}", "posted_at": self.clock}
            self._send(ev.PlanPosted, revision=number, sha256=SHAS[0], **shown)
        elif plan.state is State.VERIFYING:
            self._send(ev.BranchConfirmed, head=plan.review.work.head)
        elif plan.state is State.IN_REVIEW and plan.diff_approval is None:
            shown = {"comment_id": 2000 + self.count, "node_id": "IC_r", "check_run_id": 5, "posted_at": self.clock}
            self._send(ev.ReviewPosted, head=plan.review.work.head, **shown)
        elif plan.state is State.IN_REVIEW:
            self._send(ev.BaseChecked, head=plan.review.work.head, clean=True)
            if plan.rework:
                self._send(ev.BranchAdvanced, head=plan.review.work.head)
            else:
                self._send(ev.PullRequestOpened, number=3, url="http://x/3")

    @rule(data=st.data(), fix=st.booleans(), said=st.booleans())
    def change_the_work(self, data, fix, said):
        """``/fix`` and ``/revise``, with the pull request's branch where it is known to be, elsewhere, or gone."""
        head = data.draw(st.sampled_from([self.plan.branch_head, self.plan.branch_head, *HEADS]))
        remarks = (Feedback(kind="ci", author="ci", text="failed"),) if said else ()
        kind = ev.FixRequested if fix else ev.ReviseRequested
        self._send(kind, by=makers.ALICE, via=Via.COMMAND, text="more", remarks=remarks, branch_head=head)

    @precondition(lambda self: self.plan.rework)
    @rule(data=st.data(), advanced=st.booleans())
    def the_branches_of_a_rework(self, data, advanced):
        plan = self.plan
        heads = [*HEADS, plan.review.work.head] if plan.review else HEADS
        head = data.draw(st.sampled_from(heads))
        if advanced:
            self._send(ev.BranchAdvanced, head=head)
        else:
            self._send(ev.BranchMoved, head=head, branch=data.draw(st.sampled_from([plan.branch, plan.work_branch])))

    @rule()
    def gone(self):
        if self.count > 30:
            self._send(ev.Gone, what="issue")

    @precondition(lambda self: self.events)
    @rule(data=st.data())
    def repeat(self, data):
        """The same event again, as a redelivery under a new id brings it."""
        old = data.draw(st.sampled_from(self.events[-8:]))
        self.count += 1
        self._take_again(old.model_copy(update={"source": f"d-{self.count}"}))

    def _take_again(self, event):
        before = self.plan
        step = self._take(transition(self.plan, event))
        if isinstance(event, ev.JobEvent) and before.job and before.job.id == event.job and step.plan.job != before.job:
            self.running.discard(event.job)

    @invariant()
    def one_job_at_most(self):
        if self.plan is None:
            return
        allowed = {self.plan.job.id} if self.plan.job else set()
        assert self.running <= allowed, f"{self.running - allowed} still run beside {allowed}"

    @invariant()
    def somebody_has_the_next_move(self):
        if self.plan is None:
            return
        plan = self.plan
        if plan.ended:
            assert plan.job is None
            assert plan.hold is None
            return
        assert plan.waiting_on is not None, f"{plan.state} waits for nothing"
        if plan.waiting_on is WaitingOn.RUNNER:
            assert plan.job is not None or plan.hold is not None, f"{plan.state} waits for a runner without a job"
        if plan.state is State.FAILED:
            assert plan.failure is not None
        if plan.state is not State.PR_OPEN:
            probe = ev.CancelRequested(at=self.clock, source="probe", by=makers.ALICE, via=Via.COMMAND)
            ended = State.PR_OPEN if plan.rework else State.CANCELLED
            assert transition(plan, probe).plan.state is ended


AnyHistory.TestCase.settings = settings(
    max_examples=60, stateful_step_count=60, deadline=None, report_multiple_bugs=False
)
test_any_history = AnyHistory.TestCase
