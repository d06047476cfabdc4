"""Approvals of which several are needed: kept while they are not enough, void with every change of what they cover."""

from __future__ import annotations

from decimal import Decimal

import pytest

from bot.lifecycle import events as ev
from bot.lifecycle.approvers import Approvers, Needed, still_needed
from bot.lifecycle.choices import AgentChoice, BudgetChoice, Choices
from bot.lifecycle.codeowners import Owned
from bot.lifecycle.effects import Say, Topic
from bot.lifecycle.permission import Permission
from bot.lifecycle.plan import Person, Plan
from bot.lifecycle.states import Gate, State, Via, WaitingOn
from runner.contract import JobKind, Outcome
from tests.lifecycle import stories
from tests.lifecycle.makers import ALICE, HEAD, UID, report, said
from tests.lifecycle.stepping import STATUS, keys, plan, put

BOB, CARL, DORA = Person(id=8, login="bob"), Person(id=9, login="carl"), Person(id=10, login="dora")
SHA = "2" * 64
TWO = Approvers(count=2)
DOCS = Owned(owners=("@acme/docs", "@dora"), paths=("docs/a.md",), paths_total=1)
PYTHON = Owned(owners=("@carl",), paths=("a.py",), paths_total=1)
WRITTEN = report(f"{UID}-1", Outcome.PLANNED, plan=stories.DOCUMENT)
AT_PLAN_GATE = plan(State.DRAFT, WaitingOn.PLAN_DECISION)
AT_DIFF_GATE = plan(State.IN_REVIEW, WaitingOn.DIFF_DECISION, **stories.REVIEWED)
GATES = {Gate.PLAN: AT_PLAN_GATE, Gate.DIFF: AT_DIFF_GATE}


def approved(by: Person = ALICE, at: float = 500.0, **fields) -> ev.Approved:
    return said(ev.Approved, at, **{"plan_sha256": SHA, "branch_head": HEAD, "approvers": TWO, "by": by, **fields})


def made(plan: Plan, gate: Gate):
    return plan.plan_approval if gate is Gate.PLAN else plan.diff_approval


@pytest.mark.parametrize("gate", list(GATES))
def test_the_second_of_two_approvals_decides_and_both_are_kept(gate):
    first = put(GATES[gate], approved())
    assert (first.plan.state, first.plan.waiting_on) == (GATES[gate].state, GATES[gate].waiting_on)
    assert keys(first) == [STATUS]
    assert first.note == "approved by 1, which is not enough yet"
    assert first.plan.halfway is not None
    assert first.plan.halfway.needed == Needed(people=1)
    second = put(first.plan, approved(BOB, 501.0, via=Via.REACTION, on_comment=902 if gate is Gate.PLAN else 903))
    approval = made(second.plan, gate)
    assert approval is not None
    assert [(a.by.login, a.gate) for a in approval.all] == [("alice", gate), ("bob", gate)]
    assert {a.binds_to for a in approval.all} == {SHA if gate is Gate.PLAN else HEAD}
    assert (second.plan.pending, second.plan.halfway) == (None, None)


@pytest.mark.parametrize("gate", list(GATES))
def test_the_same_person_twice_is_one_and_told_so(gate):
    first = put(GATES[gate], approved())
    again = put(first.plan, approved(at=501.0))
    assert made(again.plan, gate) is None
    assert [effect.topic for effect in again.effects] == [Topic.NOT_NOW]
    renamed = ALICE.model_copy(update={"login": "ally"})
    assert made(put(first.plan, approved(renamed, 502.0)).plan, gate) is None
    by_thumb = put(first.plan, approved(at=501.0, via=Via.REACTION, on_comment=902 if gate is Gate.PLAN else 903))
    assert by_thumb.effects == ()


@pytest.mark.parametrize("gate", list(GATES))
def test_an_approval_that_no_longer_stands_is_dropped(gate):
    first = put(GATES[gate], approved())
    second = put(first.plan, approved(BOB, 501.0, fallen=(ALICE.id,)))
    assert made(second.plan, gate) is None
    assert second.plan.halfway is not None
    assert [a.by for a in second.plan.halfway.approvals] == [BOB]
    third = put(second.plan, approved(CARL, 502.0))
    assert made(third.plan, gate) is not None


