"""JavaScript and TypeScript: Jest, Vitest, Mocha, Jasmine, Playwright, node:test, AVA and tap."""

from __future__ import annotations

import posixpath
import re
from dataclasses import replace
from typing import TYPE_CHECKING

from runner.gates.weakening import dead
from runner.gates.weakening.facts import (
    EXACT,
    TRIVIAL,
    WEAK,
    Expectation,
    Mark,
    Sheet,
    Test,
    body_lines,
    squeezed,
    words,
)
from runner.gates.weakening.lexing import Source, lex
from runner.gates.weakening.naming import numbered
from runner.gates.weakening.silenced import silenced

if TYPE_CHECKING:
    from collections.abc import Iterator

SUFFIXES = (".js", ".jsx", ".mjs", ".cjs", ".ts", ".tsx", ".mts", ".cts")
TEST_FILE = re.compile(
    r"(^|/)(__tests__|tests?|specs?|e2e|cypress)/|[._-](test|spec|cy|e2e)\.[cm]?[jt]sx?$|^(test|spec)\."
)
BLOCK = re.compile(
    r"(?<![\w$.])(?P<word>[xf]?(?:it|test|describe|context|specify|suite)|pit)(?P<more>(?:\s*\.\s*\w+)*)\s*(?=[(`])"
)
"""The beginning of a test or a group of tests."""
GROUPS = frozenset({"describe", "context", "suite"})
SKIPS = re.compile(r"\.\s*(skip|todo|fixme|failing|fails|skipIf|runIf)\b")
OPTION = re.compile(r"\b(skip|todo|fails)\s*:\s*(?!false\b|undefined\b)")
INSIDE = re.compile(r"\b(?:this|t|ctx|context|test|it)\s*\.\s*(?:skip|todo|fixme|pending)\s*\(|(?<![\w$.])pending\s*\(")
"""Calls by which a running test leaves itself out."""
FOCUS = re.compile(
    r"(?<![\w$.])(?:(?:it|test|describe|context|specify|suite)\s*(?:\.\s*\w+\s*)*\.\s*only|fit|fdescribe)\b"
)
STEERING = (
    (re.compile(r"(?<![\w$.])process\s*\.\s*(?:exit|abort)\b"), "ends the run of the tests"),
    (
        re.compile(
            r"\b(?:const|let|var|function)\s+(?:expect|assert)\b(?!\s*=\s*(?:await\b|require\b|import\b|chai\b))"
        ),
        "is no longer what it is by its name",
    ),
    (
        re.compile(r"=\s*\w+(?:\s*\.\s*\w+)*\s*\.\s*(?:skip|todo|fixme)\b(?!\s*[.(`])"),
        "is a test that does not run, under another name",
    ),
)
BEFORE = re.compile(r"(?<![\w$.])before(?:Each|All)?\s*(?=\()")
EXPECT = re.compile(r"(?<![\w$.])expect(?:\s*\.\s*(?:soft|poll))?\s*(?=\()")
ASSERT = re.compile(
    r"(?<![\w$.])(?:(?P<of>assert|chai\s*\.\s*assert|t|should)(?P<by>\s*\.\s*\w+(?:\s*\.\s*\w+)*)?"
    r"|(?P<helper>(?:assert|expect|verify|check)[A-Z]\w*))\s*(?=\()"
)
CHAIN = re.compile(r"\s*\.\s*(\w+)\s*")
EXACT_WORDS = words(
    "toBe toEqual toStrictEqual toHaveBeenCalledWith toHaveBeenLastCalledWith toHaveBeenNthCalledWith "
    "toHaveBeenCalledTimes toHaveLength toMatchSnapshot toMatchInlineSnapshot toThrowErrorMatchingSnapshot "
    "toHaveText toHaveTextContent toHaveValue toHaveReturnedWith toThrow toThrowError toHaveProperty toBeNull "
    "toBeUndefined equal eql eq equals deep deepEqual strictEqual deepStrictEqual is same strictSame rejects "
    "throws lengthOf"
)
"""Matchers and methods that name the result; all others tell a property of it."""
TAP = words("is not deepEqual like truthy falsy true false throws throwsAsync snapshot equal same ok fail")
"""Methods of AVA's and tap's ``t`` that expect something."""
STRING = re.compile(r"^([\"'`])(.*)\1$", re.DOTALL)
LITERAL = re.compile(r"true|false|null|undefined|-?[\d.]+|([\"'`])[^\"'`]*\1")


