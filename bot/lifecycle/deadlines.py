"""Until when a job must be heard of: pure arithmetic, for the web that hears it and the worker that misses it."""

from __future__ import annotations

JOB_SILENCE = 300.0
"""Seconds without a heartbeat, which comes every 15, after which a claimed job counts as lost."""
JOB_OVERTIME = 900.0
"""Seconds beyond the job's own budget of time: for the push, the report, and an agent that has to be ended."""


def next_look(now: float, claimed_at: float, minutes: float) -> float:
    """Return when a job that was just heard of must be looked after: when it falls silent, or does not end.

    ``minutes`` is its budget; the other two and the answer are seconds since the epoch.
    """
    return min(now + JOB_SILENCE, claimed_at + minutes * 60 + JOB_OVERTIME)
