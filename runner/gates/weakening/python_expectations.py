"""What a Python function expects: ``assert``, unittest's methods, mocks, ``raises``, and helpers named like them."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from runner.gates.weakening.facts import EXACT, TRIVIAL, WEAK, Expectation, words

if TYPE_CHECKING:
    from collections.abc import Iterator

WEAK_METHODS = words(
    "assertTrue assertFalse assertIsNotNone assertIn assertNotIn assertNotEqual assertIsInstance assertGreater "
    "assertGreaterEqual assertLess assertLessEqual assertAlmostEqual assertNotAlmostEqual assertRegex assertLogs "
    "assert_called assert_any_call assert_allclose assert_almost_equal assert_array_less"
)
"""Methods that tell a property, not the result."""
HELPERS = re.compile(r"_?(assert|check|verify|expect|ensure|should)(_\w+|[A-Z]\w*|s)?")
"""Functions that expect something, by custom of their name."""
BROAD = frozenset({"Exception", "BaseException"})
TOLERANCES = frozenset({"abs", "rel", "delta", "atol", "rtol", "tol", "tolerance", "rel_tol", "abs_tol"})
"""Arguments that say how far off a number may be; of ``places`` and ``decimal``, fewer is further."""
PLACES = frozenset({"places", "decimal", "significant"})
ELSEWHERE = re.compile(r"\benviron\b|\bgetenv\b|\bCI\b|\bsys\.platform\b|\bplatform\.system\b|__debug__")
Function = ast.FunctionDef | ast.AsyncFunctionDef


def expectations(node: Function) -> Iterator[Expectation]:
    """Yield what the body of ``node`` expects where it can be reached."""
    for found, swallowed in _reached(node.body, swallowed=False):
        for one in _of(found):
            yield Expectation(one.text, one.line, TRIVIAL) if swallowed else one


def _reached(  # noqa: C901 - a case a statement
    body: list[ast.stmt], *, swallowed: bool
) -> Iterator[tuple[ast.AST, bool]]:
    """Yield assertions and calls in the order of the text, and whether their failure is caught and forgotten."""
    for statement in body:
        match statement:
            case ast.ClassDef():
                for inner in statement.body:
                    yield from _reached(getattr(inner, "body", [inner]), swallowed=swallowed)
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                unused = not statement.decorator_list and not _is_named(statement.name, body)
                yield from _reached(statement.body, swallowed=swallowed or unused)
            case ast.If() | ast.While():
                never = (isinstance(statement.test, ast.Constant) and not statement.test.value) or _elsewhere(statement)
                yield from _reached(statement.body, swallowed=swallowed or never)
                yield from _reached(statement.orelse, swallowed=swallowed)
                swallowed = swallowed or (_elsewhere(statement) and isinstance(statement.body[-1], ast.Return))
            case ast.Try() | ast.TryStar():
                left = any(isinstance(inner, ast.Return) for inner in statement.finalbody)
                caught = swallowed or left or any(_swallows(handler) for handler in statement.handlers)
                yield from _reached(statement.body, swallowed=caught)
                for handler in statement.handlers:
                    yield from _reached(handler.body, swallowed=swallowed)
                yield from _reached([*statement.orelse, *statement.finalbody], swallowed=swallowed)
            case ast.With() | ast.AsyncWith():
                suppressed = any(_suppresses(item.context_expr) for item in statement.items)
                for item in statement.items:
                    yield from ((inner, swallowed) for inner in ast.walk(item.context_expr))
                yield from _reached(statement.body, swallowed=swallowed or suppressed)
            case ast.For() | ast.AsyncFor():
                empty = isinstance(statement.iter, ast.List | ast.Tuple) and not statement.iter.elts
                yield from _reached(statement.body, swallowed=swallowed or empty)
                yield from _reached(statement.orelse, swallowed=swallowed)
            case _:
                yield from ((inner, swallowed) for inner in ast.walk(statement))
        if isinstance(statement, ast.Return | ast.Raise | ast.Continue | ast.Break):
            return


def _elsewhere(statement: ast.If | ast.While) -> bool:
    """Whether a condition asks where the test runs: what depends on that may not be looked at where it counts."""
    return bool(ELSEWHERE.search(ast.unparse(statement.test)))


def _is_named(name: str, body: list[ast.stmt]) -> bool:
    return any(isinstance(node, ast.Name) and node.id == name for statement in body for node in ast.walk(statement))


def called(node: ast.Call) -> str:
    """Return the last part of the name that is called; empty where it has none."""
    function = node.func
    return (
        function.attr if isinstance(function, ast.Attribute) else function.id if isinstance(function, ast.Name) else ""
    )


def _swallows(handler: ast.ExceptHandler) -> bool:
    caught = "" if handler.type is None else ast.unparse(handler.type)
    broad = not caught or any(name in caught for name in ("AssertionError", *BROAD))
    fails = any(
        isinstance(n, ast.Raise) or (isinstance(n, ast.Call) and "fail" in ast.unparse(n.func))
        for n in ast.walk(handler)
    )
    return broad and not fails


def _suppresses(expression: ast.expr) -> bool:
    if not isinstance(expression, ast.Call) or not ast.unparse(expression.func).endswith("suppress"):
        return False
    return any(ast.unparse(a) in {"AssertionError", *BROAD} for a in expression.args)


def _of(node: ast.AST) -> Iterator[Expectation]:
    if isinstance(node, ast.Assert):
        parts = (
            node.test.values if isinstance(node.test, ast.BoolOp) and isinstance(node.test.op, ast.And) else [node.test]
        )
        for part in parts:
            yield _made(part, node.lineno, _strength(part))
    elif isinstance(node, ast.Call):
        name = called(node)
        if name in {"raises", "warns", "assertRaises", "assertRaisesRegex", "assertWarns"}:
            yield from _raises(node)
        elif HELPERS.fullmatch(name):
            yield _made(node, node.lineno, _call_strength(name, node))


def _raises(node: ast.Call) -> Iterator[Expectation]:
    expected = ast.unparse(node.args[0]) if node.args else "?"
    yield Expectation(f"raises {expected}", node.lineno, WEAK if expected in BROAD else EXACT)
    for keyword in node.keywords:
        if keyword.arg in {"match", "check"}:
            yield Expectation(f"raises {expected} with {ast.unparse(keyword)}", node.lineno, EXACT)
    for further in node.args[1:2]:
        yield Expectation(f"raises {expected} with {ast.unparse(further)}", node.lineno, EXACT)


def _call_strength(name: str, node: ast.Call) -> int:
    arguments = [*node.args, *(k.value for k in node.keywords)]
    if name in WEAK_METHODS:
        return TRIVIAL if arguments and isinstance(arguments[0], ast.Constant) else WEAK
    compared = [ast.unparse(a) for a in node.args[:2]]
    same = len(compared) > 1 and compared[0] == compared[1]
    constant = len(compared) > 1 and all(isinstance(a, ast.Constant) for a in node.args[:2])
    return TRIVIAL if name.startswith("assert") and (same or constant) else EXACT


def _strength(test: ast.expr) -> int:
    """Return how much a condition tells."""
    match test:
        case ast.Constant() | ast.Lambda() | ast.JoinedStr():
            return TRIVIAL
        case ast.Tuple() | ast.List() | ast.Set() | ast.Dict():
            return TRIVIAL
        case ast.UnaryOp(op=ast.Not()):
            return min(WEAK, _strength(test.operand))
        case ast.BoolOp():
            return min(WEAK, *(_strength(value) for value in test.values))
        case ast.Compare():
            return _compared(test)
    return WEAK


def _compared(test: ast.Compare) -> int:
    sides = [test.left, *test.comparators]
    if len({ast.unparse(side) for side in sides}) == 1 or all(isinstance(side, ast.Constant) for side in sides):
        return TRIVIAL
    vague = any(re.search(r"approx|isclose|\bANY\b", ast.unparse(side)) for side in sides)
    exact = any(isinstance(op, ast.Eq | ast.Is) for op in test.ops) and not vague
    return EXACT if exact and not any(isinstance(s, ast.Constant) and s.value is True for s in sides) else WEAK


class _Masked(ast.NodeTransformer):
    """Takes the tolerance out of an expression and keeps it."""

    def __init__(self) -> None:
        self.tolerance: float | None = None

    def visit_keyword(self, node: ast.keyword) -> ast.keyword:
        value = node.value.value if isinstance(node.value, ast.Constant) else None
        if node.arg in TOLERANCES | PLACES and isinstance(value, int | float):
            self.tolerance = float(value) if node.arg in TOLERANCES else 10.0 ** -min(float(value), 300.0)
            return ast.keyword(node.arg, ast.Name("…"))
        self.generic_visit(node)
        return node


def _made(node: ast.expr, line: int, strength: int) -> Expectation:
    if not any(isinstance(part, ast.keyword) and part.arg in TOLERANCES | PLACES for part in ast.walk(node)):
        return Expectation(ast.unparse(node), line, strength)
    masked = _Masked()
    without = masked.visit(ast.parse(ast.unparse(node), mode="eval")).body
    return Expectation(ast.unparse(without), line, strength, masked.tolerance)
