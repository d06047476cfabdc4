"""What a Python test file or conftest decides about other tests: hooks, exits, tests taken away by name."""

from __future__ import annotations

import ast
import posixpath
import re
from typing import TYPE_CHECKING

from runner.gates.weakening.facts import Mark, quoted, words

if TYPE_CHECKING:
    from collections.abc import Iterator

HOOKS = words(
    "pytest_collection_modifyitems pytest_ignore_collect pytest_collect_file pytest_collect_directory load_tests "
    "pytest_pycollect_makeitem pytest_pycollect_makemodule pytest_make_collect_report pytest_collection "
    "pytest_runtestloop pytest_runtest_protocol pytest_runtest_call pytest_pyfunc_call pytest_runtest_makereport "
    "pytest_runtest_logreport pytest_cmdline_main"
)
"""Functions by which a file decides which tests are run, and what counts as failed."""
PLAIN = words(
    "pytest_addoption pytest_addhooks pytest_report_header pytest_assertrepr_compare pytest_make_parametrize_id"
)
"""Hooks of pytest that change nothing of that; all others are shown."""
SWITCHES = frozenset({"collect_ignore", "collect_ignore_glob", "__test__"})
VERDICTS = re.compile(
    r"\.(__test__|exitstatus|outcome|excinfo)$"
    r"|\.option\.(keyword|markexpr|deselect|ignore|ignore_glob|collectonly|setuponly|setupplan|lf)$"
)
"""Attributes by which tests are left out or what came of them is changed."""
EXITS = words("os._exit os.abort sys.exit pytest.exit exit quit SystemExit")


def switches(path: str, tree: ast.Module) -> Iterator[Mark]:
    """Yield what a file says that decides about tests; text and line of each."""
    for node in ast.walk(tree):
        yield from _hooked(node)
    yield from _exits(tree if posixpath.basename(path) == "conftest.py" else _outside(tree.body))
    yield from _taken_away(tree)


def _hooked(node: ast.AST) -> Iterator[Mark]:
    match node:
        case ast.FunctionDef() | ast.AsyncFunctionDef():
            yield from _hook(node.name, node)
            if any("autouse=True" in ast.unparse(decorator) for decorator in node.decorator_list):
                yield from _skipping_fixture(node)
        case ast.ImportFrom():
            for name in (alias.asname or alias.name for alias in node.names):
                yield from _hook(name, node)
        case ast.Assign() | ast.AnnAssign() | ast.AugAssign():
            for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
                name = ast.unparse(target)
                if name in HOOKS or name == "pytest_plugins":
                    yield from _hook(name, node)
                if name in SWITCHES or VERDICTS.search(name):
                    yield Mark(ast.unparse(node), node.lineno, f"leaves tests out: {quoted(ast.unparse(node))}")


def _hook(name: str, node: ast.stmt) -> Iterator[Mark]:
    if name in HOOKS:
        yield Mark(f"hook {ast.unparse(node)}", node.lineno, f"{name} decides which tests run and count")
    elif name.startswith("pytest_") and name not in PLAIN:
        yield Mark(f"hook {ast.unparse(node)}", node.lineno, f"{name} can change how tests run", mild=True)


def _skipping_fixture(node: ast.FunctionDef | ast.AsyncFunctionDef) -> Iterator[Mark]:
    for call in (inner for inner in ast.walk(node) if isinstance(inner, ast.Call)):
        if re.search(r"(^|[._])(skip\w*|xfail|add_marker|applymarker)\(", ast.unparse(call)):
            said = f"{node.name} applies to every test and can skip it: {quoted(ast.unparse(call))}"
            yield Mark(f"autouse {ast.unparse(call)}", node.lineno, said)


def _outside(body: list[ast.stmt]) -> ast.Module:
    """Return what is done when the file is read: all but functions, and but for what is done when it is a program."""
    kept = [
        node
        for node in body
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
        and not (isinstance(node, ast.If) and "__name__" in ast.unparse(node.test))
    ]
    return ast.Module(kept, [])


def _exits(tree: ast.Module) -> Iterator[Mark]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Call | ast.Raise):
            text = ast.unparse(node).removeprefix("raise ")
            if text.partition("(")[0] in EXITS:
                line = quoted(text)
                yield Mark(f"exit {text}", node.lineno, f"ends the run of the tests: {line}")


def _taken_away(tree: ast.Module) -> Iterator[Mark]:
    """Yield where a test of the file is deleted or replaced by something else."""
    tests = {node.name for node in tree.body if isinstance(node, ast.FunctionDef) and node.name.startswith("test")}
    found = (node for node in ast.walk(_outside(tree.body)) if isinstance(node, ast.Delete | ast.Assign))
    for node in found:
        for target in map(ast.unparse, node.targets):
            if target in tests or (isinstance(node, ast.Delete) and re.match(r"(globals|vars|locals)\(\)", target)):
                yield Mark(ast.unparse(node), node.lineno, f"takes a test away: {quoted(ast.unparse(node))}")
