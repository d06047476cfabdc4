"""The heartbeat: tells the bot where the job is, and hears from it whether the job must end.

A thread of its own, so that a job is alive to the bot while a step takes long. It sends at each change of phase and
every :data:`PERIOD` seconds. What it hears goes to the :class:`~runner.watch.Watch`; it ends nothing by itself.
"""

from __future__ import annotations

import threading
from collections import deque
from typing import TYPE_CHECKING, Self

from runner.client import ClientError, RefusedError
from runner.contract import Outcome, Phase, Progress
from runner.watch import Ending

if TYPE_CHECKING:
    from collections.abc import Callable
    from decimal import Decimal

    from runner.client import Bot
    from runner.contract import ProgressAnswer, Usage
    from runner.watch import Watch

PERIOD = 15.0
"""Seconds between two heartbeats."""
UNREACHABLE_LIMIT = 600.0
"""Seconds without an answer of the bot after which the job is ended: nobody could stop it any more."""
LEAVE = 1.0
"""Seconds that the end of a job waits for a heartbeat under way."""
MAX_LINES = 20
MAX_LINE = 300
"""Lines, and characters of each, that travel; as the contract has it."""
OVER = frozenset({401, 404, 409, 410})
"""Statuses by which the bot says that this job is not, or no longer, this runner's."""


class Heartbeat:
    """What the bot sees of a running job."""

    def __init__(self, send: Callable[[Progress], ProgressAnswer], watch: Watch, now: Callable[[], float]) -> None:
        """``send`` delivers one heartbeat and returns what the bot says to it."""
        self._send = send
        self._watch = watch
        self._now = now
        self._answered_at = now()
        self._sending = threading.Lock()
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._beat, name="heartbeat", daemon=True)
        self._phase = Phase.PREPARE
        self._attempt = 0
        self._usage: tuple[Usage, ...] = ()
        self._lines: deque[str] = deque(maxlen=MAX_LINES)
        self.usd_today: Decimal | None = None
        """What this job may spend in all as the repository's day stands now, as the bot said last."""

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_exc: object) -> None:
        self._over.set()
        self._thread.join(LEAVE)

    def enter(self, phase: Phase, attempt: int, usage: tuple[Usage, ...]) -> None:
        """Say that the job is in ``phase`` now; returns when the bot knows it, or could not be told."""
        self._phase, self._attempt, self._usage = phase, attempt, usage
        self._once()

    def spent(self, usage: tuple[Usage, ...]) -> None:
        """Let the next heartbeat tell what has been spent."""
        self._usage = usage

    def line(self, text: str) -> None:
        """Add a line to what the next heartbeat shows."""
        self._lines.append("".join(c if c.isprintable() else " " for c in text)[:MAX_LINE])

    def _beat(self) -> None:
        while not self._over.wait(PERIOD):
            self._once()

    def _once(self) -> None:
        with self._sending:
            progress = Progress(phase=self._phase, attempt=self._attempt, usage=self._usage, lines=tuple(self._lines))
            try:
                answer = self._send(progress)
            except RefusedError as error:
                if error.status in OVER:
                    self._watch.end(Ending(Outcome.STOPPED, f"The bot ended the job: {error}"))
            except ClientError as error:
                self._unreachable(error)
            else:
                self._heard(answer)

    def _heard(self, answer: ProgressAnswer) -> None:
        self._answered_at = self._now()
        self.usd_today = answer.usd_today
        if answer.stop is not None:
            self._watch.end(Ending(Outcome.STOPPED, f"The job was stopped: {answer.stop}"))

    def _unreachable(self, error: ClientError) -> None:
        silence = self._now() - self._answered_at
        if silence >= UNREACHABLE_LIMIT:
            sentence = f"The job was ended since the bot had not answered for {silence / 60:.0f} minutes. {error}"
            self._watch.end(Ending(Outcome.STOPPED, sentence))


def sender(bot: Bot, job: str, key: str) -> Callable[[Progress], ProgressAnswer]:
    """Return what sends one heartbeat of ``job``."""
    return lambda progress: bot.progress(job, key, progress)
