"""Which plans start, which wait, and for whom."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.lifecycle.choices import Choices, PlanPriority
from bot.lifecycle.plan import Approval, Hold, Plan, Revision
from bot.lifecycle.policy import Policy
from bot.lifecycle.queue import Queue, Verdict, share_out, takes_slot
from bot.lifecycle.states import Gate, HoldCause, Limit, State, Via, WaitingOn
from tests.lifecycle.makers import ALICE, ISSUE, REPO, document
from tests.lifecycle.stories import job

HELD = Hold(causes=(HoldCause.LABEL_REMOVED,), at=1.0)
PAUSED = Hold(causes=(HoldCause.LABEL_PAUSED,), at=1.0)


def plan(number: int, *files: str, state: State = State.APPROVED, at: float | None = None, **fields) -> Plan:
    approval = Approval(gate=Gate.PLAN, by=ALICE, via=Via.COMMAND, at=at or float(number), binds_to="x")
    return Plan(
        uid=f"{number:08x}",
        repo=REPO,
        issue_number=number,
        issue=ISSUE,
        requester=ALICE,
        requested_at=0.0,
        state=state,
        revisions=(Revision(number=1, document=document(files=files)),),
        plan_approval=approval,
        **fields,
    )


def starts(number: int, *overlaps: str) -> Verdict:
    return Verdict(uid=f"{number:08x}", on=None, overlaps=overlaps)


def waits(number: int, on: WaitingOn, *waits_for: str, place: int = 1, **fields) -> Verdict:
    if on is WaitingOn.SLOT and "limit" not in fields:
        fields = {"limit": Limit.REPOSITORY, "most": 1, **fields}
    return Verdict(uid=f"{number:08x}", on=on, waits_for=waits_for, place=place, **fields)


def next_starts(
    plans: list[Plan], policy: Policy, host_slots: int | None = None, **newest: State
) -> tuple[Verdict, ...]:
    states = {int(name.removeprefix("of_")): state for name, state in newest.items()}
    return Queue(500, policy, tuple(plans), states).verdicts(host_slots)


def test_nothing_approved_starts_nothing():
    assert next_starts([], Policy()) == ()
    assert next_starts([plan(1, state=s) for s in State if s is not State.APPROVED], Policy()) == ()


def test_only_a_verdict_that_names_nothing_to_wait_for_starts():
    assert starts(1).starts
    assert not waits(1, WaitingOn.SLOT).starts


def test_the_order_is_that_of_approval():
    plans = [plan(1, "a", at=30.0), plan(2, "b", at=10.0), plan(3, "c", at=20.0)]
    assert [v.uid for v in next_starts(plans, Policy())] == ["00000002", "00000003", "00000001"]


def test_slots_are_given_out_and_the_rest_is_told_its_place():
    plans = [plan(n, f"{n}/**") for n in (1, 2, 3, 4)]
    assert next_starts(plans, Policy(max_parallel=2)) == (
        starts(1),
        starts(2),
        waits(3, WaitingOn.SLOT, "#1", "#2", place=1, most=2),
        waits(4, WaitingOn.SLOT, "#1", "#2", place=2, most=2),
    )


@pytest.mark.parametrize("state", [State.EXECUTING, State.VERIFYING])
def test_a_plan_under_way_takes_a_slot(state):
    verdicts = next_starts([plan(1, "a", state=state), plan(2, "b")], Policy(max_parallel=1))
    assert verdicts == (waits(2, WaitingOn.SLOT, "#1"),)


@pytest.mark.parametrize("state", sorted(set(State) - {State.EXECUTING, State.VERIFYING, State.APPROVED}))
def test_any_other_state_takes_none(state):
    assert next_starts([plan(1, "a", state=state), plan(2, "b")], Policy(max_parallel=1)) == (starts(2),)


def test_who_waits_for_checks_on_github_takes_no_slot_but_room_in_review():
    checked = plan(1, state=State.VERIFYING, waiting_on=WaitingOn.CI)
    assert not takes_slot(checked)
    assert next_starts([checked, plan(2)], Policy(max_parallel=1)) == (starts(2),)
    (verdict,) = next_starts([checked, plan(2)], Policy(max_in_review=1))
    assert verdict.on is WaitingOn.REVIEWERS


def test_a_held_plan_takes_no_slot_and_gets_no_verdict():
    plans = [plan(1, "a", state=State.EXECUTING, hold=HELD), plan(2, "b"), plan(3, "c", hold=HELD)]
    assert next_starts(plans, Policy(max_parallel=1)) == (starts(2),)


@pytest.mark.parametrize("state", [State.EXECUTING, State.VERIFYING, State.IN_REVIEW, State.PR_OPEN])
def test_a_plan_waits_for_unmerged_work_on_its_files(state):
    plans = [plan(7, "src/**", state=state), plan(8, "src/greet.py"), plan(9, "docs/*")]
    assert next_starts(plans, Policy()) == (waits(8, WaitingOn.OVERLAP, "#7"), starts(9))


@pytest.mark.parametrize("state", [State.DRAFT, State.FAILED, State.MERGED, State.REJECTED, State.ICEBOX])
def test_it_does_not_wait_for_others(state):
    assert next_starts([plan(7, "src/**", state=state), plan(8, "src/a")], Policy()) == (starts(8),)


def test_held_work_still_overlaps():
    plans = [plan(7, "src/**", state=State.IN_REVIEW, hold=HELD), plan(8, "src/a")]
    assert next_starts(plans, Policy()) == (waits(8, WaitingOn.OVERLAP, "#7"),)


def test_two_approved_at_once_do_not_start_on_the_same_file():
    verdicts = next_starts([plan(1, "a/**"), plan(2, "a/b")], Policy())
    assert verdicts == (starts(1), waits(2, WaitingOn.OVERLAP, "#1"))


def test_who_waits_for_an_overlap_lets_others_pass():
    plans = [plan(1, "a", state=State.PR_OPEN), plan(2, "a"), plan(3, "b")]
    assert next_starts(plans, Policy(max_parallel=1)) == (waits(2, WaitingOn.OVERLAP, "#1"), starts(3))


def test_all_it_waits_for_are_named():
    plans = [plan(5, "a/*", state=State.PR_OPEN), plan(4, "**", state=State.EXECUTING), plan(6, "a/b")]
    assert next_starts(plans, Policy()) == (waits(6, WaitingOn.OVERLAP, "#4", "#5"),)


def test_warn_starts_and_names():
    plans = [plan(1, "a", state=State.EXECUTING), plan(2, "a"), plan(3, "b")]
    assert next_starts(plans, Policy(overlap="warn")) == (starts(2, "#1"), starts(3))


def test_off_starts_and_says_nothing():
    plans = [plan(1, "a", state=State.EXECUTING), plan(2, "a")]
    assert next_starts(plans, Policy(overlap="off")) == (starts(2),)


def test_the_answer_does_not_hang_on_the_order_of_rows():
    plans = [plan(n, f"{n % 3}/**", state=s) for n, s in enumerate([*State, *[State.APPROVED] * 5], 1)]
    expected = next_starts(plans, Policy(max_parallel=3))
    for seed in range(20):
        shuffled = random.Random(seed).sample(plans, len(plans))
        assert next_starts(shuffled, Policy(max_parallel=3)) == expected


@given(
    st.lists(st.tuples(st.sampled_from(State), st.sampled_from("abc"), st.booleans()), max_size=12), st.integers(1, 4)
)
def test_never_more_at_once_than_slots_nor_two_on_one_file(rows, slots):
    plans = [plan(n, f, state=s, hold=HELD if held else None) for n, (s, f, held) in enumerate(rows, 1)]
    before = [p for p in plans if p.state in {State.EXECUTING, State.VERIFYING} and p.hold is None]
    started = {v.uid for v in next_starts(plans, Policy(max_parallel=slots)) if v.starts}
    assert len(started) <= max(0, slots - len(before))
    files = [p.revision.document.files for p in plans if p.uid in started]
    assert len(files) == len(set(files))


def test_priority_comes_before_the_time_of_approval():
    low, high = (Choices(priority=priority) for priority in (PlanPriority.LOW, PlanPriority.HIGH))
    plans = [plan(1, "a", choices=low), plan(2, "b"), plan(3, "c", choices=high)]
    assert [v.uid for v in next_starts(plans, Policy())] == ["00000003", "00000002", "00000001"]


def test_a_plan_told_to_start_passes_an_overlap_but_no_slot():
    plans = [plan(1, "a", state=State.EXECUTING), plan(2, "a", choices=Choices(past_overlap=True))]
    assert next_starts(plans, Policy()) == (starts(2, "#1"),)
    assert next_starts(plans, Policy(max_parallel=1)) == (waits(2, WaitingOn.SLOT, "#1"),)


def test_a_paused_plan_keeps_its_slot_while_its_job_runs():
    running = plan(1, "a", state=State.EXECUTING, hold=PAUSED, job=job())
    stopped = running.model_copy(update={"job": None})
    assert (takes_slot(running), takes_slot(stopped)) == (True, False)
    assert next_starts([running, plan(2, "b")], Policy(max_parallel=1)) == (waits(2, WaitingOn.SLOT, "#1"),)


# what people say it depends on


def depending(number: int, *issues: int, **fields) -> Plan:
    return plan(number, f"{number}", choices=Choices(depends_on=issues), **fields)


def test_a_dependency_is_met_once_its_newest_plan_is_merged():
    plans = [depending(9, 3, 4)]
    open_yet = next_starts(plans, Policy(), of_3=State.MERGED, of_4=State.PR_OPEN)
    assert open_yet == (waits(9, WaitingOn.DEPENDENCY, "#4"),)
    assert next_starts(plans, Policy(), of_3=State.MERGED, of_4=State.MERGED) == (starts(9),)


@pytest.mark.parametrize("state", [State.REJECTED, State.CANCELLED, State.SPLIT, None])
def test_a_dependency_that_ended_unmerged_is_waited_for_in_vain(state):
    newest = {"of_3": state} if state else {}
    verdicts = next_starts([depending(9, 3, 4)], Policy(), of_4=State.DRAFT, **newest)
    assert verdicts == (waits(9, WaitingOn.DEPENDENCY, "#3", "#4", in_vain=("#3",)),)


def test_who_waits_for_a_dependency_lets_others_pass():
    verdicts = next_starts([depending(1, 3), plan(2, "b")], Policy(max_parallel=1), of_3=State.FAILED)
    assert verdicts == (waits(1, WaitingOn.DEPENDENCY, "#3"), starts(2))


# room in review


def test_nothing_starts_while_as_many_diffs_wait_for_a_decision_as_may():
    plans = [*(plan(n, f"{n}", state=State.IN_REVIEW) for n in (3, 1)), plan(8, "x"), plan(9, "y")]
    assert next_starts(plans, Policy(max_in_review=2)) == (
        waits(8, WaitingOn.REVIEWERS, "#1", "#3", most=2),
        waits(9, WaitingOn.REVIEWERS, "#1", "#3", place=2, most=2),
    )
    assert next_starts(plans, Policy(max_in_review=3)) == (starts(8), starts(9))


def test_a_decided_or_frozen_diff_takes_no_room_in_review():
    decided = Approval(gate=Gate.DIFF, by=ALICE, via=Via.COMMAND, at=1.0, binds_to="x")
    plans = [
        plan(1, "a", state=State.IN_REVIEW, diff_approval=decided),
        plan(2, "b", state=State.IN_REVIEW, hold=HELD),
        plan(9, "y"),
    ]
    assert next_starts(plans, Policy(max_in_review=1)) == (starts(9),)
    paused = [plan(2, "b", state=State.IN_REVIEW, hold=PAUSED), plan(9, "y")]
    assert next_starts(paused, Policy(max_in_review=1)) == (waits(9, WaitingOn.REVIEWERS, "#2", most=1),)


# places


def test_who_stands_behind_the_named_places_is_told_that_alone():
    plans = [plan(1, "a", state=State.EXECUTING), *(plan(n, f"{n}") for n in range(2, 16))]
    told = next_starts(plans, Policy(max_parallel=1))
    assert [v.place for v in told] == [*range(1, 11), 11, 11, 11, 11]
    assert [v.waits_for for v in told] == [("#1",)] * 10 + [()] * 4


# the host


def queue(number: int, waiting: int, at_work: int = 0, first: float = 0.0, slots: int = 64, **choices) -> Queue:
    """A repository with so many plans, approved a second after each other from ``first`` on."""
    issues = [number * 100 + n for n in range(at_work + waiting)]
    states = [State.EXECUTING] * at_work + [State.APPROVED] * waiting
    made = [
        plan(i, f"{i}", state=s, at=first + n, choices=Choices(**choices))
        for n, (i, s) in enumerate(zip(issues, states, strict=True))
    ]
    return Queue(number, Policy(max_parallel=slots), tuple(made))


def started(shares: dict[int, tuple[Verdict, ...]]) -> dict[int, int]:
    return {number: sum(v.starts for v in verdicts) for number, verdicts in shares.items()}


def test_the_hosts_slots_come_after_the_repositorys():
    verdicts = next_starts([plan(n, f"{n}") for n in (1, 2, 3)], Policy(max_parallel=2), host_slots=1)
    assert verdicts == (
        starts(1),
        waits(2, WaitingOn.SLOT, limit=Limit.HOST),
        waits(3, WaitingOn.SLOT, place=2, limit=Limit.HOST),
    )


def test_a_free_slot_goes_to_the_repository_with_the_fewest_at_work():
    assert started(share_out([queue(1, 5, at_work=2), queue(2, 5, at_work=1, first=900)], 2)) == {1: 1, 2: 1}
    assert started(share_out([queue(1, 5), queue(2, 5, first=900), queue(3, 0, at_work=4)], 3)) == {1: 2, 2: 1, 3: 0}


def test_among_equals_the_plan_that_was_approved_first_starts():
    assert started(share_out([queue(1, 2, first=9), queue(2, 2, first=5)], 1)) == {1: 0, 2: 1}


def test_slots_that_one_repository_can_not_take_go_to_others_and_none_is_given_twice():
    assert started(share_out([queue(1, 9, slots=1), queue(2, 3)], 9)) == {1: 1, 2: 3}
    assert started(share_out([queue(1, 9)], 0)) == {1: 0}
    assert started(share_out([queue(1, 9)], -2)) == {1: 0}


def test_an_urgent_repository_starves_no_other():
    """However many urgent plans one repository gets, the other's one plan starts at its turn."""
    served = []
    for round_ in range(6):
        urgent = queue(1, 3, first=100.0 * round_, priority=PlanPriority.HIGH)
        shares = started(share_out([urgent, queue(2, 1, first=150)], 1))
        served.append(next(number for number, count in shares.items() if count))
    assert served[2:] == [2] * 4


@given(
    st.lists(st.tuples(st.integers(0, 4), st.integers(0, 3), st.integers(1, 4)), min_size=1, max_size=4),
    st.integers(0, 6),
)
def test_never_more_at_once_than_the_host_has_nor_a_slot_left_that_somebody_could_take(rows, free):
    queues = [queue(n, waiting, at_work, slots=slots) for n, (waiting, at_work, slots) in enumerate(rows, 1)]
    shares = share_out(queues, free)
    given_out = sum(started(shares).values())
    assert given_out <= free
    wanted = any(v.limit is Limit.HOST for verdicts in shares.values() for v in verdicts)
    assert not wanted or given_out == free
