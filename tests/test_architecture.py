"""The house: who imports whom, what lies at the top, and how large things get."""

from __future__ import annotations

import ast
import statistics
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent

TOP = {
    "pyproject.toml",
    "bot",
    "runner",
    "promptware",
    ".github",
    "tests",
    "app.yml",
    "README.md",
    "LICENSE",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "Makefile",
    "requirements.lock",
    "docs",
    ".ci",
    "bench",
    ".gitignore",
}

CONTRACT = {"runner.contract", "runner.results", "runner.terms"}
ANYWHERE = {"bot.errors", "bot.settings", "bot.trail"}

MAY_IMPORT: dict[str, set[str]] = {
    "bot.lifecycle": {"bot.lifecycle", *CONTRACT},
    "bot.errors": set(),
    "bot.settings": {"bot.errors"},
    "bot.trail": set(),
    "bot.store": {"bot.store", "bot.lifecycle", *ANYWHERE, *CONTRACT},
    "bot.github": {"bot.github", "bot.lifecycle", *ANYWHERE},
    "bot.intake": {"bot.intake", "bot.lifecycle", "bot.store", *ANYWHERE},
    "bot.wire": {"bot.wire", "bot.lifecycle", *CONTRACT},
    "bot.web": {
        "bot.web",
        "bot.wire",
        "bot.crypto",
        "bot.lifecycle",
        "bot.store",
        "bot.github.gateway",
        *ANYWHERE,
        *CONTRACT,
    },
    "bot.worker": {
        "bot.worker",
        "bot.lifecycle",
        "bot.store",
        "bot.github",
        "bot.intake.payloads",
        *ANYWHERE,
        *CONTRACT,
    },
    "runner": {"runner"},
}
"""A package, and the prefixes of what it may import of ours. What is not named here wires the rest and may import all."""

ONLY_IN: dict[str, set[str]] = {
    "githubkit": {"bot.github"},
    "sqlalchemy": {"bot.store"},
    "alembic": {"bot.store"},
    "prometheus_client": {"bot.web"},
    "opentelemetry": {"bot.otlp"},
    "flask": {"bot.intake", "bot.web"},
}

FILE_MEDIAN, FILE_MAX = 120, 400
FUNCTION_MEDIAN, FUNCTION_MAX = 12, 60


def modules() -> dict[str, Path]:
    """Every module of the product by its dotted name."""
    found = {}
    for package in ("bot", "runner"):
        for path in sorted((ROOT / package).rglob("*.py")):
            if "migrations" in path.parts:
                continue
            dotted = ".".join(path.relative_to(ROOT).with_suffix("").parts)
            found[dotted.removesuffix(".__init__")] = path
    return found


MODULES = modules()


def imports(path: Path) -> set[str]:
    """Every module a file imports, inside functions and type-checking blocks as well."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            found.add(node.module or "")
            found |= {f"{node.module}.{alias.name}" for alias in node.names if f"{node.module}.{alias.name}" in MODULES}
    return found


def within(name: str, prefixes: set[str]) -> bool:
    """Whether a dotted name is one of the prefixes or lies below one."""
    return any(name == prefix or name.startswith(f"{prefix}.") for prefix in prefixes)


def home(name: str) -> str | None:
    """The package of the table that a module belongs to."""
    return next((package for package in MAY_IMPORT if within(name, {package})), None)


@pytest.mark.parametrize("name", [name for name in MODULES if home(name)])
def test_imports_go_one_way(name):
    package = home(name)
    ours = {i for i in imports(MODULES[name]) if within(i, {"bot", "runner"}) and i in MODULES}
    narrowest = {i for i in ours if not any(other.startswith(f"{i}.") for other in ours)}
    wrong = {i for i in narrowest if not within(i, MAY_IMPORT[package])}
    assert not wrong, f"{name} may not import {sorted(wrong)}"


@pytest.mark.parametrize("library", ONLY_IN)
def test_each_library_has_one_home(library):
    users = {name for name, path in MODULES.items() if any(within(i, {library}) for i in imports(path))}
    assert users, f"nobody uses {library} any more: take it out of the table"
    assert all(within(user, ONLY_IN[library]) for user in users), sorted(users)


def test_the_lifecycle_is_pure():
    forbidden = {"time", "os", "random", "secrets", "socket", "subprocess", "threading", "httpx", "sqlalchemy", "flask"}
    for name, path in MODULES.items():
        if within(name, {"bot.lifecycle"}):
            assert not imports(path) & forbidden, name


def test_the_top_of_the_house():
    tracked = subprocess.run(
        ["git", "ls-tree", "--name-only", "HEAD"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.split()
    assert set(tracked) <= TOP, set(tracked) - TOP


def test_files_stay_small():
    sizes = {name: len(path.read_text().splitlines()) for name, path in MODULES.items()}
    large = {name: size for name, size in sizes.items() if size > FILE_MAX}
    assert not large, large
    assert statistics.median(sizes.values()) <= FILE_MEDIAN


def test_functions_stay_small():
    sizes = {}
    for name, path in MODULES.items():
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                start = node.body[0].lineno if node.body else node.lineno
                sizes[f"{name}:{node.name}:{node.lineno}"] = (node.end_lineno or start) - node.lineno + 1
    large = {name: size for name, size in sizes.items() if size > FUNCTION_MAX}
    assert not large, large
    assert statistics.median(sizes.values()) <= FUNCTION_MEDIAN


def test_every_module_and_public_name_says_what_it_is():
    silent = []
    for name, path in MODULES.items():
        tree = ast.parse(path.read_text())
        if not ast.get_docstring(tree):
            silent.append(name)
        silent += [
            f"{name}.{node.name}"
            for node in tree.body
            if isinstance(node, ast.FunctionDef | ast.ClassDef)
            and not node.name.startswith("_")
            and not ast.get_docstring(node)
        ]
    assert not silent, silent
