"""The built-in gates, in their order: each a pure function of the change, and how far a policy may lower it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from runner.gates.conflicts import NAME as CONFLICTS
from runner.gates.conflicts import conflicts
from runner.gates.packages import NAME as DEPENDENCIES
from runner.gates.packages import dependencies
from runner.gates.scope import NAME as SCOPE
from runner.gates.scope import scope
from runner.gates.secrets import NAME as SECRETS
from runner.gates.secrets import secrets
from runner.gates.security import NAME as SECURITY
from runner.gates.security import security
from runner.gates.weakening import NAME as WEAKENING
from runner.gates.weakening import weakening
from runner.terms import CheckMode

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from runner.contract import GateResult
    from runner.gates.change import Change


@dataclass(frozen=True, slots=True)
class BuiltIn:
    """One built-in gate."""

    name: str
    judge: Callable[[Change], GateResult]
    mode: CheckMode
    """Where the policy says nothing."""
    choices: frozenset[CheckMode] = frozenset()
    """What a policy may say instead; anything else is passed over."""

    def chosen(self, checks: Mapping[str, CheckMode]) -> CheckMode:
        """Return what holds under a policy's ``checks``."""
        wanted = checks.get(self.name, self.mode)
        return wanted if wanted in self.choices else self.mode


ANY = frozenset(CheckMode)
BUILT_IN: tuple[BuiltIn, ...] = (
    BuiltIn(SCOPE, scope, CheckMode.BLOCK),
    BuiltIn(CONFLICTS, conflicts, CheckMode.BLOCK),
    BuiltIn(SECRETS, secrets, CheckMode.BLOCK),
    BuiltIn(SECURITY, security, CheckMode.INFORM, ANY),
    BuiltIn(DEPENDENCIES, dependencies, CheckMode.INFORM, ANY),
    BuiltIn(WEAKENING, weakening, CheckMode.BLOCK, frozenset({CheckMode.BLOCK, CheckMode.INFORM})),
)
"""What is cheap and certain comes first; the repository's own commands follow."""


def check(change: Change, clock: Callable[[], float], checks: Mapping[str, CheckMode]) -> tuple[GateResult, ...]:
    """Run every built-in gate that is not off, whatever the ones before said: the agent is told all at once."""
    modes = [(gate, gate.chosen(checks)) for gate in BUILT_IN]
    return tuple(_timed(gate, mode, change, clock) for gate, mode in modes if mode is not CheckMode.OFF)


def _timed(gate: BuiltIn, mode: CheckMode, change: Change, clock: Callable[[], float]) -> GateResult:
    start = clock()
    result = gate.judge(change)
    return _in_mode(result, mode).model_copy(update={"seconds": max(0.0, clock() - start)})


def _in_mode(result: GateResult, mode: CheckMode) -> GateResult:
    """Return ``result`` as ``mode`` has it; what a gate lets pass with a note (``noted``) is never made to block."""
    return result.model_copy(update={"blocking": False}) if mode is CheckMode.INFORM else result
