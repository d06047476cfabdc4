"""Whether two sets of path patterns can cover the same path, and whether one covers all that another does.

Patterns mean what :mod:`runner.globs` makes of them when it checks a change: ``*`` and ``?`` stay within a folder,
``**`` as a whole segment crosses folders, a trailing ``/`` means all below, and nothing else is special, so that
``[id]`` is a name. The answer is exact.

A pattern is read as a chain of tokens, of which ``*`` and ``**/`` may take in any number of characters. One side's
patterns lie one behind the other as the bits of whole numbers; the other side's are walked through token by token, and
with each token all bits move at once: those are the places in the patterns of the first side that some path reaches
which also reaches the token. So the time is that of the tokens of one side, times a few operations on numbers as long
as the other side, whatever stars there are.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

Item = TypeVar("Item")
ANY_CHARACTER, ANY_NAME, FOLDERS, END = "?", "*", "**/", ""
"""Tokens that are no character of a path: one character and any run of them within a folder, any folders, the end."""
SLASH = "/"
_WILD = re.compile("[*?]")
KEPT = 16_384
"""Answers that are kept: a queue asks about the same plans whenever anything changes in it."""


class _Side(NamedTuple):
    """The patterns of one side: which places hold which tokens, a bit a place."""

    starts: int
    ends: int
    literals: dict[str, int]
    names: int
    """Places that one character within a folder leads on from: literals and ``?``."""
    any_character: int
    any_name: int
    folders: int


class _Places(NamedTuple):
    """Where paths can have got to: before a token, or within a folder's name that a ``**/`` takes in."""

    before: int
    within: int


def meet(one: str, other: str) -> bool:
    """Whether some path is covered by both patterns."""
    return overlapping((one,), (other,))


def overlapping(one: Iterable[str], other: Sequence[str]) -> bool:
    """Whether some path is covered by a pattern of each side."""
    return _overlapping(tuple(one), tuple(other))


@lru_cache(maxsize=KEPT)
def _overlapping(one: tuple[str, ...], other: tuple[str, ...]) -> bool:
    (paths, patterns), (their_paths, their_patterns) = _sorted_out(one), _sorted_out(other)
    return not paths.isdisjoint(their_paths) or _any_meet(patterns, other) or _any_meet(their_patterns, tuple(paths))


@lru_cache(maxsize=KEPT)
def _sorted_out(patterns: tuple[str, ...]) -> tuple[frozenset[str], tuple[str, ...]]:
    """Return what names one path each, and what may cover several."""
    several = tuple(pattern for pattern in patterns if pattern.endswith("/") or _head(pattern) != pattern)
    return frozenset(patterns).difference(several), several


def _any_meet(patterns: tuple[str, ...], other: tuple[str, ...]) -> bool:
    """Whether one of the patterns meets one of the others. Most are told apart by how they begin."""
    heads = [_head(pattern) for pattern in other] if patterns else []
    return any(_begin_alike(pattern, heads) and _reaches(_tokens(pattern), _side(other)) for pattern in patterns)


def _begin_alike(pattern: str, heads: list[str]) -> bool:
    own = _head(pattern)
    return any(head.startswith(own) or own.startswith(head) for head in heads)


def _head(pattern: str) -> str:
    """Return what a pattern begins with before anything that is no character."""
    return _WILD.split(pattern, maxsplit=1)[0]


forget = _overlapping.cache_clear
"""Drop the answers that are kept: for who measures what an answer takes."""


def _tokens(pattern: str) -> list[str]:
    """Return a pattern's tokens: characters and what stands for more. Of several stars in a row, one counts."""
    *folders, name = (pattern + "**" if pattern.endswith("/") else pattern).split("/")
    tokens: list[str] = []
    for folder in folders:
        tokens += [FOLDERS] if folder == "**" else [*folder, SLASH]
    tokens += [FOLDERS, ANY_NAME] if name == "**" else name  # what lies below, not the folder itself
    stars = {ANY_NAME, FOLDERS}
    return [token for n, token in enumerate(tokens) if token not in stars or n == 0 or tokens[n - 1] != token]


@lru_cache(maxsize=64)
def _side(patterns: tuple[str, ...]) -> _Side:
    places: dict[str, int] = {}
    starts, place = 0, 1
    for pattern in patterns:
        starts |= place
        for token in (*_tokens(pattern), END):
            places[token] = places.get(token, 0) | place
            place <<= 1
    ends, folders = places.pop(END, 0), places.pop(FOLDERS, 0)
    any_character, any_name = places.pop(ANY_CHARACTER, 0), places.pop(ANY_NAME, 0)
    names = any_character
    for character, found in places.items():
        names |= found if character != SLASH else 0
    return _Side(starts, ends, places, names, any_character, any_name, folders)


def _reaches(tokens: Sequence[str], side: _Side) -> bool:
    """Whether a path that these tokens stand for reaches the end of one of the side's patterns."""
    at = _settled(side, side.starts, 0)
    for token in tokens:
        if token == ANY_NAME:
            at = _run(side, at)
        elif token == FOLDERS:
            inner = _everywhere_on(side, _name(side, at, side.names))
            at = _settled(side, at.before | _slash(side, inner).before, at.within | inner.within)
        elif token == SLASH:
            at = _slash(side, at)
        else:
            fitting = side.names if token == ANY_CHARACTER else side.any_character | side.literals.get(token, 0)
            at = _name(side, at, fitting)
        if not at.before | at.within:
            return False
    return bool(at.before & side.ends)


def _settled(side: _Side, before: int, within: int) -> _Places:
    """Add where stars lead that take in nothing; ``**/`` and ``*`` can follow each other in that order alone."""
    before |= (before & side.folders) << 1
    return _Places(before | (before & side.any_name) << 1, within)


def _name(side: _Side, at: _Places, fitting: int) -> _Places:
    """Take in one character of a name, which the places in ``fitting`` lead on with."""
    before = (at.before & fitting) << 1 | (at.before & side.any_name)
    return _settled(side, before, at.within | (at.before & side.folders))


def _slash(side: _Side, at: _Places) -> _Places:
    """Take in a slash: on at one, or back before the ``**/`` whose folder it ends."""
    return _settled(side, (at.before & side.literals.get(SLASH, 0)) << 1 | at.within, at.within)


def _run(side: _Side, at: _Places) -> _Places:
    """Take in any number of characters of a name."""
    before = _flooded(at.before, side.names | side.any_name | side.folders)
    return _Places(before, at.within | (before & side.folders))


def _everywhere_on(side: _Side, at: _Places) -> _Places:
    """Take in any number of characters, slashes among them."""
    through = side.names | side.any_name | side.folders | side.literals.get(SLASH, 0)
    before = _flooded(at.before | at.within, through)
    return _Places(before, at.within | (before & side.folders))


def _flooded(places: int, through: int) -> int:
    """Let bits spread upwards over every run of ``through`` that they lie in, and one bit out of it.

    The carry of an addition runs through a run of ones from the lowest bit added; where it ran, the sum differs.
    """
    return (((places & through) + through) ^ through) | places


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
