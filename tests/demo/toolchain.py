"""A virtual environment on the self-hosted machine, with what a Python project's own tests need.

What is declared is installed: the dependencies, and of extras and dependency groups those with the names that are usual
for tests. The project itself is taken from the work tree by its checks, never from here.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from typing import TYPE_CHECKING, Any

from packaging.metadata import parse_email

from tests.demo.refusal import Refusal

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

TEST_NAMES = ("test", "tests", "testing")
"""What extras and groups with a project's test dependencies are called."""
INSTALL_SECONDS = 600
"""For one call of pip."""


def make_venv(folder: Path) -> Path:
    """Make a virtual environment and return its python; raises :class:`Refusal`."""
    made = subprocess.run([sys.executable, "-m", "venv", folder], capture_output=True, text=True, check=False)
    if made.returncode:
        raise Refusal(f"No virtual environment could be made: {_last(made.stdout + made.stderr)}")
    return folder / "bin" / "python"


def install(python: Path, requirements: list[str]) -> None:
    """Install requirements with pip as it is set up on this machine; raises :class:`Refusal`."""
    command = [python, "-m", "pip", "install", "--quiet", "--no-input", "--disable-pip-version-check", *requirements]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=INSTALL_SECONDS, check=False)
    except subprocess.TimeoutExpired:
        raise Refusal(f"pip was not done after {INSTALL_SECONDS} s with {' '.join(requirements)}.") from None
    if done.returncode:
        raise Refusal(f"pip could not install {' '.join(requirements)}: {_last(done.stderr)}")


def released(name: str, version: str, pkg_info: bytes | None, pyproject: bytes | None) -> list[str]:
    """Return what to install for a release: itself (for its metadata and scripts) and its test dependencies."""
    metadata = parse_email(pkg_info or b"")[0]
    extras = [extra for extra in metadata.get("provides_extra", []) if extra in TEST_NAMES]
    chosen = f"[{','.join(extras)}]" if extras else ""
    return [f"{name}{chosen}=={version}", "pytest", *_groups(_table(pyproject))]


def declared(pyproject: bytes | None) -> list[str]:
    """Return what to install for a work tree: what its ``pyproject.toml`` declares, and pytest."""
    table = _table(pyproject)
    project = table.get("project", {})
    extras = project.get("optional-dependencies", {})
    wanted = [*project.get("dependencies", []), *(r for name in TEST_NAMES for r in extras.get(name, []))]
    return [*wanted, "pytest", *_groups(table)]


def _groups(table: dict[str, Any]) -> list[str]:
    groups = table.get("dependency-groups", {})
    return [requirement for name in TEST_NAMES for requirement in _group(groups, name, frozenset())]


def _group(groups: dict[str, Any], name: str, above: frozenset[str]) -> Iterator[str]:
    """Yield a group's requirements, those of included groups with them (PEP 735)."""
    for entry in [] if name in above else groups.get(name, []):
        if isinstance(entry, str):
            yield entry
        elif isinstance(entry, dict):
            yield from _group(groups, str(entry.get("include-group")), above | {name})


def _table(pyproject: bytes | None) -> dict[str, Any]:
    try:
        return tomllib.loads((pyproject or b"").decode())
    except ValueError:
        return {}


def _last(text: str) -> str:
    lines = [line for line in text.splitlines() if line.strip() and not re.match(r"\[?notice|WARNING", line)]
    return lines[-1] if lines else "it said nothing."
