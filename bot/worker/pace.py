"""The pace of writes: never faster than GitHub asks of an installation, over all threads and processes."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from bot.errors import RetryAt
from bot.store import throttles
from bot.worker.schedule import WRITE_PATIENCE

if TYPE_CHECKING:
    from collections.abc import Callable

    from bot.store.engine import Store
    from bot.store.throttles import Limits


class Pace:
    """Called before every write: waits where it is a moment, else puts the effect off."""

    def __init__(self, store: Store, limits: Limits, wait: Callable[[float], None] = time.sleep) -> None:
        self._store = store
        self._limits = limits
        self._wait = wait

    def __call__(self, installation_id: int) -> None:
        """Take the next turn to write. Raises :class:`~bot.errors.RetryAt` where it is further off."""
        with self._store.write() as tx:
            at = throttles.reserve_write(tx, installation_id, patience=WRITE_PATIENCE, limits=self._limits)
            pause = at - tx.now
        if pause > WRITE_PATIENCE:
            gate = throttles.write_gate(installation_id)
            raise RetryAt(at, "The installation has written as much as GitHub allows; it goes on later.", gate=gate)
        if pause > 0:
            self._wait(pause)
