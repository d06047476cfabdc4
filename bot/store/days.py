"""What repositories have spent of their day, and what is left where their policies set it a limit."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bot.lifecycle.allowance import Day, day_start
from bot.lifecycle.amounts import Amount
from bot.store import jobs, plans, policies, usage

if TYPE_CHECKING:
    from collections.abc import Collection
    from decimal import Decimal

    from bot.lifecycle.amounts import Run
    from bot.store.engine import Tx


def of(tx: Tx, repository_id: int, limit: Decimal) -> Day:
    """Return the day of a repository that has this limit."""
    return Day(since=day_start(tx.now), limit=limit, spent=_spent(tx, [repository_id])[repository_id])


def limited(tx: Tx, repositories: Collection[int]) -> dict[str, Day]:
    """Return, by ``owner/name``, the days of those repositories whose last valid policies limit them.

    Four statements, however many there are.
    """
    names, valid = plans.repositories(tx), policies.valid(tx)
    limits = {
        number: limit
        for number in repositories
        if number in valid and (limit := valid[number].budget.usd_today) is not None
    }
    since, spent = day_start(tx.now), _spent(tx, limits)
    found = {
        f"{names[number].owner}/{names[number].name}": Day(since=since, limit=limit, spent=spent[number])
        for number, limit in limits.items()
    }
    return dict(sorted(found.items()))


def _spent(tx: Tx, repositories: Collection[int]) -> dict[int, Amount]:
    """Return the agents' dollars of the day so far; jobs under way count by their last heartbeats."""
    runs: dict[int, list[Run]] = {number: [] for number in repositories}
    for number, run in usage.paid_since(tx, repositories, day_start(tx.now)):
        runs[number].append(run)
    for job in jobs.under_way(tx, repositories):
        runs[job.repository_id] += job.progress.usage
    return {number: Amount.dollars(each) for number, each in runs.items()}
