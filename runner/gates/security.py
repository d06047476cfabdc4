"""Gate ``security``: added lines that a reviewer should look at twice, after the OWASP Top 10 for LLM Applications.

Injection sinks, unsafe handling of what a model or a user said, widened rights. Bandit reads Python; for all else, and
for what Bandit does not know, there are the rule files of ``rules/``. It informs: whether a line is a hole, a person
says.
"""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from runner.gates import bandit
from runner.gates.added import added_lines
from runner.gates.verdict import cut, failed, passed, shown

if TYPE_CHECKING:
    from collections.abc import Iterator

    from runner.contract import GateResult
    from runner.gates.added import Added
    from runner.gates.change import Change

NAME = "security"
RULES = Path(__file__).parent / "rules"
RULE_FILES = ("injection.toml", "permissions.toml")
MAX_LINE = 2_000
"""Characters of a line that the rules are matched with; longer ones are generated."""
COMMENT = re.compile(r"\s*(?://|#(?!!)|\*|/\*|--|<!--)")
PROSE = (".md", ".rst", ".txt", ".adoc", ".svg", ".csv", ".lock", ".snap", ".map")
"""Ends of names whose lines do nothing."""


@dataclass(frozen=True, slots=True)
class Rule:
    """One thing to look at twice."""

    name: str
    files: tuple[str, ...]
    """Ends of the names that it is looked for in."""
    pattern: re.Pattern[str]
    what: str
    owasp: str

    def applies(self, path: str) -> bool:
        """Whether the rule is for files of that name."""
        return path.endswith(self.files)


@cache
def rules() -> tuple[Rule, ...]:
    """Return the rules of all rule files."""
    tables = [row for name in RULE_FILES for row in tomllib.loads((RULES / name).read_text("utf-8"))["rule"]]
    return tuple(
        Rule(row["name"], tuple(row["files"]), re.compile(row["pattern"]), row["what"], row["owasp"]) for row in tables
    )


def security(change: Change) -> GateResult:
    """Return the added lines that need a second look."""
    added = added_lines(change)
    found = sorted({*_by_rules(added), *_by_bandit(change, added)})
    faults = [f"{shown(path)}:{line}: {what}." for path, line, what in found]
    return failed(NAME, faults) if faults else passed(NAME, "Nothing in what was added needs a second look.")


def _by_rules(added: Added) -> Iterator[tuple[bytes, int, str]]:
    for path, lines in added.items():
        name = path.decode("utf-8", "replace")
        if name.endswith(PROSE):
            continue
        here = [rule for rule in rules() if rule.applies(name)]
        for number, line in lines.items():
            if len(line) <= MAX_LINE and not COMMENT.match(line):
                for rule in here:
                    if found := rule.pattern.search(line):
                        said = "".join(c for c in found[0].strip() if c.isprintable()).replace("`", "'")
                        yield path, number, f"`{cut(said, 60)}` {rule.what} ({rule.owasp})"


def _by_bandit(change: Change, added: Added) -> Iterator[tuple[bytes, int, str]]:
    files = {path: change.read(path) for path in added if path.endswith(b".py")}
    try:
        for path, lines, what in bandit.findings(files):
            line = next((number for number in lines if number in added[path]), None)
            if line is not None:
                yield path, line, what
    except bandit.BanditError as error:
        yield next(iter(files)), 1, str(error).rstrip(".")
