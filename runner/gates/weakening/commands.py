"""What the repository's own checks run: targets of a Makefile, scripts of a package.json, programs of the repository.

The commands come from the base's policy, but what they name lies in the branch: ``make test`` is as strong as its
recipe.
"""

from __future__ import annotations

import json
import posixpath
import re
import shlex
from typing import TYPE_CHECKING

from runner.gates.weakening import generic, go, javascript, python
from runner.gates.weakening.facts import Loss, quoted, squeezed, words

if TYPE_CHECKING:
    from collections.abc import Iterator

    from runner.gates.change import Change

WRAPPERS = words("uv poetry pdm hatch pipenv run npx bunx exec time env nice command xvfb-run sudo --")
"""Words before a program that run it."""
INTERPRETERS = re.compile(r"(ba|da|z|k)?sh|python[\d.]*|pypy3?|node|ruby|perl|php|deno|bun|tsx|ts-node|source|\.")
MANAGERS = frozenset({"npm", "yarn", "pnpm", "bun"})
CHECKS = re.compile(r"(pre|post)?(tests?|lint|types?|typecheck|check|ci|verify|validate|coverage)(:\S+)?")
"""Scripts of a package.json that are checks by their name, whoever runs them."""
MAKEFILES = ("GNUmakefile", "makefile", "Makefile")
RULE = re.compile(r"^(?P<targets>[^\s:#=][^:#=\n]*?)\s*::?(?!=)(?P<needs>[^#\n]*)$")
VARIABLE = re.compile(r"^(?:export\s+|override\s+)?(?P<name>[\w.-]+)\s*[:?+!]*=")
"""A definition in a Makefile."""


def commands(change: Change) -> Iterator[Loss]:
    """Yield what changed in the files that the checks' commands run."""
    pieces = [piece for command in change.commands for piece in _pieces(command)]
    yield from _programs(change, pieces)
    yield from _scripts(change, pieces)
    yield from _targets(change, pieces)


def _pieces(command: str) -> Iterator[list[str]]:
    """Yield the simple commands of a shell line as words, without assignments and what merely runs a program."""
    for piece in re.split(r"&&|\|\||[;|\n&()]", command):
        try:
            given = shlex.split(piece, comments=True)
        except ValueError:
            given = piece.split()
        while given and (given[0] in WRAPPERS or re.match(r"\w+=", given[0])):
            given = given[1:]
        if given:
            yield given


def _programs(change: Change, pieces: list[list[str]]) -> Iterator[Loss]:
    """Yield the changes of programs that lie in the repository itself; tests among them are judged as tests."""
    changed = {file.path.decode("utf-8", "surrogateescape"): file for file in change.files}
    for given in pieces:
        program = given[0]
        if INTERPRETERS.fullmatch(posixpath.basename(program)):
            program = next((word for word in given[1:] if not word.startswith("-")), "")
        path = posixpath.normpath(program) if program else ""
        if path in changed and not _is_test(path):
            content = change.read_base(changed[path].path)
            if content is not None:
                yield Loss(
                    changed[path].path, 1, f"a check runs this file ({quoted(' '.join(given), 60)}), and it changed"
                )


def _is_test(path: str) -> bool:
    by_name = (generic, javascript) if not path.endswith(python.SUFFIXES) else (python,)
    return any(reader.is_test_file(path) for reader in by_name) or path.endswith(f"_test{go.SUFFIXES[0]}")


def _scripts(change: Change, pieces: list[list[str]]) -> Iterator[Loss]:
    for file in change.files:
        if posixpath.basename(file.path) != b"package.json":
            continue
        old, new = _package(change.read_base(file.path)), _package(change.read(file.path) if file.exists else None)
        for name in sorted(old):
            used = CHECKS.fullmatch(name) or any(name in given[1:3] for given in pieces if given[0] in MANAGERS)
            if used and old[name] != new.get(name):
                now = quoted(new[name]) if name in new else "gone"
                line = _line_of(change.read(file.path) if file.exists else b"", f'"{name}"')
                yield Loss(file.path, line, f"script {quoted(name)} was {quoted(old[name])} and is {now}")


