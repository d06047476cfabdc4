"""What changed between two revisions of a plan, part by part, down to the word where that is readable."""

from __future__ import annotations

import re
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import TYPE_CHECKING

from markupsafe import Markup

from bot.web.dashboard.text import spans

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from bot.lifecycle.plan import Revision

MOST_ENTRIES = 200
"""Entries of one part, such as steps, that are compared and shown."""
MOST_WORDS = 150
"""Words of an entry up to which it is compared word by word; a longer one is shown whole, before and after."""
WORDS = 1_500
"""Words that are compared one by one in a whole plan: comparing takes the more the less two texts are alike."""
ALIKE = 0.4
"""Two texts less alike than this, 0 to 1, are another text and not a changed one."""
LONGEST = 12_000
"""Characters of one entry that are shown."""
_WORDS = re.compile(r"\S+\s*")


@dataclass(frozen=True, slots=True)
class Entry:
    """One step, file, risk: ``kind`` is ``same``, ``added``, ``removed`` or ``changed``."""

    kind: str
    text: Markup


@dataclass(frozen=True, slots=True)
class Part:
    """A part of the plan, such as its steps."""

    name: str
    entries: tuple[Entry, ...]

    @property
    def differs(self) -> bool:
        """Whether anything in it is other than before."""
        return any(entry.kind != "same" for entry in self.entries)


def between(old: Revision, new: Revision) -> tuple[Part, ...]:
    """Return the parts of the newer revision, each entry compared with the older one's."""
    before, after, compare = dict(_parts(old)), dict(_parts(new)), _Comparison()
    return tuple(
        Part(name, tuple(compare.entries(before[name][:MOST_ENTRIES], texts[:MOST_ENTRIES])))
        for name, texts in after.items()
        if texts or before[name]
    )


def _parts(revision: Revision) -> Iterator[tuple[str, tuple[str, ...]]]:
    document = revision.document
    yield "Title", (document.title,)
    yield "Summary", tuple(filter(None, (document.summary, document.reason)))
    yield "Steps", document.steps
    yield "Files", document.files
    yield "Loosens checks in", document.weakens
    yield "Tests", document.tests
    yield "Risks", document.risks
    yield "Questions", document.questions
    yield "Checks", tuple(f"{gate.name}: {gate.run}" for gate in revision.gates)


class _Comparison:
    """Compares entries, and counts the words that it has compared."""

    def __init__(self) -> None:
        self._left = WORDS

    def entries(self, old: Sequence[str], new: Sequence[str]) -> Iterator[Entry]:
        """Yield what stands in the newer part, and what stood there before."""
        for change, start, end, to, until in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
            if change == "equal":
                yield from (Entry("same", _shown(text)) for text in new[to:until])
                continue
            pairs = min(end - start, until - to) if change == "replace" else 0
            for one, other in zip(old[start : start + pairs], new[to : to + pairs], strict=True):
                yield from self._pair(one, other)
            yield from map(_removed, old[start + pairs : end])
            yield from map(_added, new[to + pairs : until])

    def _pair(self, old: str, new: str) -> Iterator[Entry]:
        """Yield a text that took the place of another: by words where they are alike, else both."""
        before, after = _WORDS.findall(old[:LONGEST]), _WORDS.findall(new[:LONGEST])
        words = max(len(before), len(after))
        if words <= min(MOST_WORDS, self._left):
            self._left -= words
            matcher = SequenceMatcher(None, before, after, autojunk=False)
            if matcher.ratio() >= ALIKE:
                yield Entry("changed", Markup("").join(_by_words(matcher, before, after)))
                return
        yield _removed(old)
        yield _added(new)


def _by_words(matcher: SequenceMatcher[str], before: list[str], after: list[str]) -> Iterator[Markup]:
    for change, start, end, to, until in matcher.get_opcodes():
        if change == "equal":
            yield _shown("".join(after[to:until]))
            continue
        yield _struck("".join(before[start:end]))
        yield _new("".join(after[to:until]))


def _removed(text: str) -> Entry:
    return Entry("removed", _struck(text))


def _added(text: str) -> Entry:
    return Entry("added", _new(text))


def _struck(text: str) -> Markup:
    return Markup("<del>{}</del>").format(_shown(text)) if text else Markup("")


def _new(text: str) -> Markup:
    return Markup("<ins>{}</ins>").format(_shown(text)) if text else Markup("")


def _shown(text: str) -> Markup:
    return spans(text[:LONGEST])
