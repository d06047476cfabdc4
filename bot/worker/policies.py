"""The policy in force in a repository: its file on the default branch, or the defaults."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from bot.errors import UserError
from bot.lifecycle.policy import Policy, PolicyError, parse_policy

if TYPE_CHECKING:
    from bot.github.gateway import Gateway
    from bot.lifecycle.plan import Repo

KEPT = 256
"""Texts whose meaning is kept, since a long one takes time to read and every command asks."""
POLICY_PATH = ".github/twogate.yml"
"""Where a repository says how it wants to be served."""


class InvalidPolicyError(UserError):
    """The file can't be read as a policy; the message names line and reason."""


class Policies:
    """Reads policies. The file is asked for each time: a decision is made on what the repository says then."""

    def __init__(self, gateway: Gateway) -> None:
        self._gateway = gateway

    def at(self, repo: Repo, ref: str) -> Policy:
        """Return the policy at a commit or branch. Raises :class:`InvalidPolicyError`."""
        text = self._gateway.file(repo, POLICY_PATH, ref)
        if text is None:
            return Policy.default()
        policy = _read(text)
        if isinstance(policy, PolicyError):
            raise InvalidPolicyError(f"`{POLICY_PATH}`: {policy}")
        return policy


@lru_cache(maxsize=KEPT)
def _read(text: str) -> Policy | PolicyError:
    """Return what a text says, or what is wrong with it; the same text says the same."""
    try:
        return parse_policy(text)
    except PolicyError as error:
        return error
