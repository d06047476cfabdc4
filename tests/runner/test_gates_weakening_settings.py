"""Gate weakening: the settings of checks, and what the checks' commands run."""

from __future__ import annotations

import pytest

from runner.contract import GateStatus
from runner.gates.weakening import weakening
from tests.runner.changes import Files, change

PYPROJECT = """\
[project]
name = "calc"

[tool.pytest.ini_options]
addopts = "-ra --strict-markers --cov-fail-under=90"
testpaths = ["tests"]
markers = ["slow: takes long"]

[tool.coverage.report]
fail_under = 90
omit = ["setup.py"]

[tool.ruff]
line-length = 120

[tool.ruff.lint]
select = ["E", "F"]
ignore = ["E501"]

[tool.ruff.lint.per-file-ignores]
"tests/*" = ["S101"]

[tool.mypy]
strict = true

[[tool.mypy.overrides]]
module = "old.*"
ignore_errors = true
"""
TSCONFIG = '{\n  // strict\n  "compilerOptions": {"strict": true, "target": "es2020", "noUnusedLocals": true,},\n  "include": ["src"]\n}\n'
ESLINT = '{"rules": {"no-undef": "error", "eqeqeq": ["warn", "always"]}, "ignorePatterns": ["dist"]}'
PACKAGE = '{\n "scripts": {\n  "test": "jest",\n  "lint": "eslint .",\n  "start": "node ."\n },\n "jest": {"coverageThreshold": {"global": {"lines": 80}}}\n}\n'
TOX = "[tox]\nenvlist = py311\n[testenv]\ncommands =\n  pytest\n  ruff check .\n[flake8]\nmax-complexity = 8\n"
GOLANGCI = "linters:\n  enable:\n    - errcheck\n    - gosec\nissues:\n  exclude:\n    - abc\n"
CARGO = '[package]\nname = "x"\n[lints.clippy]\nunwrap_used = "deny"\n'
HOOKS = "repos:\n- repo: https://example.org/ruff\n  rev: v1\n  hooks:\n  - id: ruff\n  - id: mypy\n"
MAKE = "PYTEST = python -m pytest\n.PHONY: test\ntest: build\n\t$(PYTEST) -q\n\truff check .\nbuild:\n\tcc x.c\ndocs:\n\tmkdocs\n"
JEST = "module.exports = {\n  // all\n  testMatch: ['**/*.test.js'],\n};\n"

LOOSER = [
    (
        "pyproject.toml",
        PYPROJECT,
        "fail_under = 90",
        "fail_under = 10",
        "pyproject.toml:10: `tool.coverage.report.fail_under`: `90` became `10`",
    ),
    ("pyproject.toml", PYPROJECT, "fail_under = 90\n", "", "`90` became nothing"),
    ("pyproject.toml", PYPROJECT, '"setup.py"', '"setup.py", "calc/*"', "lets through `calc/*`"),
    ("pyproject.toml", PYPROJECT, "--strict-markers ", "", "no longer `--strict-markers`"),
    ("pyproject.toml", PYPROJECT, "-ra", "-ra --ignore=tests/hard", "leaves out by `--ignore=tests/hard`"),
    ("pyproject.toml", PYPROJECT, "-ra", "-ra -k 'not hard'", "leaves out by `-k`"),
    ("pyproject.toml", PYPROJECT, '"E", "F"', '"E"', "no longer `F`"),
    ("pyproject.toml", PYPROJECT, '["E501"]', '["E501", "F401"]', "lets through `F401`"),
    ("pyproject.toml", PYPROJECT, '["S101"]', '["S101", "F821"]', "lets through `F821`"),
    ("pyproject.toml", PYPROJECT, "strict = true", "strict = false", "no longer `true`"),
    ("pyproject.toml", PYPROJECT, "strict = true\n", "", "no longer `true`"),
    ("pyproject.toml", PYPROJECT, "line-length = 120", "line-length = 999", "`120` became `999`"),
    ("pyproject.toml", PYPROJECT, 'module = "old.*"', 'module = "new.*"', "lets through `true`"),
    ("setup.cfg", "[mypy]\nstrict = True\n[metadata]\nname = x\n", "strict = True", "strict = False", "mypy.strict"),
    ("tox.ini", TOX, "  ruff check .\n", "", "testenv.commands"),
    ("tox.ini", TOX, "max-complexity = 8", "max-complexity = 80", "`8` became `80`"),
    (".coveragerc", "[report]\nfail_under = 95\n", "95", "5", "report.fail_under"),
    ("pytest.ini", "[pytest]\nxfail_strict = true\n", "xfail_strict = true\n", "", "no longer `true`"),
    ("tsconfig.json", TSCONFIG, '"strict": true', '"strict": false', "compilerOptions.strict"),
    ("web/tsconfig.base.json", TSCONFIG, ', "noUnusedLocals": true', "", "noUnusedLocals"),
    (".eslintrc.json", ESLINT, '"error"', '"off"', "`error` became `off`"),
    (".eslintrc.json", ESLINT, '["warn", "always"]', '"off"', "eqeqeq"),
    (".eslintrc.json", ESLINT, '"eqeqeq"', '"no-eval": "off", "eqeqeq"', "nothing became `off`"),
    (".eslintrc.json", ESLINT, '["dist"]', '["dist", "src"]', "lets through `src`"),
    ("package.json", PACKAGE, '"jest"', '"jest --passWithNoTests"', "package.json:3: script `test` was `jest`"),
    ("package.json", PACKAGE, '"lint": "eslint .",', "", "script `lint` was `eslint .` and is gone"),
    ("package.json", PACKAGE, '"lines": 80', '"lines": 8', "coverageThreshold.global.lines"),
    (".golangci.yml", GOLANGCI, "    - gosec\n", "", "no longer `gosec`"),
    (".golangci.yml", GOLANGCI, "    - abc", "    - abc\n    - xyz", "lets through `xyz`"),
    ("Cargo.toml", CARGO, '"deny"', '"allow"', "lints.clippy.unwrap_used"),
    ("clippy.toml", "too-many-arguments-threshold = 5\n", "5", "50", "`5` became `50`"),
    (".pre-commit-config.yaml", HOOKS, "  - id: mypy\n", "", "no longer `mypy`"),
    ("jest.config.js", JEST, "**/*.test.js", "none", "no longer `testMatch: ['**/*.test.js'],`"),
    ("noxfile.py", "session.run('pytest')\n", "session.run('pytest')", "pass", "now `pass`"),
]


