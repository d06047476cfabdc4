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
from typing import TYPE_CHECKING

from bot.store import retention
from bot.worker.claims import Claims
from bot.worker.inbox import advance_one, fire_timers
from bot.worker.periodic import Periodic, run_once, run_periodic
from bot.worker.schedule import DRAIN, HEARTBEAT, LEASE, POLL_NET, RETENTION, STORE_PAUSE, THREADS

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

    from bot.store.engine import Store
    from bot.store.outbox import Claimed
    from bot.worker.claims import Deliver
    from bot.worker.inbox import Advance

log = logging.getLogger(__name__)


class Worker:
    """See the module's docstring. ``kinds`` are the effects it knows, ``paced`` those among them that write.

    ``beat`` is called a few times a minute.
    """

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
        beat: Callable[[], None] = lambda: None,
    ) -> None:
        owner = f"{socket.gethostname()}:{os.getpid()}:{secrets.token_hex(4)}"
        self._store = store
        self._advance = advance
        self._beat = beat
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
        self._threads += [
            threading.Thread(target=run_periodic, args=(store, task, self._stopping), name=task.name)
            for task in self._periodic
        ]

    def start(self) -> None:
        """Begin to work, in threads that end with the process."""
        for thread in (*self._threads, *self._effect_threads):
            thread.daemon = True
            thread.start()

    def stop(self, deadline: float = DRAIN) -> bool:
        """Take nothing new, finish what is in hand, and return whether that was done within ``deadline`` seconds."""
        end = time.monotonic() + deadline
        self._stopping.set()
        self._wake.set()
        self._threads[0].join(deadline)
        for _ in self._effect_threads:
            self._work.put(None)
        drained = _join(self._effect_threads, end)
        self._drained.set()
        return _join(self._threads, end) and drained

    def run_until_idle(self, limit: int = 10_000) -> int:
        """Work in the calling thread until nothing is due, and return the number of steps; for tests and tools.

        Raises :class:`RuntimeError` after ``limit`` steps: work that always makes more work has no end.
        """
        for steps in range(limit):
            if fire_timers(self._store) or advance_one(self._store, self._advance):
                continue
            claimed = self._claims.take()
            if claimed is None:
                return steps
            self._claims.carry_out(claimed)
        raise RuntimeError(f"The worker is not idle after {limit} steps.")

    def run_periodic(self, name: str) -> bool:
        """Run one periodic task now, in the calling thread, turn or not. False where it failed; the log says why."""
        return run_once(self._store, next(task for task in self._periodic if task.name == name), forced=True)

    def _dispatch(self) -> None:
        while not self._stopping.is_set():
            try:
                busy = self._step()
            except Exception:
                log.exception("the dispatcher goes on in %g seconds", STORE_PAUSE)
                self._stopping.wait(STORE_PAUSE)
            else:
                if not busy:
                    self._wake.wait(POLL_NET)
                    self._wake.clear()

    def _step(self) -> bool:
        thought = fire_timers(self._store) or advance_one(self._store, self._advance)
        return self._hand_out() or thought

    def _hand_out(self) -> bool:
        """Claim an effect for a thread that is free."""
        if not self._free.acquire(blocking=False):
            return False
        claimed = None
        try:
            claimed = self._claims.take()
        finally:
            if claimed is None:
                self._free.release()
        if claimed is not None:
            self._work.put(claimed)
        return claimed is not None

    def _carry_out(self) -> None:
        while (claimed := self._work.get()) is not None:
            try:
                self._claims.carry_out(claimed)
            except Exception:
                log.exception("effect %s: its thread goes on with the next", claimed.key)
            self._free.release()
            self._wake.set()

    def _keep_alive(self) -> None:
        while not self._drained.wait(self._heartbeat):
            try:
                self._claims.renew()
                self._beat()
            except Exception:
                log.exception("what is in hand could not be renewed; next try in %g seconds", self._heartbeat)

    def _listen(self) -> None:
        while not self._stopping.is_set():
            try:
                for _ in self._store.changes(self._stopping):
                    self._wake.set()
            except Exception:
                log.exception("not woken by changes for %g seconds; the worker looks by itself", STORE_PAUSE)
                self._stopping.wait(STORE_PAUSE)

    def _forget(self) -> None:
        gone = retention.BATCH
        while gone >= retention.BATCH and not self._stopping.is_set():
            with self._store.write() as tx:
                gone = retention.forget(tx)


def _join(threads: Sequence[threading.Thread], end: float) -> bool:
    for thread in threads:
        thread.join(max(0.0, end - time.monotonic()))
    return not any(thread.is_alive() for thread in threads)
