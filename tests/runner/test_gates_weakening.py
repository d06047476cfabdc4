"""Gate weakening: what a change takes away from tests and checks, in every language, and what is no loss."""

from __future__ import annotations

import string
import textwrap

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from runner.contract import GateStatus
from runner.gates.weakening import weakening
from tests.runner.changes import Files, change


def said(base: Files, head: Files, **more: object) -> list[str]:
    result = weakening(change(base, head, **more))
    return [] if result.status is GateStatus.PASSED else result.tail.splitlines()


PYTHON = """\
import pytest
from calc import add


@pytest.mark.parametrize(("a", "b"), [(1, 2), (2, 3), (3, 4)])
def test_table(a, b):
    assert add(a, 1) == b


def test_add():
    total = add(2, 3)
    assert total == 5, "five"
    assert total > 1


class TestErrors:
    def test_none(self):
        with pytest.raises(ValueError, match="None"):
            add(None, 1)

    def test_float(self):
        assert add(0.1, 0.2) == pytest.approx(0.3, abs=1e-9)
"""
UNITTEST = """\
import unittest


class AddTest(unittest.TestCase):
    def test_add(self):
        self.assertEqual(add(2, 3), 5)

    def test_sub(self):
        self.assertAlmostEqual(sub(2, 3), -1, places=7)
"""
JEST = """\
import { add } from './add';

describe('add', () => {
  it('adds', () => {
    expect(add(2, 3)).toBe(5);
    expect(add(2, 3)).toBeGreaterThan(1);
  });
  it.each([[1, 2], [2, 3]])('table %d', (a, b) => {
    expect(add(a, 1)).toEqual(b);
  });
  test(`says "${'{'}"`, async () => {
    await expect(add(null)).rejects.toThrow('null /* no comment');
  });
});
"""
GO = """\
package calc

import "testing"

func TestAdd(t *testing.T) {
	for _, c := range []struct{ a, b int }{
		{1, 2},
		{2, 3},
	} {
		if got := Add(c.a, 1); got != c.b {
			t.Errorf("got %d", got)
		}
	}
}

func TestSub(t *testing.T) {
	assert.Equal(t, 1, Sub(3, 2))
	require.InDelta(t, 0.3, Sum(), 0.001)
}
"""
RUST = """\
pub fn add(a: i32, b: i32) -> i32 { a + b }

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn adds<'a>() {
        assert_eq!(add(2, 3), 5, "five");
        assert!(add(2, 3) > 1);
    }

    #[test]
    #[should_panic(expected = "overflow")]
    fn overflows() {
        add(i32::MAX, 1);
    }
}
"""
JAVA = """\
class CalcTest {
    @Test
    void adds() {
        assertEquals(5, Calc.add(2, 3));
    }

    @Test
    void subtracts() {
        assertEquals(1, Calc.sub(3, 2));
    }
}
"""
PLACES = {
    PYTHON: "tests/test_calc.py",
    UNITTEST: "tests/test_unit.py",
    JEST: "src/add.test.ts",
    GO: "calc/calc_test.go",
    RUST: "src/lib.rs",
    JAVA: "src/test/java/CalcTest.java",
}

