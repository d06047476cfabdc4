"""Comments and attributes that silence a check on a line, a file, or a whole package."""

from __future__ import annotations

import posixpath
import re
from typing import TYPE_CHECKING

from runner.gates.weakening.facts import Mark, quoted, squeezed

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

LISTED = r"[\w./@-]+(?:[ \t]*,[ \t]*[\w./@-]+)*"
CODES = rf"(?:[ \t]*[:=][ \t]*(?P<codes>{LISTED})|[ \t]*\[(?P<inner>{LISTED})\])?"
"""The rules that a comment names; without them it silences all."""
PYTHON = (
    r"#[ \t]*(?:ruff:[ \t]*|flake8[:=][ \t]*)?noqa" + CODES,
    r"#[ \t]*(?:type|pyright|ty):[ \t]*ignore" + CODES,
    r"#[ \t]*(?:mypy|pyright|basedpyright|pylint|ruff):[ \t]*(?:disable|ignore)[\w-]*" + CODES,
    r"#[ \t]*(?:nosec|nosemgrep)\b",
    r"#[ \t]*pragma:[ \t]*no[ \t]?(?:cover|branch)",
)
SCRIPT = (
    r"(?:eslint|oxlint|stylelint|tslint:)-?disable(?:-next-line|-line|:next-line)?(?P<names>[ \t]+" + LISTED + r")?",
    r"@ts-(?:ignore|nocheck|expect-error)",
    r"(?:istanbul|c8|v8)[ \t]+ignore[ \t]+\w+",
    r"biome-ignore[\w-]*(?:[ \t]+(?P<codes>[\w/]+))?",
    r"\$Flow(?:FixMe|Ignore)",
)
GO = (
    r"//[ \t]*nolint" + CODES,
    r"//[ \t]*lint:(?:file-)?ignore[ \t]+\S+",
    r"#[ \t]*nosec\b",
)
RUST = (
    r"#!?\[(?:allow|expect)\([^)\]]*\)\]",
    r"#!?\[cfg_attr\([^\]]*\b(?:allow|ignore|coverage)\b[^\]]*\)\]",
    r"#\[cfg\((?:any\(\)|FALSE|not\(test\))\)\]",
    r"#\[coverage\(off\)\]",
)
OTHER = (
    r"@Suppress(?:Warnings|Lint)?[ \t]*\([^)]*\)",
    r"//[ \t]*(?:NOSONAR|noinspection[ \t]\w+)",
    r"#[ \t]*pragma[ \t]+warning[ \t]+disable[^\n]*",
    r"\[(?:assembly:[ \t]*)?SuppressMessage\b[^\]]*\]",
    r"#[ \t]*(?:rubocop:(?:disable|todo)[^\n]*|:nocov:)",
    r"@(?:phpstan-ignore|psalm-suppress)[\w-]*(?:[ \t]+\w+)?",
    r"phpcs:(?:ignore|disable)",
    r"#[ \t]*shellcheck[ \t]+disable=[\w,]+",
    r"\b(?-i:NOLINT(?:NEXTLINE|BEGIN)?)\b(?:\([^)]*\))?",
    r"swiftlint:disable\S*[^\n]*",
    r"#[ \t]*(?:yamllint[ \t]+disable|hadolint[ \t]+ignore|zizmor:[ \t]*ignore|checkov:skip|tfsec:ignore)[^\n]*",
    r"@nowarn\b",
)
BY_SUFFIX = {
    **dict.fromkeys((".py", ".pyi"), PYTHON),
    **dict.fromkeys((".js", ".jsx", ".mjs", ".cjs", ".ts", ".tsx", ".mts", ".cts", ".vue", ".svelte"), SCRIPT),
    ".go": GO,
    ".rs": RUST,
}
"""Patterns by the end of a file's name; all others are searched for :data:`OTHER`."""
WIDE = re.compile(
    r"#!\[|\b(?:ruff|flake8|mypy|pyright|basedpyright)[ \t]*[:=][ \t]*(?:noqa|disable|ignore-|basic)"
    r"|(?:eslint|oxlint|stylelint)-disable(?!-)|tslint:disable(?!-|:next)|biome-ignore-all|file-ignore|assembly:|BEGIN"
    r"|cfg\(|cfg_attr|coverage|no[ \t]?cover|\ball\b",
    re.IGNORECASE,
)
"""What silences a whole file or more, takes code out, or names all rules."""
NAMED = re.compile(
    r"#\[(?:allow|expect)\(|[Ss]uppress\w*[ \t]*\([^)]*\w|disable[ \t=]+\w|disable:\w*[ \t]+\w|NOLINT\w*\(\w"
    r"|ignore[ \t]+\w|lint:ignore|@ts-expect-error"
)
"""Forms that name a rule in a way of their own, or (``@ts-expect-error``) are themselves checked to be needed."""
PROSE = frozenset({".md", ".rst", ".txt", ".adoc", ".json", ".lock", ".html", ".csv", ".svg", ".snap"})
"""Text in which such words silence nothing."""


def silenced(path: str, lines: Iterable[tuple[int, str]]) -> Iterator[Mark]:
    """Yield what the comments (or, where they are not known apart, the lines) of a file silence, a mark a rule."""
    suffix = posixpath.splitext(path)[1].lower()
    if suffix in PROSE:
        return
    for number, line in lines:
        for pattern in _patterns(suffix):
            for found in pattern.finditer(line):
                yield from _marks(number, found)


def _patterns(suffix: str) -> list[re.Pattern[str]]:
    return [re.compile(pattern, re.IGNORECASE) for pattern in BY_SUFFIX.get(suffix, OTHER)]


def _marks(number: int, found: re.Match[str]) -> Iterator[Mark]:
    groups = found.groupdict()
    listed = groups.get("codes") or groups.get("inner") or groups.get("names") or ""
    what = f"silences a check: {quoted(found[0])}"
    head = squeezed(found[0].replace(listed, "") if listed else found[0])
    for code in [code for code in re.split(r"[\s,]+", listed) if code] or [""]:
        yield Mark(f"{head} {code}".casefold(), number, what, mild=_is_narrow(found[0], listed))


def _is_narrow(text: str, listed: str) -> bool:
    """Whether a comment or attribute silences named rules, and those on one line or item alone."""
    named = bool(listed) or bool(NAMED.search(text))
    return named and not WIDE.search(text)
