"""The first line of an output that names an error, as the tools of many languages word it."""

from __future__ import annotations

import pytest

from runner.gates.errors import MAX_LINE, first_error

OUTPUTS = {
    "pytest": (
        "..F\n=== FAILURES ===\n    def test_a():\n>       assert 1 == 2\nE       assert 1 == 2\n\nFAILED t.py::test_a - assert",
        "E assert 1 == 2",
    ),
    "collection": (
        "ERROR tests/test_a.py::test_b - NameError\n1 error in 0.1s",
        "ERROR tests/test_a.py::test_b - NameError",
    ),
    "unittest": (
        "F\n=====\nFAIL: test_add (t.T)\n-----\nTraceback (most recent call last):\nAssertionError: 1 != 2",
        "FAIL: test_add (t.T)",
    ),
    "mypy": (
        'a.py:3: note: x\na.py:4: error: Name "y" is not defined  [name-defined]\nFound 1 error',
        'a.py:4: error: Name "y" is not defined [name-defined]',
    ),
    "ruff": ("F401 [*] `os` imported but unused\n --> a.py:1:8\nFound 1 error.", "F401 [*] `os` imported but unused"),
    "ruff concise": ("a/b.py:1:8: F401 [*] `os` imported but unused", "a/b.py:1:8: F401 [*] `os` imported but unused"),
    "tsc": ("src/a.ts(1,7): error TS2322: Type 'string'", "src/a.ts(1,7): error TS2322: Type 'string'"),
    "tsc pretty": ("src/a.ts:1:7 - error TS2322: no", "src/a.ts:1:7 - error TS2322: no"),
    "eslint": (
        "\n/x/a.js\n  1:10  warning  y\n  3:10  error  'b' is not defined  no-undef\n\n2 problems (1 error)",
        "3:10 error 'b' is not defined no-undef",
    ),
    "jest": ("FAIL src/a.test.js\n  ● adds two\n\n    expect(received)", "FAIL src/a.test.js"),
    "go": ("ok  \tx/a\n--- FAIL: TestAdd (0.00s)\n    a_test.go:7: got 1\nFAIL\tx/b", "--- FAIL: TestAdd (0.00s)"),
    "go build": ("# x/a\n./a.go:3:5: undefined: y", "./a.go:3:5: undefined: y"),
    "cargo": (
        "   Compiling x v0.1.0\nwarning: unused\nerror[E0425]: cannot find value `y`\n",
        "error[E0425]: cannot find value `y`",
    ),
    "cargo test": (
        "running 1 test\nthread 'tests::a' panicked at src/lib.rs:9:9:\n",
        "thread 'tests::a' panicked at src/lib.rs:9:9:",
    ),
    "gcc": ("cc a.c\na.c:1:5: error: expected ';'\nmake: *** [a] Error 1", "a.c:1:5: error: expected ';'"),
    "make alone": ("sh: 1: nope\nmake: *** [Makefile:2: test] Error 127", "make: *** [Makefile:2: test] Error 127"),
    "maven": (
        "[INFO] Scanning\n[ERROR] /a/B.java:[3,5] cannot find symbol",
        "[ERROR] /a/B.java:[3,5] cannot find symbol",
    ),
    "traceback": (
        'Traceback (most recent call last):\n  File "a.py", line 1\nmodule.OddError: no\n',
        "module.OddError: no",
    ),
    "anything": ("checking\n0 errors so far\nsomething failed here\n", "something failed here"),
    "nothing": ("all is well\n0 failed\n", ""),
}


@pytest.mark.parametrize("name", OUTPUTS)
def test_the_first_line_that_names_an_error(name: str) -> None:
    output, expected = OUTPUTS[name]
    assert first_error(output.splitlines()) == expected


def test_a_long_line_is_cut() -> None:
    assert len(first_error(["error: " + "x" * 9_999])) == MAX_LINE
