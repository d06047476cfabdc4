"""Prepare: the store, the commits, the confinement. Nothing has been spent yet when something is amiss here."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING

from tenacity import Retrying, retry_if_exception, stop_after_attempt, wait_exponential_jitter

from runner.contract import JobKind, Outcome
from runner.git import Auth, Git, GitError
from runner.sandbox import Sandbox, SandboxUnavailableError, probe
from runner.store import ObjectStore
from runner.terms import Network, SandboxMode
from runner.watch import Ending

if TYPE_CHECKING:
    from collections.abc import Callable

    from runner.contract import JobSpec
    from runner.settings import Settings

NETWORK_TRIES = 4
"""How often one exchange with the git server is tried where the network fails."""
NETWORK_SIGNS = (
    "could not resolve host",
    "connection",
    "timed out",
    "early eof",
    "hung up",
    "rpc failed",
    "unable to access",
)
"""How git (LC_ALL=C) and curl word a fault of the network."""
NETWORK_NAMES = frozenset(
    {"HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy", "SSL_CERT_FILE", "SSL_CERT_DIR"}
)
"""What git may take from the environment: how to reach the net."""
TRAILER = "Twogate-Plan"
"""The last line of each commit that the runner makes: by it a branch of the plan's own is known again."""


def open_store(spec: JobSpec, settings: Settings) -> ObjectStore:
    """Return the repository's object store on this machine."""
    network = {name: value for name, value in settings.environment.items() if name in NETWORK_NAMES}
    return ObjectStore(settings.home, spec.repository.id, network)


def basic(url: str, token: str) -> Auth:
    """Return the header by which GitHub's git server takes a token, for ``url`` alone."""
    word = base64.b64encode(f"x-access-token:{token}".encode()).decode()
    return Auth(url, f"Authorization: Basic {word}")


def over_network(exchange: Callable[[], None]) -> None:
    """Run one exchange with the git server, again where the network failed it; other faults end the job."""
    retrying = Retrying(
        retry=retry_if_exception(_is_network_fault),
        stop=stop_after_attempt(NETWORK_TRIES),
        wait=wait_exponential_jitter(multiplier=0.5, max=10),
        reraise=True,
    )
    retrying(exchange)


def _is_network_fault(error: BaseException) -> bool:
    return isinstance(error, GitError) and any(sign in error.stderr.lower() for sign in NETWORK_SIGNS)


def fetch(store: ObjectStore, spec: JobSpec, auth: Auth | None) -> dict[str, str]:
    """Bring the job's commits into the store; return the tips of the default and the plan's branch that exist."""
    tips: dict[str, str] = {}
    branches = [spec.repository.default_branch, spec.branch]
    shas = [sha for sha in (spec.base, spec.head, spec.shown) if sha]
    over_network(lambda: tips.update(store.fetch(spec.repository.clone_url, branches, shas, auth)))
    return tips


def expected_tip(store: ObjectStore, spec: JobSpec, tips: dict[str, str]) -> str | None:
    """Return where the remote branch must still stand at the push.

    A tip that the bot doesn't know of is either the work of a killed run of this plan, which is replaced, or
    somebody's, which ends the job before anything is spent.
    """
    tip = tips.get(spec.branch)
    if tip == spec.branch_head or (tip and _is_own(store, tip, spec.plan_uid)):
        return tip
    raise Ending(Outcome.BRANCH_MOVED, moved_sentence(spec.branch, tip))


def moved_sentence(branch: str, tip: str | None) -> str:
    """Say that a branch is not where it was left, and what to do."""
    if tip is None:
        return f"The branch {branch} was deleted by somebody. Nothing was pushed; say /retry to make it anew."
    return (
        f"Somebody else pushed to {branch}: it is at {tip[:10]} now. Their commits were kept and nothing was pushed. "
        "Move them to another branch, delete this one, and say /retry."
    )


def _is_own(store: ObjectStore, tip: str, plan_uid: str) -> bool:
    trailer = f"--format=%(trailers:key={TRAILER},valueonly,separator=%x2C)"
    return Git(store.path).run("log", "-1", trailer, tip).decode("utf-8", "replace").strip() == plan_uid


def confine(spec: JobSpec, settings: Settings) -> Sandbox:
    """Return the job's sandbox; ends the job where the one asked for can't be had, or can't reach the named tools."""
    mode, network = spec.sandbox, spec.network
    if spec.kind is JobKind.CHECK_BASE:
        mode, network = SandboxMode.OFF, Network.ON
    user, tools = settings.agent_user, settings.tools
    try:
        sandbox = Sandbox(mode, probe(user), user=user, tools=tools, network=network)
    except SandboxUnavailableError as error:
        raise Ending(Outcome.SANDBOX_UNAVAILABLE, str(error)) from error
    if fault := sandbox.fault_of_tools():
        raise Ending(Outcome.SANDBOX_UNAVAILABLE, fault)
    return sandbox
