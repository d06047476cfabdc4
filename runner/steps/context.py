"""What the steps of one job share: its specification, its tools, and the ledger that becomes the report."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path  # noqa: TC003 - part of the public fields
from typing import TYPE_CHECKING, Any

from runner.contract import Phase, Report, Usage

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import date

    from runner.client import Bot
    from runner.contract import JobSpec
    from runner.git import Auth
    from runner.heartbeat import Heartbeat
    from runner.meter import Meter
    from runner.sandbox import Sandbox
    from runner.settings import Settings
    from runner.store import ObjectStore
    from runner.watch import Ending, Watch

MAX_NOTES = 50
"""Notes a report carries; a job that has more to say repeats itself."""
MAX_SENTENCE = 4_000
"""Characters of a report's sentence, and of each note."""


@dataclass
class Ledger:
    """What has been done and spent so far; whatever ends the job, this is reported."""

    started_at: float
    attempts: int = 0
    check_seconds: float = 0.0
    usage: list[Usage] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    fields: dict[str, Any] = field(default_factory=dict)
    """Further fields of the report, by their names; the latest counts."""

    def note(self, *sentences: str) -> None:
        """Add what a reviewer should know, each sentence once."""
        self.notes += [sentence for sentence in dict.fromkeys(sentences) if sentence not in self.notes]

    def report(self, job: str, runner: str, ending: Ending, ended_at: float) -> Report:
        """Return the report of a job that ended as ``ending`` says."""
        return Report(
            job=job,
            outcome=ending.outcome,
            sentence=fitting(ending.sentence),
            attempts=self.attempts,
            check_seconds=self.check_seconds,
            usage=tuple(self.usage),
            notes=tuple(fitting(note) for note in self.notes[:MAX_NOTES]),
            runner=runner,
            started_at=self.started_at,
            ended_at=ended_at,
            **{**self.fields, **ending.fields},
        )


@dataclass(frozen=True)
class Job:
    """One claimed job on its way."""

    spec: JobSpec
    settings: Settings
    bot: Bot
    watch: Watch
    heartbeat: Heartbeat
    meter: Meter
    store: ObjectStore
    read_auth: Auth | None
    sandbox: Sandbox
    folder: Path
    """``jobs/<id>/``: prompts, streams, report; hidden from agents."""
    exchange: Path
    """``exchange/<id>/``: what agents may read of the runner's, and where they write their results."""
    ledger: Ledger
    now: Callable[[], float]
    say: Callable[[str], None]
    """Prints one line for the Actions log."""

    @property
    def today(self) -> date:
        """The day on which something is written, in UTC."""
        return datetime.fromtimestamp(self.now(), UTC).date()

    def enter(self, phase: Phase, what: str) -> None:
        """Begin a phase: say so here and to the bot, and end the job where it must end."""
        self.say(f"{phase}: {what}")
        self.heartbeat.line(what)
        self.heartbeat.enter(phase, self.ledger.attempts, tuple(self.ledger.usage))
        self.watch.check()


def fitting(text: str) -> str:
    """Return ``text`` as it fits a report: not too long, and free of what UTF-8 can't carry."""
    clean = text.encode("utf-8", "replace").decode()
    return clean if len(clean) <= MAX_SENTENCE else f"{clean[: MAX_SENTENCE - 1]}…"