WEAKER = [
    (PYTHON, "def test_add():", "@pytest.mark.skip\ndef test_add():", "test_add no longer runs: `@pytest.mark.skip`"),
    (PYTHON, "def test_add():", "@pytest.mark.xfail(strict=False)\ndef test_add():", "test_add no longer runs"),
    (PYTHON, "def test_add():", "@pytest.mark.skipif(True, reason='x')\ndef test_add():", "test_add no longer runs"),
    (
        PYTHON,
        "    total = add(2, 3)\n",
        "    pytest.skip('flaky')\n    total = add(2, 3)\n",
        "no longer runs: `pytest.skip('flaky')`",
    ),
    (
        PYTHON,
        "import pytest\n",
        "import pytest\npytestmark = pytest.mark.skip\n",
        "TestErrors > test_none no longer runs",
    ),
    (
        PYTHON,
        "import pytest\n",
        "import pytest\npytest.skip('no', allow_module_level=True)\n",
        "test_add no longer runs",
    ),
    (PYTHON, "class TestErrors:", "@pytest.mark.skip\nclass TestErrors:", "TestErrors > test_float no longer runs"),
    (PYTHON, "class TestErrors:", "class Errors:", "TestErrors > test_none is gone"),
    (PYTHON, "def test_add():", "def check_add():", "test_add is gone"),
    (PYTHON, "    assert total > 1\n", "", "test_add no longer expects `total > 1`"),
    (PYTHON, "assert total > 1", "assert True", "test_add expects what can't fail, in place of `total > 1`"),
    (PYTHON, "assert total > 1", "assert total == total", "in place of `total > 1`"),
    (PYTHON, "assert total > 1", "assert (total > 1, 'yes')", "in place of `total > 1`"),
    (PYTHON, "assert total == 5", "assert total is not None", "no longer expects the exact result `total == 5`"),
    (PYTHON, "assert total == 5", "assert total in (5, 6)", "no longer expects the exact result"),
    (PYTHON, "assert total == 5", "assert total == pytest.approx(5)", "no longer expects the exact result"),
    (PYTHON, "assert total == 5", "assert total == 5 or True", "in place of `total == 5`"),
    (PYTHON, "    total = add(2, 3)\n", "    return\n    total = add(2, 3)\n", "no longer expects `total == 5`"),
    (
        PYTHON,
        '    assert total == 5, "five"\n',
        "    try:\n        assert total == 5\n    except AssertionError:\n        pass\n",
        "in place of `total == 5`",
    ),
    (PYTHON, "    assert total > 1", "    if False:\n        assert total > 1", "`total > 1`"),
    (PYTHON, "(2, 3), (3, 4)]", "(2, 3)]", "test_table"),
    (PYTHON, ', match="None"', "", "TestErrors > test_none"),
    (PYTHON, "raises(ValueError", "raises(Exception", "TestErrors > test_none"),
    (PYTHON, "abs=1e-9", "abs=0.5", "allows more: 0.5, 1e-09 before"),
    (
        PYTHON,
        PYTHON[PYTHON.index("def test_add") : PYTHON.index("class")],
        "",
        "tests/test_calc.py:10: test_add is gone.",
    ),
    (PYTHON, PYTHON[PYTHON.index("    total") : PYTHON.index("class")], "    pass\n\n\n", "test_add is empty now"),
    (
        PYTHON,
        "assert total > 1\n",
        "assert total > 1\n\n\ndef test_add():\n    assert add(1, 1) == 2\n",
        "test_add no longer expects `total == 5`",
    ),
    (PYTHON, "def test_add():", "if False:\n  def test_add():", "no longer runs: `if False`"),
    (
        PYTHON,
        "total = add(2, 3)",
        "total = add(2, 3)  # type: ignore[no-untyped-call]",
        "silences a check: `# type: ignore[no-untyped-call]`",
    ),
    (UNITTEST, "    def test_add", "    @unittest.skip('x')\n    def test_add", "AddTest > test_add no longer runs"),
    (
        UNITTEST,
        "    def test_add",
        "    @unittest.expectedFailure\n    def test_add",
        "AddTest > test_add no longer runs",
    ),
    (UNITTEST, "assertEqual(add(2, 3), 5)", "assertTrue(True)", "what can't fail"),
    (UNITTEST, "assertEqual(add(2, 3), 5)", "assertIsNotNone(add(2, 3))", "no longer expects the exact result"),
    (UNITTEST, "self.assertEqual(add(2, 3), 5)", "self.skipTest('later')", "AddTest > test_add no longer runs"),
    (UNITTEST, "places=7", "places=1", "allows more"),
    (JEST, "it('adds'", "it.skip('adds'", "add > adds no longer runs: `it.skip`"),
    (JEST, "it('adds'", "xit('adds'", "add > adds no longer runs"),
    (JEST, "it('adds', ", "it('adds', { skip: true }, ", "add > adds no longer runs"),
    (JEST, "describe('add'", "describe.skip('add'", "add > adds no longer runs: `describe.skip`"),
    (JEST, "it('adds'", "it.only('adds'", "keeps all other tests from running"),
    (JEST, "it('adds'", "fit('adds'", "keeps all other tests from running"),
    (JEST, "  it('adds'", "  // it('adds'", "add > adds is gone"),
    (JEST, "expect(add(2, 3)).toBe(5);", "", "no longer expects `expect(add(2, 3)).toBe(5)`"),
    (JEST, "expect(add(2, 3)).toBe(5)", "expect(true).toBe(true)", "what can't fail"),
    (JEST, "toBe(5)", "toBeDefined()", "no longer expects the exact result"),
    (JEST, "rejects.toThrow('null /* no comment')", "rejects.toThrow()", "no longer expects the exact result"),
    (JEST, "    expect(add(2, 3)).toBe(5);", "    return;\n    expect(add(2, 3)).toBe(5);", "expects what can't fail"),
    (JEST, "[[1, 2], [2, 3]]", "[[1, 2]]", "table %d"),
    (JEST, "import {", "// @ts-nocheck\nimport {", "silences a check: `@ts-nocheck`"),
    (JEST, "import {", "/* eslint-disable no-undef */\nimport {", "silences a check"),
    (GO, "\tfor _, c", '\tt.Skip("later")\n\tfor _, c', 'TestAdd no longer runs: `t.Skip("later")`'),
    (GO, "got != c.b", "false", "TestAdd"),
    (GO, "\t\t{2, 3},\n", "", "TestAdd has 1 cases, 2 before"),
    (GO, "func TestSub", "func testSub", "TestSub is gone"),
    (GO, "assert.Equal(t, 1, Sub(3, 2))", "assert.NotNil(t, Sub(3, 2))", "no longer expects the exact result"),
    (GO, "assert.Equal(t, 1, Sub(3, 2))", "assert.Equal(t, 1, 1)", "what can't fail"),
    (GO, "0.001", "1", "allows more"),
    (GO, "package calc", "//go:build slow\n\npackage calc", "TestAdd no longer runs: `//go:build slow`"),
    (GO, 'import "testing"', 'import "testing" //nolint:all', "silences a check"),
    (
        RUST,
        "    #[test]\n    fn adds",
        "    #[test]\n    #[ignore]\n    fn adds",
        "tests > adds no longer runs: `#[ignore]`",
    ),
    (RUST, "    #[test]\n    fn adds", "    fn adds", "tests > adds is gone"),
    (RUST, 'assert_eq!(add(2, 3), 5, "five");', "assert!(true);", "what can't fail"),
    (RUST, 'assert_eq!(add(2, 3), 5, "five");', "assert_eq!(5, 5);", "what can't fail"),
    (RUST, "assert!(add(2, 3) > 1);", "", "no longer expects `assert(add(2, 3) > 1)`"),
    (RUST, "pub fn add", "#[allow(unused)]\npub fn add", "silences a check"),
    (RUST, "#[cfg(test)]", "#[cfg(any())]", "silences a check"),
    (
        JAVA,
        "    @Test\n    void subtracts",
        "    @Disabled\n    @Test\n    void subtracts",
        "keeps a test from running: `@Disabled`",
    ),
    (
        JAVA,
        "        assertEquals(1, Calc.sub(3, 2));\n",
        "",
        "void subtracts() { no longer expects `assertEquals(1, Calc.sub(3, 2));`",
    ),
    (JAVA, JAVA[JAVA.index("\n    @Test\n    void sub") : -2], "", "subtracts"),
    (JAVA, "class CalcTest", '@SuppressWarnings("all")\nclass CalcTest', "silences a check"),
]


