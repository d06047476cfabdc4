"""Code in braces that expects nothing: it never runs, or only where nobody looks, or its failure is forgotten."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from runner.gates.weakening.lexing import Source

Dead = list[range]
"""Offsets between which nothing is expected."""


@dataclass(frozen=True, slots=True)
class Form:
    """How a language writes it; patterns over code without comments and what strings hold."""

    condition: re.Pattern[str]
    """A condition (group ``test``), up to the brace of what depends on it."""
    never: re.Pattern[str]
    """Conditions that are never true, or ask where the test runs."""
    idle: re.Pattern[str]
    """What begins a block or call whose outcome is thrown away, up to its bracket."""
    leaves: re.Pattern[str]
    """What ends the function it stands in."""


GO = Form(
    condition=re.compile(r"\bif\b(?P<test>[^{}\n]*)(?=\{)"),
    never=re.compile(
        r"^\s*(false|!\s*true)\s*$|&&\s*false\b|\bos\.(Getenv|LookupEnv|Environ)\b|\btesting\.Short\b|\bruntime\.GO(OS|ARCH)\b"
    ),
    idle=re.compile(r"\b_\s*=\s*func\b[^{]*(?=\{)"),
    leaves=re.compile(r"\breturn\b[^\n]*|\bruntime\.Goexit\("),
)
JAVASCRIPT = Form(
    condition=re.compile(r"(?<![\w$.])(?:if|while|for)\s*\((?P<test>[^{}\n]*)\)\s*(?=\{)|(?<![\w$.])try\s*(?=\{)"),
    never=re.compile(
        r"^\s*(false|0|!1|!\s*true|null)\s*$|&&\s*false\b|\bprocess\.env\b|\bimport\.meta\.env\b|\bof\s*\[\s*\]\s*$"
    ),
    idle=re.compile(r"(?!)"),
    leaves=re.compile(
        r"(?<![\w$.])return[ \t]*(?:;|\n|(?=\})|(?:true|false|null|undefined)\b|Promise\s*\.\s*resolve\s*\(\s*\))"
    ),
)
CATCH = re.compile(r"\s*catch\s*(?:\([^)]*\)\s*)?(?=\{)")
FAILS = re.compile(r"\b(?:throw|expect\w*|assert\w*|fail|done|reject|should)\b|\bt\s*\.")
"""What a handler does where the failure that it caught is not forgotten."""
RUST = Form(
    condition=re.compile(r"\bif\b(?P<test>[^{};]*)(?=\{)"),
    never=re.compile(r"^\s*(false|!\s*true)\s*$|&&\s*false\b|\bcfg!|\benv::var|\boption_env!"),
    idle=re.compile(r"\blet\s+_\w*\s*=\s*(?:[\w:]*catch_unwind\s*(?=\()|(?:move\s*)?\|[^|]*\|\s*(?=\{))"),
    leaves=re.compile(r"\breturn\b[^\n;]*"),
)


def dead(source: Source, start: int, end: int, form: Form) -> Dead:
    """Return where between the braces at ``start`` and ``end`` nothing is expected."""
    return list(_dead(source, start, end, form))


def _dead(source: Source, start: int, end: int, form: Form) -> Iterator[range]:
    for found in form.condition.finditer(source.code, start, end):
        if found["test"] is None:
            handler = CATCH.match(source.code, source.end(found.end()) + 1)
            if handler and not FAILS.search(source.code, handler.end(), source.end(handler.end())):
                yield range(found.end(), source.end(found.end()))
        elif form.never.search(found["test"]):
            stop = source.end(found.end())
            yield range(found.end(), stop)
            if form.leaves.search(source.code, found.end(), stop):
                yield range(stop, end)
    for found in form.idle.finditer(source.code, start, end):
        yield range(found.end(), source.end(found.end()))
    yield range(reached(source, start, end, form.leaves), end)


def reached(source: Source, start: int, end: int, leaves: re.Pattern[str]) -> int:
    """Return where a statement of the function's own, not one of a block within, ends what is done."""
    at = start + 1
    either = re.compile(rf"[({{\[]|{leaves.pattern}")
    while 0 < at < end:
        found = either.search(source.code, at, end)
        if not found:
            return end
        if found[0] not in "({[":
            return found.end()
        at = source.end(found.start()) + 1
    return end


def is_dead(ranges: Dead, offset: int) -> bool:
    """Whether nothing is expected at ``offset``."""
    return any(offset in one for one in ranges)
