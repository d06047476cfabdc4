"""The settings of checks: what a change turns off, lets through, or leaves out there.

Files whose form is known are compared key by key (:mod:`.keys` knows which direction is the weaker); of all others each
line that changed is told.
"""

from __future__ import annotations

import posixpath
import re
from collections import Counter
from typing import TYPE_CHECKING

from runner.gates.weakening.facts import Loss, quoted, squeezed, words
from runner.gates.weakening.keys import LETS_THROUGH, weaker
from runner.gates.weakening.lexing import lex
from runner.gates.weakening.settings import Settings, flat, parsed

if TYPE_CHECKING:
    from collections.abc import Iterator

    from runner.gates.change import Change

TOOLS = words(
    "pytest coverage ruff mypy pyright basedpyright ty pylint flake8 bandit tox nox hatch poe taskipy pdm "
    "diff_cover interrogate vulture deptry importlinter mutmut"
)
"""Tables below ``tool`` of a pyproject.toml that steer checks."""
PARTS: dict[str, tuple[str, ...]] = {
    "pyproject.toml": tuple(f"tool.{name}" for name in TOOLS),
    "setup.cfg": ("tool:pytest", "coverage:", "flake8", "mypy", "pylint", "bandit", "isort"),
    "package.json": ("jest", "eslintConfig", "nyc", "c8", "mocha", "ava", "vitest", "tap", "lint-staged", "stylelint"),
    "Cargo.toml": (
        *("lints", "workspace.lints", "workspace.members", "workspace.exclude", "workspace.default-members"),
        *("profile.test", "lib.test", "lib.doctest", "lib.harness", "package.autotests"),
    ),
    "deno.json": ("lint", "test"),
    "deno.jsonc": ("lint", "test"),
}
"""Which parts of a file are settings of checks, where not all of it is; a prefix of the dotted key."""
KNOWN = re.compile(
    r"(pytest|\.pytest|tox|mypy|\.mypy)\.ini|\.?pytest\.toml|\.coveragerc|\.flake8|\.?pylintrc|\.?ruff\.toml|pyrightconfig\.json"
    r"|tsconfig[\w.-]*\.json|jsconfig\.json|\.eslintrc(\.(json|ya?ml))?|\.?oxlintrc\.json|biome\.jsonc?|\.(nyc|c8|mocha)rc(\.(json|ya?ml))?"
    r"|jest\.config\.json|\.stylelintrc(\.(json|ya?ml))?|\.golangci\.(ya?ml|toml|json)|\.?clippy\.toml|deny\.toml"
    r"|\.pre-commit-config\.ya?ml|\.rubocop(_todo)?\.yml|\.?codecov\.ya?ml|\.swiftlint\.yml|detekt\.yml|\.bandit|\.yamllint(\.ya?ml)?"
)
"""Names of files that are settings of checks as a whole, in a form that is read key by key."""
BY_LINE = re.compile(
    r"(eslint|jest|vitest|playwright|cypress|karma\.conf|wdio\.conf|stylelint|ava|web-test-runner)([\w.-]*)\.config\.[cm]?[jt]s|karma\.conf\.js"
    r"|\.(eslintrc|mocharc|nycrc)\.[cm]?js|noxfile\.py|\.rspec|\.semgrepignore|\.eslintignore|sonar-project\.properties|phpunit\.xml(\.dist)?"
    r"|phpstan\.neon(\.dist)?|psalm\.xml|(checkstyle|pmd|spotbugs)[\w.-]*\.xml|\.testcaferc\.js"
)
"""Names of files that are settings of checks and are told line by line."""
VITE = re.compile(r"vite\.config\.[cm]?[jt]s")
"""Settings of Vite, of which the part ``test`` is Vitest's; told line by line."""
MAX_LINES = 10
"""Lines of one file that are told one by one."""


