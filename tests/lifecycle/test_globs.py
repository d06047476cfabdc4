"""Whether two patterns can cover the same path: against what checks a change, for every pair of a small alphabet."""

from __future__ import annotations

import itertools
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.lifecycle import globs
from bot.lifecycle.globs import meet, overlapping
from runner.globs import matches, may_meet

PARTS = ["a", "b", "*", "?", "**", "a*", "*b", "?b"]
PATTERNS = [
    "/".join(parts) + end for depth in (1, 2) for parts in itertools.product(PARTS, repeat=depth) for end in ("", "/")
]
NAMES = ["a", "b", "c", "ab", "bb"]
"""Enough to tell any two parts of :data:`PARTS` apart that differ: no shortest witness needs another name."""
PATHS = ["/".join(names) for depth in (1, 2, 3, 4) for names in itertools.product(NAMES, repeat=depth)]
"""A shortest witness has a folder for each part of either pattern that is not ``**``, and a name below: four at most."""


def test_every_pair_of_small_patterns_meets_exactly_where_a_path_shows_it() -> None:
    covered = {p: sum(1 << n for n, path in enumerate(PATHS) if matches(p, path)) for p in PATTERNS}
    wrong = [
        (one, other)
        for one, other in itertools.product(PATTERNS, PATTERNS)
        if meet(one, other) != bool(covered[one] & covered[other])
    ]
    assert wrong == []


LONG = st.builds(
    lambda parts, end: "/".join(parts) + end,
    st.lists(st.sampled_from([*PARTS, "ab", "a?", "**b", "*a*", "a**b"]), min_size=1, max_size=6),
    st.sampled_from(["", "/"]),
)


@settings(max_examples=400, deadline=None)
@given(LONG, LONG)
def test_longer_patterns_meet_where_a_walk_side_by_side_says_so(one: str, other: str) -> None:
    assert meet(one, other) == meet(other, one) == may_meet(one, other)


@settings(deadline=None)
@given(st.lists(LONG, max_size=4), st.lists(LONG, max_size=4))
def test_several_patterns_overlap_where_two_of_them_meet(one: list[str], other: list[str]) -> None:
    assert overlapping(one, other) == any(may_meet(a, b) for a in one for b in other)


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
        ("é*", "*é", True),
    ],
)
def test_known_pairs(one: str, other: str, answer: bool) -> None:
    assert meet(one, other) is meet(other, one) is answer


NAMED = [f"src/module{number}/file.py" for number in range(400)]


def test_hostile_patterns_take_no_long_time() -> None:
    globs.forget()
    before = time.process_time()
    assert not meet("*a" * 250, "*b" * 249 + "c")
    assert meet("**/" * 100 + "x", "**/" * 100 + "*")
    assert not meet("**/*a*/" * 80 + "x", "**/*a*b/" * 70 + "y")
    assert not overlapping(NAMED, [f"{path}.bak" for path in NAMED])
    assert not overlapping([f"*{'a*' * 40}{n}" for n in range(100)], [f"*{'b*' * 40}{n}x" for n in range(100)])
    assert time.process_time() - before < 5