def read(path: str, text: str) -> Sheet | None:
    """Return the facts of a file."""
    source = lex(text, "javascript")
    marks = tuple(silenced(path, source.comments))
    if not TEST_FILE.search(path):
        return Sheet(marks=marks)
    before = _skipped_before(source)
    tests = (replace(test, skip=test.skip or before) for test in _tests(source))
    return Sheet(numbered(tests), (*marks, *_focused(source)))


def _skipped_before(source: Source) -> str:
    """Return what can skip all tests of a file before each runs."""
    skipping = (
        found[0]
        for found in BEFORE.finditer(source.code)
        if INSIDE.search(source.code, found.end(), source.end(found.end()))
    )
    return next((f"{word}(… skip …)" for word in skipping), "")


def is_test_file(path: str) -> bool:
    """Whether tests are looked for in a file of that name."""
    return posixpath.splitext(path)[1] in SUFFIXES and bool(TEST_FILE.search(path))


def _focused(source: Source) -> Iterator[Mark]:
    for pattern, what in STEERING:
        for found in pattern.finditer(source.code):
            text = squeezed(found[0])
            yield Mark(f"{what} {text}", source.line(found.start()), f"`{text}` {what}")
    for found in FOCUS.finditer(source.code):
        word = squeezed(found[0])
        yield Mark(f"focus {word}", source.line(found.start()), f"`{word}` keeps all other tests from running")


def _tests(source: Source) -> Iterator[Test]:
    """Yield every test with the groups it stands in, outermost first."""
    open_groups: list[tuple[int, str, str]] = []
    for found in BLOCK.finditer(source.code):
        table, opening = _call(source, found)
        if opening is None:
            continue
        while open_groups and open_groups[-1][0] < found.start():
            open_groups.pop()
        arguments = source.arguments(opening)
        name = " > ".join([*(group[1] for group in open_groups), _title(arguments)])
        skip = next((group[2] for group in open_groups if group[2]), "") or _skip(found, arguments)
        if found["word"].lstrip("xf") in GROUPS:
            open_groups.append((source.end(opening), name.rpartition(" > ")[2], skip))
        else:
            yield _test(source, found.start(), opening, name, skip, table)


def _call(source: Source, found: re.Match[str]) -> tuple[int, int | None]:
    """Return the rows of a table of cases (1 where there is none) and the opening bracket of the call itself."""
    at, rows = found.end(), 1
    if re.search(r"\.\s*(each|for)\s*$", found["more"]):
        if source.code[at] == "`":
            end = source.code.find("`", at + 1)
            rows = max(1, sum("|" in line for line in source.text[at:end].splitlines()) - 1)
        else:
            end = source.end(at)
            inner = source.code.find("[", at, end)
            rows = len(source.arguments(inner)) if inner >= 0 else 1
        following = re.compile(r"\s*\(").match(source.code, end + 1)
        return rows, following.end() - 1 if following else None
    return rows, at if source.code[at : at + 1] == "(" else None


def _title(arguments: list[str]) -> str:
    return squeezed(STRING.sub(r"\2", arguments[0]))[:200] if arguments else ""


def _skip(found: re.Match[str], arguments: list[str]) -> str:
    called = squeezed(found["word"] + found["more"])
    if found["word"].startswith("x") or SKIPS.search(found["more"]):
        return called
    options = next((a for a in arguments[1:] if a.startswith("{")), "")
    chosen = OPTION.search(options)
    return f"{called}(…, {squeezed(options)[:60]})" if chosen else ""


