"""Installation tokens: minted once an hour and installation, and the request's authentication with them.

githubkit's own strategy is not used for installations, since it sends the App's JWT to every path that ends in
``/installation`` (a branch may be called so), mints once for each of several first calls at a time, refuses an
``expires_at`` with a fraction, and keeps a token that GitHub has stopped accepting.
"""

from __future__ import annotations

import threading
from datetime import datetime
from typing import TYPE_CHECKING, Any

import httpx
from githubkit.auth import BaseAuthStrategy

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

    from githubkit import GitHubCore

MARGIN_SECONDS = 120.0
"""A token is not used in its last moments: a request may take a while to arrive."""
YOUNG_SECONDS = 60.0
"""A refusal for want of permission is not blamed on a token of this age: a new one would carry the same grants."""
WANTS_PERMISSION = "Resource not accessible"


def seconds(stamp: str) -> float:
    """Return GitHub's time stamp as seconds since the epoch."""
    return datetime.fromisoformat(stamp).timestamp()


class InstallationAuth(BaseAuthStrategy, httpx.Auth):
    """Authenticate as one installation. Safe to share between threads.

    A token that GitHub refuses (401), or that may lack a permission granted meanwhile (403), is dropped and the
    request sent once more with a new one: a refused request has done nothing.
    """

    requires_response_body = True

    def __init__(self, mint: Callable[[], tuple[str, float]], now: Callable[[], float]) -> None:
        self._mint = mint
        self._now = now
        self._lock = threading.Lock()
        self._token: tuple[str, float, float] | None = None

    def get_auth_flow(self, github: GitHubCore[Any]) -> httpx.Auth:  # noqa: ARG002 - githubkit's signature
        """Return the authentication of a client: this object itself."""
        return self

    def sync_auth_flow(self, request: httpx.Request) -> Generator[httpx.Request, httpx.Response, None]:
        """Send with a token, and once more with a new one where that may be the reason of a refusal."""
        token, minted_at = self._current()
        request.headers["Authorization"] = f"Bearer {token}"
        response = yield request
        if self._is_stale(response, minted_at):
            self._drop(token)
            request.headers["Authorization"] = f"Bearer {self._current()[0]}"
            yield request

    def _is_stale(self, response: httpx.Response, minted_at: float) -> bool:
        if response.status_code == httpx.codes.FORBIDDEN:
            response.read()
            return WANTS_PERMISSION in response.text and self._now() - minted_at > YOUNG_SECONDS
        return response.status_code == httpx.codes.UNAUTHORIZED

    def _current(self) -> tuple[str, float]:
        """Return the token and when it was minted; only one thread mints, the others wait for its result."""
        with self._lock:
            if self._token is None or self._token[1] - MARGIN_SECONDS <= self._now():
                self._token = (*self._mint(), self._now())
            return self._token[0], self._token[2]

    def _drop(self, token: str) -> None:
        with self._lock:
            if self._token is not None and self._token[0] == token:
                self._token = None
