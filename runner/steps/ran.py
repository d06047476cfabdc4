"""What a run of an agent came to, before anything is made of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from runner.contract import Outcome
from runner.gates.command import tail_of
from runner.logs import STDERR_FILE, STDOUT_FILE
from runner.meter import Stop

if TYPE_CHECKING:
    from pathlib import Path

    from runner.agents.base import AgentResult
    from runner.process import Ended
    from runner.results import Unit
    from runner.steps.redact import Redactor
    from runner.tools import Toolbox


@dataclass(frozen=True)
class Ran:
    """One run that is over."""

    ended: Ended
    answer: AgentResult
    redact: Redactor
    toolbox: Toolbox

    def printed(self, folder: Path) -> str:
        """Return the end of what it printed, by its log in ``folder``."""
        return self.redact(tail_of(folder / STDERR_FILE).strip() or tail_of(folder / STDOUT_FILE).strip(), cut=True)

    def fault(self, unit: Unit, metered: Stop | None) -> Stop | None:
        """Return what went wrong with the agent, None where it ended by itself and well."""
        if metered is not None:
            return metered
        if self.ended.reason != "exited":
            sentence = f"The agent was ended after {self.ended.seconds / 60:.1f} minutes, the time of unit {unit}."
            return Stop(Outcome.TIMED_OUT, sentence)
        if not self.answer.ok:
            return Stop(Outcome.AGENT_FAILED, self.redact(self.answer.error or "The agent ended with an error."))
        return None
