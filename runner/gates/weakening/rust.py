"""Rust: ``#[test]`` and its relatives, in whatever file they stand."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from runner.gates.weakening import dead
from runner.gates.weakening.facts import EXACT, TRIVIAL, WEAK, Expectation, Mark, Sheet, Test, body_lines, squeezed
from runner.gates.weakening.lexing import Source, lex
from runner.gates.weakening.naming import numbered
from runner.gates.weakening.silenced import silenced

if TYPE_CHECKING:
    from collections.abc import Iterator

SUFFIXES = (".rs",)
FUNCTION = re.compile(r"\bfn\s+(?P<name>\w+)")
TEST_MODULE = re.compile(r"\bmod\s+(?P<name>\w+)\s*[;{]")
MODULE = re.compile(r"\bmod\s+(?P<name>\w+)\s*(?=\{)")
TEST = re.compile(r"^(?:[\w:]+::)?(test|rstest|test_case|case|quickcheck|wasm_bindgen_test|proptest|test_log)\b")
"""Attributes by which a function is a test."""
CASE = re.compile(r"^(?:[\w:]+::)?(?:case|test_case)\b")
SKIP = re.compile(r"^ignore\b|^cfg_attr\(.*\bignore\b|^cfg\((?!\s*test\s*\))|^should_panic\b")
"""Attributes that keep a test from running, or turn what it means."""
ASSERT = re.compile(
    r"(?<!\w)(?P<macro>(?:debug_|prop_)?assert(?:_\w+)?|panic|unreachable)!\s*(?=[(\[{])|\.(?P<method>unwrap_err|expect_err)\s*(?=\()"
)
LITERAL = re.compile(r"true|false|-?\d[\w.]*|\"[^\"]*\"")


def read(path: str, text: str) -> Sheet | None:
    """Return the facts of a file."""
    source = lex(text, "rust")
    lines = [*source.comments, *enumerate(source.code.split("\n"), start=1)]
    return Sheet(numbered((*_tests(source), *_modules(source))), (*silenced(path, lines), *_replaced(source)))


def _modules(source: Source) -> Iterator[Test]:
    """Yield each module that is built for tests alone, here or in a file of its own, as if it were a test itself."""
    for found in TEST_MODULE.finditer(source.code):
        attributes = list(_attributes(source, found.start()))
        if any(re.match(r"cfg\(.*\btest\b", attribute) for attribute in attributes):
            skip = next((f"#[{a}]" for a in attributes if SKIP.search(a)), "")
            yield Test(f"mod {found['name']}", source.line(found.start()), ("mod",), (), skip)


def _replaced(source: Source) -> Iterator[Mark]:
    for found in re.finditer(r"\bmacro_rules!\s*(assert\w*|panic)", source.code):
        yield Mark(f"macro {found[1]}", source.line(found.start()), f"{found[1]}! is no longer what it is by its name")


def _tests(source: Source) -> Iterator[Test]:
    modules = [
        (found.end(), source.end(found.end()), found["name"], list(_attributes(source, found.start())))
        for found in MODULE.finditer(source.code)
    ]
    for found in FUNCTION.finditer(source.code):
        body = re.compile(r"[{;]").search(source.code, found.end())
        if body is None or body[0] == ";":
            continue
        attributes = list(_attributes(source, found.start()))
        is_test = any(TEST.search(attribute) for attribute in attributes)
        expected = tuple(_expectations(source, body.start(), source.end(body.start())))
        around = [module for module in modules if module[0] < found.start() < module[1]]
        path = [name for _, _, name, _ in around]
        attributes += [attribute for module in around for attribute in module[3]]
        if is_test or "tests" in path:
            yield Test(
                name=" > ".join([*path, found["name"]]),
                line=source.line(found.start()),
                lines=body_lines(source.text[body.start() + 1 : source.end(body.start())]),
                expectations=expected,
                skip=next((f"#[{a}]" for a in attributes if is_test and SKIP.search(a)), ""),
                cases=max(1, sum(bool(CASE.search(a)) for a in attributes)),
                helper=not is_test,
            )


def _attributes(source: Source, start: int) -> Iterator[str]:
    """Yield the attributes right before a function, whatever stands between (``pub``, ``async``, comments)."""
    at = start
    while True:
        before = re.compile(r"(?:\]|\b(?:pub|async|unsafe|const|extern)(?:\([^)]*\))?)\s*$").search(
            source.code, max(0, at - 200), at
        )
        if before is None:
            return
        if before[0][0] == "]":
            opening = source.openings.get(before.start())
            if opening is None or source.code[opening - 1 : opening] != "#":
                return
            yield squeezed(source.text[opening + 1 : before.start()])
            at = opening - 1
        else:
            at = before.start()


def _expectations(source: Source, start: int, end: int) -> Iterator[Expectation]:
    nowhere = dead.dead(source, start, end, dead.RUST)
    for found in ASSERT.finditer(source.code, start, end):
        arguments = source.arguments(found.end())
        name = found["macro"] or found["method"]
        compared = [squeezed(a) for a in (arguments[:2] if "_" in name else arguments[:1])]
        strength = TRIVIAL if dead.is_dead(nowhere, found.start()) else _strength(name, compared)
        yield Expectation(f"{name}({', '.join(compared)})", source.line(found.start()), strength)


def _strength(name: str, compared: list[str]) -> int:
    first = compared[0] if compared else ""
    if name.endswith("assert"):
        sides = re.split(r"==", first)
        if LITERAL.fullmatch(first) or (len(sides) > 1 and sides[0].strip() == sides[1].strip()):
            return TRIVIAL
        return EXACT if len(sides) > 1 and "||" not in first else WEAK
    if len(compared) > 1 and (compared[0] == compared[1] or all(LITERAL.fullmatch(one) for one in compared)):
        return TRIVIAL
    return WEAK if name.endswith("_ne") or name in {"panic", "unreachable"} else EXACT
