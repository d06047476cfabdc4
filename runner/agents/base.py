"""What the runner asks of an adapter: a command line, an environment, and the reading of what the agent printed.

An adapter never decides whether the work succeeded. It says what ran and what it cost; the result file, valid against
the unit's schema (:mod:`runner.agents.result`), decides.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path  # noqa: TC003 - part of the public fields
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from decimal import Decimal

    from runner.contract import AgentSpec, Budget
    from runner.results import Unit

COMMON_NAMES = (
    "PATH",
    "LANG",
    "LC_ALL",
    "TZ",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "NODE_EXTRA_CA_CERTS",
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "NO_PROXY",
)
"""Names any agent may take from the runner's environment: where programs are, which language, how to reach the net."""

MAX_LINE = 4 * 1024 * 1024
"""Bytes of one line of an agent's stream that are looked at; a longer line is skipped, not held in memory twice."""


class AgentError(Exception):
    """The agent can't be started as it is set up; the message says what to change."""


@dataclass(frozen=True, slots=True)
class SessionTotal:
    """What an agent's session had cost when its last run ended; some agents report sums over a whole session."""

    usd: Decimal
    input_tokens: int
    """All input, cache reads and writes included."""


@dataclass(frozen=True, slots=True)
class AgentRun:
    """One start of one agent."""

    unit: Unit
    spec: AgentSpec
    attempt: int
    prompt_file: Path
    """The exact prompt, written by the runner."""
    result_file: Path
    """Where the agent must write its typed result; its folder belongs to the runner, the file to the agent."""
    worktree: Path
    home: Path
    """A folder of this run alone; becomes HOME, and TMPDIR is the folder ``tmp`` in it. The runner makes both."""
    session: str
    """A UUID: the name of the session to start, or the session to go on with."""
    budget: Budget
    resume: bool = False
    read_only: bool = False
    session_before: SessionTotal | None = None
    """For a resumed session: ``AgentResult.session_total`` of the run before."""


@dataclass(frozen=True, slots=True)
class Call:
    """Tokens of one call to a model. Input is without cache reads and writes, output with reasoning."""

    model: str | None
    input_tokens: int
    output_tokens: int
    cache_read_tokens: int = 0
    cache_write_tokens: int = 0
    cache_write_1h_tokens: int = 0
    """The part of the cache writes that is kept for an hour, and dearer."""
    reasoning_tokens: int | None = None

    @property
    def all_input(self) -> int:
        """Every input token, however it was billed."""
        return self.input_tokens + self.cache_read_tokens + self.cache_write_tokens


@dataclass(frozen=True, slots=True)
class AgentResult:
    """What one run of an agent said and used."""

    ok: bool
    """The agent ended by itself and reported no error. Necessary, never sufficient."""
    error: str | None
    """A sentence where ``ok`` is False."""
    session: str | None
    """The session that a later run can resume, None where there is none."""
    final_text: str | None = None
    """The agent's last message, where the adapter knows exactly which one that is."""
    denied: int = 0
    """Tool calls that the agent's own permission system refused."""
    calls: tuple[Call, ...] | None = None
    """Usage by call; None where the agent tells none: unknown, not zero."""
    usd: Decimal | None = None
    """Dollars of this run alone, as the agent reports them."""
    session_total: SessionTotal | None = None
    complete: bool = True
    """False where the stream broke off, so that the figures read "at least"."""


class Agent(Protocol):
    """One command-line agent."""

    resumes: bool
    """Whether a failed gate can go back to the same session."""

    def command(self, run: AgentRun) -> list[str]:
        """Return the argument list; the working directory is the worktree, standard input is empty.

        Raises :class:`AgentError` where the settings do not make a command.
        """

    def environment(self, run: AgentRun, offered: Mapping[str, str]) -> dict[str, str]:
        """Return the agent's whole environment, the allowed part of ``offered`` (the runner's own) included."""

    def parse(self, run: AgentRun, stream: Iterable[bytes], exit_code: int | None) -> AgentResult:
        """Read the agent's standard output, line by line. ``exit_code`` is None where the runner ended the agent."""


def common_environment(run: AgentRun, offered: Mapping[str, str], names: tuple[str, ...]) -> dict[str, str]:
    """Return the environment every agent starts from: the common names, ``names``, and the run's own folders."""
    chosen = {name: offered[name] for name in (*COMMON_NAMES, *names) if name in offered}
    return chosen | {"HOME": str(run.home), "TMPDIR": str(run.home / "tmp"), "TERM": "dumb", "NO_COLOR": "1"}
