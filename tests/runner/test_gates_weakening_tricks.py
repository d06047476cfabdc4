"""Tricks by which tests pass without proving anything: each was tried on the gate, and is told; their honest kin is not."""

from __future__ import annotations

import pytest

from runner.contract import GateStatus
from runner.gates.weakening import weakening
from tests.runner.changes import Files, change

TESTS = "import os\nimport pytest\nfrom calc import add\n\nCASES = [1, 2]\n\n\ndef test_add():\n    assert add(2, 3) == 5\n\n\n"
TESTS += '@pytest.mark.parametrize("x", CASES)\ndef test_table(x):\n    assert add(x, 0) == x\n'
IN_PLACE = "    assert add(2, 3) == 5\n"
PLACE = "tests/test_calc.py"


def said(base: Files, head: Files, **more: object) -> list[str]:
    """Return the lines of a result that blocks."""
    result = weakening(change(base, head, **more))
    return [] if result.status is GateStatus.PASSED or not result.blocking else result.tail.splitlines()


CONFTESTS = [
    "import pytest\n@pytest.hookimpl(wrapper=True)\ndef pytest_runtest_call(item):\n    try:\n        yield\n    except BaseException:\n        pass\n",
    "def pytest_runtest_protocol(item, nextitem):\n    return True\n",
    "def pytest_pyfunc_call(pyfuncitem):\n    return True\n",
    "def pytest_collect_file(file_path, parent):\n    return None\n",
    "def pytest_sessionfinish(session):\n    session.exitstatus = 0\n",
    "def pytest_configure(config):\n    config.option.keyword = 'none'\n",
    "import os\nos._exit(0)\n",
    "import pytest\ndef pytest_sessionstart():\n    pytest.exit('done', returncode=0)\n",
    "import atexit, os\natexit.register(lambda: os._exit(0))\n",
    "pytest_collection_modifyitems = lambda items: items.clear()\n",
    "from helper import pytest_collection_modifyitems\n",
    "collect_ignore: list[str] = ['test_calc.py']\n",
    "import pytest\n@pytest.fixture(autouse=True)\ndef later():\n    pytest.skip('later')\n",
    "import pytest\n@pytest.fixture(autouse=True)\ndef later(request):\n    request.node.add_marker(pytest.mark.xfail)\n",
]


@pytest.mark.parametrize("conftest", CONFTESTS)
def test_a_conftest_that_decides_about_others(conftest: str) -> None:
    lines = said({"tests/conftest.py": "import os\n"}, {"tests/conftest.py": conftest})
    assert lines, conftest
    assert said({"tests/conftest.py": conftest}, {"tests/conftest.py": conftest + "\nX = 1\n"}) == []


@pytest.mark.parametrize(
    "conftest",
    [
        "import pytest\n@pytest.fixture(autouse=True)\ndef quiet(monkeypatch):\n    monkeypatch.delenv('X', raising=False)\n",
        "def pytest_addoption(parser):\n    parser.addoption('--slow')\n",
        "def pytest_terminal_summary(terminalreporter):\n    terminalreporter.write_line('x')\n",
        "import sys\nsys.path.insert(0, 'src')\n",
    ],
)
def test_an_honest_conftest_holds_nothing_back(conftest: str) -> None:
    assert said({"tests/conftest.py": "import os\n"}, {"tests/conftest.py": conftest}) == []


