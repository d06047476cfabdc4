"""Traces: sent where OpenTelemetry's usual variable names a collector and the extra ``tracing`` is installed.

Otherwise nothing of OpenTelemetry is even imported.
"""

from __future__ import annotations

import logging
from contextlib import contextmanager
from importlib.util import find_spec
from typing import TYPE_CHECKING

from bot import trail

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bot.settings import Settings

log = logging.getLogger(__name__)


def is_installed() -> bool:
    """Tell whether the extra ``tracing`` is there."""
    return find_spec("opentelemetry") is not None and find_spec("opentelemetry.exporter.otlp.proto.http") is not None


@contextmanager
def traced(settings: Settings) -> Iterator[None]:
    """Make and send the traces of a process while the block lasts; begin it after any fork."""
    if settings.otlp_endpoint is None:
        yield
        return
    if not is_installed():
        log.warning("OTEL_EXPORTER_OTLP_ENDPOINT is set, and no trace is made: install the extra `tracing`.")
        yield
        return
    from bot.otlp import Spans  # noqa: PLC0415 - costs nothing where no traces are wanted

    spans = Spans(settings.otlp_endpoint, settings.url)
    trail.trace_with(spans)
    try:
        yield
    finally:
        trail.trace_with(None)
        spans.close()
