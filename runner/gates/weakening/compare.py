"""What was lost between the tests of base and head, over all files of a change at once.

A test is the same at head under its own name in its own file; else where a test of that name, or one with the same
body, stands elsewhere. What an old test expected and another expects now, has moved. Both keep honest moves, splits and
renames out of the list.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from runner.gates.weakening.facts import EXACT, UNCOUNTED, Loss, Test, quoted
from runner.gates.weakening.naming import is_collected

if TYPE_CHECKING:
    from collections.abc import Iterator

    from runner.gates.weakening.facts import Expectation, Mark, Sheet

ALIKE = 0.5
"""Share of an old test's lines that one of another name or place must have, to be the same test."""
MAX_LINES = 60
"""Lines of a test that are compared; the rest says no more about whether two are the same."""
MAX_TRIED = 60
"""Tests of other names that an old one is compared with, line by line."""

Sheets = dict[bytes, "Sheet"]
Placed = tuple[bytes, Test]
Key = tuple[bytes, str, bool]
"""Path, name, and whether it is a helper."""


def losses(base: Sheets, head: Sheets) -> Iterator[Loss]:
    """Yield what the tests of ``head`` no longer prove that those of ``base`` proved, and every new mark."""
    pairs, gone = _paired(base, head)
    moved = _Moved(base, head)
    for (before, old), (path, new) in pairs:
        if not new.helper and is_collected(before) and not is_collected(path):
            yield Loss(path, new.line, f"{new.name} moved to where nothing collects it by custom")
        yield from _weaker(path, old, new, moved)
    yield from _deleted(gone, head, moved)
    yield from _new_marks(base, head)


def _paired(base: Sheets, head: Sheets) -> tuple[list[tuple[Placed, Placed]], list[Placed]]:
    """Return which test of head each test of base has become, and those that became none."""
    free = {(path, test.name, test.helper): test for path, sheet in head.items() for test in sheet.tests}
    pairs: list[tuple[Placed, Placed]] = []
    left: list[Placed] = []
    for path, sheet in base.items():
        for old in sheet.tests:
            same = free.pop((path, old.name, old.helper), None)
            if same is None:
                left.append((path, old))
            else:
                pairs.append(((path, old), (path, same)))
    rest = _Rest(free)
    gone: list[Placed] = []
    for path, old in left:
        found = rest.take(path, old)
        if found is None:
            gone.append((path, old))
        else:
            pairs.append(((path, old), found))
    return pairs, gone


class _Rest:
    """The tests of head that no test of base stands for under its own name and place."""

    def __init__(self, free: dict[Key, Test]) -> None:
        self._free = free
        self._near: dict[tuple[str, object], list[Key]] = {}
        for key in free:
            for near in _near(*key):
                self._near.setdefault(near, []).append(key)

    def take(self, path: bytes, old: Test) -> Placed | None:
        """Take the test that ``old`` has become: the one with most of its lines, among equals the nearest by name."""
        best, found = 0.0, None
        for key in self._candidates(path, old):
            share = _share(old, self._free[key])
            if share >= ALIKE and share > best:
                best, found = share, key
            if best == 1:
                break
        return None if found is None else (found[0], self._free.pop(found))

    def _candidates(self, path: bytes, old: Test) -> Iterator[Key]:
        """Yield the tests to compare with, the nearest first, each once."""
        tried: set[Key] = set()
        for near in _near(path, old.name, old.helper):
            keys = self._near.get(near, [])
            keys[:] = [key for key in keys if key in self._free] if len(keys) > MAX_TRIED else keys
            for key in keys:
                if len(tried) == MAX_TRIED:
                    return
                if key in self._free and key not in tried:
                    tried.add(key)
                    yield key


def _near(path: bytes, name: str, helper: bool) -> tuple[tuple[str, object], ...]:  # noqa: FBT001 - the parts of a key
    """Return by what a test is looked for, the nearest first: whole name, own name, file, and any at all."""
    return (
        ("name", (name, helper)),
        ("short", (name.rpartition(" > ")[2], helper)),
        ("path", (path, helper)),
        ("any", helper),
    )


def _share(old: Test, new: Test) -> float:
    """Return how much of ``old`` stands in ``new``."""
    if not old.lines:
        return 1.0 if not new.lines else 0.0
    if old.lines == new.lines:
        return 1.0
    left = list(new.lines)
    kept = 0
    for line in old.lines if len(old.lines) <= MAX_LINES else old.lines[:MAX_LINES]:
        if line in left:
            left.remove(line)
            kept += 1
    return kept / min(len(old.lines), MAX_LINES)


