"""Tasks that come round: one process at a time has the turn, wherever it runs."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import TYPE_CHECKING

from bot import trail
from bot.store import throttles

if TYPE_CHECKING:
    import threading
    from collections.abc import Callable

    from bot.store.engine import Store

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Periodic:
    """A task, run each ``every`` seconds by one of the processes; with ``at_start`` also when this one starts.

    What it raises is logged, and it runs again when its turn comes.
    """

    name: str
    every: float
    run: Callable[[], None]
    at_start: bool = False


def run_periodic(store: Store, task: Periodic, stop: threading.Event) -> None:
    """Run a task in the calling thread until ``stop`` is set."""
    forced = task.at_start
    while not stop.is_set():
        run_once(store, task, forced=forced)
        forced = False
        stop.wait(task.every)


def run_once(store: Store, task: Periodic, *, forced: bool = False) -> bool:
    """Run a task where the turn is free, or in any case where it is ``forced``; tell whether it ran without fault."""
    with trail.bearing(task=task.name):
        try:
            if not (_take_turn(store, task) or forced):
                return False
            task.run()
        except Exception:
            log.exception("the task %s failed; it runs again in %g seconds", task.name, task.every)
            return False
    return True


def _take_turn(store: Store, task: Periodic) -> bool:
    with store.read() as tx:
        if not throttles.is_open(tx, f"turn:{task.name}"):
            return False
    with store.write() as tx:
        return throttles.take_turn(tx, task.name, task.every)
