"""Read the packages of manifests and lock files; what can't be read names none."""

from __future__ import annotations

import json
import posixpath
import re
import tomllib
from typing import TYPE_CHECKING, Any

from runner.gates.packages.model import Package

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Read = Callable[[str], Iterator[Package]]

REQUIREMENT = re.compile(r"^\s*([A-Za-z0-9][\w.-]*)\s*(?:\[[^\]]*\])?\s*(@\s*\S+|[^;#\s][^;#]*)?")
LINKED = re.compile(r"^\s*(?:-e\s+)?((?:git\+|https?://|ssh://|file:|\.{1,2}/|/)\S+)")
EGG = re.compile(r"[#&]egg=([\w.-]+)")
NODE_TABLES = ("dependencies", "devDependencies", "optionalDependencies", "peerDependencies")
CARGO_TABLES = ("dependencies", "dev-dependencies", "build-dependencies")
NPM = "https://registry.npmjs.org/"
YARN_ENTRY = re.compile(r'^"?(@?[^@"\s]+)@[^\n]*:\n((?:[ \t]+[^\n]*\n?)+)', re.MULTILINE)
GO_REQUIRE = re.compile(r"^\s*(?:require\s+)?([\w.-]+\.[\w.-]+/\S+)\s+(v\S+)", re.MULTILINE)
GO_REPLACE = re.compile(r"^\s*(?:replace\s+)?(\S+)(?:\s+v\S+)?\s+=>\s+(\S+)", re.MULTILINE)


def packages(path: str, text: str) -> tuple[Package, ...]:
    """Return the packages that a file names; none for a file of another kind."""
    name = posixpath.basename(path)
    read = READERS.get(name)
    if read is None and re.fullmatch(r"([\w.-]*-)?requirements([\w.-]*)\.(txt|in)", name):
        read = _requirements
    if read is None:
        return ()
    try:
        return tuple(read(text))
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return ()


def _python(requirement: str, *, direct: bool = True) -> Iterator[Package]:
    if linked := LINKED.match(requirement):
        egg = EGG.search(requirement)
        yield Package("pypi", _normal(egg[1]) if egg else linked[1][:80], "", direct, linked[1])
    elif (found := REQUIREMENT.match(requirement)) and not requirement.lstrip().startswith("-"):
        rest = (found[2] or "").strip()
        source = rest[1:].strip() if rest.startswith("@") else ""
        yield Package("pypi", _normal(found[1]), "" if source else rest.split(" --")[0].strip(), direct, source)


def _normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def _requirements(text: str) -> Iterator[Package]:
    for line in text.replace("\\\n", " ").split("\n"):
        if line.strip() and not line.lstrip().startswith("#"):
            yield from _python(line)


def _pyproject(text: str) -> Iterator[Package]:
    data = tomllib.loads(text)
    project, tool = data.get("project", {}), data.get("tool", {})
    groups = [
        project.get("dependencies", []),
        data.get("build-system", {}).get("requires", []),
        *project.get("optional-dependencies", {}).values(),
        *data.get("dependency-groups", {}).values(),
    ]
    for requirement in (one for group in groups for one in group if isinstance(one, str)):
        yield from _python(requirement)
    poetry = tool.get("poetry", {})
    tables = [poetry.get("dependencies", {}), *(g.get("dependencies", {}) for g in poetry.get("group", {}).values())]
    for name, wanted in (item for table in tables for item in table.items() if item[0] != "python"):
        version, source = _wanted(wanted)
        yield Package("pypi", _normal(name), version, direct=True, source=source)


def _wanted(wanted: Any) -> tuple[str, str]:
    """Return version and source of an entry that is a text or a table (Poetry, Cargo)."""
    if isinstance(wanted, str):
        return wanted, ""
    if not isinstance(wanted, dict):
        return "", ""
    source = next((str(wanted[key]) for key in ("git", "url", "path", "registry") if key in wanted), "")
    return str(wanted.get("version", "")), source


