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
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from runner.gates.weakening.facts import UNCOUNTED, Sheet, Test, body_lines
from runner.gates.weakening.naming import PYTHON_COLLECTED
from runner.gates.weakening.python_expectations import called, expectations
from runner.gates.weakening.python_switches import switches
from runner.gates.weakening.silenced import silenced

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

SUFFIXES = (".py", ".pyi")
TEST_FOLDERS = frozenset({"test", "tests", "testing", "spec", "specs"})
SKIPPING = re.compile(
    r"(^|[._])(skip\w*|xfail|expected_?failure|ignore\w*|disabled?|nottest|importorskip)\b", re.IGNORECASE
)
"""Decorators, marks and calls that keep a test from running or from counting."""
SKIP_CALLS = re.compile(r"(pytest\.(skip|xfail|importorskip)|skip|self\.(skipTest|fail_?skip)|(unittest\.)?SkipTest)")
Function = ast.FunctionDef | ast.AsyncFunctionDef
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)


@dataclass(frozen=True, slots=True)
class _Known:
    """What names of a file stand for."""

    skipping: frozenset[str] = frozenset()
    """Marks, functions and fixtures that keep a test from running."""
    tables: dict[str, ast.expr] = field(default_factory=dict)
    """Values of the module's own names."""


@dataclass(frozen=True, slots=True)
class _Scope:
    """Where a function stands."""

    name: str = ""
    skip: str = ""
    collected: bool = True
    """Whether functions named ``test…`` are tests here."""
    known: _Known = _Known()


def is_test_file(path: str) -> bool:
    """Whether tests are looked for in a file of that name."""
    folder, name = posixpath.split(path)
    return (
        bool(PYTHON_COLLECTED.fullmatch(name))
        or name == "conftest.py"
        or not TEST_FOLDERS.isdisjoint(folder.split("/"))
    )


def read(path: str, text: str) -> Sheet | None:
    """Return the facts of a file, None where it is no Python of this release."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(text)
            marks = tuple(silenced(path, list(_comments(text))))
            if not is_test_file(path):
                return Sheet(tuple(_in_classes(tree)), marks)
            found = {test.name: test for test in _tests(tree.body, _Scope(skip=_module_skip(tree), known=_known(tree)))}
    except (SyntaxError, ValueError, RecursionError, MemoryError, tokenize.TokenError):
        return None
    return Sheet(tuple(found.values()), (*marks, *switches(path, tree)))


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
                skip = scope.skip or _decorated(node, scope.known) or _pytestmark(node.body)
                yield from _tests(node.body, replace(scope, name=inner, skip=skip, collected=_is_collected(node)))
            case ast.If():
                condition = f"if {ast.unparse(node.test)}"
                yield from _tests([*node.body, *node.orelse], replace(scope, skip=condition))
            case ast.For() | ast.While():
                yield from _tests(node.body, replace(scope, skip=ast.unparse(node).partition("\n")[0]))
            case ast.Try() | ast.With():
                yield from _tests(node.body, scope)


def _function(node: Function, scope: _Scope) -> Test:
    found = tuple(expectations(node))
    is_test = node.name.startswith("test") and scope.collected and not _is_fixture(node)
    return Test(
        name=scope.name + node.name,
        line=node.lineno,
        lines=_body(node),
        expectations=found,
        skip=(scope.skip or _decorated(node, scope.known) or _skipped_inside(node, scope.known)) if is_test else "",
        cases=_cases(node, scope.known),
        helper=not is_test,
    )


def _body(node: Function) -> tuple[str, ...]:
    kept = [s for s in node.body if not isinstance(s, ast.Pass) and not _is_constant(s)]
    if len(kept) == 1 and isinstance(kept[0], ast.Return):
        return ()
    return body_lines("\n".join(ast.unparse(statement) for statement in kept))


def _is_constant(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)


def _is_collected(node: ast.ClassDef) -> bool:
    """Whether a class holds tests: unittest's by what it derives from, pytest's by its name and having no __init__."""
    own = any(isinstance(inner, ast.FunctionDef) and inner.name in {"__init__", "__new__"} for inner in node.body)
    return _is_case(node) or (node.name.startswith("Test") and not own)


def _is_fixture(node: Function) -> bool:
    return any("fixture" in ast.unparse(decorator).partition("(")[0] for decorator in node.decorator_list)


def _known(tree: ast.Module) -> _Known:
    """Return what names of a module stand for."""
    tables = {
        node.targets[0].id: node.value
        for node in tree.body
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name)
    }
    found = {name for name, value in tables.items() if SKIPPING.search(ast.unparse(value).partition("(")[0])}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module in {"pytest", "unittest"}:
            found |= {alias.asname for alias in node.names if alias.asname and SKIPPING.search(alias.name)}
    helpers = [n for n in tree.body if isinstance(n, ast.FunctionDef) and not n.name.startswith("test")]
    found |= {helper.name for helper in helpers if _skipped_inside(helper, _Known(frozenset(found)))}
    return _Known(frozenset(found), tables)


def _decorated(node: Function | ast.ClassDef, known: _Known) -> str:
    """Return the decorator that keeps ``node`` from running, if there is one."""
    for decorator in node.decorator_list:
        called = ast.unparse(decorator.func if isinstance(decorator, ast.Call) else decorator)
        given = decorator.args if isinstance(decorator, ast.Call) and called.endswith("usefixtures") else []
        fixtures = {argument.value for argument in given if isinstance(argument, ast.Constant)}
        if SKIPPING.search(called) or called in known.skipping or known.skipping & fixtures:
            return f"@{ast.unparse(decorator)}"
    return ""


def _module_skip(tree: ast.Module) -> str:
    """Return what keeps a whole module's tests from running, under a condition or not."""
    for node in _statements(tree.body):
        value = getattr(node, "value", None) or getattr(node, "exc", None)
        called = value.func if isinstance(value, ast.Call) else value
        if isinstance(called, ast.expr) and SKIP_CALLS.fullmatch(ast.unparse(called)):
            return ast.unparse(node)
    return _pytestmark(tree.body)