@pytest.mark.parametrize(("source", "old", "new", "expected"), WEAKER)
def test_what_is_weaker_is_told_by_its_line(source: str, old: str, new: str, expected: str) -> None:
    assert old in source
    path = PLACES[source]
    lines = said({path: source}, {path: source.replace(old, new, 1)})
    assert any(expected in line for line in lines), lines
    assert all(line.startswith(f"{path}:") for line in lines)


AS_STRONG = [
    (PYTHON, "def test_add():", "def test_add_adds():"),
    (PYTHON, "assert total == 5", "assert total == 6"),
    (PYTHON, '"five"', '"not five"'),
    (PYTHON, "assert total > 1", "assert total > 1\n    assert total < 9"),
    (PYTHON, "abs=1e-9", "abs=1e-12"),
    (PYTHON, "from calc import add", "from calc import add  # the sum"),
    (PYTHON, "import pytest\n", 'import pytest\nTEXT = "# noqa"\n'),
    (PYTHON, '    assert total == 5, "five"\n    assert total > 1', '    assert total == 5 and total > 1, "both"'),
    (PYTHON, "assert total == 5", "assert 5 == total"),
    (UNITTEST, "self.assertEqual(add(2, 3), 5)", "assert add(2, 3) == 5"),
    (UNITTEST, "places=7", "places=9"),
    (JEST, "it('adds'", "it('adds two numbers'"),
    (JEST, "toBe(5)", "toBe(6)"),
    (JEST, "expect(add(2, 3)).toBe(5);", "const five = 5 / 1; expect(add(2, 3)).toBe(five); // it.skip"),
    (JEST, "'null /* no comment'", "'null it.only('"),
    (GO, "got != c.b", "c.b != got"),
    (GO, "func TestSub", "func TestSubtraction"),
    (GO, "\t\t{2, 3},\n", "\t\t{2, 3},\n\t\t{4, 5},\n"),
    (RUST, "fn adds", "fn adds_two"),
    (RUST, "add(2, 3), 5", "add(2, 4), 6"),
    (RUST, "a + b", "a.wrapping_add(b)"),
    (JAVA, "void adds", "void addsTwo"),
    (JAVA, "assertEquals(5", "assertEquals(6"),
]


