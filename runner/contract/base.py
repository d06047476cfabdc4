"""What all messages of the contract are made of: their version, limits, and names."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, StringConstraints

CONTRACT_VERSION: Literal[1] = 1
"""Raised when a message changes in a way that an older side would misread."""

MAX_TAIL = 4_000
"""Characters of a gate's or an agent's output that travel in a message; the whole stays on the runner."""
MAX_PATHS = 500
"""Paths a report lists by name; beyond it only their number is told."""

MAX_SECONDS = 1e10
"""Three hundred years: longer than any job, and a number that can be added up and printed."""
MAX_MOMENT = 1e11
"""The year 5138, in seconds since the epoch."""
MAX_GATES = 100
"""Checks of one job: a policy has thirty at most, the runner's own are few."""
MAX_RUNS = 1_000
"""Runs of agents in one job."""

Seconds = Annotated[float, Field(ge=0, le=MAX_SECONDS)]
Moment = Annotated[float, Field(ge=0, le=MAX_MOMENT)]
Count = Annotated[int, Field(ge=0, le=2**63 - 1)]
"""As many as an integer of a database holds."""
Sha = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{40}([0-9a-f]{24})?$")]
Tail = Annotated[str, StringConstraints(max_length=MAX_TAIL)]
JobId = Annotated[str, StringConstraints(pattern=r"^[a-z0-9]{8,32}-[0-9]{1,6}$")]