def _test(source: Source, start: int, opening: int, name: str, skip: str, cases: int) -> Test:
    end = source.end(opening)
    body = source.code.find("{", opening, end)
    inside = INSIDE.search(source.code, max(body, opening), end)
    return Test(
        name=name,
        line=source.line(start),
        lines=body_lines(_without_comments(source, body, source.end(body))) if body >= 0 else (),
        expectations=tuple(_expectations(source, body if body >= 0 else opening, end)),
        skip=skip or (squeezed(source.text[inside.start() : source.end(inside.end() - 1) + 1]) if inside else ""),
        cases=cases,
    )


def _without_comments(source: Source, start: int, end: int) -> str:
    return "".join(
        text if code != " " else " "
        for text, code in zip(source.text[start + 1 : end], source.code[start + 1 : end], strict=True)
    )


def _expectations(source: Source, start: int, end: int) -> Iterator[Expectation]:
    nowhere = dead.dead(source, start, source.end(start), dead.JAVASCRIPT)
    for offset, one in _expected(source, start, end):
        yield replace(one, strength=TRIVIAL) if dead.is_dead(nowhere, offset) else one


def _expected(source: Source, start: int, end: int) -> Iterator[tuple[int, Expectation]]:
    for found in EXPECT.finditer(source.code, start, end):
        yield found.start(), _chained(source, found.start(), found.end())
    for found in ASSERT.finditer(source.code, start, end):
        method = squeezed(found["by"] or "").replace(" ", "").split(".")[-1]
        if found["of"] != "t" or method in TAP:
            text = squeezed(source.text[found.start() : source.end(found.end()) + 1])
            strength = _method_strength(method, found, source)
            yield found.start(), Expectation(text, source.line(found.start()), strength)


def _method_strength(method: str, found: re.Match[str], source: Source) -> int:
    arguments = source.arguments(found.end())
    if (
        arguments
        and LITERAL.fullmatch(arguments[0])
        and (len(arguments) == 1 or method in {"ok", "", "true", "truthy"})
    ):
        return TRIVIAL
    if len(arguments) > 1 and method in EXACT_WORDS and _same(arguments[0], arguments[1]):
        return TRIVIAL
    return EXACT if method in EXACT_WORDS or found["helper"] else WEAK


def _same(one: str, other: str) -> bool:
    return squeezed(one) == squeezed(other) or bool(LITERAL.fullmatch(one) and LITERAL.fullmatch(other))


def _chained(source: Source, start: int, opening: int) -> Expectation:
    """Return what an ``expect(…)`` with all its chained calls says."""
    end, words, arguments, called = source.end(opening) + 1, list[str](), list[str](), False
    while link := CHAIN.match(source.code, end):
        words.append(link[1])
        end = link.end()
        called = source.code[end : end + 1] == "("
        if called:
            arguments = source.arguments(end)
            end = source.end(end) + 1
    text = squeezed(source.text[start:end])
    subject = source.text[opening + 1 : source.end(opening)].strip()
    tolerance = None
    if words and words[-1] == "toBeCloseTo" and len(arguments) > 1 and re.fullmatch(r"\d{1,3}", arguments[1]):
        tolerance, text = 10.0 ** -int(arguments[1]), text.replace(arguments[1], "…")
    forgotten = bool(words) and not called and re.match(r"to[A-Z]", words[-1])
    strength = TRIVIAL if forgotten else _chain_strength(subject, words, arguments)
    return Expectation(text, source.line(start), strength, tolerance)


def _chain_strength(subject: str, words: list[str], arguments: list[str]) -> int:
    if not words or (arguments and _same(subject, arguments[0])):
        return TRIVIAL
    if not arguments and LITERAL.fullmatch(subject):
        return TRIVIAL
    vague = (
        "not" in words
        or any("expect.any" in a for a in arguments)
        or (words[-1].startswith("toThrow") and not arguments)
    )
    return EXACT if not vague and EXACT_WORDS.intersection(words) else WEAK
