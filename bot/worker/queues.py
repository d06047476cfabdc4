"""Let queues look again: what a repository's plans wait for, and which of them start.

Where the host's slots are limited, a look is at all repositories at once as soon as one of those slots is free: whoever
frees it need not know who waits for it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from bot.lifecycle import events as ev
from bot.lifecycle.queue import IN_THE_QUEUES_SIGHT, Queue, Verdict, share_out, takes_slot
from bot.lifecycle.states import UNDER_WAY, State
from bot.store import lessons, plans, policies
from bot.worker.apply import apply
from runner.results import MOST_WAITING

if TYPE_CHECKING:
    from bot.lifecycle.plan import Plan
    from bot.store.deliveries import Delivery
    from bot.store.engine import Tx
    from runner.results import WaitingLesson


NAMED = {"waits_for", "in_vain", "place", "limit", "most"}
TOLD = {"on", *NAMED}
"""What a verdict tells its plan."""


def look_again(tx: Tx, delivery: Delivery, host_slots: int | None) -> str:
    """Tell the plans of the delivery's repository what the queue says, and those of others where slots are shared."""
    own = int(delivery.lane.split(":")[0])
    if host_slots is None:
        queue = _queue(tx, own)
        verdicts = queue.verdicts() if queue else ()
    else:
        verdicts = _shared(tx, own, host_slots)
    notes = [note for verdict in verdicts if (note := _tell(tx, delivery, verdict))]
    return "; ".join(notes) or "nothing changed"


def _shared(tx: Tx, own: int, host_slots: int) -> tuple[Verdict, ...]:
    tx.exclusive("host slots")
    free = host_slots - sum(takes_slot(plan) for plan in plans.in_states(tx, UNDER_WAY))
    others = plans.repositories_in(tx, State.APPROVED) if free > 0 else []
    queues = [queue for number in sorted({own, *others}) if (queue := _queue(tx, number))]
    shares = share_out(queues, free)
    return tuple(verdict for verdicts in shares.values() for verdict in verdicts)


def _queue(tx: Tx, repository_id: int) -> Queue | None:
    """Return a repository's queue under the policy in force; None where no plan is open."""
    known = plans.in_repository(tx, repository_id, IN_THE_QUEUES_SIGHT)
    if not known:
        return None
    policy = policies.last_valid(tx, repository_id) or max(known, key=lambda plan: plan.requested_at).policy
    needed = {issue for plan in known for issue in plan.choices.depends_on}
    newest = plans.newest_states(tx, repository_id, needed)
    return Queue(repository_id=repository_id, policy=policy, plans=tuple(known), newest=newest)


def _tell(tx: Tx, delivery: Delivery, verdict: Verdict) -> str | None:
    """Put a verdict to its plan; None where it says what the plan knows."""
    plan = plans.get(tx, verdict.uid)
    if plan is None or not (verdict.starts or _is_news(plan, verdict)):
        return None
    event: ev.SlotGranted | ev.QueueWaits
    if verdict.starts:
        adopted = _adopted(tx, plan)
        event = ev.SlotGranted(
            at=delivery.received_at, source=delivery.guid, overlaps=verdict.overlaps, lessons=adopted
        )
    else:
        told = verdict.model_dump(include=TOLD)
        event = ev.QueueWaits(at=delivery.received_at, source=delivery.guid, **told)
    return f"#{plan.issue_number}: {apply(tx, plan, event)}"


def _adopted(tx: Tx, plan: Plan) -> tuple[WaitingLesson, ...]:
    """Take what waits in the repository for a plan on these files."""
    if plan.state is not State.APPROVED or plan.hold is not None or plan.revision is None:
        return ()
    return lessons.take(tx, plan.repo.id, plan.revision.document.files, MOST_WAITING - len(plan.waiting))


def _is_news(plan: Plan, verdict: Verdict) -> bool:
    return plan.waiting_on is not verdict.on or plan.model_dump(include=NAMED) != verdict.model_dump(include=NAMED)
