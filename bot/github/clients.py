"""The clients towards one GitHub host: one for the App itself and one kept for each installation.

githubkit's defaults don't suit a service; here are a time limit on every request, no retries (the outbox owns them), no
redirects, no answers from a cache, and token storage of this host's own (githubkit's is shared by all hosts).
"""

from __future__ import annotations

import threading
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar

import httpx
from githubkit import AppAuthStrategy, GitHub, TokenAuthStrategy, UnauthAuthStrategy
from githubkit.auth import BaseAuthStrategy
from githubkit.cache import MemCacheStrategy
from githubkit.config import get_config

from bot.github.rest import Rest
from bot.github.tokens import InstallationAuth, seconds

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Mapping

    from githubkit.config import Config

TIMEOUT_SECONDS = 15.0
"""For connecting, sending, and each wait for a part of the answer."""

OLD_VERSION = "2022-11-28"
"""The API version that every GitHub host knows."""

Auth = TypeVar("Auth", bound=BaseAuthStrategy)


@dataclass(frozen=True, slots=True)
class App:
    """The App's registration on one host."""

    id: int
    private_key: str = field(repr=False)
    api_url: str = "https://api.github.com"
    """``https://HOST/api/v3`` on GitHub Enterprise Server."""
    api_version: str = "2026-03-10"
    """What ``X-GitHub-Api-Version`` asks for; Enterprise Server up to 3.20 knows only :data:`OLD_VERSION`."""


class KeptGitHub(GitHub[Auth]):
    """A githubkit client that keeps its connections; githubkit itself opens and closes them for every request."""

    def __init__(self, auth: Auth, config: Config, heard: Callable[[httpx.Headers], None] | None = None) -> None:
        super().__init__(auth, config=config)
        self._kept = self._create_sync_client()
        if heard is not None:
            self._kept.event_hooks = {"response": [lambda response: heard(response.headers)]}

    @contextmanager
    def get_sync_client(self) -> Generator[httpx.Client, None, None]:
        """Lend the kept client; httpx clients may be shared between threads."""
        yield self._kept

    def close(self) -> None:
        """Close the connections."""
        self._kept.close()


class Clients:
    """Hands out :class:`Rest` for an identity. Safe to share between threads; make it after a fork, not before."""

    def __init__(
        self,
        app: App,
        now: Callable[[], float],
        timeout: float = TIMEOUT_SECONDS,
        heard: Callable[[str, Mapping[str, str]], None] = lambda *_: None,
    ) -> None:
        """``heard`` is told the gate and the headers of each answer that the App or an installation gets."""
        self._registration = app
        self._now = now
        self._heard = heard
        self._config = get_config(
            base_url=app.api_url,
            user_agent="twogate",
            follow_redirects=False,
            timeout=httpx.Timeout(timeout),
            ssl_verify=httpx.create_ssl_context(),
            cache_strategy=MemCacheStrategy(),
            http_cache=False,
            auto_retry=False,
        )
        self._lock = threading.Lock()
        self._kept: list[KeptGitHub[Any]] = []
        self._installations: dict[int, Rest] = {}
        self.app = self._rest(AppAuthStrategy(str(app.id), app.private_key), "app")

    @property
    def app_id(self) -> int:
        """The App's number."""
        return self._registration.id

    @property
    def tells_run_ids(self) -> bool:
        """Whether a dispatch is answered with its run's id unasked."""
        return self._registration.api_version != OLD_VERSION

    def installation(self, installation_id: int) -> Rest:
        """Return the kept requests of one installation."""
        with self._lock:
            if installation_id not in self._installations:
                auth = InstallationAuth(lambda: self.mint(installation_id, {}), self._now)
                self._installations[installation_id] = self._rest(auth, f"installation:{installation_id}")
            return self._installations[installation_id]

    @contextmanager
    def anonymous(self) -> Generator[Rest, None, None]:
        """Lend requests without any identity, for the few public facts that need none."""
        with self._lent(UnauthAuthStrategy(), "app") as rest:
            yield rest

    @contextmanager
    def bearing(self, token: str, gate: str = "app") -> Generator[Rest, None, None]:
        """Lend requests that bear the given token."""
        with self._lent(TokenAuthStrategy(token), gate) as rest:
            yield rest

    def mint(self, installation_id: int, narrowed: Mapping[str, Any]) -> tuple[str, float]:
        """Return a new installation token and its end; ``narrowed`` restricts repositories and permissions."""
        made = self.app.call("POST", f"/app/installations/{installation_id}/access_tokens", json=dict(narrowed))
        return str(made["token"]), seconds(made["expires_at"])

    def close(self) -> None:
        """Close all connections."""
        with self._lock:
            for client in self._kept:
                client.close()

    def _rest(self, auth: BaseAuthStrategy, gate: str) -> Rest:
        client = KeptGitHub(auth, self._config, lambda headers: self._heard(gate, headers))
        self._kept.append(client)
        return self._speaking(client, gate)

    @contextmanager
    def _lent(self, auth: BaseAuthStrategy, gate: str) -> Generator[Rest, None, None]:
        client = KeptGitHub(auth, self._config)
        try:
            yield self._speaking(client, gate)
        finally:
            client.close()

    def _speaking(self, client: KeptGitHub[Any], gate: str) -> Rest:
        return Rest(client, gate=gate, version=self._registration.api_version, now=self._now)