@pytest.mark.parametrize(("source", "old", "new"), AS_STRONG)
def test_an_honest_edit_is_no_weakening(source: str, old: str, new: str) -> None:
    assert old in source
    path = PLACES[source]
    assert said({path: source}, {path: source.replace(old, new, 1)}) == []


@pytest.mark.parametrize("source", PLACES)
def test_a_renamed_test_file_and_a_new_one_are_no_weakening(source: str) -> None:
    old = PLACES[source]
    new = (
        old.replace("calc", "sums")
        .replace("Calc", "Sums")
        .replace("add", "sums")
        .replace("unit", "other")
        .replace("lib", "sums")
    )
    assert said({old: source}, {old: None, new: source}) == []
    assert said({}, {old: source}) == []


@pytest.mark.parametrize("source", PLACES)
def test_a_deleted_test_file_is_told_test_by_test(source: str) -> None:
    lines = said({PLACES[source]: source}, {PLACES[source]: None})
    assert lines
    assert all("is gone, with its file" in line for line in lines)


def test_a_test_moved_to_where_nothing_collects_it_is_gone() -> None:
    assert "test_add is gone" in "".join(
        said({"calc/test_calc.py": PYTHON}, {"calc/test_calc.py": None, "calc/old_calc.py": PYTHON})
    )


def test_one_test_split_in_two_and_two_merged_into_one() -> None:
    one = "def test_a():\n    assert f(1) == 1\n    assert f(2) == 2\n"
    two = "def test_one():\n    assert f(1) == 1\n\n\ndef test_two():\n    assert f(2) == 2\n"
    assert said({"test_a.py": one}, {"test_a.py": two}) == []
    assert said({"test_a.py": two}, {"test_a.py": one}) == []


def test_a_helper_of_tests_counts() -> None:
    base = "def same(a, b):\n    assert a == b\n\n\ndef test_x():\n    same(f(), 1)\n"
    assert "same no longer expects `a == b`" in "".join(
        said({"tests/util.py": base}, {"tests/util.py": base.replace("assert a == b", "return")})
    )


def test_conftest_decides_about_others() -> None:
    hook = "def pytest_collection_modifyitems(items):\n    items.clear()\n"
    assert "decides which tests run" in "".join(said({"tests/conftest.py": ""}, {"tests/conftest.py": hook}))
    assert "leaves tests out" in "".join(said({}, {"conftest.py": "collect_ignore = ['tests']\n"}))


def test_what_silences_a_check_is_counted_over_the_whole_change() -> None:
    noisy = "import os  # noqa: F401, E402\n"
    assert said({"a.py": noisy}, {"a.py": None, "b.py": noisy}) == []
    assert said({"a.py": noisy}, {"a.py": "import sys  # noqa: F401\n"}) == []
    lines = said({"a.py": noisy}, {"a.py": noisy + "x = 1  # noqa\n"})
    assert lines == ["a.py:2: silences a check: `# noqa`."]


@pytest.mark.parametrize(
    ("path", "line", "blocks"),
    [
        ("a.py", "x = 1  # noqa: S603, S607 - the list is fixed", False),
        ("a.py", "x = 1  # noqa", True),
        ("a.py", "# ruff: noqa: S603", True),
        ("a.py", "x = 1  # type: ignore[arg-type]", False),
        ("a.py", "x = 1  # type: ignore", True),
        ("a.py", "# mypy: ignore-errors", True),
        ("a.py", "x = 1  # pylint: disable=invalid-name", False),
        ("a.py", "x = 1  # pylint: disable=all", True),
        ("a.py", "x = 1  # pragma: no cover", True),
        ("a.py", "x = 1  # nosec", True),
        ("a.ts", "// eslint-disable-next-line no-undef", False),
        ("a.ts", "// eslint-disable-next-line", True),
        ("a.ts", "/* eslint-disable no-undef */", True),
        ("a.ts", "// @ts-ignore", True),
        ("a.ts", "// @ts-expect-error wrong on purpose", False),
        ("a.go", "x := 1 //nolint:errcheck", False),
        ("a.go", "x := 1 //nolint", True),
        ("a.rs", "#[allow(dead_code)]", False),
        ("a.rs", "#![allow(dead_code)]", True),
        ("A.java", '@SuppressWarnings("unchecked")', False),
        ("A.java", '@SuppressWarnings("all")', True),
        ("a.rb", "x = 1 # rubocop:disable Style/Foo", False),
        ("a.sh", "# shellcheck disable=SC2086", False),
        ("a.c", "int x; // NOLINT", True),
        ("a.c", "int x; // NOLINT(foo)", False),
    ],
)
def test_a_named_rule_on_one_line_is_shown_and_the_rest_blocks(path: str, line: str, blocks: bool) -> None:
    result = weakening(change({path: ""}, {path: line + "\n"}))
    assert result.status is GateStatus.FAILED
    assert result.blocking is blocks, result.summary