def _package(content: bytes | None) -> dict[str, str]:
    try:
        data = json.loads(content or b"{}")
    except (ValueError, RecursionError):
        return {}
    scripts = data.get("scripts") if isinstance(data, dict) else None
    return {str(k): str(v) for k, v in scripts.items()} if isinstance(scripts, dict) else {}


def _line_of(content: bytes, text: str) -> int:
    lines = content.decode("utf-8", "replace").split("\n")
    return next((number for number, line in enumerate(lines, start=1) if text in line), 1)


def _targets(change: Change, pieces: list[list[str]]) -> Iterator[Loss]:
    """Yield the lines of a Makefile that a check's target, or one it needs, had and has no longer."""
    for given in pieces:
        if posixpath.basename(given[0]) not in {"make", "gmake"}:
            continue
        folder, names, targets = _make_options(given[1:])
        for file in change.files:
            path = file.path.decode("utf-8", "surrogateescape")
            if path in {posixpath.normpath(posixpath.join(folder, name)) for name in names}:
                old = _recipes(change.read_base(file.path))
                new = _recipes(change.read(file.path) if file.exists else None)
                yield from _lost_lines(file.path, targets, old, new)


def _make_options(given: list[str]) -> tuple[str, tuple[str, ...], list[str]]:
    folder, targets = "", list[str]()
    names: tuple[str, ...] = MAKEFILES
    taking = iter(given)
    for word in taking:
        if word in {"-C", "-f", "-j"}:
            value = next(taking, "")
            folder, names = (value, names) if word == "-C" else (folder, (value,) if word == "-f" else names)
        elif not word.startswith("-") and "=" not in word:
            targets.append(word)
    return folder, names, targets


Recipes = dict[str, tuple[list[str], list[tuple[int, str]]]]
"""By target or ``$variable``: what it needs, and its lines with their numbers."""


def _recipes(content: bytes | None) -> Recipes:
    found: Recipes = {}
    current: list[str] = []
    for number, line in enumerate((content or b"").decode("utf-8", "replace").split("\n"), start=1):
        if line.startswith("\t"):
            for target in current:
                found[target][1].append((number, squeezed(line)))
        elif variable := VARIABLE.match(line):
            found.setdefault(f"${variable['name']}", ([], []))[1].append((number, squeezed(line)))
        elif rule := RULE.match(line):
            current = rule["targets"].split()
            for target in current:
                needs, lines = found.setdefault(target, ([], []))
                needs += rule["needs"].split()
                lines.append((number, squeezed(line)))
    return found


def _closure(targets: list[str], recipes: Recipes) -> dict[str, int]:
    """Return every line that the targets use, with its number."""
    todo, seen = list(targets) or [next((name for name in recipes if name[0] not in "$."), "")], set[str]()
    used: dict[str, int] = {}
    while todo:
        name = todo.pop()
        if name in seen or name not in recipes:
            continue
        seen.add(name)
        needs, lines = recipes[name]
        used |= {line: number for number, line in lines}
        text = " ".join(line for _, line in lines)
        todo += needs + [f"${found}" for found in re.findall(r"\$[({](\w[\w.-]*)[)}]", text)]
        todo += re.findall(r"\$\(MAKE\)\s+([\w.-]+)", text)
    return used


def _lost_lines(path: bytes, targets: list[str], old: Recipes, new: Recipes) -> Iterator[Loss]:
    before, after = _closure(targets, old), _closure(targets, new)
    for line, number in before.items():
        if line not in after:
            yield Loss(path, number, f"a check runs this line no longer: {quoted(line)}")
    for line, number in after.items():
        if line not in before and re.search(r"\|\|\s*(true|:|exit 0)|^-|\bignore\b|--exit-zero", line):
            yield Loss(path, number, f"a check's failure is passed over: {quoted(line)}")
