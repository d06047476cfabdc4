"""``twogate admin hook-secret``: a repository's hooks, opened and told with their secret."""

from __future__ import annotations

import re
import time
from typing import TYPE_CHECKING

from bot import serving
from bot.crypto import HookSecrets
from bot.errors import UserError
from bot.github.gateway import Missing
from bot.lifecycle.hooks import Tracker
from bot.store import hooks
from bot.store.hooks import Hook
from bot.worker.policies import Policies

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bot.settings import Settings

SECRET = re.compile(
    r"whsec_(?:[A-Za-z0-9+/]{4}){6,48}(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?|(?!whsec_)[!-~]{24,256}"
)
"""A key of 18 bytes and more as Standard Webhooks write it, or 24 characters and more of any other sender."""


def told(settings: Settings, owner: str, name: str, signs_with: str | None = None) -> Iterator[str]:
    """Open the hooks of a repository on which the App is installed, and yield what their senders need to know.

    ``signs_with`` is a secret of the sender's own.
    """
    secrets = HookSecrets(settings)
    if signs_with is not None and not SECRET.fullmatch(signs_with):
        raise UserError(
            "What was given is no signing secret: one has 24 characters or more, without spaces; where it begins with "
            "whsec_, base64 follows."
        )
    with serving.opened(settings) as parts:
        try:
            repo = parts.gateway.find_repository(owner, name)
        except Missing:
            raise UserError(f"The App is not installed on {owner}/{name}: install it there first.") from None
        branch = parts.gateway.repository(repo).default_branch
        head = parts.gateway.branch_head(repo, branch) or branch
        terms = Policies(parts.gateway, parts.store, time.time).at(repo, head).policy.hooks
        with parts.store.write() as tx:
            hooks.open_hook(tx, Hook(repo, secrets.keep(signs_with) if signs_with else None, terms.generation))
    yield f"Secret of {repo.owner}/{repo.name}, generation {terms.generation} of its policy:"
    yield secrets.of(repo.id, terms.generation)
    for tracker in Tracker:
        state = "open" if terms.lets_in(tracker) else f"closed, the policy opens it with `hooks: {{{tracker}: true}}`"
        yield f"{settings.url}/hooks/{tracker}/{repo.owner}/{repo.name}  ({state})"
