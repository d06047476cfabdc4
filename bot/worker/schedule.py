"""Every period of the worker, in seconds, each with its reason."""

from __future__ import annotations

from dataclasses import dataclass

# The engine

THREADS = 4
"""Effects carried out at the same time by one process: they wait for GitHub, not for the processor."""
LEASE = 60.0
"""How long an effect belongs to a process that is not heard of: after ``kill -9`` its lane waits this long at most."""
HEARTBEAT = LEASE / 3
"""Between two renewals of what is in hand: two may be missed."""
LEAST_LEASE = LEASE / 2
"""What must be left of a lease before calling out; less means that this process was suspended, and another may act."""
POLL_NET = 0.25
"""Between two looks at the queues though nothing woke the worker: serves retries that fall due, and lost wake-ups."""
DRAIN = 25.0
"""For what is in hand at a stop; within gunicorn's 30 seconds of grace."""
WRITE_PATIENCE = 2.0
"""That a thread waits for its turn to write rather than put the effect off; well within a lease."""
STORE_PAUSE = 1.0
"""Before the next try while the database does not answer."""
RECORD_PATIENCE = LEASE
"""How long the result of an effect is offered to a database that does not answer; then the lease has run out anyway."""
LONGEST_PUT_OFF = 2 * 3_600.0
"""No answer of GitHub puts work off for longer: its limits reset within the hour, so more is a mistake."""
RETENTION = 3_600.0
"""Between two rounds of forgetting finished rows."""

# What the bot looks after

JOB_START_DEADLINE = 1_800.0
"""From the dispatch until a runner must have claimed the job; GitHub itself would wait 24 hours for one."""
JOB_LOOK = 15.0
"""Between two looks for jobs that are overdue."""
RUN_GRACE = 60.0
"""From the end of an Actions run until its job counts as lost: the report may still be on its way."""
POLL_LOOK = 2.0
"""Between two looks for plans whose reactions are due; costs nothing where none is."""
POLL_FASTEST = 10.0
"""Between two looks at the reactions of a plan that was just posted: somebody may sit in front of it."""
POLL_SLOWEST = 600.0
"""Between two looks at the reactions of a plan that has waited for days."""
POLL_SHARE = 0.02
"""A plan is looked at again after this share of the time it has waited, within the two bounds above."""
RECONCILE = 600.0
"""Between two comparisons of every open plan with GitHub."""
SHOWN_LATE = 86_400.0
"""How long after an effect was wanted an outage that it was given up in is made up for, at each comparison."""
SUMMARY_LOOK = 1_800.0
"""Between two looks whether a week is over that is to be told of."""
DEFAULTS_KEPT = 300.0
"""How long an organisation's defaults are taken as read: they are asked for at every decision otherwise."""
ALARM_PAUSE = 10 * 365 * 86_400.0
"""That an installation stands still after an alarm: until a maintainer lifts it."""
REDELIVER = 300.0
"""Between two looks for deliveries that could not be made."""
REDELIVER_SPAN = 3 * 86_400.0
"""How far back they are looked for: GitHub sends none again that is older than three days."""


@dataclass(frozen=True, slots=True)
class Periods:
    """The periods that a worker is built with: those above, unless a test of faults has no time to wait for them."""

    lease: float = LEASE
    poll_look: float = POLL_LOOK
    job_look: float = JOB_LOOK
    redeliver: float = REDELIVER
    reconcile: float = RECONCILE


USUAL = Periods()
"""What the product works with."""


def poll_pause(waited: float) -> float:
    """Return the seconds until a plan's reactions are looked at again, after it has waited this long."""
    return min(max(waited * POLL_SHARE, POLL_FASTEST), POLL_SLOWEST)
