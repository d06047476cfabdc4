"""JSON in a column: an envelope that says in which format its content was written.

``{"format": 1, "data": …}``. Within one format fields are only added, with defaults, and unknown ones are ignored by
the lifecycle's models. A change that an older reader would misread raises :data:`FORMAT`, and :func:`load` then
upgrades the older formats; ``tests/store/released`` keeps a document of every format that was ever released.
"""

from __future__ import annotations

import json
from typing import Any

FORMAT = 1
"""The format written now."""

MAX_NOTE = 2_000
"""Characters kept of an error or a note: enough for the cause, too little to fill the disk in a loop."""


class UnreadableError(Exception):
    """A document that this release can't read; the sentence says why and what to do."""


def dump(data: Any) -> str:
    """Return JSON-ready ``data`` in its envelope."""
    return json.dumps({"format": FORMAT, "data": data}, separators=(",", ":"))


def load(text: str) -> Any:
    """Return the data of an envelope, as the current format has it.

    Raises :class:`UnreadableError` for a format of a later release.
    """
    envelope = json.loads(text)
    if envelope["format"] > FORMAT:
        raise UnreadableError(
            f"A stored document has format {envelope['format']}, this release reads up to {FORMAT}: "
            "update this process to the release that wrote it."
        )
    return envelope["data"]


def note(text: str) -> str:
    """Return free text in the form that both databases keep: bounded, without NUL and lone surrogates."""
    return text[:MAX_NOTE].replace("\0", "\N{REPLACEMENT CHARACTER}").encode(errors="replace").decode()
