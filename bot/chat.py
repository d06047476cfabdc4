"""A chat that takes messages at a secret address: Slack's incoming webhooks, and whoever takes what they take."""

from __future__ import annotations

from dataclasses import dataclass, field

import httpx

from bot.errors import Permanent

PATIENCE = 10.0
"""Seconds that a chat may take."""


@dataclass(frozen=True, slots=True)
class Chat:
    """Where messages go; the address is the right to write there, and so is never shown."""

    url: str = field(repr=False)

    def say(self, text: str) -> None:
        """Send a message, once. Raises :class:`~bot.errors.Permanent`, without the address, where it was not taken."""
        try:
            answer = httpx.post(self.url, json={"text": text}, timeout=PATIENCE, follow_redirects=False)
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            raise Permanent(f"The chat can't be reached: {type(error).__name__}.") from None
        if not answer.is_success:
            raise Permanent(f"The chat did not take the message: it answered {answer.status_code}.")
