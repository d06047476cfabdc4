"""Names: of tests, told apart where the source calls them alike, and of files, by which tests are collected or not."""

from __future__ import annotations

import posixpath
import re
from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from runner.gates.weakening.facts import Test

PASSED_OVER = re.compile(r"(^|/)(\.[^/]*|node_modules|build|dist|venv|[^/]*\.egg)/")
"""Folders that pytest, Jest and Vitest don't look into."""
GO_PASSED_OVER = re.compile(
    r"(^|/)([._][^/]*|testdata|vendor)(/|$)|_(windows|darwin|plan9|js|wasip1|solaris|aix)(_\w+)?_test\.go$"
)
"""What the go command leaves out, and files that are built for other systems alone."""
PYTHON_COLLECTED = re.compile(r"(test_.*|.*_tests?|tests?)\.py")
"""File names of pytest and Django."""


def is_collected(path: bytes) -> bool:
    """Whether the tests of a file are run by custom of its language; settings may say otherwise."""
    name = path.decode("utf-8", "replace")
    if name.endswith(".go"):
        return not GO_PASSED_OVER.search(name)
    if name.endswith(".py") and not PYTHON_COLLECTED.fullmatch(posixpath.basename(name)):
        return False
    return not PASSED_OVER.search(name)


def numbered(tests: Iterable[Test]) -> tuple[Test, ...]:
    """Return ``tests`` with a number after each further one of the same name."""
    seen: Counter[str] = Counter()
    named = []
    for test in tests:
        seen[test.name] += 1
        number = seen[test.name]
        named.append(test if number == 1 else replace(test, name=f"{test.name} ({number})"))
    return tuple(named)
