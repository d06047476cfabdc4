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
HEAD_LENGTH = 60
"""Characters within which the head of a key says that it is one."""
KEY_END = "-----END "


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
        begun = self._begun_key()
        text = self._redact(self._held[:begun])
        end = self._safe(text)
        self._held = text[end:] + self._held[begun:]
        return self._lines(text[:end])

    def close(self) -> bytes:
        """Return the rest; a secret that the end cut through does not show."""
        rest, self._held = self._held + self._decoder.decode(b"", final=True), ""
        return self._lines(self._redact(rest, cut=True)) if rest else b""

    def _begun_key(self) -> int:
        """Return where a private key begins whose end has not come yet, the length of what is held where none does."""
        held, head = self._held, self._held.rfind(KEY_HEAD)
        known = "PRIVATE KEY" in held[head : head + HEAD_LENGTH] or len(held) - head < HEAD_LENGTH
        ended = KEY_END in held[head:] or len(held) - head > HOLD
        return head if head >= 0 and known and not ended else len(held)

    def _safe(self, text: str) -> int:
        """Return up to where ``text`` can be let go."""
        end = text.rfind("\n") + 1
        if len(text) - end >= HOLD:
            end = len(text) - OVERLAP
        begun = self._redact.begun(text[:end])
        return begun if begun == end else text.rfind("\n", 0, begun) + 1 or begun

    def _lines(self, text: str) -> bytes:
        kept = (line for line in text.split("\n") if not self._dropped(line))
        return "\n".join(kept).encode("utf-8", "surrogateescape")
