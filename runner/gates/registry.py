"""The built-in gates, in their order: each a pure function of the change."""

from __future__ import annotations

from typing import TYPE_CHECKING

from runner.gates.conflicts import conflicts
from runner.gates.scope import scope
from runner.gates.secrets import secrets

if TYPE_CHECKING:
    from collections.abc import Callable

    from runner.contract import GateResult
    from runner.gates.change import Change

BUILT_IN: tuple[Callable[[Change], GateResult], ...] = (scope, conflicts, secrets)
"""What is cheap and certain comes first; the repository's own commands follow."""


def check(change: Change, clock: Callable[[], float]) -> tuple[GateResult, ...]:
    """Run every built-in gate, whatever the ones before said: the agent is told all at once."""
    return tuple(_timed(gate, change, clock) for gate in BUILT_IN)


def _timed(gate: Callable[[Change], GateResult], change: Change, clock: Callable[[], float]) -> GateResult:
    start = clock()
    result = gate(change)
    return result.model_copy(update={"seconds": max(0.0, clock() - start)})
