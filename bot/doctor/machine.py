"""What the doctor looks at on the bot's own machine: disk, database, worker, traces."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

from bot.doctor.finding import Finding
from bot.store import gauges, health
from bot.tracing import is_installed

if TYPE_CHECKING:
    from pathlib import Path

    from bot.settings import Settings
    from bot.store.engine import Store

LEAST_FREE = 1_000_000_000
"""Bytes that must be free for the bot's folder: weeks of deliveries, and room to migrate."""
WORKER_SILENT = 120.0
"""Seconds by which the turn of a task that comes round every two may be overdue: GitHub can be slow."""


def disk(home: Path) -> Finding:
    """Look for room."""
    free = shutil.disk_usage(home).free
    said = f"{free / 1e9:.1f} GB are free for {home}"
    if free < LEAST_FREE:
        return Finding(False, f"{said}: make room, or what arrives can't be stored.")
    return Finding(True, f"{said}.")


def whole(store: Store) -> Finding:
    """Look whether the database's file is whole, and how large it is."""
    with store.read() as tx:
        size, broken = health.size(tx), health.damage(tx)
    if broken:
        return Finding(False, f"The database is damaged ({broken}): stop the bot and put a backup in its place.")
    return Finding(True, f"The database is whole; it takes {size / 1e6:.1f} MB.")


def worker(store: Store) -> Finding:
    """Look for the trace of a worker's last turn."""
    with store.read() as tx:
        overdue = gauges.worker_overdue(tx)
    start = "start `twogate serve`, or `twogate work` where the web is served apart."
    if overdue is None:
        return Finding(False, f"No worker has ever run on this database: {start}")
    if overdue > WORKER_SILENT:
        return Finding(False, f"No worker has been heard of for {overdue:.0f} s: {start}")
    return Finding(True, "A worker is alive.")


def traces(settings: Settings) -> Finding:
    """Look whether traces that are asked for can be made."""
    if settings.otlp_endpoint is None:
        return Finding(True, "No traces are made: OTEL_EXPORTER_OTLP_ENDPOINT is not set.")
    if not is_installed():
        return Finding(False, "OTEL_EXPORTER_OTLP_ENDPOINT is set, and no trace is made: install the extra `tracing`.")
    return Finding(True, f"Traces go to {settings.otlp_endpoint}.")
