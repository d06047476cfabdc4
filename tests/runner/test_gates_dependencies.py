"""Gate dependencies: which packages are new or changed, and what about them stands out."""

from __future__ import annotations

import json

import pytest

from runner.contract import GateStatus
from runner.gates.packages import dependencies
from tests.runner.changes import Files, change


def judged(base: Files, head: Files) -> tuple[GateStatus, list[str]]:
    result = dependencies(change(base, head))
    return result.status, result.tail.splitlines()


def lock(**packages: dict[str, object]) -> str:
    rows = {
        f"node_modules/{name}": {
            "version": "1.0.0",
            "resolved": f"https://registry.npmjs.org/{name}.tgz",
            "integrity": "sha512-x",
            **row,
        }
        for name, row in packages.items()
    }
    return json.dumps({"lockfileVersion": 3, "packages": {"": {}, **rows}})


CARGO_LOCK = '[[package]]\nname = "serde"\nversion = "1.0.0"\nsource = "{source}"\n'

DOUBTS = [
    (
        "requirements.txt",
        "",
        "reqeusts==2.0\n",
        "requirements.txt: new package reqeusts ==2.0: its name is very near to requests.",
    ),
    ("requirements.txt", "", "httpx\n", "no version is fixed, and there is no lock file"),
    (
        "requirements.txt",
        "",
        "git+https://example.org/x.git#egg=odd\n",
        "new package odd: comes from git+https://example.org/x.git",
    ),
    (
        "pyproject.toml",
        '[project]\ndependencies = ["rich==1"]',
        '[project]\ndependencies = ["rich>=1"]',
        "rich >=1, ==1 before: no version is fixed",
    ),
    (
        "pyproject.toml",
        "",
        '[dependency-groups]\ndev = ["x @ https://example.org/x.whl"]',
        "comes from https://example.org/x.whl",
    ),
    (
        "pyproject.toml",
        "",
        '[tool.poetry.dependencies]\nx = {git = "https://example.org/x"}',
        "comes from https://example.org/x",
    ),
    ("package.json", "{}", '{"dependencies": {"expresss": "1.0.0"}}', "its name is very near to express"),
    ("package.json", "{}", '{"dependencies": {"lodahs": "1.0.0"}}', "its name is very near to lodash"),
    ("package.json", "{}", '{"devDependencies": {"x": "someone/x"}}', "comes from someone/x"),
    ("package.json", "{}", '{"devDependencies": {"x": "^1.2"}}', "no version is fixed"),
    (
        "package-lock.json",
        lock(),
        lock(x={"hasInstallScript": True}),
        "new package x 1.0.0, fixed by the lock file: runs a script when it is installed",
    ),
    (
        "package-lock.json",
        lock(),
        lock(x={"resolved": "https://evil.example.org/x.tgz"}),
        "comes from https://evil.example.org/x.tgz",
    ),
    ("package-lock.json", lock(x={}), lock(x={"integrity": ""}), "is fixed without a hash"),
    ("go.mod", "module x\n", "module x\nreplace a.org/b => ../b\n", "comes from replaced by ../b"),
    ("Cargo.toml", "", '[dependencies]\nsedre = "1"\n', "no version is fixed"),
    ("Cargo.toml", "", '[dependencies]\nserd = "1"\n', "its name is very near to serde"),
    (
        "Cargo.lock",
        "",
        CARGO_LOCK.format(source="git+https://example.org/serde"),
        "comes from git+https://example.org/serde",
    ),
    (
        "yarn.lock",
        "",
        'x@^1:\n  version "1.0.0"\n  resolved "https://evil.example.org/x.tgz"\n',
        "comes from https://evil.example.org",
    ),
]


@pytest.mark.parametrize(("path", "base", "head", "expected"), DOUBTS)
def test_what_stands_out_is_told(path: str, base: str, head: str, expected: str) -> None:
    status, lines = judged({path: base}, {path: head})
    assert status is GateStatus.FAILED
    assert expected in lines[0], lines
    assert judged({path: head}, {path: head + "\n"})[0] is GateStatus.PASSED, "what was there before is not new"


PLAIN = [
    ("requirements.txt", "rich==1\n", "rich==2  # newer\n", "rich ==2, ==1 before"),
    ("package-lock.json", lock(x={}), lock(x={}, y={}), "new package y 1.0.0, fixed by the lock file"),
    (
        "go.mod",
        "module x\n",
        "module x\n\nrequire (\n\ta.org/b v1.0.0\n\tc.org/d v1.2.3 // indirect\n)\n",
        "new package a.org/b v1.0.0",
    ),
    (
        "Cargo.lock",
        "",
        CARGO_LOCK.format(source="registry+https://github.com/rust-lang/crates.io-index"),
        "new package serde 1.0.0",
    ),
    (
        "uv.lock",
        "",
        '[[package]]\nname = "rich"\nversion = "1"\nsource = { registry = "https://pypi.org/simple" }\n',
        "new package rich 1",
    ),
    (
        "pnpm-lock.yaml",
        "lockfileVersion: 9\n\npackages:\n",
        "lockfileVersion: 9\n\npackages:\n\n  zod@3.0.0:\n    resolution: {}\n",
        "new package zod 3.0.0",
    ),
]


@pytest.mark.parametrize(("path", "base", "head", "expected"), PLAIN)
def test_what_is_new_or_changed_is_listed(path: str, base: str, head: str, expected: str) -> None:
    status, lines = judged({path: base}, {path: head})
    assert status is GateStatus.PASSED
    assert any(expected in line for line in lines), lines


@pytest.mark.parametrize(
    "name",
    [
        "package.json",
        "pyproject.toml",
        "package-lock.json",
        "Cargo.toml",
        "requirements.txt",
        "uv.lock",
        "go.mod",
        "yarn.lock",
        "pnpm-lock.yaml",
    ],
)
@pytest.mark.parametrize(
    "content",
    [
        "[1]",
        '{"dependencies": []}',
        '{"dependencies": {"x": 1}, "packages": {"a": 1}}',
        "package = 1\nproject = 2\n",
        "\x00\xff",
        "[" * 5_000,
        "@" * 20_000,
        "a@b:\n" * 5_000,
    ],
)
def test_hostile_manifests_name_nothing_and_break_nothing(name: str, content: str) -> None:
    judged({}, {name: content})


def test_a_pinned_or_locked_package_is_no_doubt() -> None:
    head: Files = {"package.json": '{"dependencies": {"zod": "^3.0.0"}}', "package-lock.json": lock(zod={})}
    assert judged({"package.json": "{}"}, head)[0] is GateStatus.PASSED
    assert judged({"a": "x"}, {"a": "y"}) == (GateStatus.PASSED, [])
