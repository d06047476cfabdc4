"""Python: pytest and unittest, read from the syntax tree.

A test counts where its runner would collect it: a function named ``test…`` at the top or in a class named ``Test…`` or
derived from a ``…TestCase``, in a file whose name makes it one. Code after a return, below ``if False`` or where a
handler swallows the failure expects nothing.
"""

from __future__ import annotations

import ast
import io
import posixpath
import re
import tokenize
import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING

from runner.gates.weakening.facts import Mark, Sheet, Test, body_lines
from runner.gates.weakening.python_expectations import called, expectations
from runner.gates.weakening.silenced import silenced

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

SUFFIXES = (".py", ".pyi")
TEST_FILE = re.compile(r"(test_.*|.*_tests?|tests?)\.py")
"""File names of pytest and Django."""
TEST_FOLDERS = frozenset({"test", "tests", "testing", "spec", "specs"})
SKIPPING = re.compile(
    r"(^|[._])(skip\w*|xfail|expected_?failure|ignore\w*|disabled?|nottest|importorskip)\b", re.IGNORECASE
)
"""Decorators, marks and calls that keep a test from running or from counting."""
SKIP_CALLS = re.compile(r"(pytest\.(skip|xfail|importorskip)|skip|self\.(skipTest|fail_?skip)|(unittest\.)?SkipTest)")
HOOKS = frozenset({"pytest_collection_modifyitems", "pytest_ignore_collect", "pytest_runtest_makereport", "load_tests"})
"""Functions by which a file decides which tests are run, and what counts as failed."""
SWITCHES = frozenset({"collect_ignore", "collect_ignore_glob", "__test__"})
Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True, slots=True)
class _Scope:
    """Where a function stands."""

    name: str = ""
    skip: str = ""
    collected: bool = True
    """Whether functions named ``test…`` are tests here."""


def is_test_file(path: str) -> bool:
    """Whether tests are looked for in a file of that name."""
    folder, name = posixpath.split(path)
    return bool(TEST_FILE.fullmatch(name)) or name == "conftest.py" or not TEST_FOLDERS.isdisjoint(folder.split("/"))


def read(path: str, text: str) -> Sheet | None:
    """Return the facts of a file, None where it is no Python of this release."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(text)
            marks = tuple(silenced(path, list(_comments(text))))
            if not is_test_file(path):
                return Sheet(tuple(_in_classes(tree)), marks)
            found = {test.name: test for test in _tests(tree.body, _Scope(skip=_module_skip(tree)))}
    except (SyntaxError, ValueError, RecursionError, MemoryError, tokenize.TokenError):
        return None
    return Sheet(tuple(found.values()), (*marks, *_switches(tree)))


def _comments(text: str) -> Iterator[tuple[int, str]]:
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            yield token.start[0], token.string


def _in_classes(tree: ast.Module) -> Iterator[Test]:
    """Yield the tests of unittest classes in a file of any name."""
    classes = [node for node in tree.body if isinstance(node, ast.ClassDef) and _is_case(node)]
    found = {test.name: test for test in _tests(classes, _Scope())}
    yield from found.values()


def _is_case(node: ast.ClassDef) -> bool:
    return any(ast.unparse(base).endswith(("TestCase", "Tests", "Test")) for base in node.bases)


def _tests(body: Sequence[ast.stmt], scope: _Scope) -> Iterator[Test]:
    """Yield the tests and helpers of a module's or class's body; a later one of the same name replaces the earlier."""
    for node in body:
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                yield _function(node, scope)
            case ast.ClassDef():
                inner = f"{scope.name}{node.name} > "
                skip = scope.skip or _decorated(node) or _class_skip(node)
                yield from _tests(node.body, _Scope(inner, skip, node.name.startswith("Test") or _is_case(node)))
            case ast.If():
                condition = f"if {ast.unparse(node.test)}"
                yield from _tests([*node.body, *node.orelse], _Scope(scope.name, condition, scope.collected))
            case ast.Try() | ast.With():
                yield from _tests(node.body, scope)


def _function(node: Function, scope: _Scope) -> Test:
    found = tuple(expectations(node))
    is_test = node.name.startswith("test") and scope.collected
    return Test(
        name=scope.name + node.name,
        line=node.lineno,
        lines=_body(node),
        expectations=found,
        skip=(scope.skip or _decorated(node) or _skipped_inside(node)) if is_test else "",
        cases=_cases(node),
        helper=not is_test,
    )


def _body(node: Function) -> tuple[str, ...]:
    kept = [s for s in node.body if not isinstance(s, ast.Pass) and not _is_constant(s)]
    if len(kept) == 1 and isinstance(kept[0], ast.Return):
        return ()
    return body_lines("\n".join(ast.unparse(statement) for statement in kept))


def _is_constant(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)


def _decorated(node: Function | ast.ClassDef) -> str:
    """Return the decorator that keeps ``node`` from running, if there is one."""
    for decorator in node.decorator_list:
        called = decorator.func if isinstance(decorator, ast.Call) else decorator
        if SKIPPING.search(ast.unparse(called)):
            return f"@{ast.unparse(decorator)}"
    return ""


def _class_skip(node: ast.ClassDef) -> str:
    return _pytestmark(node.body)


def _module_skip(tree: ast.Module) -> str:
    """Return what keeps a whole module's tests from running."""
    for node in tree.body:
        call = node.value if isinstance(node, ast.Expr) else node.exc if isinstance(node, ast.Raise) else None
        called = call.func if isinstance(call, ast.Call) else call
        if called is not None and SKIP_CALLS.fullmatch(ast.unparse(called)):
            return ast.unparse(node)
    return _pytestmark(tree.body)


def _pytestmark(body: list[ast.stmt]) -> str:
    for node in body:
        names = [ast.unparse(t) for t in node.targets] if isinstance(node, ast.Assign) else []
        if "pytestmark" in names and SKIPPING.search(ast.unparse(node)):
            return ast.unparse(node)
    return ""


def _skipped_inside(node: Function) -> str:
    """Return the call by which a test leaves itself out, wherever in its body that stands."""
    for inner in ast.walk(node):
        if isinstance(inner, ast.Raise):
            names = "" if inner.exc is None else ast.unparse(inner.exc).partition("(")[0]
        elif isinstance(inner, ast.Call) and SKIPPING.search(called(inner)):
            names = ast.unparse(inner.func)
        else:
            continue
        if SKIP_CALLS.fullmatch(names):
            return ast.unparse(inner)
    return ""


def _cases(node: Function) -> int:
    """Return how many rows the tables of ``parametrize`` have, where they are written out."""
    total = 1
    for decorator in node.decorator_list:
        if isinstance(decorator, ast.Call) and ast.unparse(decorator.func).endswith("parametrize"):
            values = [*decorator.args[1:2], *(k.value for k in decorator.keywords if k.arg == "argvalues")]
            if values and isinstance(values[0], ast.List | ast.Tuple | ast.Set):
                rows = [row for row in values[0].elts if not SKIPPING.search(ast.unparse(row))]
                total *= max(1, len(rows))
    return total


def _switches(tree: ast.Module) -> Iterator[Mark]:
    """Yield what a test file or conftest decides about other tests."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef) and node.name in HOOKS:
            yield Mark(f"hook {ast.unparse(node)}", node.lineno, f"{node.name} decides which tests run and count")
        elif isinstance(node, ast.Assign) and SWITCHES & {ast.unparse(t) for t in node.targets}:
            yield Mark(ast.unparse(node), node.lineno, f"leaves tests out: `{ast.unparse(node)[:80]}`")
