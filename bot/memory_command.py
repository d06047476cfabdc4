"""``twogate memory``: the lessons of a checkout, which of them are stale, and a branch that removes some."""

from __future__ import annotations

import json
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bot.errors import UserError
from bot.tables import table
from runner.memory.checkout import Checkout, CheckoutError
from runner.memory.files import line
from runner.results import Unit
from runner.steps.history import inert
from runner.untrusted import visible

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Iterator

    from runner.memory import LessonFile

UNITS = ("UNIT", "LESSONS", "OF", "BYTES", "OF", "STALE")
LESSONS = ("UNIT", "LESSON", "KIND", "CREATED", "LEARNED FROM", "BYTES", "PATHS", "")
BRANCH = "twogate/prune-memory-{:%Y-%m-%d}"
"""The branch that prune makes where none is named."""
CELL = 60
"""Characters of a cell."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what ``twogate memory`` takes."""
    below = parser.add_subparsers(required=True, metavar="ACTION")

    def action(name: str, run: Callable[[argparse.Namespace, Checkout], Iterator[str]], text: str) -> Any:
        made = below.add_parser(name, help=text, description=f"{text[0].upper()}{text[1:]}.")
        made.add_argument("-C", dest="folder", type=Path, default=Path(), metavar="FOLDER", help="the checkout (.)")
        made.add_argument("--commit", default="HEAD", metavar="REVISION", help="read this commit's (HEAD)")
        made.add_argument("--json", action="store_true", help="print JSON")
        made.set_defaults(tell=run)
        return made

    action("list", _list, "list the lessons of each unit, with their size against its budget")
    action("show", _show, "show a lesson").add_argument("lesson", help="its file: path, or name")
    action("stale", _stale, "list the lessons that hold no more, each with the reason")
    prune = action("prune", _prune, "make a branch with a commit that removes lessons, for a pull request")
    prune.add_argument("lessons", nargs="*", metavar="LESSON", help="their files: path, or name")
    prune.add_argument("--stale", action="store_true", help="those that `twogate memory stale` lists")
    prune.add_argument("--branch", help=f"name of the branch ({BRANCH.replace('{:%Y-%m-%d}', 'DATE')})")


def told(arguments: argparse.Namespace) -> Iterator[str]:
    """Yield the lines to print; raises :class:`UserError`."""
    try:
        yield from arguments.tell(arguments, Checkout.open(arguments.folder, arguments.commit))
    except CheckoutError as error:
        raise UserError(str(error)) from error


def _list(arguments: argparse.Namespace, found: Checkout) -> Iterator[str]:
    gone = found.stale()
    if arguments.json:
        yield _json(
            commit=found.commit,
            units=[_unit(found, unit, gone) for unit in _units(found)],
            lessons=[_data(lesson, gone) for lesson in found.lessons],
            damaged=found.damaged,
        )
        return
    if not found.lessons and not found.damaged:
        yield f"Commit {found.commit[:10]} has no lessons."
        return
    units = [tuple(map(str, _unit(found, unit, gone).values())) for unit in _units(found)]
    yield from table(UNITS, *units)
    yield ""
    yield from table(LESSONS, *(_row(lesson, gone) for lesson in found.lessons))
    for path, fault in found.damaged.items():
        yield f"No lesson, and never read: {_cell(path, 300)}. {_cell(fault, 300)}"


def _show(arguments: argparse.Namespace, found: Checkout) -> Iterator[str]:
    path, gone = found.named(arguments.lesson), found.stale()
    if path in found.damaged:
        raise CheckoutError(f"{_cell(path, 300)} is no valid lesson. {found.damaged[path]}")
    lesson = next(lesson for lesson in found.lessons if lesson.path == path)
    if arguments.json:
        yield _json(**_data(lesson, gone))
        return
    yield lesson.path
    yield f"{lesson.kind}, learned from {_cell(lesson.learned_from, 300)} on {lesson.created}"
    if lesson.adopted_by:
        yield f"adopted by {_cell(lesson.adopted_by, 300)}"
    yield f"about {', '.join(_cell(p, 300) for p in lesson.paths) or 'the whole repository'}"
    if lesson.replaces:
        yield f"replaces {lesson.replaces}"
    if path in gone:
        yield f"stale: {_cell(gone[path], 1_000)}"
    yield ""
    yield visible(lesson.text)