TRICKS = [
    (IN_PLACE, "    if not os.environ.get('CI'):\n        assert add(2, 3) == 5\n"),
    (IN_PLACE, "    if os.environ.get('CI'):\n        return\n    assert add(2, 3) == 5\n"),
    (IN_PLACE, "    for _ in []:\n        assert add(2, 3) == 5\n"),
    (IN_PLACE, "    while False:\n        assert add(2, 3) == 5\n"),
    (IN_PLACE, "    def inner():\n        assert add(2, 3) == 5\n"),
    (IN_PLACE, "    try:\n        assert add(2, 3) == 5\n    finally:\n        return\n"),
    (IN_PLACE, "    assert add(2, 3) == ANY\n"),
    (IN_PLACE, IN_PLACE + "    yield\n"),
    (IN_PLACE, IN_PLACE + "\n\ndel test_add\n"),
    (IN_PLACE, IN_PLACE + "\n\ntest_add = None\n"),
    (IN_PLACE, IN_PLACE + "\n\ntest_add.__test__ = False\n"),
    (IN_PLACE, IN_PLACE + "\n\nfor n in list(globals()):\n    if n.startswith('test_'):\n        del globals()[n]\n"),
    ("def test_add", "@pytest.fixture\ndef test_add"),
    ("def test_add", "later = pytest.mark.skip\n\n\n@later\ndef test_add"),
    ("def test_add():\n", "def later():\n    pytest.skip('x')\n\n\ndef test_add():\n    later()\n"),
    ("def test_add():\n", "@pytest.fixture\ndef later():\n    pytest.skip('x')\n\n\ndef test_add(later):\n"),
    ("def test_add():\n", "def test_add():\n    from pytest import skip as s\n    s('x')\n"),
    ("from calc", "os._exit(0)\nfrom calc"),
    ("from calc", "if os.environ.get('CI'):\n    pytest.skip('x', allow_module_level=True)\nfrom calc"),
    ("from calc", "x = pytest.importorskip('nothing')\nfrom calc"),
    ("from calc", "pytestmark: list = [pytest.mark.skip]\nfrom calc"),
    ("CASES = [1, 2]", "CASES = []"),
    ("CASES = [1, 2]", "CASES = [1]"),
]


@pytest.mark.parametrize(("old", "new"), TRICKS)
def test_a_python_test_that_proves_nothing_any_more(old: str, new: str) -> None:
    assert old in TESTS
    assert said({PLACE: TESTS}, {PLACE: TESTS.replace(old, new, 1)}), new


def test_classes_that_are_collected_no_longer() -> None:
    text = "import unittest\n\n\nclass TestX:\n    def test_add(self):\n        assert add(2, 3) == 5\n"
    assert said(
        {PLACE: text}, {PLACE: text.replace("    def test", "    def __init__(self):\n        pass\n\n    def test")}
    )
    assert said({PLACE: text}, {PLACE: text.replace("TestX", "XTest")})


def test_what_is_skipped_under_a_condition_is_as_strong_as_before() -> None:
    text = "import pytest\n\n\n@pytest.mark.skipif(X, reason='x')\ndef test_add():\n    assert add(2, 3) == 5\n    assert add(1, 1) == 2\n"
    assert said({PLACE: text}, {PLACE: text.replace("    assert add(1, 1) == 2\n", "    add(1, 1)\n")})


@pytest.mark.parametrize(
    "place", ["tests/calc_checks.py", "tests/.old/test_calc.py", "build/test_calc.py", "node_modules/test_calc.py"]
)
def test_a_test_that_moved_to_where_nothing_collects_it(place: str) -> None:
    assert any("collects it" in line for line in said({PLACE: TESTS}, {PLACE: None, place: TESTS}))
    assert said({place: TESTS}, {place: None, PLACE: TESTS}) == []


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (IN_PLACE, "    def five():\n        return add(2, 3)\n\n    assert five() == 5\n"),
        (IN_PLACE, "    def check(it):\n        assert it == 5\n        assert add(2, 3) == 5\n\n    check(5)\n"),
        (IN_PLACE, "    for _ in [1]:\n        assert add(2, 3) == 5\n"),
        (IN_PLACE, "    with pytest.raises(SystemExit):\n        os._exit(1)\n    assert add(2, 3) == 5\n"),
        ("CASES = [1, 2]", "CASES = [1, 2, 3]"),
        ("CASES = [1, 2]", "CASES = range(9)"),
        ("from calc", "if __name__ == '__main__':\n    raise SystemExit(pytest.main())\nfrom calc"),
        ("def test_add():\n", "@pytest.fixture\ndef five():\n    return 5\n\n\ndef test_add(five):\n"),
    ],
)
def test_an_honest_python_edit_is_none(old: str, new: str) -> None:
    assert old in TESTS
    assert said({PLACE: TESTS}, {PLACE: TESTS.replace(old, new, 1)}) == []


