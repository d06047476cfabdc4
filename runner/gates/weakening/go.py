"""Go: the ``testing`` package, testify and gomega."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from runner.gates.weakening.facts import EXACT, TRIVIAL, WEAK, Expectation, Mark, Sheet, Test, body_lines, squeezed
from runner.gates.weakening.lexing import Source, lex
from runner.gates.weakening.naming import numbered
from runner.gates.weakening.silenced import silenced

if TYPE_CHECKING:
    from collections.abc import Iterator

SUFFIXES = (".go",)
FUNCTION = re.compile(r"^func\s+(?:\([^)\n]*\)\s*)?(?P<name>\w+)\s*(?:\[[^\]\n]*\])?(?=\()", re.MULTILINE)
TEST = re.compile(r"(Test|Fuzz|Example|Benchmark)(?![a-z])\w*")
SKIP = re.compile(r"\b[a-z]\w*\.(?:Skip|Skipf|SkipNow)\s*(?=\()")
FAILURE = re.compile(r"\b[a-z]\w*\.(?:Errorf?|Fatalf?|Fail|FailNow)\s*(?=\()|\bm\.Run\s*(?=\()")
"""How a test of the standard library fails, and how ``TestMain`` runs the others."""
ASSERT = re.compile(r"\b(?:assert|require|must|is|s|suite)\.(?P<method>[A-Z]\w*)\s*(?=\()")
EXPECT = re.compile(r"\b(?:Expect|Ω|Eventually|Consistently)\s*(?=\()")
WEAK_METHODS = re.compile(
    r"(Not[A-Z]\w*|True|False|Contains|Greater\w*|Less\w*|IsType|Implements|Panics|Error|Regexp|InDelta|InEpsilon|Within\w*)f?"
)
WEAK_MATCHER = re.compile(
    r"\.\s*(?:NotTo|ToNot|ShouldNot)\b|\b(?:BeNil|BeTrue|BeFalse|HaveOccurred|Succeed|ContainElement|BeEmpty)\("
)
CONDITION = re.compile(r"\bif\b(?P<test>[^{}]*)\{[^{}]*\Z")
ROW = re.compile(r"^[ \t]*(?:\"[^\"\n]*\"\s*:\s*)?(?:&?[\w.]+)?\{.*\},?[ \t]*$", re.MULTILINE)
"""A row of a table of cases."""
LOOK_BACK = 2_000
"""Characters before a failing call in which the condition of it is looked for."""


def read(path: str, text: str) -> Sheet | None:
    """Return the facts of a file."""
    source = lex(text, "go")
    marks = tuple(_here(mark) for mark in silenced(path, source.comments) if _counts(mark, path))
    return Sheet(numbered(_tests(source)) if path.endswith("_test.go") else (), marks)


def _counts(mark: Mark, path: str) -> bool:
    """Whether a mark takes something away: what is built only sometimes does so in tests alone."""
    return not mark.text.startswith("//go:build") or path.endswith("_test.go")


def _here(mark: Mark) -> Mark:
    built = mark.text.startswith("//go:build")
    return Mark(mark.text, mark.line, f"the file's tests run only sometimes: `{mark.text}`") if built else mark


def _tests(source: Source) -> Iterator[Test]:
    for found in FUNCTION.finditer(source.code):
        body = source.code.find("{", source.end(found.end()))
        if body < 0:
            continue
        end = source.end(body)
        is_test = bool(TEST.fullmatch(found["name"]))
        expected = tuple(_expectations(source, body, end))
        skip = SKIP.search(source.code, body, end) if is_test else None
        yield Test(
            name=found["name"],
            line=source.line(found.start()),
            lines=body_lines(source.text[body + 1 : end]),
            expectations=expected,
            skip=squeezed(source.text[skip.start() : source.end(skip.end()) + 1]) if skip else "",
            cases=max(1, len(ROW.findall(source.text, body, end))),
            helper=not is_test or found["name"] == "TestMain",
        )


def _expectations(source: Source, start: int, end: int) -> Iterator[Expectation]:
    for found in FAILURE.finditer(source.code, start, end):
        before = CONDITION.search(source.code, max(start, found.start() - LOOK_BACK), found.start())
        test = squeezed(before["test"].rpartition(";")[2]) if before else ""
        real = (
            source.text[before.start("test") : before.end("test")]
            if before
            else source.text[found.start() : found.end()]
        )
        yield Expectation(f"not {squeezed(real)}", source.line(found.start()), _condition_strength(test))
    for found in ASSERT.finditer(source.code, start, end):
        yield _testify(source, found)
    for found in EXPECT.finditer(source.code, start, end):
        stop = source.code.find("\n", source.end(found.end()))
        text = source.text[found.start() : stop if stop >= 0 else end]
        weak = WEAK_MATCHER.search(text)
        yield Expectation(squeezed(text), source.line(found.start()), WEAK if weak else EXACT)


def _condition_strength(test: str) -> int:
    if re.match(r"false\b|!\s*true\b", test) or re.search(r"&&\s*false\b", test):
        return TRIVIAL
    return WEAK if not test or re.search(r"[!=]=\s*nil\b", test) else EXACT


def _testify(source: Source, found: re.Match[str]) -> Expectation:
    arguments = source.arguments(found.end())
    given = arguments[1:] if arguments and re.fullmatch(r"[a-z]\w{0,2}|s\.T\(\)", arguments[0]) else arguments
    tolerance, text = None, f"{found['method']}({', '.join(squeezed(a) for a in given)})"
    if found["method"] in {"InDelta", "InEpsilon"} and len(given) > 2 and re.fullmatch(r"[\d.e-]{1,20}", given[2]):  # noqa: PLR2004
        tolerance, text = _number(given[2]), f"{found['method']}({', '.join(squeezed(a) for a in given[:2])})"
    literal = re.compile(r"true|false|nil|-?\d[\d.]*|\"[^\"]*\"")
    same = len(given) > 1 and squeezed(given[0]) == squeezed(given[1])
    trivial = same or (bool(given) and all(literal.fullmatch(a) for a in given[:2]))
    strength = TRIVIAL if trivial else WEAK if WEAK_METHODS.fullmatch(found["method"]) else EXACT
    return Expectation(text, source.line(found.start()), strength, tolerance)


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None
