"""What this process wrote last into each comment, so that an edit that changes nothing costs nothing."""

from __future__ import annotations

import threading
from collections import OrderedDict

REMEMBERED = 10_000
"""Comments remembered at most; a forgotten one costs one needless edit."""


class Shown:
    """Hashes of texts by comment. Safe to share between threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._texts: OrderedDict[int, int] = OrderedDict()

    def shows(self, comment_id: int, text: str) -> bool:
        """Tell whether this is what was written last."""
        with self._lock:
            return self._texts.get(comment_id) == hash(text)

    def note(self, comment_id: int, text: str) -> None:
        """Remember what was written."""
        with self._lock:
            self._texts[comment_id] = hash(text)
            self._texts.move_to_end(comment_id)
            if len(self._texts) > REMEMBERED:
                self._texts.popitem(last=False)
