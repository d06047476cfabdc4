"""Path patterns: the one meaning that plans, policy and lessons share.

``*`` and ``?`` stay within a folder, ``**`` as a whole segment crosses folders, a trailing ``/`` means all below.
Nothing else is special. Matching takes time proportional to pattern times path, whatever the pattern.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

Item = TypeVar("Item")


def _wild(pattern: Sequence[Item], items: Sequence[Item], star: Item, same: Callable[[Item, Item], bool]) -> bool:
    """Match ``items`` with ``pattern``, in which ``star`` stands for any run of items."""
    at = taken = 0
    back: tuple[int, int] | None = None
    while taken < len(items):
        if at < len(pattern) and pattern[at] == star:
            back = (at + 1, taken)
            at += 1
        elif at < len(pattern) and same(pattern[at], items[taken]):
            at, taken = at + 1, taken + 1
        elif back:
            back = (back[0], back[1] + 1)
            at, taken = back
        else:
            return False
    return all(item == star for item in pattern[at:])


def _segment(pattern: str, name: str) -> bool:
    return _wild(pattern, name, "*", lambda one, other: one in {"?", other})


def _parts(pattern: str) -> list[str]:
    parts = (pattern + "**" if pattern.endswith("/") else pattern).split("/")
    return [*parts, "*"] if parts[-1] == "**" else parts  # what lies below, not the folder itself


def matches(pattern: str, path: str | bytes) -> bool:
    """Whether ``pattern`` covers ``path``, a path of a git tree; bytes that are not UTF-8 are compared as they are."""
    text = path.decode("utf-8", "surrogateescape") if isinstance(path, bytes) else path
    return _wild(_parts(pattern), text.split("/"), "**", _segment)


def any_match(patterns: Iterable[str], path: str | bytes) -> bool:
    """Whether one of ``patterns`` covers ``path``."""
    return any(matches(pattern, path) for pattern in patterns)


def _meet(one: Sequence[Item], other: Sequence[Item], star: Item, same: Callable[[Item, Item], bool]) -> bool:
    """Whether some items match both patterns: row by row from their ends, what is left of each against the other."""
    below = [False] * (len(other) + 1)
    for i in range(len(one), -1, -1):
        row = [False] * (len(other) + 1)
        for j in range(len(other), -1, -1):
            ours, theirs = i < len(one), j < len(other)
            wild = (ours and one[i] == star) or (theirs and other[j] == star)
            row[j] = (
                (not ours and not theirs)
                or (wild and ours and (theirs or one[i] == star) and below[j])
                or (wild and theirs and (ours or other[j] == star) and row[j + 1])
                or (ours and theirs and not wild and below[j + 1] and same(one[i], other[j]))
            )
        below = row
    return below[0]


def may_meet(one: str, other: str) -> bool:
    """Whether some path is covered by both patterns."""
    return _meet(_parts(one), _parts(other), "**", lambda a, b: _meet(a, b, "*", lambda c, d: c == d or "?" in {c, d}))


def fault(pattern: str) -> str | None:
    """Return why ``pattern`` can't stand in a plan, None where it can."""
    parts = pattern.removesuffix("/").split("/")
    if not pattern.isprintable() or "\\" in pattern:
        return f"{pattern!r} has characters that no path here needs."
    if any(part in {"", ".", ".."} for part in parts) or parts[0].casefold() == ".git":
        return f"{pattern!r} must be relative to the root of the repository, without '.', '..' and empty parts."
    if not any(part.strip("*?.") for part in parts):
        return f"{pattern!r} names everything; name the folder or the file."
    return None
