"""Gate ``scope``: the change stays within what the approved plan names, and out of what no plan may touch.

Protected paths pass only where the plan names them explicitly: with a pattern that lies within the protecting one.
``.circleci/**`` names what ``**/.*/**`` protects; ``**`` doesn't, though it covers it.
What agents are told, ``.twogate/promptware/``, passes only where the plan names it by a path or a pattern that begins
with it; lessons that the runner wrote are outside of the gate as long as they are what it wrote.
Case is no way around: never-paths and protected paths are compared without it, since some file systems do the same.
"""

from __future__ import annotations

import posixpath
from typing import TYPE_CHECKING

from runner.gates.change import MODE_FILE, MODE_GITLINK, MODE_LINK
from runner.gates.verdict import failed, passed, shown
from runner.globs import any_match, matches
from runner.program import OVERRIDES
from runner.results import Unit

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from runner.contract import GateResult
    from runner.gates.change import Change, Changed

NAME = "scope"

NEVER = (".github", ".github/workflows", ".github/workflows/**", ".github/twogate.yml", ".git", ".git/**")
"""No plan may change these: they decide what runs with the repository's rights, and what Twogate may do. The folders
stand here too, so that no file or link takes their place."""

LOCK_FILES = (
    "package-lock.json",
    "npm-shrinkwrap.json",
    "yarn.lock",
    "pnpm-lock.yaml",
    "bun.lock",
    "bun.lockb",
    "deno.lock",
    "poetry.lock",
    "uv.lock",
    "pdm.lock",
    "Pipfile.lock",
    "pylock.toml",
    "pylock.*.toml",
    "requirements.lock",
    "conda-lock.yml",
    "Cargo.lock",
    "go.sum",
    "Gemfile.lock",
    "composer.lock",
    "mix.lock",
    "flake.lock",
    "gradle.lockfile",
    "packages.lock.json",
    "Package.resolved",
    "Podfile.lock",
    "pubspec.lock",
)
"""Files that say which foreign code is fetched."""
INSTRUCTIONS = ("CLAUDE.md", "CLAUDE.local.md", "AGENTS.md", "AGENTS.override.md", "AGENT.md", "GEMINI.md", "QWEN.md")
"""Files that tell later agents what to do."""
PROTECTED = (
    "**/.*",
    "**/.*/**",
    "**/CODEOWNERS",
    *(f"**/{name}" for name in INSTRUCTIONS),
    *(f"**/{name}" for name in LOCK_FILES),
)
"""Protected in every repository; ``.twogate/`` and ``.gitmodules`` are among them, as all names with a dot."""
UNITS = "promptware"
"""Where a product of Twogate's kind keeps the units that it ships; below it, folders with the name of a unit count."""


def scope(change: Change) -> GateResult:
    """Return whether every changed path may change, and no link or name is there to mislead."""
    seen = _Names(change)
    faults = [said for file in change.files for said in _faults(file, change, seen)]
    if faults:
        return failed(NAME, faults)
    own = sum(_is_own(file, change) for file in change.files)
    planned = len(change.files) - own
    if own and not planned:
        return passed(NAME, "Nothing but what the runner wrote itself is changed.")
    changed = {1: "The changed path is", 2: "Both changed paths are"}.get(planned, f"All {planned} changed paths are")
    besides = f", besides {own} that the runner wrote itself" if own else ""
    return passed(NAME, f"{changed} in the plan{besides}.")


def never(pattern: str) -> str | None:
    """Return why a plan can't ask for ``pattern``: it names what no plan may change; None where it doesn't."""
    lowered = pattern.casefold() + ("**" if pattern.endswith("/") else "")
    if any(matches(forbidden, lowered) for forbidden in NEVER):
        return f"{pattern!r} can't be in a plan: workflow files and the policy file are changed by people alone."
    return None


