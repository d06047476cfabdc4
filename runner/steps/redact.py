"""Secrets that a program was given, kept out of everything that is shown of what it printed."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

SECRET_NAME = re.compile(r"KEY|TOKEN|SECRET|PASSWORD|CREDENTIAL", re.IGNORECASE)
"""Variables whose values are never shown."""
SHORTEST_SECRET = 6
"""Characters from which on a value is taken for a secret; shorter ones would blot out ordinary text."""


class Redactor:
    """Replaces the secret values of environments in a text."""

    def __init__(self, *environments: Mapping[str, str]) -> None:
        values = {value for env in environments for name, value in env.items() if SECRET_NAME.search(name)}
        self._secrets = sorted((v for v in values if len(v) >= SHORTEST_SECRET), key=len, reverse=True)

    def __call__(self, text: str) -> str:
        """Return ``text`` with each secret replaced by three asterisks."""
        for secret in self._secrets:
            text = text.replace(secret, "***")
        return text
