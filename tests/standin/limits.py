"""The primary rate limit: 5,000 requests an hour a caller, counted and shown in headers; refused when spent."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.standin.entities import Token
    from tests.standin.model import Hub

HOURLY = 5000
HOUR = 3600


class Limits:
    """Counts requests by caller (an installation is one caller whatever its tokens)."""

    def __init__(self, hub: Hub, hourly: int = HOURLY) -> None:
        self._hub = hub
        self.hourly = hourly
        self._used: dict[str, tuple[int, int]] = {}

    def forget(self) -> None:
        """Let everybody begin anew: what shares a stand-in one after the other shares no hour."""
        with self._hub.lock:
            self._used.clear()

    def count(self, token: Token | None) -> None:
        """One more request of this caller."""
        with self._hub.lock:
            used, reset = self._current(token)
            self._used[_key(token)] = used + 1, reset

    def state(self, token: Token | None) -> dict[str, int]:
        """Limit, used, remaining and reset (epoch seconds) of a caller."""
        with self._hub.lock:
            used, reset = self._current(token)
        return {"limit": self.hourly, "used": used, "remaining": max(0, self.hourly - used), "reset": reset}

    def headers(self, token: Token | None) -> dict[str, str]:
        """The x-ratelimit headers of an answer."""
        return {f"X-RateLimit-{k.title()}": str(v) for k, v in self.state(token).items()} | {
            "X-RateLimit-Resource": "core"
        }

    def _current(self, token: Token | None) -> tuple[int, int]:
        now = self._hub.clock()
        used, reset = self._used.get(_key(token), (0, 0))
        return (used, reset) if reset > now else (0, int(now) + HOUR)


def _key(token: Token | None) -> str:
    if token is None:
        return "anonymous"
    if token.installation is not None:
        return f"installation {token.installation.id}"
    return f"user {token.actor.id}" if token.actor else f"app {token.app.id if token.app else 0}"