def test_the_plan_gates_approvals_are_void_with_another_text():
    first = put(AT_PLAN_GATE, approved()).plan
    changed = put(first, approved(BOB, 501.0, plan_sha256="9" * 64))
    assert changed.note == "approval void: the plan comment was changed"
    assert changed.plan.plan_approval is None
    posted = put(
        changed.plan,
        ev.PlanPosted(at=502.0, source="p", revision=3, comment_id=910, node_id="n", sha256="3" * 64, posted_at=502.0),
    ).plan
    assert posted.halfway is None
    alone = put(posted, approved(BOB, 503.0, plan_sha256="3" * 64)).plan
    assert alone.halfway is not None
    assert [a.by for a in alone.halfway.approvals] == [BOB]


def test_the_diff_gates_approvals_are_void_with_another_head_or_another_showing():
    first = put(AT_DIFF_GATE, approved()).plan
    assert first.halfway is not None
    review = stories.GREEN.model_copy(update={"work": stories.WORK.model_copy(update={"head": "e" * 40})})
    assert first.model_copy(update={"review": review}).halfway is None
    shown_anew = stories.GREEN.model_copy(update={"posted_at": 600.0})
    assert first.model_copy(update={"review": shown_anew}).halfway is None
    assert first.model_copy(update={"waiting_on": WaitingOn.PLAN_DECISION}).halfway is None
    assert first.model_copy(update={"waiting_on": WaitingOn.BOT}).halfway is None


def test_each_file_needs_one_of_its_owners():
    owners = Approvers(codeowners=True)
    first = put(AT_PLAN_GATE, approved(approvers=owners, owned=(DOCS, PYTHON), owns=("@acme/docs",))).plan
    assert first.halfway is not None
    assert first.halfway.needed == Needed(owners=(PYTHON,))
    second = put(first, approved(CARL, 501.0, approvers=owners, owned=(DOCS, PYTHON), owns=("@carl",))).plan
    assert second.state is State.APPROVED


@pytest.mark.parametrize(
    ("given", "needed"),
    [
        ([()], Needed(people=1, owners=(DOCS, PYTHON))),
        ([(), ()], Needed(owners=(DOCS, PYTHON))),
        ([("@dora", "@carl")], Needed(people=1)),
        ([("@dora",), ("@carl",)], Needed()),
        ([("@dora",), (), ("@carl",)], Needed()),
    ],
)
def test_people_and_owners_are_both_needed(given, needed):
    found = still_needed(TWO, given, (DOCS, PYTHON))
    assert found == needed
    assert found.met is (needed == Needed())


@pytest.mark.parametrize(
    ("login", "permission", "teams", "may"),
    [
        ("bob", Permission.WRITE, ("core",), False),
        ("bob", Permission.MAINTAIN, ("core",), True),
        ("bob", Permission.ADMIN, (), False),
        ("ANN", Permission.MAINTAIN, (), True),
    ],
)
def test_an_approver_has_the_permission_and_is_in_a_team_or_named(login, permission, teams, may):
    approvers = Approvers(permission=Permission.MAINTAIN, teams=("core",), users=("ann",))
    assert approvers.admit(login, permission, teams) is may
    assert Approvers().admit(login, Permission.WRITE, ())


def test_one_person_who_may_rejects_alone():
    first = put(AT_DIFF_GATE, approved()).plan
    assert put(first, said(ev.Rejected, 501.0, by=BOB)).plan.state is State.REJECTED


def written(plan: Plan) -> Plan:
    """The plan once its text has come."""
    assert plan.job is not None
    return put(plan, ev.PlanWritten(at=600.0, source="w-2", job=plan.job.id, report=WRITTEN)).plan


def test_a_text_is_by_all_whose_words_it_was_written_from():
    before = AT_PLAN_GATE.model_copy(update={"updated_by": (CARL,)})
    asked = put(before, said(ev.UpdateRequested, text="smaller", speakers=(DORA, ALICE))).plan
    asked = put(asked, said(ev.UpdateRequested, text="and faster", by=BOB)).plan
    after = written(asked)
    assert (after.updated_by, after.speakers, after.feedback) == ((DORA, ALICE, BOB), (), ())


def test_it_is_by_those_who_answered_what_it_asked():
    asking = plan(State.DRAFT, WaitingOn.ANSWERS, revisions=(stories.ASKING,))
    answers = [ev.Answer(number=n, text="Mail.") for n, _ in enumerate(asking.questions, 1)]
    answered = put(asking, said(ev.Answered, 1e10, answers=answers, by=BOB)).plan
    assert written(answered).updated_by == (BOB,)


def test_it_is_by_whose_words_came_with_another_try_of_it():
    failed = plan(State.FAILED, WaitingOn.PERSON, failure=stories.FAILURE.model_copy(update={"during": JobKind.PLAN}))
    assert written(put(failed, said(ev.RetryRequested, text="Smaller.", by=BOB)).plan).updated_by == (BOB,)
    assert written(put(failed, said(ev.RetryRequested, by=BOB)).plan).updated_by == ()


