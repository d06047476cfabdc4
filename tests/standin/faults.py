"""Faults on demand: what goes wrong with API requests and webhook deliveries, how often and for which."""

from __future__ import annotations

import re
import threading
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import random

API_KINDS = {
    "error": "answer `status` without doing anything",
    "error_after": "do it, then answer `status`",
    "primary": "403 with x-ratelimit-remaining 0 (GraphQL: 200 with RATE_LIMITED); reset in `seconds`",
    "secondary": "`status` 403 or 429 with retry-after `seconds`",
    "slow": "wait `seconds`, then do it",
    "reset": "reset the connection without doing anything",
    "reset_after": "do it, then reset the connection",
}
HOOK_KINDS = {
    "drop": "never send it; the delivery log shows a failure",
    "duplicate": "send it twice under one id",
    "redeliver": "send it again under a new id",
    "delay": "send it `seconds` later, others overtake it",
    "reorder": "send it after the next delivery",
}


@dataclass
class Fault:
    """One fault: its kind, what it matches (regular expressions over method or event, path, and actor), how often.

    ``count`` None is without end; ``probability`` is drawn from the seeded generator for each match.
    """

    kind: str
    method: str = ".*"
    path: str = ".*"
    event: str = ".*"
    actor: str = ".*"
    count: int | None = 1
    probability: float = 1.0
    seconds: float = 60.0
    status: int = 502
    hits: int = 0

    def __post_init__(self) -> None:
        if self.kind not in API_KINDS and self.kind not in HOOK_KINDS:
            raise ValueError(f"no fault {self.kind!r}; there are {', '.join([*API_KINDS, *HOOK_KINDS])}")

    @property
    def spent(self) -> bool:
        """Whether it has struck as often as it was to."""
        return self.count is not None and self.hits >= self.count


class Faults:
    """The faults that are set, struck in the order they were added."""

    def __init__(self, rng: random.Random) -> None:
        self._random = rng
        self._lock = threading.Lock()
        self._faults: list[Fault] = []

    def add(self, kind: str, **options: Any) -> Fault:
        """Set a fault; options are the fields of ``Fault``; raises ValueError for an unknown kind."""
        fault = Fault(kind, **options)
        with self._lock:
            self._faults.append(fault)
        return fault

    def clear(self) -> None:
        """Remove all faults."""
        with self._lock:
            self._faults.clear()

    def listed(self) -> list[dict[str, Any]]:
        """All faults with how often each has struck."""
        with self._lock:
            return [asdict(fault) for fault in self._faults]

    def for_request(self, method: str, path: str, actor: str) -> Fault | None:
        """The fault that strikes this API or git request, if any; counts it. ``actor`` is as in the request log."""
        return self._strike(
            lambda fault: (
                fault.kind in API_KINDS
                and bool(re.fullmatch(fault.method, method) and re.search(fault.path, path))
                and bool(re.fullmatch(fault.actor, actor))
            )
        )

    def for_delivery(self, event: str, action: str) -> Fault | None:
        """The fault that strikes this delivery (``event`` matches "issues" or "issues.labeled"), if any."""
        names = (event, f"{event}.{action}")
        return self._strike(
            lambda fault: fault.kind in HOOK_KINDS and any(re.fullmatch(fault.event, name) for name in names)
        )

    def _strike(self, matches: Any) -> Fault | None:
        with self._lock:
            for fault in self._faults:
                if not fault.spent and matches(fault) and self._random.random() < fault.probability:
                    fault.hits += 1
                    return fault
        return None
