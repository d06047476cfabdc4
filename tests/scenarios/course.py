"""The whole course of each scenario, as its village tells it: every thread and every journal, line by line.

A scenario asserts what it is about; the rest of what happened is in ``courses/``, a file for each module and a block
for each scenario, and compared at its end: an unexpected comment, or line of a journal, fails it. The files are
written anew with ``TWOGATE_GOLDEN=write``, for ``git diff`` to show. The few whose course is another each time are in
:data:`RACES`. That what is told is also sound is :mod:`tests.audit`'s to say.
"""

from __future__ import annotations

import ast
import itertools
import os
import re
import textwrap
from pathlib import Path
from typing import TYPE_CHECKING

from sqlalchemy import select

from bot.lifecycle.plan import lane
from bot.store import journal
from bot.store.schema import journal as journal_table
from tests.scenarios.village import name_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from bot.store.journal import Entry
    from tests.scenarios.village import Village

HERE = Path(__file__).parent
WIDTH = 116
LONGEST = 60
"""Characters of what a person said."""
RANDOM = re.compile(r"\b[0-9a-f]{7,64}\b")
RACES = frozenset({"test_deliveries_that_overtake_each_other_end_as_they_would_in_order"})
"""Scenarios whose course is another each time, for that is what they are about: how they end is theirs to assert."""


def compare(village: Village, module: Path, scenario: str) -> None:
    """Fail where the scenario went otherwise than its block says; write the block where that is asked for."""
    if scenario in RACES:
        return
    told = tell(village)
    kept = HERE / "courses" / f"{module.stem.removeprefix('test_')}.txt"
    blocks = read(kept)
    if os.environ.get("TWOGATE_GOLDEN") == "write":
        _write(kept, {**blocks, scenario: told}, module)
    assert scenario in read(kept), f"{kept.name} does not tell this scenario; write it with TWOGATE_GOLDEN=write"
    assert told == read(kept)[scenario], f"{kept.name} tells another course; see TWOGATE_GOLDEN=write"


def read(path: Path) -> dict[str, str]:
    """The blocks of a file, by the names of their scenarios."""
    blocks = path.read_text(encoding="utf-8").split("\n\n") if path.exists() else []
    return {name: rest for name, _, rest in (block.strip("\n").partition("\n") for block in blocks)}


def _write(path: Path, blocks: dict[str, str], module: Path) -> None:
    """Write the blocks of those scenarios that there are."""
    known = {node.name for node in ast.walk(ast.parse(module.read_text())) if isinstance(node, ast.FunctionDef)}
    lines = [f"{name}\n{blocks[name]}\n" for name in sorted(blocks) if name.partition("[")[0] in known]
    path.parent.mkdir(exist_ok=True)
    path.write_text("\n".join(lines), encoding="utf-8")


def tell(village: Village) -> str:
    """Every issue and pull request of the village's repository, with its thread and its journal."""
    journals = _journals(village)
    threads = {issue.number: issue for issue in village.github.hub.threads(village.repo)}
    lines = []
    for number in sorted(journals.keys() | threads.keys()):
        plan = village.plan_or_none(number)
        lines.append(f"  #{number}" + (f" {village.stands(number)}" if plan else ""))
        said = [name_of(c.body, c.user.login) for c in threads[number].comments] if number in threads else []
        lines += _wrapped([_plain(village, what) for what in said], " | ")
        lines += _wrapped(list(_counted(_plain(village, _line(e)) for e in journals.get(number, []))), " > ")
    return "\n".join(lines) or "  nothing"


def _journals(village: Village) -> dict[int, list[Entry]]:
    with village.parts.store.read() as tx:
        lanes = [str(name) for (name,) in tx.execute(select(journal_table.c.lane).distinct())]
        ours = {
            int(name.partition(":")[2]): name for name in lanes if name.startswith(lane(village.repository_id, 0)[:-1])
        }
        return {number: journal.of_lane(tx, name) for number, name in ours.items()}


def _line(entry: Entry) -> str:
    """What happened, who said it and how, and where that led."""
    via = entry.details.get("via")
    who = f" by {entry.actor_login}" if entry.actor_login else ""
    how = f" ({via})" if via else ""
    into = f" => {entry.to_state}" if entry.to_state is not None and entry.to_state != entry.from_state else ""
    return f"{entry.event}{who}{how}{into}"


def _counted(lines: Iterable[str]) -> Iterator[str]:
    for line, same in itertools.groupby(lines):
        times = len(list(same))
        yield f"{line} x{times}" if times > 1 else line


def _plain(village: Village, said: str) -> str:
    """The same in every run: without the repository's number, and without names that are drawn."""
    return RANDOM.sub("*", said.replace(str(village.repository_id), "N"))[:LONGEST]


def _wrapped(parts: list[str], between: str) -> list[str]:
    line = between.join(parts)
    return textwrap.wrap(line, WIDTH, initial_indent="    ", subsequent_indent="      ") if line else []