def test_only_exact_paths_under_weakens_lift_it_and_it_stays_to_be_seen() -> None:
    path = PLACES[PYTHON]
    skipped = PYTHON.replace("def test_add", "@pytest.mark.skip\ndef test_add")
    change_of = lambda **more: weakening(change({path: PYTHON}, {path: skipped}, **more))  # noqa: E731
    for more in (
        {},
        {"plan_files": (path,)},
        {"weakens": ("tests/*",)},
        {"weakens": ("tests/",)},
        {"weakens": ("Tests/test_calc.py",)},
    ):
        result = change_of(**more)
        assert result.blocking, more
        assert result.status is GateStatus.FAILED
    named = change_of(weakens=(path,))
    assert not named.holds_back
    assert "The plan names it." in named.tail


def test_a_plan_that_names_one_file_lifts_no_other() -> None:
    a, b = "tests/test_a.py", "tests/test_b.py"
    result = weakening(change({a: PYTHON, b: UNITTEST}, {a: None, b: None}, weakens=(a,)))
    assert result.holds_back
    assert result.tail.splitlines()[0].startswith(b)


TESTS = st.dictionaries(
    st.text(string.ascii_lowercase, min_size=1, max_size=8),
    st.lists(st.integers(0, 99), min_size=1, max_size=4),
    min_size=1,
    max_size=6,
)


def _written(tests: dict[str, list[int]], order: list[str], indent: str = "") -> str:
    functions = [
        f"def test_{name}({'self' if indent else ''}):\n"
        + "".join(f"    assert f({name!r}, {n}) == {n}\n" for n in tests[name])
        for name in order
    ]
    return textwrap.indent("\n\n".join(functions), indent)


@settings(max_examples=60, deadline=None)
@given(TESTS, st.randoms(use_true_random=False), st.booleans(), st.booleans())
def test_a_pure_move_is_never_a_weakening(
    tests: dict[str, list[int]], random: object, elsewhere: bool, in_class: bool
) -> None:
    order = sorted(tests)
    random.shuffle(order)  # type: ignore[attr-defined]
    half = len(order) // 2
    base = {"tests/test_a.py": _written(tests, sorted(tests))}
    moved = ("class TestX:\n" if in_class and order[half:] else "") + _written(
        tests, order[half:], "    " if in_class else ""
    )
    head: Files = {"tests/test_a.py": _written(tests, order[:half]), "tests/test_b.py": moved}
    if not elsewhere:
        head = {"tests/test_a.py": _written(tests, order[:half]) + "\n\n" + moved}
    assert said(base, head) == []


@settings(max_examples=60, deadline=None)
@given(TESTS, st.data())
def test_any_lost_assertion_is_found(tests: dict[str, list[int]], data: st.DataObject) -> None:
    name = data.draw(st.sampled_from(sorted(tests)))
    fewer = {**tests, name: tests[name][:-1]}
    if len(set(tests[name])) == len(tests[name]):
        base, head = (_written(each, sorted(each)) for each in (tests, fewer))
        assert any(f"test_{name}" in line for line in said({"test_a.py": base}, {"test_a.py": head}))


@pytest.mark.parametrize(
    "path",
    [
        "tests/test_x.py",
        "x.test.js",
        "x_test.go",
        "x.rs",
        "XTest.java",
        "package.json",
        "pyproject.toml",
        ".eslintrc.json",
        "tox.ini",
        ".golangci.yml",
    ],
)
@pytest.mark.parametrize(
    "content",
    [
        "(" * 20_000,
        "{" * 3_000 + '"',
        "`${" * 5_000,
        "[" * 5_000,
        "\x00",
        "a: &a [x]\nb: [" + "*a," * 9 + "]",
        "'" * 9_999,
        "/*" * 5_000,
        "\\" * 9_999,
    ],
)
def test_hostile_content_is_only_content(path: str, content: str) -> None:
    weakening(change({path: "x = 1\n"}, {path: content}))
    weakening(change({path: content}, {path: "x = 1\n"}))
