"""Which lessons hold no more: told by what can be checked, and each with the reason.

A lesson is stale where none of its paths is there any more, where a newer one says that it replaces it, and where a
newer one that the same units read says nearly the same. In the last case the newer may affirm or contradict; words do
not tell, and either way it is the newer that counts.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from typing import TYPE_CHECKING

from runner.globs import matches
from runner.memory.likeness import Shelf
from runner.memory.units import readers

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from runner.memory.files import LessonFile
    from runner.results import Unit


class Paths:
    """The paths of a commit, to be asked whether a pattern covers one; each pattern is looked up once."""

    def __init__(self, tree: Iterable[bytes]) -> None:
        self._paths = sorted(path.decode("utf-8", "surrogateescape") for path in tree)
        self._known: dict[str, bool] = {}

    def cover(self, pattern: str) -> bool:
        """Whether ``pattern`` covers a path; the name of a folder without its slash counts too."""
        if pattern not in self._known:
            self._known[pattern] = self._begins(pattern) or any(
                matches(pattern, path) for path in self._candidates(pattern)
            )
        return self._known[pattern]

    def _begins(self, pattern: str) -> bool:
        """Whether a file has that very name, or a folder that holds one."""
        name = pattern.rstrip("/")
        at, below = bisect_left(self._paths, name), bisect_left(self._paths, f"{name}/")
        exact = at < len(self._paths) and self._paths[at] == name and not pattern.endswith("/")
        return exact or (below < len(self._paths) and self._paths[below].startswith(f"{name}/"))

    def _candidates(self, pattern: str) -> Iterator[str]:
        """Yield the paths that begin as the pattern does and hold the longest piece of it that is no wildcard."""
        head, *_ = pieces = re.split(r"[*?]+", pattern)
        longest = max((piece.strip("/") for piece in pieces), key=len)
        if head == pattern and not pattern.endswith("/"):
            return
        for at in range(bisect_left(self._paths, head), len(self._paths)):
            path = self._paths[at]
            if not path.startswith(head):
                return
            if longest in path:
                yield path


def stale(lessons: Sequence[LessonFile], tree: Paths) -> dict[str, str]:
    """Return the stale ones among ``lessons``: path to reason, a sentence."""
    found: dict[str, str] = {}
    replacing = {(lesson.unit, lesson.replaces): lesson for lesson in lessons if lesson.replaces}
    shelves: dict[frozenset[Unit], Shelf] = {}
    for lesson in sorted(lessons, key=age, reverse=True):
        shelf = shelves.setdefault(readers(lesson.unit), Shelf())
        newer = replacing.get((lesson.unit, lesson.name))
        if newer is not None and newer is not lesson and newer.created >= lesson.created:
            found[lesson.path] = f"{newer.path} replaces it."
        elif lesson.paths and not any(tree.cover(path) for path in lesson.paths):
            found[lesson.path] = f"None of its paths is there any more: {', '.join(lesson.paths)}."
        elif like := shelf.like(lesson.text):
            found[lesson.path] = f"{like}, which is newer, says nearly the same or the contrary."
        else:
            shelf.add(lesson.path, lesson.text)
    return found


def age(lesson: LessonFile) -> tuple[object, str]:
    """Order lessons by when they were written; those of one day by name."""
    return lesson.created, lesson.path