def said(base: Files, head: Files, **more: object) -> list[str]:
    result = weakening(change(base, head, **more))
    return [] if result.status is GateStatus.PASSED else result.tail.splitlines()


@pytest.mark.parametrize(("path", "source", "old", "new", "expected"), LOOSER)
def test_looser_settings_are_told(path: str, source: str, old: str, new: str, expected: str) -> None:
    assert old in source
    lines = said({path: source}, {path: source.replace(old, new, 1)})
    assert any(expected in line for line in lines), lines
    assert said({path: source.replace(old, new, 1)}, {path: source}) == [] or path in {
        "jest.config.js",
        "noxfile.py",
        "package.json",
        "pyproject.toml",
    }


@pytest.mark.parametrize(
    ("path", "source", "old", "new"),
    [
        ("pyproject.toml", PYPROJECT, 'name = "calc"', 'name = "sums"\ndependencies = ["x"]'),
        ("pyproject.toml", PYPROJECT, "fail_under = 90", "fail_under = 95"),
        ("pyproject.toml", PYPROJECT, '"E", "F"', '"E", "F", "B"'),
        ("pyproject.toml", PYPROJECT, '"slow: takes long"', '"slow: takes long", "drill: longer"'),
        ("pyproject.toml", PYPROJECT, '["E501"]', "[]"),
        ("pyproject.toml", PYPROJECT, "-ra", "-ra --durations=5"),
        ("setup.cfg", "[mypy]\nstrict = True\n[metadata]\nname = x\n", "name = x", "name = y"),
        ("tsconfig.json", TSCONFIG, "es2020", "es2022"),
        (".eslintrc.json", ESLINT, '"warn"', '"error"'),
        ("package.json", PACKAGE, '"node ."', '"node index.js"'),
        ("package.json", PACKAGE, '"scripts"', '"dependencies": {"x": "1"}, "scripts"'),
        ("Cargo.toml", CARGO, 'name = "x"', 'name = "y"'),
        (".pre-commit-config.yaml", HOOKS, "rev: v1", "rev: v2"),
        ("jest.config.js", JEST, "// all", "// all of them"),
    ],
)
def test_settings_as_strict_as_before_are_none(path: str, source: str, old: str, new: str) -> None:
    assert old in source
    assert said({path: source}, {path: source.replace(old, new, 1)}) == []


def test_settings_that_are_gone_are_told() -> None:
    assert said({"tox.ini": TOX}, {"tox.ini": None}) == ["tox.ini:1: the settings of a check are gone."]


@pytest.mark.parametrize(
    ("command", "old", "new", "expected"),
    [
        ("make test", "\truff check .\n", "", "a check runs this line no longer: `ruff check .`"),
        ("make -k test", "PYTEST = python -m pytest", "PYTEST = true", "`PYTEST = python -m pytest`"),
        ("CI=1 make test", "test: build", "test:", "`test: build`"),
        ("cd x && make", "\tcc x.c", "\ttrue", "`cc x.c`"),
        ("make test", "\truff check .", "\truff check .\n\tmypy . || true", "passed over"),
        ("make docs", "\truff check .\n", "", None),
        ("pytest", "\truff check .\n", "", None),
        ("make test", "\tmkdocs", "\tsphinx", None),
    ],
)
def test_a_makefile_is_as_strict_as_what_the_checks_use_of_it(
    command: str, old: str, new: str, expected: str | None
) -> None:
    assert old in MAKE
    lines = said({"Makefile": MAKE}, {"Makefile": MAKE.replace(old, new, 1)}, commands=(command,))
    assert (lines == []) if expected is None else any(expected in line for line in lines), lines


@pytest.mark.parametrize(
    "command", ["sh ci/check.sh", "./ci/check.sh --all", "cd . && bash -e ci/check.sh", "uv run ci/check.sh"]
)
def test_a_program_that_a_check_runs(command: str) -> None:
    lines = said({"ci/check.sh": "pytest\n"}, {"ci/check.sh": "true\n"}, commands=(command,))
    assert any("a check runs this file" in line for line in lines), lines
    assert said({"ci/check.sh": "pytest\n"}, {"ci/check.sh": "true\n"}, commands=("ruff check ci/check.sh",)) == []


def test_a_script_that_a_check_names() -> None:
    base = '{"scripts": {"quality": "tsc && eslint ."}}'
    head = base.replace(" && eslint .", "")
    assert said({"package.json": base}, {"package.json": head}) == []
    assert "script `quality`" in "".join(
        said({"package.json": base}, {"package.json": head}, commands=("npm run quality",))
    )
