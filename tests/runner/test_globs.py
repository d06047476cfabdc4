"""Patterns: one meaning, no matter who asks, and no pattern that takes for ever."""

from __future__ import annotations

import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runner.globs import any_match, fault, matches, may_meet

COVERED = [
    ("src/app.py", "src/app.py"),
    ("src/*.py", "src/app.py"),
    ("src/**", "src/app.py"),
    ("src/**", "src/a/b/c.py"),
    ("src/", "src/a/b/c.py"),
    ("**", "anything"),
    ("**", "any/thing"),
    ("**/*.py", "app.py"),
    ("**/*.py", "a/b/app.py"),
    ("a/**/z", "a/z"),
    ("a/**/z", "a/b/c/z"),
    ("a/**/b/**/z", "a/b/b/z"),
    ("*", "README"),
    ("??.txt", "ab.txt"),
    ("?.txt", "ü.txt"),
    ("[a].txt", "[a].txt"),
    ("a**b", "axyb"),
    ("*.py", "new\nline.py"),
]
NOT_COVERED = [
    ("src/*.py", "src/a/app.py"),
    ("src/**", "src"),
    ("src/", "src"),
    ("src", "src/app.py"),
    ("*", "a/b"),
    ("**/*.py", "a/b.pyc"),
    ("a/**/z", "az"),
    ("a/**/z", "a/z/y"),
    ("[ab].txt", "a.txt"),
    ("SRC/*", "src/a"),
    ("a**b", "ax/yb"),
    ("", "a"),
]


@pytest.mark.parametrize(("pattern", "path"), COVERED)
def test_covers(pattern: str, path: str) -> None:
    assert matches(pattern, path)
    assert matches(pattern, path.encode())


@pytest.mark.parametrize(("pattern", "path"), NOT_COVERED)
def test_does_not_cover(pattern: str, path: str) -> None:
    assert not matches(pattern, path)
    assert not any_match([pattern, "other"], path.encode())


def test_bytes_that_are_no_text_are_compared_as_they_are() -> None:
    assert matches("src/*", b"src/\xff\xfe.py")
    assert matches("src/??.py", b"src/\xff\xfe.py")
    assert not matches("src/\ufffd.py", b"src/\xff.py")


@given(st.text("ab/*", max_size=8), st.text("ab/", max_size=10))
def test_agrees_with_a_regular_expression(pattern: str, path: str) -> None:
    def one(segment: str) -> str:
        return "".join("[^/]*" if c == "*" else re.escape(c) for c in segment)

    if pattern.endswith("/"):
        pattern += "**"
    parts = pattern.split("/")
    tail = parts[-1] == "**"
    parts = [*parts, "*"] if tail else parts
    # every segment ends with a slash here, in pattern and path alike, so that ** is any run of whole segments
    expected = re.fullmatch("".join("(?:[^/]*/)*" if p == "**" else one(p) + "/" for p in parts), path + "/")
    assert matches(pattern, path) == bool(expected)


def test_a_hostile_pattern_takes_no_time() -> None:
    start = time.process_time()
    assert not matches("*a" * 140 + "b", "a" * 4000)
    assert not matches("**/a/" * 60 + "b", "a/" * 1000 + "c")
    assert time.process_time() - start < 5


@pytest.mark.parametrize("pattern", ["src/*.py", "src/**", "docs/", "**/CLAUDE.md", ".github/CODEOWNERS", "a b/ü.py"])
def test_patterns_a_plan_may_hold(pattern: str) -> None:
    assert fault(pattern) is None


@pytest.mark.parametrize(
    "pattern",
    [
        "",
        "/etc/passwd",
        "../x",
        "a/../b",
        "./a",
        "a//b",
        "**",
        "*",
        "**/*",
        "*/**",
        ".git/config",
        ".GIT/x",
        "a\\b",
        "a\nb",
        "a\u202eb",
    ],
)
def test_patterns_a_plan_may_not_hold(pattern: str) -> None:
    assert fault(pattern)


@pytest.mark.parametrize(
    ("one", "other", "meet"),
    [
        ("a.py", "a.py", True),
        ("a.py", "b.py", False),
        ("src/**", "src/a/b.py", True),
        ("src/**", "src", False),
        ("src/*.py", "src/a*", True),
        ("src/*.py", "src/*.js", False),
        ("**/*.sql", "db/**", True),
        ("a/**/z", "**/b/*", True),
        ("a/*/z", "a/**/y", False),
        ("a?c", "ab*", True),
        ("a?", "abc", False),
        ("*a*", "*b*", True),
        ("docs/", "docs/x/y.md", True),
        ("**", "anything/at/all", True),
    ],
)
def test_patterns_that_may_cover_the_same_path(one: str, other: str, meet: bool) -> None:
    assert may_meet(one, other) == meet
    assert may_meet(other, one) == meet


@given(st.text("ab/*?", max_size=7), st.text("ab/*?", max_size=7), st.text("ab/", max_size=7))
def test_a_path_that_both_cover_is_found(one: str, other: str, path: str) -> None:
    assert may_meet(one, other) or not (matches(one, path) and matches(other, path))


@given(st.text("ab/*?", max_size=6), st.text("ab/", max_size=6))
def test_a_pattern_meets_a_plain_path_exactly_where_it_covers_it(pattern: str, path: str) -> None:
    if not path.endswith("/"):
        assert may_meet(pattern, path) == matches(pattern, path)


def test_hostile_pairs_take_no_time() -> None:
    start = time.process_time()
    may_meet("*a" * 150, "*b" * 150)
    may_meet("**/a*/" * 50, "**/*b/" * 50)
    assert time.process_time() - start < 5
