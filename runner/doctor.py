"""``twogate-runner doctor``: what this machine offers, what is missing, and what to do about it."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import time
from contextlib import suppress
from email.utils import parsedate_to_datetime
from pathlib import Path
from typing import TYPE_CHECKING

import httpx

from runner.agents import BUILT_IN
from runner.bubblewrap import Confinement
from runner.git import GitError, program
from runner.housekeeping import GIGABYTE, free_bytes
from runner.meter.upstream import PLACES, UpstreamError, upstream_of
from runner.sandbox import CURE, Sandbox, SandboxUnavailableError, probe
from runner.terms import SandboxMode

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from runner.settings import Settings

    Say = Callable[[str], None]

GIT_AT_LEAST = (2, 38)
"""The first git with ``merge-tree --write-tree``, by which merges are tried without a work tree."""
VERSION_SECONDS = 20.0
"""For an agent to say its version; some start a runtime first."""
REQUEST_SECONDS = 10.0
"""For one answer over the network."""
CLOCK_SKEW = 60.0
"""Seconds that this clock may differ from the bot's: tokens and deadlines are read by it."""


def doctor(settings: Settings, say: Say) -> int:
    """Say what this machine offers, then a line for each thing that is missing; returns the exit code."""
    checks = (_git, _sandbox, _agents, _models, _home, _disk, _bot, _github)
    missing = list(dict.fromkeys(fault for check in checks for fault in check(settings, say)))
    for fault in missing:
        say(f"missing: {fault}")
    return 1 if missing else 0


def _git(_settings: Settings, say: Say) -> Iterator[str]:
    try:
        version = _version(program())
    except GitError as error:
        yield str(error)
        return
    say(f"git: {version}")
    numbers = re.search(r"(\d+)\.(\d+)", version)
    if numbers is None or tuple(map(int, numbers.groups())) < GIT_AT_LEAST:
        yield f"git: {version} is too old; install git {'.'.join(map(str, GIT_AT_LEAST))} or later."


def _sandbox(settings: Settings, say: Say) -> Iterator[str]:
    try:
        capability, sandbox = probe(settings.agent_user), _confinement(settings)
    except SandboxUnavailableError as error:
        yield f"sandbox: {error}"
        return
    say(f"sandbox: {capability.sentence}")
    if not capability.bubblewrap:
        yield f"sandbox: {capability.sentence} {CURE}"
    if fault := sandbox.fault_of_tools():
        yield f"tools: {fault}"


def _confinement(settings: Settings) -> Sandbox:
    return Sandbox(SandboxMode.AUTO, probe(settings.agent_user), user=settings.agent_user, tools=settings.tools)


def _agents(settings: Settings, say: Say) -> Iterator[str]:
    """Tell each built-in agent's version, and whether it is there inside the sandbox; one agent is enough."""
    found = {name: _agent(settings, name) for name in BUILT_IN}
    for name, version in found.items():
        say(f"agents: {name} {version or 'not found on PATH'}")
    if not any(found.values()):
        yield f"agents: none of {', '.join(found)} is on PATH; install the one your policy names, or define a command."
    with suppress(SandboxUnavailableError):  # told by the check before
        sandbox = _confinement(settings)
        for name in (name for name, version in found.items() if version):
            if fault := sandbox.fault_of_program(name, Confinement(Path("/")), settings.environment):
                yield f"agents: {fault}"


def _agent(settings: Settings, name: str) -> str | None:
    path = shutil.which(name, path=settings.environment.get("PATH"))
    if path is None:
        return None
    said = _version(path)
    return f"{said} at {path}"


def _version(path: str) -> str:
    """Return the first line of ``--version``, or why there is none."""
    try:
        ended = subprocess.run(
            [path, "--version"],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=VERSION_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return f"(does not say its version within {VERSION_SECONDS:.0f} s)"
    except OSError as error:
        return f"(can't be started: {error.strerror})"
    lines = (ended.stdout or ended.stderr).strip().splitlines()
    if ended.returncode:
        return f"(ends with {ended.returncode}: {lines[-1] if lines else 'no message'})"
    return lines[0] if lines else "(says no version)"


def _models(settings: Settings, say: Say) -> Iterator[str]:
    """Tell of which model APIs the meter has a key, and look whether each can be used; none at all is no fault."""
    for api in PLACES:
        try:
            upstream = upstream_of(api, settings.environment)
        except UpstreamError as error:
            yield f"models: {error}"
            continue
        say(f"models: {api} {f'metered, at {upstream.base}' if upstream else 'not metered: no key of it is set'}")


def _home(settings: Settings, _say: Say) -> Iterator[str]:
    """Look whether the folder is there and this user's, or can be made; nothing is made."""
    home = settings.home
    nearest = next(path for path in (home, *home.parents) if path.exists())
    if not nearest.is_dir() or not os.access(nearest, os.W_OK | os.X_OK):
        yield f"home: TWOGATE_HOME is {home}, where this user can make no folder; name another one, or let it write."


def _disk(settings: Settings, say: Say) -> Iterator[str]:
    free = free_bytes(settings.home)
    say(f"disk: {free / GIGABYTE:.1f} GB free for {settings.home}")
    if free < settings.min_free:
        yield (
            f"disk: TWOGATE_MIN_FREE asks for {settings.min_free / GIGABYTE:g} GB; make room for {settings.home}, "
            "for instance with `twogate-runner clean`. Until then jobs are refused."
        )


def _bot(settings: Settings, say: Say) -> Iterator[str]:
    if not settings.url:
        yield "bot: TWOGATE_URL is not set."
        return
    answer = _ask(f"{settings.url}/healthz")
    if not isinstance(answer, httpx.Response) or not answer.is_success:
        say(f"bot: {settings.url} does not answer ({_why(answer)})")
        yield f"bot: {settings.url} does not answer; is the address right, and is the bot running?"
        return
    say(f"bot: {settings.url} answers")
    yield from _clock(answer)


def _clock(answer: httpx.Response) -> Iterator[str]:
    try:
        theirs = parsedate_to_datetime(answer.headers.get("Date", "")).timestamp()
    except ValueError:
        return
    skew = abs(time.time() - theirs)
    if skew > CLOCK_SKEW:
        yield f"clock: {skew:.0f} s away from the bot's; set it right (chrony, systemd-timesyncd)."


def _github(settings: Settings, say: Say) -> Iterator[str]:
    host = settings.clone_host
    answer = _ask(host)
    if isinstance(answer, httpx.Response):
        say(f"github: {host} answers")
        return
    say(f"github: {host} does not answer ({_why(answer)})")
    yield f"github: repositories are cloned from {host}, which can't be reached; see to the network or HTTPS_PROXY."


def _ask(url: str) -> httpx.Response | httpx.HTTPError:
    try:
        return httpx.get(url, timeout=REQUEST_SECONDS, follow_redirects=False)
    except httpx.HTTPError as error:
        return error


def _why(answer: httpx.Response | httpx.HTTPError) -> str:
    return f"status {answer.status_code}" if isinstance(answer, httpx.Response) else str(answer) or "no answer"
