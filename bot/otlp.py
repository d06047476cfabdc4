"""Spans by OpenTelemetry, sent over OTLP (HTTP, protobuf) to a collector.

All spans about one issue belong to one trace: its number is derived from the bot's address and the lane, so that
processes, and days, need not tell each other. Inside it lie a span for each delivery and effect, and in those the calls
to GitHub; every one bears the delivery's guid, the plan and the installation as the log does. A request of the web is a
trace of its own, which bears the guid of the delivery that it brought.
"""

from __future__ import annotations

import hashlib
from contextlib import contextmanager
from contextvars import ContextVar
from importlib.metadata import version
from typing import TYPE_CHECKING

from opentelemetry import trace
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import OTELResourceDetector, Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.sdk.trace.id_generator import RandomIdGenerator

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bot.trail import Fields

EXPORT_SECONDS = 5
"""For one try to send a batch of spans; a collector that is away holds up no stop for longer."""
NAME = "twogate"

_TRACE: ContextVar[int | None] = ContextVar("trace", default=None)


class _ByLane(RandomIdGenerator):
    """Gives a lane's spans the number of its trace, all others a random one."""

    def generate_trace_id(self) -> int:
        return _TRACE.get() or super().generate_trace_id()


def trace_of(bot: str, lane: str) -> int:
    """Return the number of a lane's trace, 128 bits."""
    return int.from_bytes(hashlib.sha256(f"{bot}\n{lane}".encode()).digest()[:16])


class Spans:
    """The :class:`bot.trail.Tracer` of a process. ``bot`` is the bot's address."""

    def __init__(self, endpoint: str, bot: str) -> None:
        usual = Resource({"service.name": NAME, "service.version": version(NAME)})
        self._provider = TracerProvider(
            resource=usual.merge(OTELResourceDetector().detect()), id_generator=_ByLane(), shutdown_on_exit=False
        )
        exporter = OTLPSpanExporter(endpoint=f"{endpoint}/v1/traces", timeout=EXPORT_SECONDS)
        self._provider.add_span_processor(BatchSpanProcessor(exporter))
        self._tracer = self._provider.get_tracer(NAME)
        self._bot = bot

    @contextmanager
    def span(self, name: str, fields: Fields, lane: str | None) -> Iterator[None]:
        """Open a span for a block; of what the block raises the kind alone is told, since messages quote texts."""
        before = _TRACE.set(trace_of(self._bot, lane) if lane else None)
        try:
            with self._tracer.start_as_current_span(
                name, attributes=_named(fields), record_exception=False, set_status_on_exception=False
            ) as span:
                try:
                    yield
                except BaseException as error:
                    span.set_status(trace.Status(trace.StatusCode.ERROR, type(error).__name__))
                    raise
        finally:
            _TRACE.reset(before)

    def note(self, fields: Fields) -> None:
        """Say more about the span that is open."""
        trace.get_current_span().set_attributes(_named(fields))

    def close(self) -> None:
        """Send what is left and stop."""
        self._provider.shutdown()


def _named(fields: Fields) -> dict[str, str | int]:
    return {f"{NAME}.{name}": value for name, value in fields.items()}