PYTEST = "[tool.pytest.ini_options]\naddopts = '-q'\n[tool.mypy]\nstrict = true\n"
CARGO = "[package]\nname = 'x'\n[workspace]\nmembers = ['a', 'b']\n[lib]\nname = 'x'\n"
VITE = "export default {\n  base: '/',\n  test: { include: ['src'] },\n};\n"
SETTINGS = [
    ("pyproject.toml", PYTEST, "'-q'", "'-q'\ntestpaths = ['docs']"),
    ("pyproject.toml", PYTEST, "'-q'", "'-q'\npython_functions = 'none_*'"),
    *(("pyproject.toml", PYTEST, "'-q'", f"'{option}'") for option in ("-knone", "-mslow", "--help", "--setup-only")),
    *(("pyproject.toml", PYTEST, "'-q'", f"'{option}'") for option in ("--collectonly", "-c x.ini", "-phelper")),
    (
        "pyproject.toml",
        PYTEST,
        "strict = true",
        "strict = true\n[[tool.mypy.overrides]]\nmodule = 'x'\nignore_errors = true",
    ),
    ("tsconfig.json", '{"compilerOptions": {"strict": true}}', "true", 'true, "strictNullChecks": false'),
    ("package.json", '{"jest": {"verbose": true}}', "true", 'true, "testMatch": ["x"]'),
    ("package.json", '{"jest": {"verbose": true}}', "true", 'true, "rootDir": "docs"'),
    ("vite.config.ts", VITE, "['src']", "['docs']"),
    ("Cargo.toml", CARGO, "name = 'x'\n[w", "name = 'x'\nautotests = false\n[w"),
    ("Cargo.toml", CARGO, "[lib]\n", "[lib]\ntest = false\n"),
    ("Cargo.toml", CARGO, ", 'b'", ""),
    ("pyproject.toml", PYTEST, "'-q'", "'-q'\nfilterwarnings = ['ignore::ResourceWarning']"),
    ("tox.ini", "[testenv]\ncommands = pytest\n", "pytest\n", "pytest\nset_env = PYTEST_ADDOPTS=-k none\n"),
]


@pytest.mark.parametrize(("path", "text", "old", "new"), SETTINGS)
def test_settings_that_look_at_less(path: str, text: str, old: str, new: str) -> None:
    assert old in text
    assert said({path: text}, {path: text.replace(old, new, 1)}), new


@pytest.mark.parametrize(
    ("path", "text", "old", "new"),
    [
        (
            "pyproject.toml",
            "[project]\nname = 'x'\n",
            "[project]",
            "[tool.pytest.ini_options]\ntestpaths = ['tests']\n[project]",
        ),
        ("pyproject.toml", PYTEST, "'-q'", "'-q --tb=short --durations=5 -n auto'"),
        ("pyproject.toml", PYTEST, "'-q'", "'-q'\nfilterwarnings = ['error']"),
        (
            "pyproject.toml",
            "[project]\nname = 'x'\n",
            "[project]",
            "[tool.ruff]\nline-length = 99\nfix = true\n[project]",
        ),
        ("vite.config.ts", VITE, "'/'", "'/x'"),
        ("Cargo.toml", CARGO, "'b'", "'b', 'c'"),
        ("tsconfig.json", '{"compilerOptions": {"strict": true}}', "true", 'true, "rootDir": "src"'),
    ],
)
def test_honest_settings_hold_nothing_back(path: str, text: str, old: str, new: str) -> None:
    assert old in text
    assert said({path: text}, {path: text.replace(old, new, 1)}) == []


def test_a_new_file_of_settings_is_shown() -> None:
    result = weakening(change({}, {"pytest.ini": "[pytest]\n"}))
    assert "may come before others" in result.summary
    assert not result.blocking


MAKE = "PY = pytest\ntest:\n\t$(PY) -q\n"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("PY =", ".IGNORE:\nPY ="),
        ("PY =", "SHELL := /bin/true\nPY ="),
        ("PY =", ".SHELLFLAGS = -n -c\nPY ="),
        ("PY =", "MAKEFLAGS += -i\nPY ="),
        ("PY =", "export PYTEST_ADDOPTS = -k none\nPY ="),
        ("test:", "PY = true\ntest:"),
        ("-q\n", "-q\ntest:\n\ttrue\n"),
        ("\t$(PY)", "\t@exit 0; \\\n\t$(PY)"),
        ("\t$(PY)", '\t[ -n "$$CI" ] || \\\n\t$(PY)'),
    ],
)
def test_a_makefile_that_runs_checks_otherwise(old: str, new: str) -> None:
    assert old in MAKE
    assert said({"Makefile": MAKE}, {"Makefile": MAKE.replace(old, new, 1)}, commands=("make test",)), new


