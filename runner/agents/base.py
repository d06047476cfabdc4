"""What the runner asks of an adapter: a command line, an environment, and the reading of what the agent printed.

An adapter never decides whether the work succeeded. It says what ran and what it cost; the result file, valid against
the unit's schema (:mod:`runner.agents.result`), decides.
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from pathlib import Path  # noqa: TC003 - part of the public fields
from typing import TYPE_CHECKING, Any, Protocol

from runner.settings import LOOPBACK

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from runner.results import Unit
    from runner.terms import AgentSpec, Api, Budget

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

MAX_ARGUMENT = 128 * 1024 - 1
"""Bytes Linux takes as one argument (``MAX_ARG_STRLEN``, less the final zero)."""
MAX_LINE = 4 * 1024 * 1024
"""Bytes of one line of an agent's stream; a longer one is skipped, since no usage record is that long."""
MAX_SAID = 200
"""Characters of an agent's own words about a fault."""
MAX_TOKENS = 10**12
"""A count beyond it is nonsense, and read as not given."""


class AgentError(Exception):
    """The agent can't be started as it is set up; the message says what to change."""


@dataclass(frozen=True, slots=True)
class Endpoint:
    """The meter of a run (:mod:`runner.meter`), as its agent sees it."""

    url: str
    """Scheme, host and port."""
    key: str = field(repr=False)
    """The placeholder for a key: a random secret of this run, worth nothing anywhere else."""

    def base(self, api: Api) -> str:
        """Return the address that stands for the model API's own, without ``/v1`` or ``/v1beta``."""
        return f"{self.url}/{api}"


TOOLBOX = "TWOGATE_TOOLBOX"
"""The variable that names the socket of a run's tools to its agent. (``TWOGATE_TOOLS`` is the runner's own, and names
folders of programs.)"""


@dataclass(frozen=True, slots=True)
class ToolAccess:
    """How an agent reaches the tools of its run (:mod:`runner.tools`); gone with the run."""

    folder: Path
    """Holds an executable for each tool that the unit may call, and those of the repository; comes first on PATH."""
    socket: Path
    """Where they reach the runner."""
    mcp: tuple[str, ...]
    """The command of a server of the Model Context Protocol on standard input and output, which offers the same tools.
    It needs nothing of the environment."""


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
    endpoint: Endpoint | None = None
    """None where the agent can't be pointed at the meter: then it gets the credentials that its adapter names."""
    resume: bool = False
    read_only: bool = False
    tools: ToolAccess | None = None
    """None where the unit may call none."""
    started_at: float = 0.0
    """Epoch seconds: what a session log tells of the time before is not of this run."""


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
    web_searches: int = 0
    """Searches of the web that the provider ran for the model and bills by number."""
    file_searches: int = 0
    """Likewise of files that it keeps."""
    variant: tuple[str, str] | None = None
    """How the answer says it was served, where the price goes by it: ``("service_tier", "priority")``."""
    extras: bool = False
    """Whether something else was used whose price nobody here knows, so that the dollars read "at least"."""

    @property
    def all_input(self) -> int:
        """Every input token, however it is billed."""
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
    """Dollars of this run alone, as the agent reports them; None where it doesn't, or can't know the price."""
    complete: bool = True
    """False where the stream broke off, so that the figures read "at least"."""


class Agent(Protocol):
    """One command-line agent."""

    program: str
    """The name by which its program is found on PATH; empty where the policy file names it."""
    resumes: bool
    """Whether a failed gate can go back to the same session."""
    keeps: tuple[str, ...]
    """What a later job needs to go on with a session: patterns relative to HOME, ``{session}`` for its name. Nothing of
    the agent's settings and log-ins."""

    def api(self, spec: AgentSpec) -> Api | None:
        """Return the wire format by which the agent can be pointed at the meter; None where it can't be."""

    def command(self, run: AgentRun) -> list[str]:
        """Return the argument list; the working directory is the worktree, standard input is empty.

        Raises :class:`AgentError` where the settings do not make a command.
        """

    def environment(self, run: AgentRun, offered: Mapping[str, str]) -> dict[str, str]:
        """Return the agent's whole environment: its own settings, and of ``offered`` the names it declares.

        Names that the runner's owner allows on top (``TWOGATE_AGENT_ENV``) are added by the caller.
        """

    def files(self, run: AgentRun) -> dict[str, str]:
        """Return what must lie in HOME before the start: content by path relative to HOME."""

    def parse(self, run: AgentRun, stream: Iterable[bytes], exit_code: int | None) -> AgentResult:
        """Read the agent's standard output, line by line. ``exit_code`` is None where the runner ended the agent."""