def _faults(file: Changed, change: Change, names: _Names) -> Iterator[str]:
    if not _is_own(file, change):
        fault = unplanned(file.path, change.plan_files, change.protected)
        if fault:
            yield f"{shown(file.path)}: {fault}"
    if MODE_GITLINK in {file.new_mode, file.old_mode} and file.new_mode != file.old_mode:
        yield f"{shown(file.path)}: a submodule is put in or taken out; that is for a person to do."
    if file.new_mode == MODE_LINK and _leaves(file.path, change.read(file.path), names):
        yield f"{shown(file.path)}: the link leads out of the repository."
    if file.exists and (twin := names.twin(file.path)):
        yield f"{shown(file.path)}: differs from {shown(twin)} in case alone; some systems can hold only one."


def _is_own(file: Changed, change: Change) -> bool:
    """Whether the runner wrote the file, and nobody has touched it since."""
    written = change.own.get(file.path)
    return written is not None and file.new_mode == MODE_FILE and change.whole(file.path) == written


def unplanned(path: bytes, plan_files: Sequence[str], protected: Sequence[str]) -> str | None:
    """Return why the plan does not allow a change of ``path``, None where it does; ``protected`` is the policy's."""
    folded = _fold(path)
    if any_match(NEVER, folded):
        return "no plan may change it; a person does that by hand."
    covering = [pattern for pattern in plan_files if matches(pattern, path)]
    if not covering:
        return "the plan does not name it."
    if (told := _told(folded)) and not any(_begins(pattern.casefold(), told) for pattern in covering):
        return f"it is what agents are told; the plan has to name it by a path or pattern that begins with {told}/."
    for rule in (*PROTECTED, *protected):
        lowered = rule.casefold()
        if matches(lowered, folded) and not any(matches(lowered, pattern.casefold()) for pattern in covering):
            return f"it is protected ({rule}), and the plan does not name it explicitly."
    return None


def _told(folded: str) -> str | None:
    """Return the folder of what agents are told that the path lies in, or stands in the place of; None for others."""
    if _begins(folded, OVERRIDES) or _begins(OVERRIDES, folded):
        return OVERRIDES
    return UNITS if any(_begins(folded, f"{UNITS}/{unit}".casefold()) for unit in Unit) else None


def _begins(path: str, folder: str) -> bool:
    return path == folder or path.startswith(f"{folder}/")


def _leaves(path: bytes, target: bytes, names: _Names) -> bool:
    """Whether a link at ``path`` leads out of the tree, or into git's own folder.

    It is told by the text; above what is a link itself (``link/..``) that says nothing, so such a target is refused.
    """
    if target.startswith(b"/") or b"\\" in target or not target:
        return True
    parts = target.split(b"/")
    for depth in (depth for depth, part in enumerate(parts) if part == b".."):
        above = posixpath.normpath(posixpath.join(posixpath.dirname(path), *parts[:depth]))
        if names.is_no_folder(above):
            return True
    landed = posixpath.normpath(posixpath.join(posixpath.dirname(path), target))
    return landed.split(b"/")[0] == b".." or _fold(landed).split("/")[0] == ".git"


def _fold(path: bytes) -> str:
    return path.decode("utf-8", "surrogateescape").casefold()


class _Names:
    """Every path at head and every folder above one, by its case-folded form."""

    def __init__(self, change: Change) -> None:
        self._by_fold: dict[str, set[bytes]] = {}
        self._tree = frozenset(change.tree)
        for path in change.tree:
            for name in _with_folders(path):
                self._by_fold.setdefault(_fold(name), set()).add(name)

    def is_no_folder(self, path: bytes) -> bool:
        """Whether a file or a link stands at ``path``."""
        return path in self._tree

    def twin(self, path: bytes) -> bytes | None:
        """Return a name that differs from ``path``, or a folder of it, in case alone."""
        for name in _with_folders(path):
            others = self._by_fold.get(_fold(name), set()) - {name}
            if others:
                return min(others)
        return None


def _with_folders(path: bytes) -> Iterator[bytes]:
    yield path
    while path := posixpath.dirname(path):
        yield path
