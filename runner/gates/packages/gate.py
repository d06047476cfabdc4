"""The gate itself: what is new, what changed, and what of it should be checked."""

from __future__ import annotations

import posixpath
import tomllib
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from runner.gates.packages.manifests import packages
from runner.gates.scope import LOCK_FILES
from runner.gates.verdict import cut, failed, listed, passed, shown

if TYPE_CHECKING:
    from collections.abc import Iterator

    from runner.contract import GateResult
    from runner.gates.change import Change
    from runner.gates.packages.model import Package

NAME = "dependencies"
KNOWN = Path(__file__).parent.parent / "rules" / "packages.toml"
SHORT = 4
"""Names of fewer characters are near to too many others."""
LOOSE = ("^", "~", ">", "<", "*", "!=", "x", "latest", "~=")
"""Beginnings of what a manifest asks for that let a newer version in."""
Key = tuple[str, str]


def dependencies(change: Change) -> GateResult:
    """Return the packages that a change brings in or changes; those with something to check keep it from passing."""
    told: list[str] = []
    doubts: list[str] = []
    has_lock = any(posixpath.basename(path).decode("utf-8", "replace") in LOCK_FILES for path in change.tree)
    known = _before(change)
    for file in change.files:
        name = file.path.decode("utf-8", "replace")
        new = packages(name, change.read(file.path).decode("utf-8", "replace")) if file.exists else ()
        for package in dict.fromkeys(new):
            was = known.get((package.registry, package.name), set())
            if package not in was:
                line = f"{shown(file.path)}: {_said(package, was)}"
                reasons = list(_reasons(package, was, has_lock=has_lock))
                (doubts if reasons else told).append(f"{line}: {'; '.join(reasons)}." if reasons else f"{line}.")
    if doubts:
        return failed(NAME, [*doubts, *told])
    if told:
        result = passed(NAME, cut(f"{len(told)} packages are new or changed; nothing about them stands out.", 300))
        return result.model_copy(update={"tail": listed(told)})
    return passed(NAME, "No package is new or changed.")


def _before(change: Change) -> dict[Key, set[Package]]:
    known: dict[Key, set[Package]] = {}
    for file in change.files:
        content = change.read_base(file.path) or b""
        for package in packages(file.path.decode("utf-8", "replace"), content.decode("utf-8", "replace")):
            known.setdefault((package.registry, package.name), set()).add(package)
    return known


def _said(package: Package, was: set[Package]) -> str:
    versions = sorted({one.version for one in was if one.direct == package.direct and one.version})
    wanted = f" {package.version}" if package.version else ""
    name = cut("".join(c for c in f"{package.name}{wanted}" if c.isprintable()), 120)
    if not was:
        return f"new package {name}" if package.direct else f"new package {name}, fixed by the lock file"
    return f"{name}, {cut(', '.join(versions), 60)} before" if versions else f"{name} is asked for otherwise"


def _reasons(package: Package, was: set[Package], *, has_lock: bool) -> Iterator[str]:
    """Yield what a reviewer should check about a package."""
    if package.source and package.source not in {one.source for one in was}:
        yield f"comes from {cut(package.source, 80)}, not from the registry"
    if package.scripts and not any(one.scripts for one in was):
        yield "runs a script when it is installed"
    if package.unverified and not any(one.unverified for one in was):
        yield "is fixed without a hash"
    if package.direct and not has_lock and not package.source and _is_loose(package):
        yield "no version is fixed, and there is no lock file"
    if not was and (near := _near(package)):
        yield f"its name is very near to {near}"


def _is_loose(package: Package) -> bool:
    version = package.version.strip()
    if package.registry == "pypi":
        return "==" not in version
    return package.registry != "go" and (not version or version.startswith(LOOSE) or package.registry == "crates")


def _near(package: Package) -> str | None:
    """Return the well-known name that this one could be taken for."""
    names = known_names().get(package.registry, frozenset())
    name = package.name.lower()
    if name in names or len(name) < SHORT or name.startswith("@"):
        return None
    plain = _plain(name)
    return next((other for other in sorted(names) if _plain(other) == plain or _one_apart(name, other)), None)


@cache
def known_names() -> dict[str, frozenset[str]]:
    """Return well-known names by registry."""
    return {key: frozenset(text.split()) for key, text in tomllib.loads(KNOWN.read_text("utf-8")).items()}


def _plain(name: str) -> str:
    """Return a name as it is misread: without signs, and without the additions that baits bear."""
    bare = name.replace("-", "").replace("_", "").replace(".", "")
    return bare.removeprefix("python").removesuffix("js").removesuffix("py").translate(str.maketrans("01", "ol"))


def _one_apart(one: str, other: str) -> bool:
    """Whether one character is left out, put in, changed, or swapped with its neighbour."""
    if abs(len(one) - len(other)) > 1 or min(len(one), len(other)) < SHORT:
        return False
    start = next((i for i, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))
    a, b = one[start:], other[start:]
    return a[1:] == b[1:] or a[1:] == b or a == b[1:] or (a[:2] == b[1::-1] and a[2:] == b[2:])