EIGHT = BudgetChoice(usd=Decimal(8))
UNDER_WAY = {
    state: plan(state, waiting, **{**stories.APPROVED, **fields})
    for state, waiting, fields in (
        (State.EXECUTING, WaitingOn.RUNNER, {}),
        (State.VERIFYING, WaitingOn.BOT, stories.REVIEWED),
        (State.IN_REVIEW, WaitingOn.DIFF_DECISION, stories.REVIEWED),
        (State.PR_OPEN, WaitingOn.MERGE, stories.DONE),
        (State.FAILED, WaitingOn.PERSON, {}),
    )
}


def wishes(by: Person = ALICE, at: float = 500.0, budget: BudgetChoice | None = EIGHT, **fields) -> ev.BudgetChosen:
    return said(ev.BudgetChosen, at, **{"by": by, "budget": budget, "approvers": TWO, **fields})


@pytest.mark.parametrize("state", list(UNDER_WAY))
def test_what_two_approved_two_change(state):
    before = UNDER_WAY[state]
    first = put(before, wishes())
    assert first.plan.choices == Choices()
    assert first.note == "/budget 8usd asked for by 1, which is not enough yet"
    assert [effect.topic for effect in first.effects if isinstance(effect, Say)] == [Topic.WISHED]
    assert [wish.command for wish in first.plan.wished] == ["budget 8usd"]
    again = put(first.plan, wishes(at=501.0, budget=BudgetChoice(usd=Decimal("8.00"))))
    assert (again.plan.choices, [effect.topic for effect in again.effects]) == (Choices(), [Topic.NOT_NOW])
    second = put(first.plan, wishes(BOB, 502.0))
    assert (second.plan.choices.budget, second.plan.wished, second.note) == (EIGHT, (), "budget chosen")
    assert second.plan.plan_approval == before.plan_approval


def test_a_wish_counts_only_with_the_same_one_and_beside_another():
    nine, codex = BudgetChoice(usd=Decimal(9)), AgentChoice(name="codex")
    first = put(UNDER_WAY[State.EXECUTING], wishes()).plan
    other = put(first, wishes(BOB, 501.0, nine)).plan
    assert (other.choices, [wish.command for wish in other.wished]) == (Choices(), ["budget 9usd"])
    beside = put(first, said(ev.AgentChosen, 501.0, agent=codex, approvers=TWO)).plan
    assert [wish.command for wish in beside.wished] == ["budget 8usd", "agent codex"]
    both = put(beside, wishes(BOB, 502.0), said(ev.AgentChosen, 503.0, by=BOB, agent=codex, approvers=TWO)).plan
    assert (both.choices, both.wished) == (Choices(budget=EIGHT, agent=codex), ())


def test_a_wish_is_over_with_who_said_it_with_the_approval_and_with_the_end():
    first = put(UNDER_WAY[State.FAILED], wishes()).plan
    fallen = put(first, wishes(BOB, 501.0, fallen=(ALICE.id,))).plan
    assert (fallen.choices, [a.by for a in fallen.wished[0].approvals]) == (Choices(), [BOB])
    approved_anew = put(AT_PLAN_GATE.model_copy(update={"wishes": first.wishes}), approved(approvers=Approvers()))
    assert (approved_anew.plan.state, approved_anew.plan.wishes) == (State.APPROVED, ())
    assert put(first, said(ev.CancelRequested, 501.0)).plan.wished == ()
    assert put(first, said(ev.UpdateRequested, 501.0)).plan.wished == ()


def test_an_owner_of_the_files_is_among_those_who_change_what_owners_approved():
    owners = Approvers(codeowners=True)
    alone = put(UNDER_WAY[State.EXECUTING], wishes(approvers=owners, owned=(DOCS, PYTHON), owns=("@carl",)))
    assert alone.plan.wished[0].needed == Needed(owners=(DOCS,))
    done = put(alone.plan, wishes(DORA, 501.0, approvers=owners, owned=(DOCS, PYTHON), owns=("@dora",)))
    assert done.plan.choices.budget == EIGHT


@pytest.mark.parametrize("state", [State.DRAFT, State.APPROVED, State.FAILED])
def test_what_is_asked_about_anew_one_person_chooses(state):
    approval = stories.APPROVED if state is State.APPROVED else {}
    before = plan(state, WaitingOn.SLOT if state is State.APPROVED else WaitingOn.PERSON, **approval)
    assert put(before, wishes()).plan.choices.budget == EIGHT
