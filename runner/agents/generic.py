"""Any command-line agent, by its command alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from runner.agents.base import AgentResult, AgentRun


class Generic:
    """Adapter for a command of the policy file."""

    resumes = False

    def command(self, run: AgentRun) -> list[str]:
        """Return the argument list."""
        raise NotImplementedError

    def environment(self, run: AgentRun, offered: Mapping[str, str]) -> dict[str, str]:
        """Return the whole environment."""
        raise NotImplementedError

    def parse(self, run: AgentRun, stream: Iterable[bytes], exit_code: int | None) -> AgentResult:
        """Read the stream."""
        raise NotImplementedError
