"""The ledger of a job's calls: ``jobs/<id>/calls.jsonl``, append-only, for the runner's user alone.

A line is on disk before the call that it announces is sent, and another one when it is settled: after a kill at any
moment what was spent is known, "at least" where a call was under way. The rows of the cost table are made of these
records and nothing else, while the job runs as well as at the next start.
"""

from __future__ import annotations

import os
import stat
import threading
from dataclasses import dataclass, field
from decimal import Decimal
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import Field, TypeAdapter, ValidationError

from runner.contract import MAX_ATTEMPT, MAX_USD, Count, Usage, UsdSource
from runner.prices import names_of
from runner.results import Line, Message, Unit

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

LEDGER_FILE = "calls.jsonl"
MAX_LEDGER = 64_000_000
"""Bytes of a ledger that are read again after a kill; a call takes about 600."""

Usd = Annotated[Decimal, Field(ge=0, le=MAX_USD)]


class RunBegun(Message):
    """An agent is about to start."""

    kind: Literal["run"] = "run"
    run: Line
    unit: Unit
    agent: Line
    model: Line | None
    attempt: int = Field(ge=1, le=MAX_ATTEMPT)
    metered: bool
    subscription: bool = False
    at: float


class CallSent(Message):
    """A call is about to be forwarded; what it can cost at most is reserved."""

    kind: Literal["sent"] = "sent"
    call: Line
    run: Line
    model: Line | None
    usd: Usd | None
    tokens: Count
    at: float


class CallSettled(Message):
    """A call is over. Counts are None where the answer never told them; complete only where it told them all."""

    kind: Literal["settled"] = "settled"
    call: Line
    run: Line
    model: Line | None
    status: int | None
    """None where no answer came."""
    input_tokens: Count | None = None
    output_tokens: Count | None = None
    cache_read_tokens: Count | None = None
    cache_write_tokens: Count | None = None
    cache_write_1h_tokens: Count | None = None
    reasoning_tokens: Count | None = None
    usd: Usd | None = None
    priced_by: Line | None = None
    complete: bool
    at: float


class RunEnded(Message):
    """An agent has ended; ``row`` tells its cost where it went past the meter."""

    kind: Literal["ended"] = "ended"
    run: Line
    seconds: float = Field(ge=0)
    row: Usage | None = None
    at: float


Record = Annotated[RunBegun | CallSent | CallSettled | RunEnded, Field(discriminator="kind")]
RECORD: TypeAdapter[RunBegun | CallSent | CallSettled | RunEnded] = TypeAdapter(Record)
SUMS = ("input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens", "reasoning_tokens")


@dataclass
class _Run:
    """What the records say of one run."""

    begun: RunBegun
    last: float
    sent: dict[str, CallSent] = field(default_factory=dict)
    settled: dict[str, CallSettled] = field(default_factory=dict)
    ended: RunEnded | None = None

    def row(self) -> Usage:
        """Return the run's row of the cost table."""
        if self.ended is not None and self.ended.row is not None:
            return self.ended.row
        begun, calls = self.begun, list(self.settled.values())
        if not begun.metered:
            source = UsdSource.SUBSCRIPTION if begun.subscription else UsdSource.UNKNOWN
            return self._with(usd_source=source, complete=False)
        usd = self._usd(calls)
        names = names_of([*(call.model for call in calls), *(call.model for call in self.sent.values())]) or begun.model
        return self._with(
            model=names,
            **{name: self._sum(name, calls) for name in SUMS},
            usd=usd,
            usd_source=UsdSource.UNKNOWN if usd is None else UsdSource.METERED,
            price_date=" and ".join(dict.fromkeys(call.priced_by for call in calls if call.priced_by)) or None,
            complete=self.ended is not None and all(call.complete for call in calls) and not self._under_way,
            calls=len(self.sent.keys() | self.settled.keys()),
        )

    def _with(self, **fields: object) -> Usage:
        begun = self.begun
        seconds = self.ended.seconds if self.ended else max(0.0, self.last - begun.at)
        basics = {"unit": begun.unit, "agent": begun.agent, "model": begun.model, "attempt": begun.attempt}
        return Usage.model_validate({**basics, "seconds": seconds, **fields})

    @property
    def _under_way(self) -> bool:
        return bool(self.sent.keys() - self.settled.keys())

    def _sum(self, name: str, calls: list[CallSettled]) -> int | None:
        """Return a sum of what is known; None where calls were made and none of them told it."""
        known = [count for call in calls if (count := getattr(call, name)) is not None]
        return sum(known) if known or not (self.sent or calls) else None

    def _usd(self, calls: list[CallSettled]) -> Decimal | None:
        """Return the dollars that are known; None where a model without a price was used, or nothing is known."""
        if any(call.usd is None and call.input_tokens is not None for call in calls):
            return None
        known = [call.usd for call in calls if call.usd is not None]
        return sum(known, Decimal(0)) if known or not (self.sent or calls) else None


class _Book:
    """Records by run, in the order in which the runs began."""

    def __init__(self) -> None:
        self.runs: dict[str, _Run] = {}

    def take(self, record: RunBegun | CallSent | CallSettled | RunEnded) -> None:
        if isinstance(record, RunBegun):
            self.runs[record.run] = _Run(record, record.at)
            return
        run = self.runs.get(record.run)
        if run is None:
            return
        run.last = max(run.last, record.at)
        if isinstance(record, CallSent):
            run.sent[record.call] = record
        elif isinstance(record, CallSettled):
            run.settled[record.call] = record
        else:
            run.ended = record

    def rows(self) -> tuple[Usage, ...]:
        return tuple(run.row() for run in self.runs.values())


class Ledger:
    """The ledger of a running job; usable from several threads."""

    def __init__(self, path: Path) -> None:
        """Raise OSError where the file can't be made."""
        self._lock = threading.Lock()
        self._book = _Book()
        self._cut = False
        """Whether the last line may not be whole."""
        self._file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)

    def write(self, record: RunBegun | CallSent | CallSettled | RunEnded) -> None:
        """Note a record; it is on disk when this returns. Raises OSError where the disk is full, and notes it still."""
        line = record.model_dump_json().encode() + b"\n"
        with self._lock:
            self._book.take(record)
            self._append(line)
            os.fsync(self._file)

    def _append(self, line: bytes) -> None:
        """Write a line whole; what a full disk cut off is ended first, lest the next record be lost with it."""
        left, self._cut = (b"\n" if self._cut else b"") + line, True
        while left:
            left = left[os.write(self._file, left) :]
        self._cut = False

    def rows(self) -> tuple[Usage, ...]:
        """Return the rows of the cost table as they stand, one a run, in the order in which the runs began."""
        with self._lock:
            return self._book.rows()

    def calls(self, run: str) -> tuple[CallSettled, ...]:
        """Return the calls of a run that are settled."""
        with self._lock:
            return tuple(self._book.runs[run].settled.values())

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            os.close(self._file)
            self._file = -1  # what comes late must not end in a file that has got this number since


def read_ledger(path: Path) -> tuple[Usage, ...]:
    """Return the rows of the cost table of a job that was killed, one a run of an agent; none without a ledger."""
    book = _Book()
    for record in _records(path):
        book.take(record)
    return book.rows()


def _records(path: Path) -> Iterable[RunBegun | CallSent | CallSettled | RunEnded]:
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return
    with os.fdopen(handle, "rb") as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            return
        for line in file.read(MAX_LEDGER).splitlines():
            try:
                yield RECORD.validate_json(line)
            except ValidationError:
                continue  # a line that a kill cut off
