"""Which lines of a text somebody quotes, though what is quoted rarely reads as the text was written.

What GitHub quotes is what it shows: without marks of lists, emphasis and links, with entities as characters, lines of
a paragraph joined; and people shorten it. So words are compared, in pairs that follow each other.
"""

from __future__ import annotations

import html
import re
from collections import defaultdict
from dataclasses import dataclass
from itertools import pairwise

CLOSE_ENOUGH = 0.7
"""Share of a quoted line's pairs of words that must be in the lines it is taken to quote."""
FEWEST_WORDS = 3
"""Words from which a part of a line is recognised; of fewer, only the whole line is."""
_UNSEEN = dict.fromkeys(map(ord, "\u00ad\u200b\u200c\u200d\u2060\ufeff"))
_HTML = re.compile(r"<!--.*?(?:-->|\Z)|</?[A-Za-z][^<>]{0,300}>", re.DOTALL)
_LINK = re.compile(r"\]\([^()\s]{1,2000}\)")
_ITEM = re.compile(r"\s*(?:[-*+]|\d{1,3}[.)])\s+")
"""The mark of a list's item, which is not part of what people copy."""
_WORD = re.compile(r"[^\W_\u2e80-\U0010ffff]+|[^\W_]")
"""A word, or one sign of a script that puts no spaces between words."""


def words(text: str) -> tuple[str, ...]:
    """Return the words that a reader sees of some Markdown."""
    shown = html.unescape(_LINK.sub("]", _HTML.sub(" ", text.translate(_UNSEEN))))
    return tuple(_WORD.findall(shown.casefold()))


MOST_PLACES = 50
"""Lines that a pair of words is looked for in, the first ones: a pair that is everywhere tells nothing."""


@dataclass(frozen=True, slots=True)
class Lines:
    """The lines of a text, found by what they say."""

    lines: tuple[str, ...]
    _whole: dict[tuple[str, ...], int]
    _pairs: dict[tuple[str, str], list[int]]

    @classmethod
    def of(cls, text: str) -> Lines:
        """Take a text apart."""
        lines = tuple(text.split("\n"))
        whole: dict[tuple[str, ...], int] = {}
        pairs: defaultdict[tuple[str, str], list[int]] = defaultdict(list)
        before = ""
        for at, line in enumerate(lines):
            said = words(line)
            whole.setdefault(said, at)
            whole.setdefault(words(_ITEM.sub("", line, count=1)), at)
            for word in said:
                places = pairs[before, word]
                if len(places) < MOST_PLACES and at not in places[-1:]:
                    places.append(at)
                before = word
            before = before if said else ""
        return cls(lines, whole, pairs)

    def quoted_by(self, line: str) -> range:
        """Return which lines are quoted; an empty range where none is."""
        said = words(line)
        if said in self._whole:
            return range(self._whole[said], self._whole[said] + 1) if said else range(0)
        if len(said) < FEWEST_WORDS:
            return range(0)
        asked = set(pairwise(said))
        hits: defaultdict[int, set[tuple[str, str]]] = defaultdict(set)
        for pair in asked:
            for at in self._pairs.get(pair, ()):
                hits[at].add(pair)
        first = max(sorted(hits), key=lambda at: len(hits[at]), default=0)
        end, found = first, set[tuple[str, str]]()
        while hits[end] - found:
            found |= hits[end]
            end += 1
        while hits[first - 1] - found:
            first -= 1
            found |= hits[first]
        return range(first, end) if found and len(found) >= CLOSE_ENOUGH * len(asked) else range(0)