def test_files_that_stand_in_for_what_a_check_runs() -> None:
    stand_in = {"GNUmakefile": "test:\n\ttrue\n"}
    assert said({"Makefile": MAKE}, {"Makefile": MAKE, **stand_in}, commands=("make test",))
    for path in ("sitecustomize.py", "pytest.py", "pytest/__main__.py"):
        assert said({"x.py": ""}, {"x.py": "", path: "print('3 passed')"}, commands=("uv run python -m pytest",)), path
    new = {"GNUmakefile": MAKE, "tests/test/new.py": "", "test/new.py": "x"}
    assert said({"a": ""}, {"a": "", "test/new.py": "x"}, commands=("make test",)) == []
    assert "unless it is .PHONY" in weakening(change({}, new, commands=("make test",))).tail
    kept = {"checks/a.py": ""}
    assert said(kept, {**kept, "checks/b.py": "x = 1\n"}, commands=("python -m checks",)) == []
    module = {"tools/check.py": "import x\n"}
    assert said(module, {"tools/check.py": ""}, commands=("python -m tools.check",))


def test_scripts_that_a_check_runs_by_another() -> None:
    text = '{"scripts": {"test": "npm run unit && npm run build", "unit": "jest", "build": "tsc", "start": "x"}}'
    assert said({"package.json": text}, {"package.json": text.replace('"jest"', '"true"')})
    assert said({"package.json": text}, {"package.json": text.replace('"x"', '"y"')}) == []


VITEST = (
    "import { add } from './calc';\n\ntest('adds', () => {\n  expect(add(2, 3)).toBe(5);\n});\n"
    "test.each([[1, 2]])('table', (a, b) => {\n  expect(add(a, 1)).toBe(b);\n});\n"
)
EXPECTED = "expect(add(2, 3)).toBe(5);"
GO = 'package calc\n\nfunc TestAdd(t *testing.T) {\n\tif Add(2, 3) != 5 {\n\t\tt.Errorf("bad")\n\t}\n}\n'
GO_TEST = 'if Add(2, 3) != 5 {\n\t\tt.Errorf("bad")\n\t}'
RUST = (
    "#[cfg(test)]\nmod more;\n\n#[cfg(test)]\nmod tests {\n    use super::*;\n\n    #[test]\n    fn adds() {\n"
    "        assert_eq!(add(2, 3), 5);\n    }\n}\n"
)
RUST_TEST = "assert_eq!(add(2, 3), 5);"
LANGUAGES = {VITEST: "src/calc.test.ts", GO: "calc_test.go", RUST: "src/lib.rs"}
BRACED = [
    (VITEST, ".toBe(5)", ".toBe"),
    (VITEST, EXPECTED, f"if (!process.env.CI) {{ {EXPECTED} }}"),
    (VITEST, EXPECTED, f"if (false) {{ {EXPECTED} }}"),
    (VITEST, EXPECTED, f"return\n  {EXPECTED}"),
    (VITEST, EXPECTED, f"return true;\n  {EXPECTED}"),
    (VITEST, EXPECTED, f"try {{ {EXPECTED} }} catch {{}}"),
    (VITEST, EXPECTED, f"for (const x of []) {{ {EXPECTED} }}"),
    (VITEST, "[[1, 2]]", "[]"),
    (VITEST, "test('adds'", "process.exit(0);\ntest('adds'"),
    (VITEST, "import {", "const expect = () => ({ toBe() {} });\nimport {"),
    (VITEST, "import {", "import { test as t } from 'vitest';\nconst test = t.skip;\nimport {"),
    (VITEST, "test('adds'", "beforeEach((ctx) => ctx.skip());\ntest('adds'"),
    (GO, "{\n\tif", "{\n\tlater(t)\n\tif Add(1, 1) != 2 {\n\t\tt.Errorf()\n\t}\n\tif"),
    (GO, "{\n\tif", "{\n\tif testing.Short() { return }\n\tif"),
    (GO, "{\n\tif", '{\n\tif os.Getenv("CI") != "" { return }\n\tif'),
    (GO, "{\n\tif", "{\n\treturn\n\tif"),
    (GO, "{\n\tif", "{\n\truntime.Goexit()\n\tif"),
    (GO, GO_TEST, f"if false {{\n\t{GO_TEST}\n\t}}"),
    (GO, "!= 5", "!= Add(2, 3)"),
    (GO, "!= 5", "== 0"),
    (GO, "*testing.T", "*fakeT"),
    (GO, "package", "// +build never\n\npackage"),
    (GO, "func", "func init() { os.Exit(0) }\n\nfunc"),
    (GO, "func", "func TestMain(m *testing.M) { setUp() }\n\nfunc"),
    (RUST, "#[cfg(test)]\nmod tests", '#[cfg(all(test, feature = "none"))]\nmod tests'),
    (RUST, "#[cfg(test)]\nmod more;", ""),
    (RUST, "#[cfg(test)]\nmod more;", '#[cfg(all(test, feature = "none"))]\nmod more;'),
    (RUST, RUST_TEST, f'if cfg!(feature = "x") {{ return; }}\n        {RUST_TEST}'),
    (RUST, RUST_TEST, f"return;\n        {RUST_TEST}"),
    (RUST, RUST_TEST, f"if false {{ {RUST_TEST} }}"),
    (RUST, RUST_TEST, "let _f = || { assert_eq!(add(2, 3), 5); };"),
    (RUST, RUST_TEST, "let _ = std::panic::catch_unwind(|| assert_eq!(add(2, 3), 5));"),
    (RUST, "use super::*;", "use super::*;\n    macro_rules! assert_eq { ($($t:tt)*) => {} }"),
]


