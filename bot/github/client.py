"""The gateway over HTTP: everything the bot asks of one GitHub host, as one App."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bot.github.checkup import Checkup
from bot.github.clients import App, Clients
from bot.github.connection import Connection
from bot.github.gateway import Gateway, PeoplesGateway
from bot.github.holders import Holders
from bot.github.issues import Issues
from bot.github.writes import Writes

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


class GitHubGateway(Issues, Writes, Checkup, Gateway):
    """The gateway. Safe to share between threads; make it after a fork, since it keeps connections."""

    def of_people(self) -> PeoplesGateway:
        """Return what is asked as people, with their own tokens."""
        return Holders(self._connection.clients)

    def close(self) -> None:
        """Close all connections."""
        self._connection.clients.close()


def connect(
    app: App,
    now: Callable[[], float],
    before_write: Callable[[int], None] = lambda _: None,
    heard: Callable[[str, Mapping[str, str]], None] = lambda *_: None,
) -> GitHubGateway:
    """Return the gateway of an App; ``now`` gives epoch seconds. Nothing is asked yet.

    ``before_write`` is called with the installation before each write in a repository: it may wait a moment, or raise
    :class:`bot.errors.RetryAt`. ``heard`` is told the gate and the headers of each answer.
    """
    return GitHubGateway(Connection(Clients(app, now, heard=heard), now, before_write))
