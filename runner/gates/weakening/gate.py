"""The gate itself: reads every changed file on both sides, and tells what the plan has not named."""

from __future__ import annotations

from typing import TYPE_CHECKING

from runner.gates.verdict import failed, noted, passed, shown
from runner.gates.weakening import generic, go, javascript, python, rust
from runner.gates.weakening.commands import commands
from runner.gates.weakening.compare import losses
from runner.gates.weakening.configuration import configuration

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from runner.contract import GateResult
    from runner.gates.change import Change
    from runner.gates.weakening.facts import Loss, Sheet

NAME = "weakening"
READERS: dict[str, Callable[[str, str], Sheet | None]] = {
    **dict.fromkeys(python.SUFFIXES, python.read),
    **dict.fromkeys(javascript.SUFFIXES, javascript.read),
    **dict.fromkeys(go.SUFFIXES, go.read),
    **dict.fromkeys(rust.SUFFIXES, rust.read),
}
"""Who reads a file, by the end of its name; :mod:`.generic` reads all others, and what its own reader can't."""


def weakening(change: Change) -> GateResult:
    """Return whether tests and checks are as strong as before, but for what the plan names."""
    base = _sheets((file.path, change.read_base(file.path)) for file in change.files)
    head = _sheets((file.path, change.read(file.path)) for file in change.files if file.is_text_candidate)
    found = sorted({*losses(base, head), *configuration(change), *commands(change)})
    named = {path.encode() for path in change.weakens}
    faults = [_said(loss) for loss in found if loss.path not in named and not loss.mild]
    shown_only = [_said(loss) for loss in found if loss.path not in named and loss.mild]
    shown_only += [f"{_said(loss)} The plan names it." for loss in found if loss.path in named]
    if faults:
        return failed(NAME, [*faults, *shown_only])
    return noted(NAME, shown_only) if shown_only else passed(NAME, "No test and no check is weaker than before.")


def _said(loss: Loss) -> str:
    return f"{shown(loss.path)}:{loss.line}: {loss.what}."


def _sheets(files: Iterable[tuple[bytes, bytes | None]]) -> dict[bytes, Sheet]:
    return {path: sheet(path, content) for path, content in files if content is not None and b"\0" not in content}


def sheet(path: bytes, content: bytes) -> Sheet:
    """Return the facts of one file; what its own language's reader can't read is read line by line."""
    name, text = path.decode("utf-8", "replace"), content.decode("utf-8", "replace").replace("\r\n", "\n")
    reader = next((read for suffix, read in READERS.items() if name.endswith(suffix)), generic.read)
    return reader(name, text) or generic.read(name, text)