def common_environment(run: AgentRun, offered: Mapping[str, str], names: tuple[str, ...]) -> dict[str, str]:
    """Return the environment every agent starts from: the common names, ``names``, and the run's own folders.

    No proxy stands between an agent and the meter, and git looks for no repository above the work tree.
    """
    chosen = {name: offered[name] for name in (*COMMON_NAMES, *names) if name in offered}
    own = {"HOME": str(run.home), "TMPDIR": str(run.home / "tmp"), "GIT_CEILING_DIRECTORIES": str(run.worktree.parent)}
    env = chosen | own | {"TERM": "dumb", "NO_COLOR": "1"} | _tools(run, chosen)
    return past_proxies(env) if run.endpoint else env


def _tools(run: AgentRun, chosen: Mapping[str, str]) -> dict[str, str]:
    """Return the variables by which a run's tools are found."""
    if run.tools is None:
        return {}
    return {"PATH": f"{run.tools.folder}:{chosen.get('PATH', os.defpath)}", TOOLBOX: str(run.tools.socket)}


def past_proxies(env: Mapping[str, str]) -> dict[str, str]:
    """Return an environment in which no proxy stands before the meter, in both spellings; once more changes nothing."""
    named = ",".join(env.get(name, "") for name in ("NO_PROXY", "no_proxy")).split(",")
    straight = ",".join(dict.fromkeys(filter(None, (*named, *sorted(LOOPBACK)))))
    return {**env, "NO_PROXY": straight, "no_proxy": straight}


def prompt_of(run: AgentRun) -> str:
    """Return the prompt as it is given as one argument; raise :class:`AgentError` where it is too long for one."""
    prompt = run.prompt_file.read_text(encoding="utf-8")
    if len(prompt.encode()) > MAX_ARGUMENT:
        raise AgentError(f"The prompt is longer than {MAX_ARGUMENT} bytes, the most that fits one argument.")
    return prompt


FED = ("/bin/sh", "-c", 'exec "$@" <"$0"')
"""What goes before a prompt's file and a command that reads the prompt from standard input."""


def fed(prompt_file: Path, command: Sequence[str]) -> list[str]:
    """Return the argument list by which ``command`` reads the prompt from standard input, in the same process."""
    return [*FED, str(prompt_file), *command]


def program_of(command: Sequence[str]) -> str:
    """Return the agent's own program in its argument list."""
    return command[len(FED) + 1] if tuple(command[: len(FED)]) == FED else command[0]


def shortened(said: object) -> str:
    """Return an agent's own words about a fault on one line, short enough for a sentence."""
    return " ".join(str(said).split())[:MAX_SAID] or "it gave no reason"


def json_lines(stream: Iterable[bytes]) -> Iterator[dict[str, Any]]:
    """Yield the JSON objects among the lines of ``stream``; what is none, or has no end, is passed over."""
    for line in stream:
        if len(line) > MAX_LINE:
            continue
        try:
            record = json.loads(line, parse_float=Decimal, parse_constant=_refuse)
        except (ValueError, ArithmeticError, RecursionError):
            continue
        if isinstance(record, dict):
            yield record


def _refuse(name: str) -> None:
    raise ValueError(f"{name} is no number of JSON")


def count(record: Mapping[str, Any], name: str) -> int | None:
    """Return the token count ``name`` of ``record``; None where it is missing or no sensible count."""
    value = record.get(name)
    fits = isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= MAX_TOKENS
    return value if fits else None


def moment(record: Mapping[str, Any], name: str) -> float:
    """Return the ISO time ``name`` of ``record`` in seconds since the epoch; what is none is long ago."""
    try:
        return datetime.fromisoformat(str(record.get(name))).timestamp()
    except (ValueError, OverflowError):
        return 0.0


def dollars(record: Mapping[str, Any], name: str) -> Decimal | None:
    """Return the amount ``name`` of ``record``; None where it is missing or no sensible amount."""
    value = record.get(name)
    if isinstance(value, bool) or not isinstance(value, int | Decimal) or not 0 <= value <= MAX_TOKENS:
        return None
    return Decimal(value)


def table(record: Mapping[str, Any], name: str) -> dict[str, Any]:
    """Return the object ``name`` of ``record``; an empty one where it is missing or something else."""
    value = record.get(name)
    return value if isinstance(value, dict) else {}
