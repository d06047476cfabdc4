"""Names of tests that tell apart what the source calls alike."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from runner.gates.weakening.facts import Test


def numbered(tests: Iterable[Test]) -> tuple[Test, ...]:
    """Return ``tests`` with a number after each further one of the same name."""
    seen: Counter[str] = Counter()
    named = []
    for test in tests:
        seen[test.name] += 1
        number = seen[test.name]
        named.append(test if number == 1 else replace(test, name=f"{test.name} ({number})"))
    return tuple(named)