def configuration(change: Change) -> Iterator[Loss]:
    """Yield what is weaker in the settings of checks, over the files of a change."""
    for file in change.files:
        name = posixpath.basename(file.path).decode("utf-8", "replace")
        whole = bool(KNOWN.fullmatch(name))
        if not (whole or name in PARTS or BY_LINE.fullmatch(name) or VITE.fullmatch(name)):
            continue
        old = change.read_base(file.path)
        new = change.read(file.path) if file.is_text_candidate else None
        if new is None:
            if whole or name not in PARTS:
                yield Loss(file.path, 1, "the settings of a check are gone")
                continue
            new = b""
        before, after = _decoded(old), _decoded(new)
        if VITE.fullmatch(name):
            before, after = _vitest(before), _vitest(after)
        old_settings, new_settings = _settings(name, before), _settings(name, after)
        if old_settings is None or new_settings is None:
            yield from _by_line(file.path, before, after)
        else:
            if old is None and whole:
                yield Loss(file.path, 1, "settings of a check are new here, and may come before others", mild=True)
            yield from _by_key(file.path, old_settings, new_settings, (before, after))


def _decoded(content: bytes | None) -> str:
    return (content or b"").decode("utf-8", "replace").replace("\r\n", "\n")


def _vitest(text: str) -> str:
    """Return the part ``test`` of a vite.config, on the lines it stands on."""
    source = lex(text, "javascript")
    found = re.search(r"(?<![\w$.])test\s*:\s*(?=\{)", source.code)
    if found is None:
        return ""
    return "\n" * text.count("\n", 0, found.start()) + text[found.start() : source.end(found.end())]


def _settings(name: str, text: str) -> Settings | None:
    """Return the settings of checks in a file by their dotted keys, None where it can't be read so."""
    if BY_LINE.fullmatch(name) or VITE.fullmatch(name):
        return None
    data = parsed(name, text)
    found = None if data is None else flat(data)
    if found is None or name not in PARTS:
        return found
    return {key: value for key, value in found.items() if key.startswith(PARTS[name])}


def _by_key(path: bytes, old: Settings, new: Settings, texts: tuple[str, str]) -> Iterator[Loss]:
    name = posixpath.basename(path).decode("utf-8", "replace")
    for key in sorted(old.keys() | new.keys()):
        was, now = old.get(key), new.get(key)
        if was == now:
            continue
        said = weaker(key, was, now)
        if said:
            text = texts[1] if key in new else texts[0]
            yield Loss(path, _line(text, key), f"{quoted(key, 60)}: {said}", mild=_is_set_up(name, key, old))


def _is_set_up(name: str, key: str, old: Settings) -> bool:
    """Whether a check is set up only now: what it looks at, and how, takes nothing away; what it lets through does."""
    if name in {"Cargo.toml", "package.json"} or LETS_THROUGH.fullmatch(
        re.split(r"[.\]]", key)[-1].replace("-", "_").casefold()
    ):
        return False
    part = next((part for part in PARTS.get(name, ()) if key.startswith(part)), "")
    return not any(known.startswith(part) for known in old)


def _line(text: str, key: str) -> int:
    """Return the line of a key: the first that begins with its last part, after as many of its parts as are found."""
    lines, at = text.split("\n"), 0
    for part in re.split(r"[.\[\]]+", key):
        wanted = re.compile(rf"(^|[\s\[.\"']){re.escape(part)}([\s\].\"':=]|$)")
        at = next((n for n in range(at, len(lines)) if wanted.search(lines[n])), at) if part else at
    return at + 1


def _by_line(path: bytes, before: str, after: str) -> Iterator[Loss]:
    old, new = (Counter(line for _, line in _lines(text)) for text in (before, after))
    told = [(number, f"now {quoted(line)}") for number, line in _lines(after) if line not in old]
    told += [(number, f"no longer {quoted(line)}") for number, line in _lines(before) if line not in new]
    for number, what in told[:MAX_LINES]:
        yield Loss(path, number, f"the settings of a check changed: {what}")
    if len(told) > MAX_LINES:
        yield Loss(path, told[MAX_LINES][0], f"the settings of a check changed in {len(told) - MAX_LINES} more lines")


def _lines(text: str) -> list[tuple[int, str]]:
    lines = ((number, squeezed(line)) for number, line in enumerate(text.split("\n"), start=1))
    return [(number, line) for number, line in lines if line and not line.startswith(("//", "#", "<!--"))]
