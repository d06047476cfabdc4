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
STARTUP = words("sitecustomize usercustomize")
"""Modules that Python runs before any program."""
MANAGERS = frozenset({"npm", "yarn", "pnpm", "bun"})
CHECKS = re.compile(r"(pre|post)?(tests?|lint|types?|typecheck|check|ci|verify|validate|coverage)(:\S+)?")
"""Scripts of a package.json that are checks by their name, whoever runs them."""
RUNS_SCRIPTS = re.compile(r"\b(npm|yarn|pnpm|bun)\b|\b(npm-run-all|run-[sp]|concurrently)\b")
"""Programs by which a script runs others."""
MAKEFILES = ("GNUmakefile", "makefile", "Makefile")
RULE = re.compile(r"^(?P<targets>[^\s:#=][^:#=\n]*?)\s*::?(?!=)(?P<needs>[^#\n]*)$")
STEERING = re.compile(
    r"\.IGNORE\b|((export|override) )*(SHELL|\.SHELLFLAGS|(GNU)?MAKEFLAGS)\s*[:?+!]*="
    r"|(export )?\w*_?(ADDOPTS|OPTIONS|FLAGS)\b.*(-k|-m|--ignore|--deselect|-run)\b"
)
"""Lines of a Makefile that change what all others do, or what the programs in them are told."""
CHOICES = re.compile(r"-?s?include\b|ifn?(def|eq)\b|define\b|\$\(eval\b|export \w+")
VARIABLE = re.compile(r"^(?:export\s+|override\s+)?(?P<name>[\w.-]+)\s*[:?+!]*=")
"""A definition in a Makefile."""


def commands(change: Change) -> Iterator[Loss]:
    """Yield what changed in the files that the checks' commands run."""
    pieces = [piece for command in change.commands for piece in _pieces(command)]
    yield from _programs(change, pieces)
    yield from _shadows(change, pieces)
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
        module = _module(given).replace(".", "/")
        paths = (
            [f"{module}.py", f"{module}/__main__.py"] if module else [posixpath.normpath(program)] if program else []
        )
        for path in (path for path in paths if path in changed and not _is_test(path)):
            content = change.read_base(changed[path].path)
            if content is not None:
                yield Loss(
                    changed[path].path, 1, f"a check runs this file ({quoted(' '.join(given), 60)}), and it changed"
                )


def _module(given: list[str]) -> str:
    """Return what ``python -m`` is to run."""
    at = given.index("-m") + 1 if "-m" in given else len(given)
    return given[at] if at < len(given) and given[0].startswith(("python", "pypy")) else ""


def _shadows(change: Change, pieces: list[list[str]]) -> Iterator[Loss]:
    """Yield new files at the root that Python takes for the module which a check runs, or runs before anything."""
    names = {*STARTUP, *(module.partition(".")[0] for module in map(_module, pieces) if module)}
    known = {file.path for file in change.files if file.exists and file.old_mode == 0}
    for path in change.tree:
        top = path.split(b"/")[0].decode("utf-8", "replace")
        name = top.removesuffix(".py") if b"/" not in path else top
        if name in names and path in known and not _has_more(change, top, known):
            yield Loss(path, 1, f"Python takes this new file for the module {name} that a check runs")


def _has_more(change: Change, top: str, new: set[bytes]) -> bool:
    """Whether something of that name at the root is not new."""
    return any(path.split(b"/")[0] == top.encode() and path not in new for path in change.tree)


def _is_test(path: str) -> bool:
    by_name = (generic, javascript) if not path.endswith(python.SUFFIXES) else (python,)
    return any(reader.is_test_file(path) for reader in by_name) or path.endswith(f"_test{go.SUFFIXES[0]}")


def _scripts(change: Change, pieces: list[list[str]]) -> Iterator[Loss]:
    for file in change.files:
        if posixpath.basename(file.path) != b"package.json":
            continue
        old, new = _package(change.read_base(file.path)), _package(change.read(file.path) if file.exists else None)
        used = _used(old, pieces)
        for name in sorted(used):
            if old[name] != new.get(name):
                now = quoted(new[name]) if name in new else "gone"
                line = _line_of(change.read(file.path) if file.exists else b"", f'"{name}"')
                yield Loss(file.path, line, f"script {quoted(name)} was {quoted(old[name])} and is {now}")
        for name in sorted(new.keys() - old.keys()):
            if name.removeprefix("pre").removeprefix("post") in used:
                line = _line_of(change.read(file.path), f'"{name}"')
                yield Loss(
                    file.path, line, f"script {quoted(name)} runs beside a check: {quoted(new[name])}", mild=True
                )


