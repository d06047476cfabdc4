"""CODEOWNERS: who owns the files that a plan names or a change touched, by GitHub's rules.

The last rule that matches a path says who owns it; one without owners says that nobody does. A pattern with a slash
at its beginning or within it counts from the root, any other at every depth; ``docs/*`` means the files in ``docs``
and not those below, and a wildcard at the end stands for files alone. ``!`` and ``[ ]`` mean nothing. A line that is
not valid is passed over, as GitHub does.

A plan names patterns rather than paths. Then everybody counts who owns something that a pattern can cover: its rules
are gone through from the last on, up to one that covers the pattern whole.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from bot.lifecycle.globs import meet, within
from bot.lifecycle.states import Frozen

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

PLACES = (".github/CODEOWNERS", "CODEOWNERS", "docs/CODEOWNERS")
"""Where GitHub looks for it; the first that is there counts."""
MOST_PATHS_NAMED = 3
"""Paths of one set of owners that are kept to be shown."""
_OWNER = re.compile(r"@[A-Za-z0-9][A-Za-z0-9_-]*(?:/[A-Za-z0-9_.-]+)?|[^\s@#]+@[^\s@#]+\.[^\s@#]+")


class Owned(Frozen):
    """Files that the same people own."""

    owners: tuple[str, ...]
    """As the file writes them, in lower case: ``@login``, ``@organisation/team`` or an e-mail address."""
    paths: tuple[str, ...]
    """The first of them."""
    paths_total: int


@dataclass(frozen=True, slots=True)
class Rule:
    """One line: patterns as :mod:`.globs` reads them, and owners."""

    patterns: tuple[str, ...]
    owners: tuple[str, ...]


def parse(text: str) -> tuple[Rule, ...]:
    """Return the rules of a CODEOWNERS file in their order."""
    return tuple(rule for line in text.splitlines() if (rule := _rule(line)) is not None)


def _rule(line: str) -> Rule | None:
    words = re.findall(r"(?:\\.|\S)+", re.sub(r"(?:^|(?<=\s))#.*", "", line))
    if not words or words[0].startswith("!") or not all(_OWNER.fullmatch(word) for word in words[1:]):
        return None
    return Rule(_patterns(re.sub(r"\\(.)", r"\1", words[0])), tuple(dict.fromkeys(map(str.lower, words[1:]))))


def _patterns(text: str) -> tuple[str, ...]:
    """Return what a pattern covers: what it names, and all that lies below."""
    path = text.strip("/")
    base = path if "/" in text.rstrip("/") else f"**/{path}"
    if text.endswith("/"):
        return (f"{base}/**",)
    last = base.rpartition("/")[2]
    if base == "**/*":
        return ("**",)
    return (base,) if "*" in last or "?" in last else (base, f"{base}/**")


def owned(text: str, paths: Iterable[str]) -> tuple[Owned, ...]:
    """Return who owns what of these paths or patterns by a CODEOWNERS text; what nobody owns is left out."""
    rules = parse(text)[::-1]
    found: dict[tuple[str, ...], list[str]] = {}
    for path in dict.fromkeys(paths):
        for owners in _owners(rules, path):
            found.setdefault(owners, []).append(path)
    return tuple(
        Owned(owners=owners, paths=tuple(mine[:MOST_PATHS_NAMED]), paths_total=len(mine))
        for owners, mine in found.items()
    )


def _owners(rules: Sequence[Rule], path: str) -> list[tuple[str, ...]]:
    """Return the sets of owners of a path or pattern, by rules from the last one to the first."""
    found = []
    for rule in rules:
        if any(meet(path, pattern) for pattern in rule.patterns):
            found += [rule.owners] if rule.owners and rule.owners not in found else []
            if any(within(path, pattern) for pattern in rule.patterns):
                break
    return found
