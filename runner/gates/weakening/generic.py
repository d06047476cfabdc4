"""Every other language, line by line: what looks like a test, an assertion, or the mark that skips one."""

from __future__ import annotations

import itertools
import posixpath
import re
from typing import TYPE_CHECKING

from runner.gates.weakening.facts import (
    TRIVIAL,
    WEAK,
    Expectation,
    Mark,
    Sheet,
    Test,
    body_lines,
    quoted,
    squeezed,
    words,
)
from runner.gates.weakening.naming import numbered
from runner.gates.weakening.silenced import PROSE, silenced

if TYPE_CHECKING:
    from collections.abc import Iterator

SOURCE = words(
    ".java .kt .kts .groovy .scala .clj .cs .fs .vb .php .rb .swift .m .mm .c .cc .cpp .cxx .h .hpp .ex .exs .erl "
    ".dart .jl .r .pl .t .lua .hs .ml .elm .sh .bash .bats .zig .nim .cr .vue .svelte .feature .robot .py .pyi"
)
"""Ends of names whose files can hold tests."""
TEST_FILE = re.compile(
    r"(^|/)(tests?|specs?|__tests__|testing|features)/|(^|[/._-])(test|spec)s?[._-]|[._-](test|spec)s?\.\w+$"
    r"|(Tests?|TestCase|Specs?|IT)\.\w+$|\.(bats|feature|t)$"
)
DECLARED = re.compile(
    r"@(?:Test|ParameterizedTest|RepeatedTest|Property)\b|\[(?:Test|Fact|Theory|TestMethod|TestCase)\b"
    r"|^\s*(?:public\s+)?(?:def|func|fun|function|sub|void)\s+test\w*"
    r"|^\s*(?:it|test|specify|scenario|property|example)\b\s*[(\"']|^\s*(?:TEST|TEST_F|TEST_P|TEST_CASE|SCENARIO)\s*\("
    r"|^\s*@test\b|^\s*Scenario(?: Outline)?:|^testWidgets\("
)
"""The first line of a test."""
EXPECTS = re.compile(
    r"\b(?:assert\w*|expect\w*|verify\w*|should\w*|refute\w*|must_\w+|wont_\w+|XCTAssert\w*|ASSERT_\w+|EXPECT_\w+|REQUIRE\w*"
    r"|CHECK\w*|assertThat|fail_unless|ok|is_deeply|cmp_ok)\b\s*[({!\s.]|\.(?:should|must|to|not_to)\b|^\s*(?:Then|And)\s",
    re.IGNORECASE,
)
ALWAYS = re.compile(r"assert\w*[\s(]+(?:true|1)\s*[);]*$", re.IGNORECASE)
SKIPS = re.compile(
    r"@(?:Disabled|Ignore|Ignored|Skip|pending)\b|\[(?:Ignore|Explicit)\b|\bSkip\s*=\s*\"|^\s*(?:x(?:it|describe|context|test)|pending)\b"
    r"|\b(?:markTestSkipped|markTestIncomplete|XCTSkip|GTEST_SKIP|DISABLED_|assumeTrue|assumeFalse)\w*"
    r"|^\s*skip\b|@tag\s+:?skip|@(?:skip|wip|ignore)\b|\.skip\b|skip:\s*(?:true|['\"])",
)
COMMENT = re.compile(r"^\s*(?://|#(?!\[)|--|;|\*|/\*)")


def read(path: str, text: str) -> Sheet:
    """Return the facts of a file."""
    if posixpath.splitext(path)[1].lower() in PROSE:
        return Sheet()
    lines = list(enumerate(text.split("\n"), start=1))
    marks = tuple(silenced(path, lines))
    if not is_test_file(path):
        return Sheet(marks=marks)
    code = [(number, line) for number, line in lines if not COMMENT.match(line)]
    return Sheet(numbered(_tests(code)), (*marks, *_skips(code)))


def is_test_file(path: str) -> bool:
    """Whether tests are looked for in a file of that name."""
    return posixpath.splitext(path)[1].lower() in SOURCE and bool(TEST_FILE.search(path))


def _skips(lines: list[tuple[int, str]]) -> Iterator[Mark]:
    for number, line in lines:
        if SKIPS.search(line):
            yield Mark(f"skip {squeezed(line)}", number, f"keeps a test from running: {quoted(line)}")


def _tests(lines: list[tuple[int, str]]) -> Iterator[Test]:
    """Yield a test for each line that declares one, up to the next; what comes before the first is a helper."""
    starts = [at for at, (_, line) in enumerate(lines) if DECLARED.search(line)]
    for start, end in itertools.pairwise([*starts, len(lines)]):
        yield _test(lines[start:end], helper=False)
    before = lines[: starts[0]] if starts else lines
    if any(EXPECTS.search(line) for _, line in before):
        yield _test([(before[0][0], "what stands outside of tests"), *before], helper=True)


def _test(lines: list[tuple[int, str]], *, helper: bool) -> Test:
    number, first = lines[0]
    name = first if "(" in first or '"' in first or "'" in first or len(lines) == 1 else f"{first} {_named(lines[1:5])}"
    expected = tuple(
        Expectation(squeezed(line), at, TRIVIAL if ALWAYS.search(line.strip()) else WEAK)
        for at, line in lines[1:] or lines
        if EXPECTS.search(line)
    )
    body = "\n".join(line for _, line in lines[1:])
    return Test(squeezed(name)[:120], number, body_lines(body), expected, helper=helper)


def _named(lines: list[tuple[int, str]]) -> str:
    """Return the line below an attribute that names the function."""
    return next(
        (line for _, line in lines if re.search(r"\w+\s*\(", line) and not line.strip().startswith(("@", "["))), ""
    )
