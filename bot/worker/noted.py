"""What GitHub says of its limits with every answer, noted in memory and written down now and then."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from bot.store import rate_limits
from bot.store.rate_limits import Left

if TYPE_CHECKING:
    from collections.abc import Mapping

    from bot.store.engine import Store

MOST_NOTED = 10_000
"""Limits that a process has in mind between two writes; each installation has two or three."""


class Noted:
    """Hears each answer of GitHub, in any thread and within any transaction, so it writes only when it is told to."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._lock = threading.Lock()
        self._left: dict[tuple[str, str], Left] = {}

    def __call__(self, gate: str, headers: Mapping[str, str]) -> None:
        """Take note of an answer's headers; ``gate`` is what the limit would close."""
        numbers = [headers.get(f"x-ratelimit-{name}", "") for name in ("limit", "remaining", "reset")]
        if not all(number.isascii() and number.isdecimal() for number in numbers):
            return
        allowed, remaining, reset = map(int, numbers)
        left = Left(gate, headers.get("x-ratelimit-resource", "core")[:40], allowed, remaining, float(reset))
        with self._lock:
            if len(self._left) < MOST_NOTED:
                self._left[left.gate, left.resource] = left

    def write(self) -> None:
        """Write down what was noted since the last time."""
        with self._lock:
            noted, self._left = self._left, {}
        if noted:
            with self._store.write() as tx:
                rate_limits.note(tx, noted.values())
