"""What the machine tells the runner: environment to a frozen :class:`Settings`, every fault named at once.

Read once in :mod:`runner.__main__` and passed on; nothing else of the runner looks at the environment. GitHub's own
names are documented under "Store information in variables" and "OpenID Connect reference".
"""

from __future__ import annotations

import re
import socket
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from collections.abc import Mapping

LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})
"""Hosts that may be spoken to without TLS."""

SECRETS = (
    "GITHUB_TOKEN",
    "ACTIONS_ID_TOKEN_REQUEST_URL",
    "ACTIONS_ID_TOKEN_REQUEST_TOKEN",
    "ACTIONS_RUNTIME_TOKEN",
    "ACTIONS_RUNTIME_URL",
    "ACTIONS_CACHE_URL",
    "ACTIONS_RESULTS_URL",
)
"""Names that leave the process environment as soon as they have been read."""


GITHUB = "https://github.com"
"""The git server of repositories where a run's environment names no other."""
MIN_FREE = 5e9
"""Bytes that must be free before a job is begun, where TWOGATE_MIN_FREE (in gigabytes) says nothing else."""


class SettingsError(Exception):
    """The environment can't be used; ``str()`` is a sentence a fault, a line each."""


@dataclass(frozen=True, slots=True)
class Identity:
    """Where GitHub hands out this run's OIDC tokens, and the bearer token that asks for one."""

    url: str
    token: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class Settings:
    """The runner's settings; secrets are kept out of ``repr``."""

    url: str
    """The bot's address without a trailing slash; also the audience of every OIDC token."""
    home: Path
    """Everything the runner keeps: stores, worktrees, jobs, locks, cache."""
    runner: str
    """This machine's name, for the report."""
    environment: Mapping[str, str] = field(repr=False)
    """What agents and checks may choose from by their allow-lists: the runner's environment without its own names."""
    identity: Identity | None = None
    """None outside of Actions, or where the workflow lacks ``id-token: write``."""
    github_token: str | None = field(default=None, repr=False)
    """The workflow's own token: reads the repository, and is gone before an agent starts."""
    tools: tuple[Path, ...] = ()
    """Folders with programs that agents and checks may use besides the system's, readable inside the sandbox."""
    agent_user: str | None = None
    """The user that agents run as, where the runner may switch."""
    agent_env: tuple[str, ...] = ()
    """Names of further variables that every agent may see."""
    clone_host: str = GITHUB
    """Where repositories are cloned from, for the doctor: GITHUB_SERVER_URL in a run."""
    min_free: float = MIN_FREE
    """Bytes that must be free below ``home`` before a job is begun."""


def from_environment(environ: Mapping[str, str], *, offline: bool = False) -> Settings:
    """Read the settings; ``offline`` commands do without the bot's address.

    Raises :class:`SettingsError` with every fault found.
    """
    url = environ.get("TWOGATE_URL", "").rstrip("/")
    faults = [] if offline and not url else _url_faults(url)
    home = Path(environ.get("TWOGATE_HOME") or Path(environ.get("HOME", "/"), ".twogate"))
    if not home.is_absolute():
        faults.append(f"TWOGATE_HOME is {str(home)!r}: give an absolute path.")
    tools = tuple(Path(entry) for entry in environ.get("TWOGATE_TOOLS", "").split(":") if entry)
    faults += [f"TWOGATE_TOOLS names {str(t)!r}, which is not a folder." for t in tools if not t.is_dir()]
    names = environ.get("TWOGATE_AGENT_ENV", "").replace(",", " ").split()
    faults += [f"TWOGATE_AGENT_ENV names {n}, which no agent may see." for n in names if _is_own(n)]
    min_free = _gigabytes(environ.get("TWOGATE_MIN_FREE", ""), faults)
    if faults:
        raise SettingsError("\n".join(faults))
    return Settings(
        url=url,
        home=home,
        runner=(environ.get("RUNNER_NAME") or socket.gethostname())[:100],
        environment={name: value for name, value in environ.items() if not _is_own(name)},
        identity=_identity(environ),
        github_token=environ.get("GITHUB_TOKEN") or None,
        tools=tools,
        agent_user=environ.get("TWOGATE_AGENT_USER") or None,
        agent_env=tuple(names),
        clone_host=environ.get("GITHUB_SERVER_URL") or GITHUB,
        min_free=min_free,
    )


def _url_faults(url: str) -> list[str]:
    try:
        parts = urlsplit(url)
    except ValueError:
        parts = urlsplit("")
    if parts.scheme not in {"http", "https"} or not parts.hostname:
        return [f"TWOGATE_URL is {url!r}: set the repository variable of that name to the bot's address (https://…)."]
    if parts.scheme == "http" and parts.hostname not in LOOPBACK:
        return [f"TWOGATE_URL is {url!r}: tokens travel there, so it has to begin with https://."]
    return []


def _gigabytes(text: str, faults: list[str]) -> float:
    if not text:
        return MIN_FREE
    if not re.fullmatch(r"[0-9]{1,6}(\.[0-9]{1,3})?", text):
        faults.append(f"TWOGATE_MIN_FREE is {text!r}: give the gigabytes that must be free, for instance 5.")
        return MIN_FREE
    return float(text) * 1e9


def _is_own(name: str) -> bool:
    return name in SECRETS or name.startswith(("ACTIONS_", "GITHUB_", "TWOGATE_", "GH_"))


def _identity(environ: Mapping[str, str]) -> Identity | None:
    url, token = environ.get("ACTIONS_ID_TOKEN_REQUEST_URL"), environ.get("ACTIONS_ID_TOKEN_REQUEST_TOKEN")
    return Identity(url, token) if url and token else None
