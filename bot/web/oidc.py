"""GitHub's identity tokens: whether GitHub signed this one, for us, and now. What it says of the run is judged later.

    verifier = Verifier(issuer=..., audience=..., keys=Keys(jwks_url, now), now=now)
    claims = verifier.verify(token)

Facts: docs.github.com, "OpenID Connect reference" of GitHub Actions. ``sub`` is not read: its form can be customised.
"""

from __future__ import annotations

import json
import logging
import threading
from typing import TYPE_CHECKING, Annotated, Any

import httpx
import jwt
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicKey
from pydantic import BaseModel, ConfigDict, StringConstraints, ValidationError

from bot.web.refusal import Refused

if TYPE_CHECKING:
    from collections.abc import Callable

    from jwt.types import Options

log = logging.getLogger(__name__)

ALGORITHM = "RS256"
"""The only one that GitHub signs with, hence the only one that is accepted."""
SIGNATURE_ALONE: Options = {
    "verify_signature": True,
    "verify_exp": False,
    "verify_nbf": False,
    "verify_iat": False,
    "verify_aud": False,
    "verify_iss": False,
}
"""What the library judges; the rest is judged here, with our clock and a sentence each."""
LEEWAY = 60.0
"""Seconds by which GitHub's clock and ours may differ."""
KEYS_FRESH = 3_600.0
"""Seconds that fetched keys are used without another look."""
KEYS_LONGEST = 86_400.0
"""Seconds that they are used while GitHub's are out of reach."""
KEYS_PAUSE = 10.0
"""Seconds between two fetches at least, so that nobody makes us fetch by inventing keys."""
KEYS_TIMEOUT = 5.0
"""Seconds for each step of a fetch; the runner waits meanwhile, for 15 seconds."""
KEYS_BYTES = 262_144
"""No set of keys is larger; GitHub's has about six thousand bytes."""

Words = Annotated[str, StringConstraints(min_length=1, max_length=1_000)]


class Claims(BaseModel):
    """What of a token is looked at. Times are seconds since the epoch; GitHub writes numbers of things as text."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    iss: Words
    aud: Words
    exp: float
    nbf: float
    iat: float
    jti: Words
    repository_id: int
    run_id: int
    run_attempt: int
    event_name: Words
    ref: Words
    workflow_ref: Words
    repository: Words | None = None
    """How the repository is called now; ``workflow_ref`` begins with a name that it has or had."""
    actor_id: int


class Keys:
    """The issuer's public keys, fetched when needed and kept. Safe to share between threads."""

    def __init__(self, url: str, now: Callable[[], float]) -> None:
        self._url = url
        self._now = now
        self._lock = threading.Lock()
        self._keys: dict[str, RSAPublicKey] = {}
        self._fetched_at = float("-inf")
        self._tried_at = float("-inf")

    def get(self, kid: str) -> RSAPublicKey:
        """Return the key of that name; fetches where it is unknown or was fetched long ago.

        Raises :class:`~bot.web.refusal.Refused`: 401 where the issuer has no such key, 503 where that is not known.
        """
        with self._lock:
            if kid in self._keys and self._age() < KEYS_FRESH:
                return self._keys[kid]
            asked = self._now() - self._tried_at >= KEYS_PAUSE and self._refresh()
            if kid in self._keys and self._age() < KEYS_LONGEST:
                return self._keys[kid]
        if asked:
            raise Refused(401, "The identity token is signed with a key that GitHub does not have.")
        sentence = "GitHub's signing keys can't be read just now: ask again in a moment."
        raise Refused(503, sentence, retry_after=int(KEYS_PAUSE))

    def fetch(self) -> dict[str, RSAPublicKey]:
        """Return the keys as they are now. Raises :class:`httpx.HTTPError` or :class:`ValueError`."""
        content = b""
        with httpx.stream("GET", self._url, timeout=KEYS_TIMEOUT, follow_redirects=False) as response:
            response.raise_for_status()
            for part in response.iter_bytes():
                content += part
                if len(content) > KEYS_BYTES:
                    raise ValueError(f"{self._url} answers with more than {KEYS_BYTES} bytes")
        return _parse(content)

    def _age(self) -> float:
        return self._now() - self._fetched_at

    def _refresh(self) -> bool:
        """Fetch, and tell whether that worked; where it did not, what is known stays in use."""
        self._tried_at = self._now()
        try:
            self._keys = self.fetch()
        except (httpx.HTTPError, ValueError) as error:
            log.warning("the signing keys at %s can't be read: %s", self._url, error)
            return False
        self._fetched_at = self._tried_at
        return True


class Verifier:
    """Tells GitHub's tokens for this bot from all others."""

    def __init__(self, *, issuer: str, audience: str, keys: Keys, now: Callable[[], float]) -> None:
        self._issuer = issuer
        self._audience = audience
        self._keys = keys
        self._now = now

    def verify(self, token: str) -> Claims:
        """Return what a token says. Raises :class:`~bot.web.refusal.Refused` where it is not GitHub's, ours, or now."""
        try:
            claims = Claims.model_validate(self._signed(token))
        except ValidationError as error:
            missing = ", ".join(sorted({str(fault["loc"][0]) for fault in error.errors()}))
            raise Refused(
                401, f"The identity token lacks a proper {missing}: it has to come from GitHub Actions."
            ) from error
        self._check_address(claims)
        self._check_time(claims)
        return claims

    def _signed(self, token: str) -> Any:
        try:
            kid = jwt.get_unverified_header(token).get("kid", "")
            key = self._keys.get(kid)
            return jwt.decode(token, key, algorithms=[ALGORITHM], options=SIGNATURE_ALONE)
        except jwt.PyJWTError as error:
            sentence = "The identity token is not valid: ask for a new one, with `id-token: write` in the workflow."
            raise Refused(401, sentence) from error

    def _check_address(self, claims: Claims) -> None:
        if claims.iss != self._issuer:
            raise Refused(401, f"The identity token is of {claims.iss}, this bot trusts {self._issuer}.")
        if claims.aud != self._audience:
            raise Refused(
                401,
                f"The identity token is meant for {claims.aud}, this bot is {self._audience}: "
                "set the repository's variable TWOGATE_URL to exactly that.",
            )

    def _check_time(self, claims: Claims) -> None:
        now = self._now()
        if not claims.nbf - LEEWAY <= now or not claims.iat - LEEWAY <= now:
            raise Refused(401, "The identity token is not valid yet: the clock of the bot's machine runs late.")
        if not now < claims.exp + LEEWAY:
            raise Refused(401, "The identity token has expired: ask for a new one.")


def _parse(content: bytes) -> dict[str, RSAPublicKey]:
    """Return the usable keys of a JSON Web Key Set, by name. Raises :class:`ValueError` where it is none."""
    try:
        entries = json.loads(content)["keys"]
        return {kid: key for entry in entries if (kid := entry.get("kid")) and (key := _key(entry))}
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError("this is no JSON Web Key Set") from error


def _key(entry: dict[str, Any]) -> RSAPublicKey | None:
    try:
        key = jwt.PyJWK(entry, ALGORITHM).key
    except jwt.PyJWTError:
        return None
    return key if isinstance(key, RSAPublicKey) else None
