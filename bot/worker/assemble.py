"""Put the worker together."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from bot.worker import poll, push_tokens, reconcile, summaries
from bot.worker.advance import Advance
from bot.worker.context import Context
from bot.worker.deliver import KINDS, WRITING, Deliver
from bot.worker.loop import Worker
from bot.worker.periodic import Periodic
from bot.worker.policies import Policies
from bot.worker.schedule import SUMMARY_LOOK, THREADS, USUAL, Periods

if TYPE_CHECKING:
    from collections.abc import Callable

    from bot.github.gateway import Gateway
    from bot.store.engine import Store


def build_worker(
    store: Store,
    gateway: Gateway,
    *,
    workflow: str,
    web: str,
    now: Callable[[], float],
    decrypt: Callable[[bytes], str],
    threads: int = THREADS,
    host_slots: int | None = None,
    periods: Periods = USUAL,
    beat: Callable[[], None] = lambda: None,
    chat: Callable[[str], None] | None = None,
) -> Worker:
    """Return the worker with everything that it does, not yet started."""
    context = Context(
        store=store,
        gateway=gateway,
        policies=Policies(gateway, store, now),
        workflow=workflow,
        web=web,
        now=now,
        decrypt=decrypt,
        chat=chat,
    )
    tasks = [
        Periodic("poll", periods.poll_look, partial(poll.poll, context)),
        Periodic("jobs", periods.job_look, partial(reconcile.watch_jobs, context)),
        Periodic("tokens", periods.job_look, partial(push_tokens.revoke_left, context)),
        Periodic("redeliver", periods.redeliver, partial(reconcile.redeliver, context), at_start=True),
        Periodic("reconcile", periods.reconcile, partial(reconcile.reconcile, context), at_start=True),
        Periodic("summaries", SUMMARY_LOOK, partial(summaries.look, context)),
    ]
    return Worker(
        store,
        Advance(lambda: gateway.identity().bot_user_id, host_slots=host_slots),
        Deliver(context),
        kinds=frozenset(KINDS),
        paced=frozenset(WRITING),
        periodic=tasks,
        threads=threads,
        lease=periods.lease,
        beat=beat,
    )
