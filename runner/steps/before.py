"""What a check said of the base commit, kept by tree and command, so that many plans on one base run it once."""

from __future__ import annotations

import hashlib
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from runner.contract import GateResult, GateStatus
from runner.gates.command import GateRun
from runner.report import write_atomically

if TYPE_CHECKING:
    from runner.terms import GateSpec

CACHED = frozenset({GateStatus.PASSED, GateStatus.FAILED})
"""Results that are kept; a time-out may have been the machine's."""


@dataclass(frozen=True, slots=True)
class BaseCache:
    """``cache/gates/`` of the runner's home; no agent can write there."""

    folder: Path

    def recall(self, tree: str, gate: GateSpec) -> GateRun | None:
        """Return what ``gate`` said of ``tree``, None where that is not known."""
        place = self._place(tree, gate)
        try:
            result = GateResult.model_validate_json((place / "result.json").read_bytes())
            worktree = Path((place / "worktree").read_text())
        except (OSError, ValueError):
            return None
        return GateRun(result.model_copy(update={"name": gate.name}), place / "output", worktree)

    def keep(self, tree: str, gate: GateSpec, run: GateRun) -> None:
        """Keep what ``gate`` said of ``tree``; the result comes last, so that a half-kept one is none."""
        if run.result.status not in CACHED:
            return
        place = self._place(tree, gate)
        place.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(run.output, place / "output")
        write_atomically(place / "worktree", str(run.worktree).encode())
        write_atomically(place / "result.json", run.result.model_dump_json().encode())

    def _place(self, tree: str, gate: GateSpec) -> Path:
        key = "\0".join((tree, gate.run, str(gate.timeout_seconds)))
        return self.folder / hashlib.sha256(key.encode()).hexdigest()
