"""Checks recognised from a repository's files."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from runner.gates.detect import detect, detect_prepare, reading
from tests.runner.workbench import bench

if TYPE_CHECKING:
    from pathlib import Path


def _found(files: dict[str, str]) -> dict[str, str]:
    gates = detect(lambda path: files[path].encode() if path in files else None)
    assert all(gate.detected and gate.blocking for gate in gates)
    assert len({gate.name for gate in gates}) == len(gates)
    return {gate.name: gate.run for gate in gates}


@pytest.mark.parametrize(
    ("files", "gates"),
    [
        ({}, {}),
        ({"README.md": "pytest"}, {}),
        ({"pyproject.toml": "[tool.pytest.ini_options]\n"}, {"tests": "python -m pytest -q"}),
        ({"pyproject.toml": '[dependency-groups]\ndev = ["pytest>=9"]\n'}, {"tests": "python -m pytest -q"}),
        ({"pyproject.toml": '[dependency-groups]\ndev = ["pytest-cov>=9"]\n# pytest\n'}, {}),
        ({"requirements-dev.txt": "ruff\npytest==8\n"}, {"tests": "python -m pytest -q"}),
        ({"setup.cfg": "[tool:pytest]\n[flake8]\n"}, {"tests": "python -m pytest -q", "lint": "python -m flake8"}),
        ({"tox.ini": "[tox]\n"}, {"tests": "python -m tox"}),
        (
            {"pyproject.toml": "[tool.pytest.ini_options]\n[tool.ruff]\n[tool.mypy]\npackages=['a']\n", "uv.lock": ""},
            {"tests": "uv run python -m pytest -q", "lint": "uv run ruff check .", "types": "uv run python -m mypy"},
        ),
        (
            {"package.json": '{"scripts": {"test": "jest", "lint": "eslint ."}}'},
            {"tests": "npm run test", "lint": "npm run lint"},
        ),
        ({"package.json": '{"scripts": {"test": "vitest"}}', "pnpm-lock.yaml": ""}, {"tests": "pnpm run test"}),
        ({"package.json": '{"scripts": {"test": "echo \\"Error: no test specified\\" && exit 1"}}'}, {}),
        ({"go.mod": "module x"}, {"build": "go build ./...", "vet": "go vet ./...", "tests": "go test ./..."}),
        ({"Cargo.toml": "", "Cargo.lock": ""}, {"tests": "cargo test --workspace --locked"}),
        ({"Makefile": "all: x\ntest: all\n\tgo\ncheck: test\n"}, {"tests": "make test"}),
        ({"Makefile": "check:\n\tx\nlint : y\n"}, {"tests": "make check", "lint": "make lint"}),
        ({"Makefile": "test := 3\ntests:\n\tx\n"}, {}),
        (
            {"Makefile": "test:\n", "go.mod": ""},
            {"build": "go build ./...", "vet": "go vet ./...", "tests": "go test ./..."},
        ),
        ({"pom.xml": "", "mvnw": ""}, {"tests": "sh ./mvnw -B -q verify"}),
        ({"build.gradle.kts": ""}, {"tests": "gradle --no-daemon -q check"}),
        ({"build.gradle": "", "gradlew": "", "Makefile": "test:\n"}, {"tests": "sh ./gradlew --no-daemon -q check"}),
        ({".pre-commit-config.yaml": ""}, {"lint": "pre-commit run --all-files"}),
        ({".pre-commit-config.yaml": "", "ruff.toml": ""}, {"lint": "ruff check ."}),
        (
            {".pre-commit-config.yaml": "", "Makefile": "test:\n"},
            {"tests": "make test", "lint": "pre-commit run --all-files"},
        ),
        (
            {"pytest.ini": "", "package.json": '{"scripts": {"test": "jest"}}'},
            {"tests": "python -m pytest -q", "tests 2": "npm run test"},
        ),
    ],
)
def test_recognises(files: dict[str, str], gates: dict[str, str]) -> None:
    assert _found(files) == gates


@pytest.mark.parametrize(
    ("files", "commands"),
    [
        ([], ()),
        (["package.json", "pyproject.toml", "go.mod"], ()),
        (["package-lock.json"], ("npm ci",)),
        (["package-lock.json", "yarn.lock"], ("yarn install --frozen-lockfile",)),
        (["uv.lock", "poetry.lock", "pnpm-lock.yaml"], ("uv sync --locked", "pnpm install --frozen-lockfile")),
        (["go.sum", "Cargo.lock"], ("go mod download", "cargo fetch --locked")),
    ],
)
def test_lock_files_tell_what_prepares_a_tree(files: list[str], commands: tuple[str, ...]) -> None:
    assert detect_prepare(lambda path: b"" if path in files else None) == commands


def test_a_long_file_is_there_and_unread(tmp_path: Path) -> None:
    place = bench(
        tmp_path,
        'printf \'x%.0s\' $(seq 1100000) > package-lock.json; echo \'{"scripts": {"test": "jest"}}\' > package.json',
    )
    read = reading(place.store, place.base)
    assert read("package-lock.json") == b""
    assert read("none") is None
    assert detect_prepare(read) == ("npm ci",)


@pytest.mark.parametrize(
    "files",
    [
        {"pyproject.toml": "not [toml", "setup.cfg": "no section", "package.json": "[1]"},
        {"pyproject.toml": "tool = 3", "package.json": '{"scripts": {"test": 7, "lint": ""}}'},
        {"package.json": "[" * 100_000},
        {"Makefile": "x" * 2_000_000},
    ],
)
def test_damaged_files_are_passed_over(files: dict[str, str]) -> None:
    assert _found(files) == {}
