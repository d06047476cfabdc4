"""Whether a text says what another says already, in words that are nearly the same.

Two measures, as shares of what two texts have in common (Jaccard index of multisets): pairs of neighbouring words, for
what was copied and touched up, and single words without their endings, for what was put in another order. A text of
which nearly every pair stands in a longer one says nothing new either. What is said in quite other words is not found:
that is for the people to see who review it.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

TOO_LIKE = 0.6
"""Share of common pairs of words from which two texts say the same."""
TOO_LIKE_WORDS = 0.75
"""The same for single words, in any order."""
INSIDE = 0.9
"""Share of a text's pairs that stand in another one, from which it adds nothing to that."""
LEAST = 4
"""Pairs or words of a text below which a share of them says nothing."""
STEM = 5
"""Letters of a word that count."""
SMALL = frozenset(
    re.findall(
        r"\w+",
        "a an and are as at be been but by can do does for from had has have if in into is it its must of on or "
        "should so than that the their then there these this to was were when which will with you your",
    )
)
"""Words that carry no claim of their own. ``not``, ``never`` and ``no`` are none of them."""


def _words(text: str) -> list[str]:
    return re.findall(r"\w+", unicodedata.normalize("NFKC", text).casefold())


def _pairs(text: str) -> Counter[str]:
    words = _words(text)
    return Counter(" ".join(pair) for pair in pairwise(words)) or Counter(words)


def _stems(text: str) -> Counter[str]:
    claims = (word for word in _words(text) if word not in SMALL)
    return Counter(re.sub(r"(?<=\w{4})(?:ing|ed|es|s)$", "", word)[:STEM] for word in claims)


@dataclass
class _Index:
    """Texts by what they are made of, so that only those are compared that have something in common."""

    features: Callable[[str], Counter[str]]
    share: float
    totals: list[int] = field(default_factory=list)
    where: dict[str, list[tuple[int, int]]] = field(default_factory=dict)

    def add(self, text: str) -> None:
        counts = self.features(text)
        for feature, count in counts.items():
            self.where.setdefault(feature, []).append((len(self.totals), count))
        self.totals.append(counts.total())

    def nearest(self, text: str) -> int | None:
        """Return the number of the text that says the same as this one, the nearest, None where none does."""
        counts, common = self.features(text), Counter[int]()
        for feature, count in counts.items():
            for number, theirs in self.where.get(feature, ()):
                common[number] += min(count, theirs)
        own = counts.total()
        like = [number for number, shared in common.items() if self._is_like(own, self.totals[number], shared)]
        return max(like, key=lambda number: common[number], default=None)

    def _is_like(self, own: int, theirs: int, shared: int) -> bool:
        if shared == own == theirs:
            return True
        return own >= LEAST and (shared >= self.share * (own + theirs - shared) or shared >= INSIDE * own)


class Shelf:
    """Texts with their names, to be asked for one that says the same."""

    def __init__(self) -> None:
        self._names: list[str] = []
        self._indexes = (_Index(_pairs, TOO_LIKE), _Index(_stems, TOO_LIKE_WORDS))

    def add(self, name: str, text: str) -> None:
        """Put a text on the shelf."""
        self._names.append(name)
        for index in self._indexes:
            index.add(text)

    def like(self, text: str) -> str | None:
        """Return the name of a text that says the same, None where there is none."""
        found = (index.nearest(text) for index in self._indexes)
        return next((self._names[number] for number in found if number is not None), None)