def _toml_lock(registry: str, own: str) -> Read:
    """Return the reader of a lock file with ``[[package]]`` tables, of which ``own`` is the registry's address."""

    def read(text: str) -> Iterator[Package]:
        for row in tomllib.loads(text).get("package", []):
            source = row.get("source", {})
            address = source if isinstance(source, str) else next(iter(source.values()), "") if source else ""
            local = isinstance(source, dict) and source.keys() & {"editable", "virtual"}
            if not local:
                foreign = str(address) if address and own not in str(address) else ""
                yield Package(registry, row["name"], str(row.get("version", "")), direct=False, source=foreign)

    return read


def _package_json(text: str) -> Iterator[Package]:
    data = json.loads(text)
    for table in NODE_TABLES:
        for name, version in data.get(table, {}).items():
            foreign = version if re.match(r"(git|https?:|file:|github:|[\w.-]+/[\w.-]+)", version) else ""
            yield Package("npm", name, "" if foreign else version, direct=True, source=foreign)


def _package_lock(text: str) -> Iterator[Package]:
    for place, row in json.loads(text).get("packages", {}).items():
        if not place or row.get("link"):
            continue
        resolved = row.get("resolved", "")
        yield Package(
            "npm",
            row.get("name") or place.rpartition("node_modules/")[2],
            row.get("version", ""),
            direct=False,
            source=resolved if resolved and not resolved.startswith(NPM) else "",
            scripts=bool(row.get("hasInstallScript")),
            unverified=bool(resolved) and not row.get("integrity"),
        )


def _yarn_lock(text: str) -> Iterator[Package]:
    for found in YARN_ENTRY.finditer(text):
        version = re.search(r"version:?\s+\"?([^\"\s]+)", found[2])
        resolved = re.search(r"resolved\s+\"([^\"]+)", found[2])
        foreign = resolved[1] if resolved and not resolved[1].startswith((NPM, "https://registry.yarnpkg.com/")) else ""
        yield Package("npm", found[1], version[1] if version else "", direct=False, source=foreign)


def _pnpm_lock(text: str) -> Iterator[Package]:
    within = text.partition("\npackages:\n")[2].partition("\nsnapshots:\n")[0]
    for name, version in re.findall(r"^  '?/?(@?[^@'\s(]+)@([^'\s(:]+)[^\n]*:$", within, re.MULTILINE):
        yield Package("npm", name, version, direct=False)


def _go_mod(text: str) -> Iterator[Package]:
    for found in GO_REQUIRE.finditer(text):
        line = text[found.start() : text.find("\n", found.end())]
        yield Package("go", found[1], found[2], direct="// indirect" not in line)
    for name, target in GO_REPLACE.findall(text):
        yield Package("go", name, "", direct=True, source=f"replaced by {target}")


def _cargo_toml(text: str) -> Iterator[Package]:
    data = tomllib.loads(text)
    owners = [data, data.get("workspace", {}), *data.get("target", {}).values()]
    for name, wanted in (item for owner in owners for table in CARGO_TABLES for item in owner.get(table, {}).items()):
        version, source = _wanted(wanted)
        if not (isinstance(wanted, dict) and wanted.get("workspace")):
            real = wanted.get("package", name) if isinstance(wanted, dict) else name
            yield Package("crates", real, version, direct=True, source="" if "path" in (wanted or {}) else source)


READERS: dict[str, Read] = {
    "pyproject.toml": _pyproject,
    "uv.lock": _toml_lock("pypi", "pypi.org"),
    "poetry.lock": _toml_lock("pypi", "pypi.org"),
    "package.json": _package_json,
    "package-lock.json": _package_lock,
    "npm-shrinkwrap.json": _package_lock,
    "yarn.lock": _yarn_lock,
    "pnpm-lock.yaml": _pnpm_lock,
    "go.mod": _go_mod,
    "Cargo.toml": _cargo_toml,
    "Cargo.lock": _toml_lock("crates", "crates.io-index"),
}
"""Who reads a file, by its name."""
