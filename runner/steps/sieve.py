"""Redaction of a stream while it is written: what has reached the disk holds no secret, whenever the runner dies.

A read ends anywhere, in the middle of a secret too. So text is let go by whole lines, less what may be the beginning of
a secret that goes on in the next; of a line without end, all but its last part.
"""

from __future__ import annotations

import codecs
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from runner.steps.redact import Redactor

HOLD = 32_768
"""Characters of a line without end that are held back until more comes."""
OVERLAP = 12_000
"""Of these, the last ones that stay held: longer than any credential that is known by its form."""
KEY_HEAD = "-----BEGIN "
"""How a private key begins, which ends lines later."""


class Sieve:
    """One stream on its way to the disk."""

    def __init__(self, redact: Redactor, dropped: Callable[[str], bool] = lambda _line: False) -> None:
        """``dropped`` says which lines are not written: those that hold a piece of something."""
        self._redact, self._dropped, self._held = redact, dropped, ""
        self._decoder = codecs.getincrementaldecoder("utf-8")("surrogateescape")

    def feed(self, chunk: bytes) -> bytes:
        """Take the next bytes; return what can be written now. Bytes that are no text stay as they are."""
        self._held += self._decoder.decode(chunk)
        if b"\n" not in chunk and len(self._held) < HOLD:
            return b""
        text = self._redact(self._held)
        end = self._safe(text)
        self._held = text[end:]
        return self._lines(text[:end])

    def close(self) -> bytes:
        """Return the rest; a secret that the end cut through does not show."""
        rest, self._held = self._held + self._decoder.decode(b"", final=True), ""
        return self._lines(self._redact(rest, cut=True)) if rest else b""

    def _safe(self, text: str) -> int:
        """Return up to where ``text`` can be let go."""
        end = text.rfind("\n") + 1
        if len(text) - end >= HOLD:
            end = len(text) - OVERLAP
        head = text.rfind(KEY_HEAD, max(0, end - OVERLAP), end)
        if head >= 0 and "PRIVATE KEY" in text[head : head + 60]:
            end = head
        begun = self._redact.begun(text[:end])
        return begun if begun == end else text.rfind("\n", 0, begun) + 1 or begun

    def _lines(self, text: str) -> bytes:
        kept = (line for line in text.split("\n") if not self._dropped(line))
        return "\n".join(kept).encode("utf-8", "surrogateescape")
