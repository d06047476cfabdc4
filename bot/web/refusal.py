"""How the web says no."""

from __future__ import annotations


class Refused(Exception):  # noqa: N818 - an answer, not a fault of the program
    """An answer other than success: its status, and a sentence that says what happened and what to do.

    ``retry_after`` (seconds) asks to come back; without it the answer is final.
    """

    def __init__(self, status: int, sentence: str, *, retry_after: int | None = None) -> None:
        super().__init__(sentence)
        self.status = status
        self.sentence = sentence
        self.retry_after = retry_after
