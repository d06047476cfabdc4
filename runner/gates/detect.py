"""Recognise a repository's own checks from its files, where its policy names none.

Modest on purpose: what is found here blocks, so only what the repository itself calls its tests, or has set up as a
check, is taken. The approver of the plan sees the list. Programs that a project manager would fetch are left to it.
"""

from __future__ import annotations

import configparser
import json
import re
import tomllib
from typing import TYPE_CHECKING, Any

from runner.git import GitError
from runner.terms import GateSpec

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from runner.commits import Commits

    Read = Callable[[str], bytes | None]

MAX_FILE = 1_000_000
"""Bytes of a file that is looked at; no configuration is longer."""
PYTEST_FILES = ("pytest.ini", "conftest.py", "tests/conftest.py")
REQUIREMENTS = ("pyproject.toml", "setup.cfg", "requirements-dev.txt", "requirements-test.txt", "requirements.txt")
PYTEST_NEEDED = re.compile(r"""^[ \t]*(?:[^#\n]*["'])?pytest(?:[ \t]*[<>=~!;,"'\[]|[ \t]*$)""", re.MULTILINE)
"""A requirement on pytest itself, in a list of TOML or a line of its own."""
NO_TEST = "no test specified"
"""What ``npm init`` writes where there are no tests."""
MAKE_TARGETS = ("test", "check", "lint")
"""Targets of a Makefile that are checks by custom; ``check`` stands in where there is no ``test``."""
NODE_MANAGERS = {"pnpm-lock.yaml": "pnpm", "yarn.lock": "yarn", "bun.lock": "bun", "bun.lockb": "bun"}
"""Whose lock file tells which program runs the scripts; npm where there is none of them."""
NODE_INSTALL = {
    "pnpm-lock.yaml": "pnpm install --frozen-lockfile",
    "yarn.lock": "yarn install --frozen-lockfile",
    "bun.lock": "bun install --frozen-lockfile",
    "bun.lockb": "bun install --frozen-lockfile",
    "package-lock.json": "npm ci",
    "npm-shrinkwrap.json": "npm ci",
}
"""What installs the packages of a lock file, and changes none of them."""
NODE_SCRIPTS = {"test": "tests", "lint": "lint", "typecheck": "types"}
"""Scripts of a package.json that are checks by custom."""


def reading(store: Commits, sha: str) -> Read:
    """Return a reader of the files of a commit; of one that is long only that it is there."""

    def read(path: str) -> bytes | None:
        try:
            return store.read(sha, path.encode(), cap=MAX_FILE)
        except GitError:
            return b""

    return read


def detect(read: Read) -> tuple[GateSpec, ...]:
    """Return the checks recognised at a commit; ``read`` gives the content of a path there, None where it is not.

    A language's own checks come first; a Makefile is asked only where no language was recognised, and pre-commit only
    where nothing else looks at the style.
    """
    found = [*_python(read), *_node(read), *_go(read), *_rust(read), *_jvm(read)] or [*_make(read)]
    if _has(read, ".pre-commit-config.yaml") and "lint" not in dict(found):
        found.append(("lint", "pre-commit run --all-files"))
    taken: dict[str, int] = {}
    gates = []
    for name, run in found:
        taken[name] = taken.get(name, 0) + 1
        numbered = name if taken[name] == 1 else f"{name} {taken[name]}"
        gates.append(GateSpec(name=numbered, run=run, detected=True))
    return tuple(gates)


def detect_prepare(read: Read) -> tuple[str, ...]:
    """Return the commands that fetch what the recognised checks need, by the lock files at a commit."""
    return tuple(_prepare(read))


def _prepare(read: Read) -> Iterator[str]:
    if _has(read, "uv.lock"):
        yield "uv sync --locked"
    elif _has(read, "poetry.lock"):
        yield "poetry install --no-interaction"
    for file, command in NODE_INSTALL.items():
        if _has(read, file):
            yield command
            break
    if _has(read, "go.sum"):
        yield "go mod download"
    if _has(read, "Cargo.lock"):
        yield "cargo fetch --locked"


