"""How much of requests the meter holds in memory at once: an agent could send many large ones, small as gzip."""

from __future__ import annotations

import re
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING

from runner.meter.refusal import Refusal
from runner.meter.request import MAX_BODY

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

MAX_HELD = 256_000_000
"""Bytes of requests that are held at once, from their first byte to the end of their answer; sending one on takes twice
as much for a moment."""
ROOM_SECONDS = 30.0
"""Seconds that a request waits for room."""
LENGTH = re.compile("[0-9]{1,9}")
TOO_MANY = 429


class Room:
    """Shared by all connections of a meter."""

    def __init__(self) -> None:
        self._held = 0
        self._changed = threading.Condition()

    @contextmanager
    def taken(self, size: int) -> Iterator[Callable[[int], None]]:
        """Hold ``size`` bytes; what is yielded is told how many it has come to. Raises :class:`Refusal`."""
        with self._changed:
            if not self._changed.wait_for(lambda: self._held + size <= MAX_HELD, ROOM_SECONDS):
                raise Refusal(TOO_MANY, "Too many large requests are under way. Try again.", retry_after=5)
            self._held += size
        held = [size]

        def come_to(actual: int) -> None:
            with self._changed:
                self._held += actual - held[0]
                held[0] = actual
                self._changed.notify_all()

        try:
            yield come_to
        finally:
            come_to(0)


def most(headers: Mapping[str, str]) -> int:
    """Return how many bytes a request can have by its headers."""
    length = headers.get("content-length", "0")
    told = {"transfer-encoding", "content-encoding"}.isdisjoint(headers) and LENGTH.fullmatch(length)
    return min(int(length), MAX_BODY) if told else MAX_BODY