def _stale(arguments: argparse.Namespace, found: Checkout) -> Iterator[str]:
    gone = found.stale()
    if arguments.json:
        yield _json(commit=found.commit, stale=gone, damaged=found.damaged)
    elif not gone:
        yield f"Commit {found.commit[:10]} has no stale lessons."
    for path, reason in sorted(gone.items()) if not arguments.json else ():
        yield path
        yield f"    {_cell(reason, 1_000)}"


def _prune(arguments: argparse.Namespace, found: Checkout) -> Iterator[str]:
    gone = found.stale() if arguments.stale else {}
    paths = list(dict.fromkeys([*map(found.named, arguments.lessons), *sorted(gone)]))
    if not paths:
        nothing = "There is nothing stale" if arguments.stale else "Name the lessons to remove, or say --stale"
        raise CheckoutError(f"{nothing}: no branch was made.")
    branch = arguments.branch or BRANCH.format(datetime.now(UTC))
    reasons = [_reason(path, gone.get(path, "named by hand")) for path in paths]
    counted = f"{len(paths)} lesson{'s' * (len(paths) > 1)}"
    sha = found.prune(paths, branch, "\n".join([f"Forget {counted}", "", *reasons, ""]))
    if arguments.json:
        yield _json(branch=branch, commit=sha, parent=found.commit, removed=paths)
        return
    yield f"Branch {branch} has a commit, {sha[:10]}, that removes {counted}:"
    yield from (f"  {_cell(path, 300)}" for path in paths)
    yield "Your branch, work tree and index are as they were. Agents go on reading these lessons until it is merged:"
    yield f"  git push origin {branch}"
    yield f"  gh pr create --head {branch} --fill"


def _reason(path: str, reason: str) -> str:
    """Return a line of a commit's message that does nothing on GitHub, whatever files and paths are called."""
    name = path.rpartition("/")[2]
    return f"- {inert(_cell(f'{name}: {reason}', 500))}"


def _units(found: Checkout) -> list[Unit]:
    there = {lesson.unit for lesson in found.lessons}
    return [unit for unit in Unit if unit in there]


def _unit(found: Checkout, unit: Unit, gone: dict[str, str]) -> dict[str, Any]:
    ours, budget = [lesson for lesson in found.lessons if lesson.unit is unit], found.budget(unit)
    count = Counter(lesson.path in gone for lesson in ours)
    return {
        "unit": str(unit),
        "lessons": len(ours),
        "most_lessons": budget.lessons,
        "bytes": sum(_size(lesson) for lesson in ours),
        "most_bytes": budget.bytes,
        "stale": count[True],
    }


def _row(lesson: LessonFile, gone: dict[str, str]) -> tuple[str, ...]:
    return (
        str(lesson.unit),
        lesson.name,
        lesson.kind,
        str(lesson.created),
        _cell(lesson.learned_from),
        str(_size(lesson)),
        _cell(", ".join(lesson.paths)) or "-",
        "stale" if lesson.path in gone else "",
    )


def _data(lesson: LessonFile, gone: dict[str, str]) -> dict[str, Any]:
    return {
        "path": lesson.path,
        "unit": str(lesson.unit),
        "kind": lesson.kind,
        "created": lesson.created.isoformat(),
        "learned_from": lesson.learned_from,
        "adopted_by": lesson.adopted_by,
        "replaces": lesson.replaces,
        "paths": list(lesson.paths),
        "bytes": _size(lesson),
        "text": lesson.text,
        "stale": gone.get(lesson.path),
    }


def _size(lesson: LessonFile) -> int:
    return len(line(lesson).encode())


def _cell(text: str, length: int = CELL) -> str:
    """Return text of the repository as one line that drives no terminal."""
    plain = " ".join(visible(text).split())
    return plain if len(plain) <= length else f"{plain[: length - 1]}…"


def _json(**data: Any) -> str:
    return json.dumps(data, indent=1)
