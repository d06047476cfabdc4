"""The end of a log, read from where GitHub keeps it: without our identity, and never more than its end in memory."""

from __future__ import annotations

import httpx

from bot.errors import Permanent, Transient
from bot.github.gateway import Missing

TAIL_BYTES = 256 * 1024
"""How much of the end of a log is kept: what failed is told at the end, and logs may have hundreds of megabytes."""
MOST_BYTES = 256 * 1024 * 1024
"""A longer log is not read to its end: that would take minutes."""


def tail(url: str, timeout: float) -> str:
    """Return the end of the text at an address, from a whole line on. Raises ``Missing`` where it is gone."""
    try:
        with httpx.stream("GET", url, timeout=timeout, follow_redirects=False) as answer:
            if answer.is_server_error:
                raise Transient(f"The log can't be read now: its server answered {answer.status_code}.")
            if not answer.is_success:
                raise Missing(f"The log is gone: its server answered {answer.status_code}.")
            return _text(*_end_of(answer))
    except httpx.HTTPError as error:
        raise Transient(f"The log can't be read now: {type(error).__name__}: {error}") from error


def _end_of(answer: httpx.Response) -> tuple[bytes, bool]:
    """Return the last bytes, and whether there were more."""
    kept, read = b"", 0
    for chunk in answer.iter_bytes():
        read += len(chunk)
        if read > MOST_BYTES:
            raise Permanent(f"The log is longer than {MOST_BYTES >> 20} MB: it is not read.")
        kept = (kept + chunk)[-TAIL_BYTES:]
    return kept, read > TAIL_BYTES


def _text(kept: bytes, cut: bool) -> str:  # noqa: FBT001 - the pair of _end_of
    text = kept.decode(errors="replace").removeprefix("\ufeff")
    return text.partition("\n")[2] if cut else text