class _Moved:
    """What is expected in fewer places at head than at base; all else that left a test stands elsewhere now."""

    def __init__(self, base: Sheets, head: Sheets) -> None:
        known = {test.skip for sheet in base.values() for test in sheet.tests}
        self._fewer = {helper: _texts(base, helper, known) - _texts(head, helper, known) for helper in (False, True)}

    def keeps(self, test: Test, expectation: Expectation) -> bool:
        """Whether as much as before is expected of this, over all tests (or helpers) of the change."""
        return expectation.text not in self._fewer[test.helper]

    def lost(self, old: Test, new: Test) -> list[Expectation]:
        """Return what ``old`` expected and neither ``new`` nor another does."""
        left = Counter(one.text for one in new.real)
        gone = []
        for one in old.real:
            if left[one.text]:
                left[one.text] -= 1
            elif not self.keeps(old, one):
                gone.append(one)
        return gone


def _texts(sheets: Sheets, helper: bool, known: set[str]) -> Counter[str]:  # noqa: FBT001 - which kind
    """Count what is expected; not by what is kept from running in a way (``known``) that the base does not have."""
    found: Counter[str] = Counter()
    tests = (test for sheet in sheets.values() for test in sheet.tests)
    for test in (test for test in tests if test.helper is helper and (not test.skip or test.skip in known)):
        for one in test.real:
            found[one.text] += max(1, test.cases)
    return found


def _weaker(path: bytes, old: Test, new: Test, moved: _Moved) -> Iterator[Loss]:
    if new.skip and not old.skip:
        yield Loss(path, new.line, f"{new.name} no longer runs: {quoted(new.skip)}")
    elif new.skip != old.skip and old.skip and new.skip:
        said = f"{new.name} is kept from running otherwise than before: {quoted(new.skip)}"
        yield Loss(path, new.line, said, mild=True)
    if old.lines and not new.lines and not new.helper:
        yield Loss(path, new.line, f"{new.name} is empty now")
        return
    lost = moved.lost(old, new)
    before, now = (1, 1) if UNCOUNTED in {old.cases, new.cases} else (old.cases, new.cases)
    fewer = len(old.real) * before - len(new.real) * now
    exact = _exact(old) * before - _exact(new) * now
    if lost and fewer > 0:
        yield from _told(path, new, lost, fewer, _taken(old, new))
    elif exact > 0 and (weaker := [one for one in lost if one.strength == EXACT]):
        yield from _told(path, new, weaker, exact, "no longer expects the exact result")
    if now < before and len(new.real) <= len(old.real):
        yield Loss(path, new.line, f"{new.name} has {now} cases, {before} before")
    yield from _tolerant(path, old, new)


def _exact(test: Test) -> int:
    return sum(one.strength == EXACT for one in test.expectations)


def _taken(old: Test, new: Test) -> str:
    more_trivial = len(new.expectations) - len(new.real) > len(old.expectations) - len(old.real)
    return "expects what can't fail, in place of" if more_trivial else "no longer expects"


def _told(path: bytes, test: Test, lost: list[Expectation], count: int, what: str) -> Iterator[Loss]:
    for one in lost[:count]:
        yield Loss(path, test.line, f"{test.name} {what} {quoted(one.text)}")


def _tolerant(path: bytes, old: Test, new: Test) -> Iterator[Loss]:
    before: dict[str, float] = {}
    for one in old.expectations:
        if one.tolerance is not None:
            before[one.text] = max(one.tolerance, before.get(one.text, 0.0))
    for one in new.expectations:
        if one.tolerance is not None and one.text in before and one.tolerance > before[one.text]:
            yield Loss(path, one.line, f"{new.name} allows more: {one.tolerance:g}, {before[one.text]:g} before")


def _deleted(gone: list[Placed], head: Sheets, moved: _Moved) -> Iterator[Loss]:
    lost: dict[bytes, list[Test]] = {}
    for path, test in gone:
        merged = bool(test.real) and all(moved.keeps(test, one) for one in test.real)
        if not test.helper and not merged:
            lost.setdefault(path, []).append(test)
    for path, tests in lost.items():
        for test in tests:
            where = "" if path in head else ", with its file"
            yield Loss(path, test.line, f"{test.name} is gone{where}")


def _new_marks(base: Sheets, head: Sheets) -> Iterator[Loss]:
    """Yield the marks of which head has more than base; in a file that had none of them first."""
    left = Counter(mark.text for sheet in base.values() for mark in sheet.marks)
    known = {path: Counter(mark.text for mark in sheet.marks) for path, sheet in base.items()}
    placed = [(path, mark) for path, sheet in head.items() for mark in sheet.marks]
    for path, mark in sorted(placed, key=lambda one: _is_new_here(one, known)):
        if left[mark.text]:
            left[mark.text] -= 1
        else:
            yield Loss(path, mark.line, mark.what, mark.mild)


def _is_new_here(placed: tuple[bytes, Mark], known: dict[bytes, Counter[str]]) -> bool:
    """Use up what a file had; what stays is new, or came from another file."""
    path, mark = placed
    there = known.get(path, Counter())
    there[mark.text] -= 1
    return there[mark.text] < 0