Found = tuple[str, str]
"""Name and command."""


def _python(read: Read) -> Iterator[Found]:
    project, setup = _toml(read, "pyproject.toml"), _ini(read, "setup.cfg")
    tool = _table(project, "tool")
    runner = "uv run " if _text(read, "uv.lock") is not None else ""
    if not runner and _text(read, "poetry.lock") is not None:
        runner = "poetry run "
    if "pytest" in tool or setup.has_section("tool:pytest") or _has(read, *PYTEST_FILES) or _needs_pytest(read):
        yield "tests", f"{runner}python -m pytest -q"
    elif _has(read, "tox.ini") or "tox" in tool or _has(read, "tox.toml"):
        yield "tests", f"{runner}python -m tox"
    if "ruff" in tool or _has(read, "ruff.toml", ".ruff.toml"):
        yield "lint", f"{runner}ruff check ."
    elif setup.has_section("flake8") or _has(read, ".flake8"):
        yield "lint", f"{runner}python -m flake8"
    if _table(tool, "mypy").keys() & {"files", "packages", "modules"}:
        yield "types", f"{runner}python -m mypy"


def _needs_pytest(read: Read) -> bool:
    return any(PYTEST_NEEDED.search(_text(read, path) or "") for path in REQUIREMENTS)


def _node(read: Read) -> Iterator[Found]:
    scripts = _table(_json(read, "package.json"), "scripts")
    manager = next((name for file, name in NODE_MANAGERS.items() if _has(read, file)), "npm")
    for script, name in NODE_SCRIPTS.items():
        command = scripts.get(script)
        if isinstance(command, str) and command.strip() and NO_TEST not in command:
            yield name, f"{manager} run {script}"


def _go(read: Read) -> Iterator[Found]:
    if _has(read, "go.mod"):
        yield "build", "go build ./..."
        yield "vet", "go vet ./..."
        yield "tests", "go test ./..."


def _rust(read: Read) -> Iterator[Found]:
    if _has(read, "Cargo.toml"):
        yield "tests", f"cargo test --workspace{' --locked' if _has(read, 'Cargo.lock') else ''}"


def _jvm(read: Read) -> Iterator[Found]:
    """Yield what Maven or Gradle call their checks; by the repository's own wrapper where it has one."""
    if _has(read, "pom.xml"):
        yield "tests", f"{'sh ./mvnw' if _has(read, 'mvnw') else 'mvn'} -B -q verify"
    elif _has(read, "build.gradle", "build.gradle.kts"):
        yield "tests", f"{'sh ./gradlew' if _has(read, 'gradlew') else 'gradle'} --no-daemon -q check"


def _make(read: Read) -> Iterator[Found]:
    text = _text(read, "GNUmakefile") or _text(read, "makefile") or _text(read, "Makefile") or ""
    there = [target for target in MAKE_TARGETS if re.search(rf"^{target}\s*:(?![:=])", text, re.MULTILINE)]
    for target in there:
        if target != "check" or "test" not in there:
            yield ("lint" if target == "lint" else "tests"), f"make {target}"


def _has(read: Read, *paths: str) -> bool:
    return any(read(path) is not None for path in paths)


def _text(read: Read, path: str) -> str | None:
    data = read(path)
    return None if data is None or len(data) > MAX_FILE else data.decode("utf-8", "replace")


def _toml(read: Read, path: str) -> dict[str, Any]:
    try:
        return tomllib.loads(_text(read, path) or "")
    except (tomllib.TOMLDecodeError, RecursionError):
        return {}


def _json(read: Read, path: str) -> dict[str, Any]:
    try:
        value = json.loads(_text(read, path) or "{}")
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def _ini(read: Read, path: str) -> configparser.ConfigParser:
    parser = configparser.ConfigParser(interpolation=None, strict=False)
    try:
        parser.read_string(_text(read, path) or "")
    except configparser.Error:
        return configparser.ConfigParser()
    return parser


def _table(value: dict[str, Any], name: str) -> dict[str, Any]:
    inner = value.get(name)
    return inner if isinstance(inner, dict) else {}