def _used(scripts: dict[str, str], pieces: list[list[str]]) -> set[str]:
    """Return the scripts that are checks by their name, that a check names, or that one of these runs."""
    used = {
        name
        for name in scripts
        if CHECKS.fullmatch(name) or any(name in given[1:3] for given in pieces if given[0] in MANAGERS)
    }
    todo = list(used)
    while todo:
        text = scripts[todo.pop()]
        given = set(text.split()) if RUNS_SCRIPTS.search(text) else set[str]()
        todo += (more := (given & scripts.keys()) - used)
        used |= more
    return used


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
        yield from _in_place(change, folder, names, targets)
        for file in change.files:
            path = file.path.decode("utf-8", "surrogateescape")
            if path in {posixpath.normpath(posixpath.join(folder, name)) for name in names}:
                old = _recipes(change.read_base(file.path))
                new = _recipes(change.read(file.path) if file.exists else None)
                yield from _lost_lines(file.path, targets, old, new)
                yield from _steering(file.path, change.read_base(file.path) or b"", change.read(file.path))


def _in_place(change: Change, folder: str, names: tuple[str, ...], targets: list[str]) -> Iterator[Loss]:
    """Yield new files that make takes for its own, or for a target that is done already."""
    places = [posixpath.normpath(posixpath.join(folder, name)).encode() for name in names]
    done = [posixpath.normpath(posixpath.join(folder, target)).encode() for target in targets]
    for path in (file.path for file in change.files if file.exists and file.old_mode == 0):
        if path in places and any(later in change.tree for later in places[places.index(path) + 1 :]):
            yield Loss(path, 1, "make reads this new file in place of the Makefile")
        if any(_is_new(change, path, name) for name in done) and any(place in change.tree for place in places):
            yield Loss(path, 1, "make does nothing for a target of this name, unless it is .PHONY", mild=True)


def _is_new(change: Change, path: bytes, name: bytes) -> bool:
    """Whether ``path``, a new one, is ``name`` or the first file below a folder of that name."""
    if path == name:
        return True
    new = {file.path for file in change.files if file.old_mode == 0}
    return path.startswith(name + b"/") and all(p in new for p in change.tree if p.startswith(name + b"/"))


def _steering(path: bytes, old: bytes, new: bytes) -> Iterator[Loss]:
    """Yield new lines of a Makefile that decide how, and whether, all others are run."""
    known = {squeezed(line) for line in old.decode("utf-8", "replace").split("\n")}
    for number, line in enumerate(map(squeezed, new.decode("utf-8", "replace").split("\n")), start=1):
        if line not in known and STEERING.match(line):
            yield Loss(path, number, f"decides how every line is run: {quoted(line)}")
        elif line not in known and CHOICES.match(line):
            yield Loss(path, number, f"decides which lines are there: {quoted(line)}", mild=True)


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
    again: set[str] = set()
    for number, line in enumerate((content or b"").decode("utf-8", "replace").split("\n"), start=1):
        if line.startswith("\t"):
            for target in current:
                if target in again:  # make runs the last recipe of a target alone
                    found[target][1][:] = [one for one in found[target][1] if RULE.match(one[1])]
                    again.discard(target)
                found[target][1].append((number, squeezed(line)))
        elif variable := VARIABLE.match(line):
            lines = found.setdefault(f"${variable['name']}", ([], []))[1]
            if not re.search(r"[?+]=", variable[0]):
                lines.clear()
            lines.append((number, squeezed(line)))
        elif rule := RULE.match(line):
            current = rule["targets"].split()
            again = set() if "::" in rule[0] else set(current)
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
        if line not in before and re.search(
            r"\|\|\s*(true|:|exit 0|\\$)|^[@+]?-|\bignore\b|--exit-zero|(^|[;&]\s*)[@+]?exit( 0)?\s*(;|\\|$)", line
        ):
            yield Loss(path, number, f"a check's failure is passed over: {quoted(line)}")
