"""The policy in force in a repository: its file on the default branch, over the organisation's, over the defaults.

A file that can't be used changes nothing: the last valid one stays in force, and who can mend it is told.
"""

from __future__ import annotations

import hashlib
import logging
from functools import lru_cache
from threading import Lock
from typing import TYPE_CHECKING

from bot.errors import Permanent
from bot.lifecycle.policy import Policy, PolicyError, parse_policy
from bot.lifecycle.states import Frozen
from bot.store import policies
from bot.worker.schedule import DEFAULTS_KEPT

if TYPE_CHECKING:
    from collections.abc import Callable

    from bot.github.gateway import Gateway
    from bot.lifecycle.plan import Repo
    from bot.store.engine import Store

log = logging.getLogger(__name__)

KEPT = 256
"""Texts whose meaning is kept, since a long one takes time to read and every command asks."""
POLICY_PATH = ".github/twogate.yml"
"""Where a repository says how it wants to be served, and in ``<owner>/.github`` what holds where it does not say."""


class PolicyFault(Frozen):
    """A file that can't be used, and why."""

    where: str
    """The file, as people name it."""
    line: int
    reason: str
    sha256: str
    """Of the text: each broken text is told once."""
    instead: str
    """What holds in its place: ``last`` valid one, ``defaults``, or, for the organisation's file, what it said
    ``before``, or ``nothing``."""


class InForce(Frozen):
    """What a repository asks for now, and what of its files could not be used."""

    policy: Policy
    faults: tuple[PolicyFault, ...] = ()


class Policies:
    """Reads policies. The file is asked for each time: a decision is made on what the repository says then."""

    def __init__(self, gateway: Gateway, store: Store, now: Callable[[], float]) -> None:
        self._gateway, self._store, self._now = gateway, store, now
        self._asking = Lock()
        self._organisations: dict[tuple[int, str], tuple[float, str, str]] = {}

    def at(self, repo: Repo, ref: str) -> InForce:
        """Return what holds by the files at a commit of the default branch, and keep it where it is valid."""
        text = self._gateway.file(repo, POLICY_PATH, ref) or ""
        read, below = self._organisation(repo)
        faults: list[PolicyFault] = []
        if isinstance(broken := understood(read), PolicyError):
            where = f"{repo.owner}/.github/{POLICY_PATH}"
            faults.append(_fault(broken, where, read, "before" if below else "nothing"))
        policy = understood(text, below)
        with self._store.read() as tx:
            last = policies.last_valid(tx, repo.id)
        if isinstance(policy, PolicyError):
            faults.append(_fault(policy, POLICY_PATH, text, "last" if last else "defaults"))
            return InForce(policy=last or _defaults(below), faults=tuple(faults))
        if policy != last:
            with self._store.write() as tx:
                policies.keep(tx, repo.id, policy)
        return InForce(policy=policy, faults=tuple(faults))

    def fault(self, repo: Repo, text: str) -> PolicyError | None:
        """Return what is wrong with a text as the repository's file."""
        _, below = self._organisation(repo)
        policy = understood(text, below)
        return policy if isinstance(policy, PolicyError) else None

    def _organisation(self, repo: Repo) -> tuple[str, str]:
        """Return the text of the owner's defaults, minutes old at most, and what of it holds: the last without a fault.

        One thread asks. Both are empty where there are none, or none has been read since the start.
        """
        with self._asking:
            return self._defaults_of(repo)

    def _defaults_of(self, repo: Repo) -> tuple[str, str]:
        key = (repo.installation_id, repo.owner.casefold())
        until, text, valid = self._organisations.get(key, (0.0, "", ""))
        if self._now() < until:
            return text, valid
        try:
            text = self._gateway.organisation_file(repo, POLICY_PATH) or ""
        except Permanent as refusal:
            log.warning("the defaults of %s can't be read, so what they said before holds: %s", repo.owner, refusal)
            text = valid
        if not isinstance(understood(text), PolicyError):
            valid = text
        self._organisations[key] = (self._now() + DEFAULTS_KEPT, text, valid)
        return text, valid


@lru_cache(maxsize=KEPT)
def understood(text: str, below: str = "") -> Policy | PolicyError:
    """Return what a text says over the organisation's, or what is wrong with it; the same texts say the same."""
    try:
        return parse_policy(text, below)
    except PolicyError as error:
        return error


def _defaults(below: str) -> Policy:
    policy = understood("", below)
    return policy if isinstance(policy, Policy) else Policy.default()


def _fault(error: PolicyError, where: str, text: str, instead: str) -> PolicyFault:
    sha256 = hashlib.sha256(text.encode()).hexdigest()
    return PolicyFault(where=where, line=error.line, reason=error.reason, sha256=sha256, instead=instead)
