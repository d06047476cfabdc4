"""The model APIs behind the meter: where they are, by which key, and how that key is sent.

Addresses and keys are those that the providers' own clients read from the environment, here the runner's.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from runner.settings import LOOPBACK
from runner.terms import Api

if TYPE_CHECKING:
    from collections.abc import Mapping

KEY_NAMES = frozenset(
    {
        *("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "OPENAI_API_KEY", "CODEX_API_KEY"),
        *("GEMINI_API_KEY", "GOOGLE_API_KEY", "GOOGLE_GENERATIVE_AI_API_KEY"),
        *("COPILOT_PROVIDER_API_KEY", "COPILOT_PROVIDER_BEARER_TOKEN"),
    }
)
"""Variables that hold a key; no agent that is pointed at the meter gets any of them."""
WITHHELD = KEY_NAMES | {
    "ANTHROPIC_BASE_URL",
    "OPENAI_BASE_URL",
    "OPENAI_API_BASE",
    "GOOGLE_GEMINI_BASE_URL",
    "CLAUDE_CODE_OAUTH_TOKEN",
    "COPILOT_PROVIDER_BASE_URL",
    "COPILOT_PROVIDER_API_KEY_COMMAND",
}
"""Variables that such an agent does not get: keys, and what would lead it past the meter."""
KEY = re.compile("[!-~]+")
"""What a header may carry as one word; a line end behind it, as files have, is no part of it."""
SHORTEST_KEY = 8
"""Characters from which on a key is looked for in what passes; a shorter one is no secret."""


class UpstreamError(Exception):
    """The model API can't be reached as it is set up; the message says what to change."""


@dataclass(frozen=True, slots=True)
class Upstream:
    """One provider as the runner reaches it."""

    base: str
    """Without ``/v1`` or ``/v1beta``."""
    key: str = field(repr=False)
    header: str
    """The header that carries the key."""
    versioned: bool = True
    """False where the base stands for the versioned path already."""

    def url(self, first: str, path: str) -> str:
        """Return the address for a path that begins with ``first``, the version."""
        return self.base + (path if self.versioned else path.removeprefix(first))

    @property
    def origin(self) -> str:
        """Return scheme, host and port alone: a path may hold what is nobody's business."""
        parts = urlsplit(self.base)
        return f"{parts.scheme}://{parts.netloc}"

    def sent(self) -> dict[str, str]:
        """Return the header with the key."""
        return {self.header: f"Bearer {self.key}" if self.header == "authorization" else self.key}


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a format's settings are found."""

    variable: str
    default: str
    keys: tuple[tuple[str, str], ...]
    """Variables that may hold the key, each with the header that carries it; the first that is set counts."""
    versions: tuple[str, ...]


OPENAI = _Place("OPENAI_BASE_URL", "https://api.openai.com", (("OPENAI_API_KEY", "authorization"),), ("/v1",))
PLACES: Mapping[Api, _Place] = {
    Api.ANTHROPIC: _Place(
        "ANTHROPIC_BASE_URL",
        "https://api.anthropic.com",
        (("ANTHROPIC_API_KEY", "x-api-key"), ("ANTHROPIC_AUTH_TOKEN", "authorization")),
        ("/v1",),
    ),
    Api.RESPONSES: OPENAI,
    Api.CHAT: OPENAI,
    Api.GEMINI: _Place(
        "GOOGLE_GEMINI_BASE_URL",
        "https://generativelanguage.googleapis.com",
        (("GEMINI_API_KEY", "x-goog-api-key"), ("GOOGLE_API_KEY", "x-goog-api-key")),
        ("/v1beta", "/v1"),
    ),
}


def upstream_of(api: Api, environment: Mapping[str, str]) -> Upstream | None:
    """Return how ``api`` is reached, None where the runner has no key for it; raises :class:`UpstreamError`."""
    place = PLACES[api]
    held = ((name, environment.get(name, "").strip(), header) for name, header in place.keys)
    found = next((each for each in held if each[1]), None)
    if found is None:
        return None
    name, key, header = found
    if not KEY.fullmatch(key):
        raise UpstreamError(f"{name} on the runner is no key that can be sent: it has spaces or odd characters in it.")
    base = (environment.get(place.variable) or place.default).rstrip("/")
    bare = next((base.removesuffix(version) for version in place.versions if base.endswith(version)), base)
    _require_safe(place.variable, base)
    versioned = bare != base or place is not OPENAI or not urlsplit(base).path
    return Upstream(bare, key, header, versioned)


def keys_in(environment: Mapping[str, str]) -> frozenset[str]:
    """Return the keys that the runner holds."""
    held = {environment.get(name, "").strip() for name in KEY_NAMES}
    return frozenset(key for key in held if len(key) >= SHORTEST_KEY)


def _require_safe(variable: str, base: str) -> None:
    try:
        parts = urlsplit(base)
    except ValueError:
        parts = urlsplit("")
    if parts.scheme == "https" and parts.hostname and not (parts.query or parts.username):
        return
    if parts.scheme != "http" or parts.hostname not in LOOPBACK:
        raise UpstreamError(f"{variable} on the runner is {base!r}: a key travels there, so give an https:// address.")
