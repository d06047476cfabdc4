"""Whether two path patterns can cover the same path, and whether one covers all that the other does.

Patterns mean what :mod:`runner.globs` makes of them when it checks a change: ``*`` and ``?`` stay within a folder,
``**`` as a whole segment crosses folders, a trailing ``/`` means all below, and nothing else is special, so that
``[id]`` is a name. The answer is exact: both patterns are walked through side by side, and they meet if the walk can
reach both ends. It takes time proportional to the product of their lengths.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

Item = TypeVar("Item")


def overlapping(one: Iterable[str], other: Sequence[str]) -> bool:
    """Whether some path is covered by a pattern of each side."""
    return any(meet(a, b) for a in one for b in other)


def meet(one: str, other: str) -> bool:
    """Whether some path is covered by both patterns. Most pairs are told apart by how they begin."""
    a, b = (re.split("[*?]", pattern, maxsplit=1)[0] for pattern in (one, other))
    if not (a.startswith(b) or b.startswith(a)):
        return False
    return _meet(_segments(one), _segments(other), "**", _segments_meet)


def within(one: str, other: str) -> bool:
    """Whether ``other`` covers all that ``one`` does, which may be a path; False where that can't be told."""
    return _all_of(_segments(one), _segments(other), "**", _segment_within)


def _segment_within(one: str, other: str) -> bool:
    return one != "**" and _all_of(one, other, "*", lambda a, b: a == b or (b == "?" and a != "*"))


def _all_of(one: Sequence[Item], other: Sequence[Item], star: Item, same: Callable[[Item, Item], bool]) -> bool:
    """Whether ``other`` takes in all that ``one`` stands for: whatever ``one`` leaves open, a star has to take in."""
    at = taken = 0
    back: tuple[int, int] | None = None
    while taken < len(one):
        if at < len(other) and other[at] == star:
            back = (at + 1, taken)
            at += 1
        elif at < len(other) and same(one[taken], other[at]):
            at, taken = at + 1, taken + 1
        elif back:
            back = (back[0], back[1] + 1)
            at, taken = back
        else:
            return False
    return all(item == star for item in other[at:])


def _segments(pattern: str) -> list[str]:
    if pattern.endswith("/"):
        pattern += "**"
    parts = pattern.split("/")
    return [*parts, "*"] if parts[-1] == "**" else parts  # what lies below, not the folder itself


def _segments_meet(one: str, other: str) -> bool:
    return _meet(one, other, "*", lambda a, b: "?" in {a, b} or a == b)


def _meet(one: Sequence[Item], other: Sequence[Item], star: Item, same: Callable[[Item, Item], bool]) -> bool:
    """Whether both sequences, in which ``star`` stands for any run of items, can stand for the same one."""
    seen = {(0, 0)}
    todo = [(0, 0)]
    while todo:
        i, j = todo.pop()
        if i == len(one) and j == len(other):
            return True
        for step in _steps(one[i : i + 1], other[j : j + 1], star, same):
            reached = (i + step[0], j + step[1])
            if reached not in seen:
                seen.add(reached)
                todo.append(reached)
    return False


def _steps(
    a: Sequence[Item], b: Sequence[Item], star: Item, same: Callable[[Item, Item], bool]
) -> list[tuple[int, int]]:
    """Return the ways on from a pair of items, each empty at its end: past a star, or over one item on both sides."""
    starred = (bool(a) and a[0] == star, bool(b) and b[0] == star)
    if any(starred):
        # a star ends here, or it takes in the other side's item
        return [(1, 0), *([(0, 1)] if b else [])] if starred[0] else [(0, 1), *([(1, 0)] if a else [])]
    return [(1, 1)] if a and b and same(a[0], b[0]) else []