def _statements(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """Yield the statements of a module outside of functions and classes."""
    for node in body:
        if isinstance(node, ast.If | ast.Try | ast.With):
            yield from _statements(node.body)
            yield from _statements([s for handler in getattr(node, "handlers", []) for s in handler.body])
            yield from _statements(getattr(node, "orelse", []))
        elif not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield node


def _pytestmark(body: list[ast.stmt]) -> str:
    for node in body:
        targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
        names = [target.id for target in targets if isinstance(target, ast.Name)]
        if "pytestmark" in names and SKIPPING.search(ast.unparse(node)):
            return ast.unparse(node)
    return ""


def _skipped_inside(node: Function, known: _Known) -> str:
    """Return the call by which a test leaves itself out, wherever in its body that stands, or what does it for it."""
    for inner in ast.walk(node):
        if isinstance(inner, ast.Raise):
            names = "" if inner.exc is None else ast.unparse(inner.exc).partition("(")[0]
        elif isinstance(inner, ast.Call) and (SKIPPING.search(called(inner)) or called(inner) in known.skipping):
            names = ast.unparse(inner.func)
        elif isinstance(inner, ast.arg) and inner.arg in known.skipping:
            return inner.arg
        else:
            continue
        if SKIP_CALLS.fullmatch(names) or names in known.skipping:
            return ast.unparse(inner)
    own = (inner for statement in node.body for inner in ast.walk(statement) if not isinstance(statement, _FUNCTIONS))
    return "yield" if node.name.startswith("test") and any(isinstance(one, ast.Yield) for one in own) else ""


def _cases(node: Function, known: _Known) -> int:
    """Return how many rows the tables of ``parametrize`` have, where they are written out in the module."""
    total = 1
    for decorator in node.decorator_list:
        if isinstance(decorator, ast.Call) and ast.unparse(decorator.func).endswith("parametrize"):
            values = [*decorator.args[1:2], *(k.value for k in decorator.keywords if k.arg == "argvalues")]
            table = known.tables.get(ast.unparse(values[0]), values[0]) if values else None
            if not isinstance(table, ast.List | ast.Tuple | ast.Set):
                return UNCOUNTED
            total *= sum(not SKIPPING.search(ast.unparse(row)) for row in table.elts)
    return total
