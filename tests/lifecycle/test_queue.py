"""Which plans start, which wait, and for whom; and whether two patterns meet."""

from __future__ import annotations

import itertools
import random
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.lifecycle.choices import Choices, PlanPriority
from bot.lifecycle.globs import meet, overlapping
from bot.lifecycle.plan import Approval, Hold, Plan, Revision
from bot.lifecycle.policy import Policy
from bot.lifecycle.queue import Verdict, next_starts
from bot.lifecycle.states import Gate, HoldCause, State, Via, WaitingOn
from runner.globs import matches
from tests.lifecycle.makers import ALICE, ISSUE, REPO, document

HELD = Hold(causes=(HoldCause.LABEL_REMOVED,), at=1.0)


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


def waits(number: int, on: WaitingOn, *waits_for: str, position: int = 1) -> Verdict:
    return Verdict(uid=f"{number:08x}", on=on, waits_for=waits_for, position=position)


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
        waits(3, WaitingOn.SLOT, "#1", "#2", position=1),
        waits(4, WaitingOn.SLOT, "#1", "#2", position=2),
    )


@pytest.mark.parametrize("state", [State.EXECUTING, State.VERIFYING])
def test_a_plan_under_way_takes_a_slot(state):
    verdicts = next_starts([plan(1, "a", state=state), plan(2, "b")], Policy(max_parallel=1))
    assert verdicts == (waits(2, WaitingOn.SLOT, "#1"),)


@pytest.mark.parametrize("state", sorted(set(State) - {State.EXECUTING, State.VERIFYING, State.APPROVED}))
def test_any_other_state_takes_none(state):
    assert next_starts([plan(1, "a", state=state), plan(2, "b")], Policy(max_parallel=1)) == (starts(2),)


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


# patterns

NAMED = [f"src/module{number}/file.py" for number in range(400)]
SEGMENTS = st.sampled_from(["a", "b", "*", "?", "**", "a*", "*b", "ab", "?b", "a?", "**b"])
PATTERNS = st.builds(
    lambda parts, end: "/".join(parts) + end, st.lists(SEGMENTS, min_size=1, max_size=3), st.sampled_from(["", "/"])
)
NAMES = ["a", "b", "c", "ab", "ba", "bb"]
PATHS = ["/".join(parts) for depth in (1, 2, 3, 4) for parts in itertools.product(NAMES, repeat=depth)]


@settings(max_examples=150, deadline=None)
@given(PATTERNS, PATTERNS)
def test_two_patterns_meet_exactly_where_a_path_shows_it(one, other):
    shown = any(matches(one, path) and matches(other, path) for path in PATHS)
    assert meet(one, other) == meet(other, one)
    if shown:
        assert meet(one, other)
    elif meet(one, other):  # the witness may be longer than the paths tried
        literal = sum(part not in {"**", "*"} for part in f"{one}/{other}".split("/"))
        assert literal > 3


@pytest.mark.parametrize(
    ("one", "other", "answer"),
    [
        ("src/**", "src/a/b.py", True),
        ("src/**", "src", False),
        ("src/", "src/a", True),
        ("src/*.py", "src/a/*.py", False),
        ("**/*.py", "src/**", True),
        ("**/*.py", "**/*.md", False),
        ("*.py", "a*", True),
        ("a?c", "abc", True),
        ("a?c", "ac", False),
        ("**", "anything", True),
        ("**/test/**", "src/**/unit/*", True),
        ("app/[id]/page.tsx", "app/[id]/*", True),
        ("app/[id]/page.tsx", "app/i/page.tsx", False),
        ("A", "a", False),
        ("a/**/b", "a/b", True),
        ("*a*b*", "*c*d*", True),
    ],
)
def test_known_pairs(one, other, answer):
    assert meet(one, other) is meet(other, one) is answer


def test_hostile_patterns_take_no_long_time():
    before = time.process_time()
    assert not meet("*a" * 150, "*b" * 149 + "c")
    assert meet("**/" * 100 + "x", "**/" * 100 + "*")
    assert not overlapping(NAMED, [f"{path}.bak" for path in NAMED])
    assert time.process_time() - before < 5


def test_priority_comes_before_the_time_of_approval():
    low, high = (Choices(priority=priority) for priority in (PlanPriority.LOW, PlanPriority.HIGH))
    plans = [plan(1, "a", choices=low), plan(2, "b"), plan(3, "c", choices=high)]
    assert [v.uid for v in next_starts(plans, Policy())] == ["00000003", "00000002", "00000001"]


def test_a_plan_told_to_start_passes_an_overlap_but_no_slot():
    plans = [plan(1, "a", state=State.EXECUTING), plan(2, "a", choices=Choices(past_overlap=True))]
    assert next_starts(plans, Policy()) == (starts(2, "#1"),)
    assert next_starts(plans, Policy(max_parallel=1)) == (waits(2, WaitingOn.SLOT, "#1"),)
