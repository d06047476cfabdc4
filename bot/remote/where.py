"""Which bot is asked, as whom, and about which repository: from the environment, ``gh``, and the folder one stands in.

No file of the folder says where a token goes: whoever wrote a checkout would say it.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from bot.errors import UserError
from bot.settings import LOOPBACK
from bot.wire import is_token

if TYPE_CHECKING:
    from collections.abc import Mapping

TOKENS = ("TWOGATE_TOKEN", "GH_TOKEN", "GITHUB_TOKEN")
"""Variables that may hold a token of GitHub, in the order in which they are looked at."""
HELPER_SECONDS = 10.0
"""How long ``gh`` and ``git`` may take to answer."""
NO_URL = "The bot's address is not known: set TWOGATE_URL to it, or give --url."
LOGGED_OUT = (
    "No token of GitHub was found: log in with `gh auth login`, or set TWOGATE_TOKEN to a token that can read the "
    "repositories."
)
NO_REPOSITORY = (
    "The repository is not known: give --repo OWNER/NAME, or stand in a checkout whose remote `origin` is it."
)
_REMOTE = re.compile(
    r"(?:(?:https?|ssh|git)://(?:[^/@]*@)?[^/]+/|[^/@:]+@[^/:]+:)"
    r"(?P<owner>[A-Za-z0-9][A-Za-z0-9_-]{0,38})/(?P<name>[A-Za-z0-9._-]{1,100}?)(?:\.git)?/?"
)


@dataclass(frozen=True, slots=True)
class Access:
    """A bot, and the person as whom it is asked."""

    url: str
    """Without a slash at its end."""
    token: str = field(repr=False)


def access(environment: Mapping[str, str], url: str | None = None) -> Access:
    """Return which bot is asked and as whom. Raises :class:`UserError`, which says what to do."""
    return Access(address(url or environment.get("TWOGATE_URL", "")), token(environment))


def address(url: str) -> str:
    """Return a bot's address. Raises :class:`UserError` where a token would go there unencrypted."""
    if not url:
        raise UserError(NO_URL)
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname, parts.port
    except ValueError:
        host = None
    if host is None or parts.scheme not in {"https", "http"} or parts.query or parts.fragment or parts.username:
        raise UserError(f"{url!r} is no address of a bot: write it as https://twogate.example.com.")
    if parts.scheme == "http" and host not in LOOPBACK:
        raise UserError(f"{url} has no TLS: a token is sent there over https alone.")
    return url.rstrip("/")


def token(environment: Mapping[str, str]) -> str:
    """Return the person's token of GitHub: of the environment, or else the one that ``gh`` is logged in with.

    Raises :class:`UserError` where there is none.
    """
    for name in TOKENS:
        if found := environment.get(name, "").strip():
            if not is_token(found):
                raise UserError(f"What {name} holds can be no token of GitHub: set it to one, or unset it.")
            return found
    host = urlsplit(environment.get("TWOGATE_GITHUB_URL", "")).hostname
    named = ("--hostname", host) if host else ()
    found = _output("gh", "auth", "token", *named)
    if not is_token(found):
        raise UserError(LOGGED_OUT)
    return found


def repository() -> tuple[str, str]:
    """Return owner and name of the repository of the current folder. Raises :class:`UserError`."""
    match = _REMOTE.fullmatch(_output("git", "config", "--get", "remote.origin.url"))
    if match is None:
        raise UserError(NO_REPOSITORY)
    return match["owner"], match["name"]


def _output(program: str, *arguments: str) -> str:
    """Return what a program says on one line; nothing where there is none, it fails or takes too long."""
    path = shutil.which(program)
    if path is None:
        return ""
    try:
        done = subprocess.run(
            [path, *arguments],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=HELPER_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""
