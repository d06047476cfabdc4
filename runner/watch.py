"""Why a job must end now: one place that the heartbeat, the clock and the signals write to, and every step asks.

:class:`Ending` is how a job ends before its last step; it carries the outcome and the sentence of the report.
"""

from __future__ import annotations

import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING

from runner.contract import Outcome

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


class Ending(Exception):  # noqa: N818 - not an error of the program: the way a job ends
    """The job ends here. ``fields`` are further fields of the report."""

    def __init__(self, outcome: Outcome, sentence: str, **fields: object) -> None:
        super().__init__(sentence)
        self.outcome = outcome
        self.sentence = sentence
        self.fields = fields


class Watch:
    """The first reason to end wins and stays."""

    def __init__(self, now: Callable[[], float], minutes: float) -> None:
        self._now = now
        self._deadline = now() + minutes * 60
        self._minutes = minutes
        self._lock = threading.Lock()
        self._ending: Ending | None = None
        self._polled = False
        self.interrupted = False
        """Whether a signal asked for the end: little time is left."""

    def end(self, ending: Ending) -> None:
        """Ask the job to end; later reasons are ignored."""
        with self._lock:
            self._ending = self._ending or ending

    def interrupt(self, ending: Ending) -> None:
        """Like :meth:`end`, from a signal handler: raises at once, save where the running step asks by itself.

        No lock is taken: the thread that a handler interrupts may hold it.
        """
        first, self._ending = self._ending is None, self._ending or ending
        self.interrupted = True
        if first and not self._polled:
            raise ending

    def finish(self) -> None:
        """Let no signal interrupt any more: the job has ended and reports."""
        self._polled = True

    @contextmanager
    def polled(self) -> Iterator[None]:
        """Mark a step that asks :meth:`ending` all the time and ends in order when it answers; may be nested."""
        before, self._polled = self._polled, True
        try:
            yield
        finally:
            self._polled = before

    def remaining(self) -> float:
        """Return the seconds left of the job's time."""
        return max(0.0, self._deadline - self._now())

    def stops(self) -> bool:
        """Return whether the job must end."""
        return self.ending() is not None

    def ending(self) -> Ending | None:
        """Return why the job must end, None where it may go on."""
        if self._ending is None and self.remaining() <= 0:
            minutes = f"{self._minutes:g} minutes"
            self.end(Ending(Outcome.TIMED_OUT, f"The job was ended: its budget of {minutes} is spent."))
        return self._ending

    def check(self) -> None:
        """Raise the reason to end, if there is one."""
        ending = self.ending()
        if ending is not None:
            raise ending
