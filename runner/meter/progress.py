"""Whether a run gets anywhere: calls in a row that fail, bring nothing, or say again what one of the last ones said."""

from __future__ import annotations

from collections import deque

RECENT = 8
"""Calls back that an answer is compared with: loops are short."""


class Progress:
    """Counts the calls in a row that brought nothing new."""

    def __init__(self, limit: int) -> None:
        """``limit`` calls without progress are too many."""
        self._limit, self._idle = limit, 0
        self._said: deque[str] = deque(maxlen=RECENT)

    def learn(self, digest: str | None) -> str | None:
        """Take in what a call brought, None for nothing; return the sentence that ends the run, where it is due."""
        if digest is not None and digest not in self._said:
            self._idle = 0
        else:
            self._idle += 1
        if digest is not None:
            self._said.append(digest)
        if self._idle < self._limit:
            return None
        return (
            f"The agent made no progress: its last {self._idle} calls to the model failed, brought nothing, or "
            "repeated an earlier answer. Say /retry, /update the plan, or raise budget.idle_calls in the policy file."
        )