@pytest.mark.parametrize(("text", "old", "new"), BRACED)
def test_a_test_in_braces_that_proves_nothing_any_more(text: str, old: str, new: str) -> None:
    assert old in text
    more = "\nfunc later(t *testing.T) { t.Skip() }\n" if "later(" in new else ""
    path = LANGUAGES[text]
    assert said({path: text}, {path: text.replace(old, new, 1) + more}), new


@pytest.mark.parametrize(
    "place", ["testdata/calc_test.go", "_old/calc_test.go", "_calc_test.go", "calc_windows_test.go"]
)
def test_a_go_test_that_moved_to_where_nothing_builds_it(place: str) -> None:
    assert any("collects it" in line for line in said({"calc_test.go": GO}, {"calc_test.go": None, place: GO}))


@pytest.mark.parametrize(
    ("text", "old", "new"),
    [
        (VITEST, EXPECTED, f"try {{ {EXPECTED} }} catch (e) {{ throw e; }}"),
        (VITEST, EXPECTED, f"if (add) {{ {EXPECTED} }}"),
        (VITEST, EXPECTED, f"{EXPECTED}\n  return;"),
        (VITEST, "import {", "const expect = require('chai').expect;\nimport {"),
        (VITEST, "import {", "beforeEach(() => reset());\nimport {"),
        (GO, "{\n\tif", "{\n\tx, err := load()\n\tif err != nil {\n\t\treturn\n\t}\n\tif"),
        (GO, "func", "func TestMain(m *testing.M) { os.Exit(m.Run()) }\n\nfunc"),
        (GO, GO_TEST, f"t.Run(name, func(t *testing.T) {{\n\t{GO_TEST}\n\t}})"),
        (RUST, RUST_TEST, f"let Some(x) = y else {{ return; }};\n        {RUST_TEST}"),
        (RUST, "#[cfg(test)]\nmod more;", "#[cfg(test)]\nmod more {}"),
        (RUST, "mod tests", "mod test"),
    ],
)
def test_an_honest_edit_in_braces_is_none(text: str, old: str, new: str) -> None:
    assert old in text
    assert said({LANGUAGES[text]: text}, {LANGUAGES[text]: text.replace(old, new, 1)}) == []
