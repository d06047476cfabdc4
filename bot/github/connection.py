"""Where a repository lies now, and requests about it that survive a rename.

The bot knows repositories by number. Names are looked up by it, kept for minutes, and looked up again when GitHub says
that the address has moved, so that neither a read nor a write ever lands in a namesake or is quietly turned into
something else (httpx makes a redirected POST a GET).
"""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from bot.errors import Transient
from bot.github.faults import Moved
from bot.github.gateway import AppIdentity
from bot.github.quote import segment

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from bot.github.clients import Clients
    from bot.github.rest import Rest
    from bot.lifecycle.plan import Repo

DESCRIBED_SECONDS = 60.0
"""How long the default branch of a repository is believed without asking: it hardly ever changes."""
READS = frozenset({"GET", "HEAD"})
"""Methods that change nothing; all others are paced."""
NAMES_SECONDS = 300.0
"""How long the name of a repository is believed without asking: one more read in five minutes."""


@dataclass(frozen=True, slots=True)
class Place:
    """A repository's address and what is asked there."""

    repo: Repo
    connection: Connection

    def call(self, method: str, path: str, *, params: Mapping[str, str | int] | None = None, json: Any = None) -> Any:
        """Send one request under the repository; where that has moved, once more to where it lies now."""
        rest = self.connection.rest(self.repo)
        if method not in READS:
            self.connection.before_write(self.repo.installation_id)
        try:
            return rest.call(method, self.connection.prefix(self.repo) + path, params=params, json=json)
        except Moved:
            return rest.call(method, self.connection.prefix(self.repo, anew=True) + path, params=params, json=json)

    def kept_elsewhere(self, path: str) -> str:
        """Return where something under the repository that GitHub keeps elsewhere can be had for a minute."""
        rest = self.connection.rest(self.repo)
        try:
            return rest.kept_elsewhere(self.connection.prefix(self.repo) + path)
        except Moved:
            return rest.kept_elsewhere(self.connection.prefix(self.repo, anew=True) + path)

    def pages(
        self, path: str, params: Mapping[str, str | int] | None = None, *, key: str | None = None
    ) -> Iterator[Any]:
        """Yield the entries of a list under the repository. Raises ``Transient`` where that moves meanwhile."""
        rest, begun = self.connection.rest(self.repo), False
        try:
            for entry in rest.pages(self.connection.prefix(self.repo) + path, params, key=key):
                begun = True
                yield entry
        except Moved as moved:
            if begun:
                raise Transient("The repository was renamed while a list was read: it is read again.") from moved
            yield from rest.pages(self.connection.prefix(self.repo, anew=True) + path, params, key=key)


class Connection:
    """One GitHub host as the verbs see it. Safe to share between threads."""

    def __init__(
        self, clients: Clients, now: Callable[[], float], before_write: Callable[[int], None] = lambda _: None
    ) -> None:
        self.clients = clients
        self.before_write = before_write
        self.now = now
        self._lock = threading.Lock()
        self._identity: AppIdentity | None = None
        self._described: dict[int, tuple[Any, float]] = {}
        self._asking: dict[int, threading.Lock] = {}
        self._nodes: dict[int, str] = {}
        self._prefixes: dict[int, tuple[str, float]] = {}

    def rest(self, repo: Repo) -> Rest:
        """Return the requests of the repository's installation."""
        return self.clients.installation(repo.installation_id)

    def at(self, repo: Repo) -> Place:
        """Return the repository's address, to ask there."""
        return Place(repo, self)

    def prefix(self, repo: Repo, *, anew: bool = False) -> str:
        """Return ``/repos/<owner>/<name>`` as of now. Raises ``Missing`` where the repository is gone or hidden."""
        with self._lock:
            known, believed_until = self._prefixes.get(repo.id, ("", 0.0))
        if known and not anew and self.now() < believed_until:
            return known
        return self.remember(self.by_number(repo))

    def by_number(self, repo: Repo) -> Any:
        """Return the repository as GitHub describes it now."""
        return self.rest(repo).call("GET", f"/repositories/{repo.id}")

    def described(self, repo: Repo) -> Any:
        """Return the repository as GitHub described it within the last minute; of several threads one asks."""
        with self._lock:
            asking = self._asking.setdefault(repo.id, threading.Lock())
        with asking:
            return self._description(repo)

    def _description(self, repo: Repo) -> Any:
        with self._lock:
            known, believed_until = self._described.get(repo.id, (None, 0.0))
        if known is not None and self.now() < believed_until:
            return known
        description = self.by_number(repo)
        self.remember(description)
        with self._lock:
            self._described[repo.id] = (description, self.now() + DESCRIBED_SECONDS)
        return description

    def node_id(self, repo: Repo) -> str:
        """Return the repository's id in GraphQL; asked once."""
        if repo.id not in self._nodes:
            self.described(repo)
        return self._nodes[repo.id]

    def remember(self, described: Any) -> str:
        """Keep the names of a description and return the address they make."""
        prefix = f"/repos/{segment(described['owner']['login'])}/{segment(described['name'])}"
        with self._lock:
            self._nodes[described["id"]] = described.get("node_id", "")
            self._prefixes[described["id"]] = (prefix, self.now() + NAMES_SECONDS)
        return prefix

    def identity(self) -> AppIdentity:
        """Return who the App is; asked once."""
        if self._identity is None:
            app = self.clients.app.call("GET", "/app")
            self._identity = AppIdentity(app_id=app["id"], slug=app["slug"], bot_user_id=self._bot_user(app["slug"]))
        return self._identity

    def _bot_user(self, slug: str) -> int:
        """Look up the App's own account: as any installation, since an App's JWT may not, or else as nobody."""
        path = f"/users/{segment(f'{slug}[bot]')}"
        for installation in self.clients.app.pages("/app/installations"):
            if installation.get("suspended_at") is None:
                return int(self.clients.installation(installation["id"]).call("GET", path)["id"])
        with self.clients.anonymous() as rest:
            return int(rest.call("GET", path)["id"])


class Verbs:
    """Base of the gateway's parts: they share one connection."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def identity(self) -> AppIdentity:
        """Return who the bot is on GitHub."""
        return self._connection.identity()

    def _at(self, repo: Repo) -> Place:
        return self._connection.at(repo)

    def _must_be_there(self, repo: Repo) -> None:
        """Raise ``Missing`` where the repository itself is out of reach, so that nothing in it counts as absent."""
        self._connection.by_number(repo)
