"""Secrets that the bot has to keep for a while: encrypted in the database, with a key that is not in there."""

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
"""Each binds a derived key to its one use."""


class Vault:
    """Encrypts for one purpose. Its key follows from the App's private key, so that there is no further secret."""

    def __init__(self, settings: Settings, purpose: bytes = PUSH_TOKENS) -> None:
        key = HKDF(SHA256(), length=32, salt=None, info=purpose).derive(settings.private_key.encode())
        self._fernet = Fernet(base64.urlsafe_b64encode(key))

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
