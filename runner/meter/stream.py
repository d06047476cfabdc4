"""Bytes of an answer on their way through: read for their events, strained for a secret, otherwise untouched."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

MAX_EVENT = 16_000_000
"""Bytes of one event of a stream that are looked at; a longer one passes, and its usage is unknown."""
MAX_ANSWER = 64_000_000
"""Bytes of a plain answer that are looked at; likewise."""


class Events:
    """Cuts server-sent events (WHATWG HTML, "Server-sent events") out of bytes; takes the JSON objects among them."""

    def __init__(self) -> None:
        self._line = bytearray()
        self._data: list[bytes] = []
        self._size = 0
        self._too_long = False

    def feed(self, chunk: bytes) -> Iterator[dict[str, Any]]:
        """Yield the events that ``chunk`` completes."""
        first, *others = chunk.replace(b"\r\n", b"\n").split(b"\n")
        self._add(first)
        for part in others:
            yield from self._end_line()
            self._add(part)

    def end(self) -> Iterator[dict[str, Any]]:
        """Yield an event that had no empty line after it."""
        yield from self._end_line()
        yield from self._end_event()

    def _add(self, part: bytes) -> None:
        if len(self._line) + self._size + len(part) > MAX_EVENT:
            self._too_long = True
        else:
            self._line += part

    def _end_line(self) -> Iterator[dict[str, Any]]:
        line, self._line = bytes(self._line).rstrip(b"\r"), bytearray()
        if line.startswith(b"data:"):
            self._data.append(line.removeprefix(b"data:").removeprefix(b" "))
            self._size += len(line)
        elif not line:
            yield from self._end_event()

    def _end_event(self) -> Iterator[dict[str, Any]]:
        data, too_long = b"\n".join(self._data), self._too_long
        self._data, self._size, self._too_long = [], 0, False
        if data and not too_long:
            yield from objects_in(data)


class Document:
    """Keeps a plain answer until its end, then takes the JSON object in it, or those in its list."""

    def __init__(self) -> None:
        self._body = bytearray()
        self._too_long = False

    def feed(self, chunk: bytes) -> Iterator[dict[str, Any]]:
        """Yield nothing yet."""
        if len(self._body) + len(chunk) > MAX_ANSWER:
            self._too_long, self._body = True, bytearray()
        elif not self._too_long:
            self._body += chunk
        yield from ()

    def end(self) -> Iterator[dict[str, Any]]:
        """Yield what the answer holds."""
        yield from objects_in(bytes(self._body))


def objects_in(data: bytes) -> Iterator[dict[str, Any]]:
    """Yield the object that ``data`` is, or the objects of the list that it is; nothing where it is neither."""
    try:
        value = json.loads(data)
    except (ValueError, RecursionError):
        return
    yield from (item for item in (value if isinstance(value, list) else [value]) if isinstance(item, dict))


class Strainer:
    """Replaces a secret in a stream; holds back only what could be its beginning, so nothing else waits."""

    def __init__(self, secret: bytes, instead: bytes) -> None:
        self._secret, self._instead, self._held = secret, instead, b""

    def __call__(self, chunk: bytes) -> bytes:
        """Return what can go on."""
        whole = (self._held + chunk).replace(self._secret, self._instead)
        self._held = b""
        for length in range(min(len(self._secret) - 1, len(whole)), 0, -1):
            if whole.endswith(self._secret[:length]):
                self._held = whole[-length:]
                return whole[:-length]
        return whole

    def rest(self) -> bytes:
        """Return what was held back, at the end."""
        held, self._held = self._held, b""
        return held
