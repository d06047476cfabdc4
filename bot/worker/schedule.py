"""Every period of the worker, in seconds, each with its reason."""

from __future__ import annotations

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
STORE_PAUSE = 1.0
"""Before the next try while the database does not answer."""
RECORD_PATIENCE = LEASE
"""How long the result of an effect is offered to a database that does not answer; then the lease has run out anyway."""
LONGEST_PUT_OFF = 2 * 3_600.0
"""No answer of GitHub puts work off for longer: its limits reset within the hour, so more is a mistake."""
RETENTION = 3_600.0
"""Between two rounds of forgetting finished rows."""
