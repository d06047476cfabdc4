"""Go: the ``testing`` package, testify and gomega."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from runner.gates.weakening import dead
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
BUILT = re.compile(r"//\s*(go:build|\+build)\s")
"""A comment by which a file's tests are built only sometimes."""
EXIT = re.compile(r"\b(?:os|syscall)\.Exit\s*\(\s*0\s*\)")
MAIN = re.compile(r"^func\s+TestMain\s*\([^)]*\)\s*(?=\{)", re.MULTILINE)
SIGNATURE = re.compile(r"\s*\(\s*(\w+\s+\*testing\.[TBFM]\s*)?\)")
"""What a function takes that is run as a test."""
LOOK_BACK = 2_000
"""Characters before a failing call in which the condition of it is looked for."""


def read(path: str, text: str) -> Sheet | None:
    """Return the facts of a file."""
    source = lex(text, "go")
    marks = tuple(silenced(path, source.comments))
    if not path.endswith("_test.go"):
        return Sheet(marks=marks)
    built = next((comment for _, comment in source.comments if BUILT.match(comment)), "")
    tests = (replace(test, skip=test.skip or squeezed(built)) for test in _tests(source))
    return Sheet(numbered(tests), (*marks, *_ended(source)))


def _ended(source: Source) -> Iterator[Mark]:
    """Yield where a file ends the run of all tests, or never starts it."""
    for found in EXIT.finditer(source.code):
        text = found[0]
        yield Mark(f"exit {text}", source.line(found.start()), f"ends the run of the tests as passed: `{text}`")
    for found in MAIN.finditer(source.code):
        if not re.search(r"\.Run\s*\(", source.code[found.end() : source.end(found.end())]):
            yield Mark("TestMain", source.line(found.start()), "TestMain runs no test")


def _tests(source: Source) -> Iterator[Test]:
    skipping = _skipping(source)
    for found in FUNCTION.finditer(source.code):
        body = source.code.find("{", source.end(found.end()))
        if body < 0:
            continue
        end = source.end(body)
        is_test = bool(TEST.fullmatch(found["name"]) and SIGNATURE.match(source.code, found.end()))
        expected = tuple(_expectations(source, body, end))
        skip = (SKIP.search(source.code, body, end) or skipping.search(source.code, body, end)) if is_test else None
        yield Test(
            name=found["name"],
            line=source.line(found.start()),
            lines=body_lines(source.text[body + 1 : end]),
            expectations=expected,
            skip=squeezed(source.text[skip.start() : source.end(skip.end()) + 1]) if skip else "",
            cases=max(1, len(ROW.findall(source.text, body, end))),
            helper=not is_test or found["name"] == "TestMain",
        )


def _skipping(source: Source) -> re.Pattern[str]:
    """Return the pattern of a call of a helper that skips the test which calls it; one that matches nothing."""
    names = []
    for found in FUNCTION.finditer(source.code):
        body = source.code.find("{", source.end(found.end()))
        if body >= 0 and not TEST.fullmatch(found["name"]) and SKIP.search(source.code, body, source.end(body)):
            names.append(found["name"])
    return re.compile(rf"(?<![\w.])(?:{'|'.join(names)})\s*(?=\()" if names else r"(?!)")


def _expectations(source: Source, start: int, end: int) -> Iterator[Expectation]:
    nowhere = dead.dead(source, start, end, dead.GO)
    for offset, one in _expected(source, start, end):
        yield replace(one, strength=TRIVIAL) if dead.is_dead(nowhere, offset) else one


def _expected(source: Source, start: int, end: int) -> Iterator[tuple[int, Expectation]]:
    for found in FAILURE.finditer(source.code, start, end):
        before = CONDITION.search(source.code, max(start, found.start() - LOOK_BACK), found.start())
        test = squeezed(before["test"].rpartition(";")[2]) if before else ""
        real = (
            source.text[before.start("test") : before.end("test")]
            if before
            else source.text[found.start() : found.end()]
        )
        line = source.line(found.start())
        yield found.start(), Expectation(f"not {squeezed(real)}", line, _condition_strength(test))
    for found in ASSERT.finditer(source.code, start, end):
        yield found.start(), _testify(source, found)
    for found in EXPECT.finditer(source.code, start, end):
        stop = source.code.find("\n", source.end(found.end()))
        text = source.text[found.start() : stop if stop >= 0 else end]
        weak = WEAK_MATCHER.search(text)
        yield found.start(), Expectation(squeezed(text), source.line(found.start()), WEAK if weak else EXACT)


def _condition_strength(test: str) -> int:
    if re.match(r"false\b|!\s*true\b", test) or re.search(r"&&\s*false\b", test):
        return TRIVIAL
    sides = re.split(r"[!=]=|[<>]", test)
    if len(sides) == 2 and squeezed(sides[0]) == squeezed(sides[1]):  # noqa: PLR2004
        return TRIVIAL
    vague = not test or re.search(r"[!=]=\s*nil\b", test) or not re.search(r"!", test)
    return WEAK if vague else EXACT


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
