"""The worker of one process: a dispatcher, some effect threads, a heartbeat, an ear for changes, and periodic tasks.

    worker = Worker(store, advance, deliver, kinds=..., paced=..., periodic=[...])
    worker.start()
    ...
    worker.stop()

Any number of processes may run one each on the same database. Killing any of them at any instant loses nothing: what
was being thought about is rolled back, what was being carried out is looked up by another when its lease has run out.
"""

from __future__ import annotations

import logging
import os
import queue
import secrets
import socket
import threading
import time
from collections.abc import Callable, Collection, Sequence
from typing import TYPE_CHECKING

from bot.errors import Transient
from bot.store import retention
from bot.worker.claims import Claims, Deliver
from bot.worker.inbox import Advance, advance_one, fire_timers
from bot.worker.periodic import Periodic, run_once, run_periodic
from bot.worker.schedule import DRAIN, HEARTBEAT, LEASE, POLL_NET, RETENTION, STORE_PAUSE, THREADS

if TYPE_CHECKING:
    from bot.store.engine import Store
    from bot.store.outbox import Claimed

log = logging.getLogger(__name__)


class Worker:
    """See the module's docstring. ``kinds`` are the effects it knows, ``paced`` those among them that write."""

    def __init__(
        self,
        store: Store,
        advance: Advance,
        deliver: Deliver,
        *,
        kinds: Collection[str],
        paced: Collection[str] = (),
        periodic: Sequence[Periodic] = (),
        threads: int = THREADS,
        lease: float = LEASE,
    ) -> None:
        owner = f"{socket.gethostname()}:{os.getpid()}:{secrets.token_hex(4)}"
        self._store = store
        self._advance = advance
        self._claims = Claims(store, owner, deliver, kinds, paced, lease)
        self._periodic = (*periodic, Periodic("retention", RETENTION, self._forget))
        self._heartbeat = lease * HEARTBEAT / LEASE
        self._wake = threading.Event()
        self._stopping = threading.Event()
        self._drained = threading.Event()
        self._free = threading.Semaphore(threads)
        self._work: queue.SimpleQueue[Claimed | None] = queue.SimpleQueue()
        self._effect_threads = [threading.Thread(target=self._carry_out, name=f"effect-{n}") for n in range(threads)]
        self._threads = [
            threading.Thread(target=self._dispatch, name="dispatcher"),
            threading.Thread(target=self._listen, name="listener"),
            threading.Thread(target=self._keep_alive, name="heartbeat"),
        ]
