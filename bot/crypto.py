"""Secrets of the bot's own: what it keeps for a while, encrypted in the database, and what it derives and never keeps.

All follow from the App's private key, so that there is no further secret to guard; each is bound to its one use.
"""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING

from cryptography.fernet import Fernet, InvalidToken
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from bot.errors import Permanent

if TYPE_CHECKING:
    from bot.settings import Settings

PUSH_TOKENS = b"twogate: push tokens until they are revoked"
SESSIONS = b"twogate: people's tokens while they are signed in"
SIGNING_IN = b"twogate: what a browser keeps while somebody signs in"
SENDERS = b"twogate: secrets of those who send reports"
"""Each binds a derived key to its one use."""
HOOK = "twogate: reports of repository {repository}, generation {generation}"
"""Binds the secret of a repository's hooks to it, and to what its policy last counted up to."""


class Vault:
    """Encrypts for one purpose. Its key follows from the App's private key, so that there is no further secret."""

    def __init__(self, settings: Settings, purpose: bytes = PUSH_TOKENS) -> None:
        self._fernet = Fernet(base64.urlsafe_b64encode(_derived(settings, purpose)))

    def encrypt(self, secret: str) -> bytes:
        """Return what may be stored."""
        return self._fernet.encrypt(secret.encode())

    def decrypt(self, cipher: bytes) -> str:
        """Return what was encrypted; ``Permanent`` where the App's private key was replaced in between."""
        try:
            return self._fernet.decrypt(cipher).decode()
        except InvalidToken as error:
            raise Permanent(
                "A kept secret can't be read, since the App's private key was replaced: it ends by itself."
            ) from error


class HookSecrets:
    """The secrets of the repositories' hooks, as whoever sends reports is given them."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._others = Vault(settings, SENDERS)

    def keep(self, secret: str) -> bytes:
        """Return a secret of a sender's own as it may be stored."""
        return self._others.encrypt(secret)

    def kept(self, cipher: bytes) -> str | None:
        """Return what :meth:`keep` was given; None where the App's private key was replaced since."""
        try:
            return self._others.decrypt(cipher)
        except Permanent:
            return None

    def of(self, repository_id: int, generation: int) -> str:
        """Return a repository's secret, in the form of Standard Webhooks: a prefix, and a key in base64."""
        purpose = HOOK.format(repository=repository_id, generation=generation)
        return f"whsec_{base64.b64encode(_derived(self._settings, purpose.encode())).decode()}"


def _derived(settings: Settings, purpose: bytes) -> bytes:
    return HKDF(SHA256(), length=32, salt=None, info=purpose).derive(settings.private_key.encode())
