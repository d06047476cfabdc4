"""What this thread is at: fields that each record of the log bears, and the span of a trace where traces are made.

    with trail.working("effect say", lane=claimed.lane, effect=claimed.id):
        ...
        trail.note(plan=plan.uid)

Set in one place for each thing that can be at work: a delivery, an effect, a periodic task, a request of the web, a
call to GitHub. What makes spans is set once for the process (:func:`trace_with`), as the handlers of the log are.
"""

from __future__ import annotations

from contextlib import contextmanager, nullcontext
from contextvars import ContextVar
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from contextlib import AbstractContextManager

    Value = str | int
    Fields = Mapping[str, Value]

_AT: ContextVar[Fields] = ContextVar("at", default={})  # noqa: B039 - replaced, never changed


class Tracer(Protocol):
    """What makes spans."""

    def span(self, name: str, fields: Fields, lane: str | None) -> AbstractContextManager[object]:
        """Open a span for a block. Those of one lane that are inside no other belong to one trace."""

    def note(self, fields: Fields) -> None:
        """Say more about the span that is open."""


class _Process:
    """What this process makes spans with."""

    tracer: Tracer | None = None


def trace_with(tracer: Tracer | None) -> None:
    """Make spans from now on, or none."""
    _Process.tracer = tracer


def fields() -> Fields:
    """Return what is known of the work at hand."""
    return _AT.get()


@contextmanager
def bearing(**known: Value | None) -> Iterator[None]:
    """Let the records of a block bear these fields, beside those of the blocks around it."""
    before = _AT.set({**_AT.get(), **_known(known)})
    try:
        yield
    finally:
        _AT.reset(before)


@contextmanager
def working(name: str, *, lane: str | None = None, **known: Value | None) -> Iterator[None]:
    """Do the same, within a span of that name; ``lane`` is whose trace it begins or goes on with."""
    told = {**_known(known), **({"lane": lane} if lane else {})}
    tracer = _Process.tracer
    with bearing(**told), tracer.span(name, told, lane) if tracer else nullcontext():
        yield


def note(**known: Value | None) -> None:
    """Let the rest of the block bear these fields too."""
    told = _known(known)
    _AT.set({**_AT.get(), **told})
    if _Process.tracer is not None:
        _Process.tracer.note(told)


def _known(fields: Mapping[str, Value | None]) -> dict[str, Value]:
    return {name: value for name, value in fields.items() if value is not None}
