"""The built-in gates, in their order."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from runner.contract import GateResult
    from runner.gates.change import Change


def check(change: Change, clock: Callable[[], float]) -> tuple[GateResult, ...]:
    """Run every built-in gate: scope, conflict markers, secrets."""
    raise NotImplementedError
