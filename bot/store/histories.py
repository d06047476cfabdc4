"""What figures are made of: the journals, the spending and the jobs of all plans that had any part in a period."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from sqlalchemy import Select, or_, select

from bot.lifecycle.allowance import day_start
from bot.lifecycle.costs import Amount
from bot.lifecycle.histories import History, JobTime, Line, Spending
from bot.lifecycle.periods import month_start
from bot.lifecycle.states import ENDED, State, WaitingOn
from bot.store import jobs, usage
from bot.store import plans as plans_of
from bot.store.documents import load
from bot.store.schema import journal, plans
from bot.store.schema import usage as usage_table
from runner.contract import Usage
from runner.results import Unit

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from bot.store.engine import Tx


def by_name(
    tx: Tx, since: float, until: float, repositories: Collection[int] | None = None
) -> dict[str, list[History]]:
    """Return the same as :func:`in_period` by ``owner/name``; two that bore a name one after the other are one."""
    names = plans_of.repositories(tx)
    found: dict[str, list[History]] = defaultdict(list)
    for number, histories in in_period(tx, since, until, repositories).items():
        found[f"{names[number].owner}/{names[number].name}"] += histories
    return dict(found)


def in_period(
    tx: Tx, since: float, until: float, repositories: Collection[int] | None = None
) -> dict[int, list[History]]:
    """Return, by repository, every plan that was open, changed or spent in the period, each with its whole history.

    Times are epoch seconds; the month in which the period ends counts whole, for its forecast. None stands for all
    repositories. Five queries, however many plans there are.
    """
    concerned = _concerned(min(since, month_start(max(since, until - 1))), until, repositories)
    lines: dict[str, list[Line]] = defaultdict(list)
    for uid, line in _lines(tx, concerned):
        lines[uid].append(line)
    spending: dict[str, list[Spending]] = defaultdict(list)
    for spent in usage.of_plans(tx, concerned):
        spending[spent.plan_uid].append(Spending(at=spent.at, usage=spent.usage))
    for uid, at, unit in jobs.silent(tx, concerned):
        spending[uid].append(Spending(at=at, usage=_untold(unit)))
    times: dict[str, list[JobTime]] = defaultdict(list)
    for uid, job in jobs.times(tx, concerned):
        times[uid].append(job)
    found: dict[int, list[History]] = defaultdict(list)
    for uid, repository_id in tx.execute(select(plans.c.uid, plans.c.repository_id).where(plans.c.uid.in_(concerned))):
        found[repository_id].append(History(lines[uid], spending[uid], times[uid]))
    return dict(found)


def today(tx: Tx, repository_id: int) -> Amount:
    """Return the agents' dollars of the repository's day so far; jobs under way count by their last heartbeats."""
    ended = [spent.usage for spent in usage.of_repository(tx, repository_id, day_start(tx.now))]
    under_way = jobs.under_way(tx, repository_id).values()
    return Amount.dollars([*ended, *(row for progress in under_way for row in progress.usage)])


def _concerned(since: float, until: float, repositories: Collection[int] | None) -> Select[tuple[str]]:
    """Return the query for plans that were asked for before the end, and are open, or changed or spent since then."""
    c = plans.c
    spent = select(usage_table.c.plan_uid).where(usage_table.c.at >= since)
    query = select(c.uid).where(
        c.created_at < until, or_(c.updated_at >= since, c.state.not_in(ENDED), c.uid.in_(spent))
    )
    return query if repositories is None else query.where(c.repository_id.in_(list(repositories)))


def _untold(unit: str) -> Usage:
    """Return what is known of a run of which nothing came back."""
    return Usage(unit=Unit(unit), agent="unknown", model=None, attempt=1, seconds=0, complete=False)


def lines_of(tx: Tx, plan_uid: str) -> list[Line]:
    """Return a plan's journal as figures need it."""
    return [line for _, line in _lines(tx, plans_of.only(plan_uid))]


def _lines(tx: Tx, uids: Select[tuple[str]]) -> Iterator[tuple[str, Line]]:
    c = journal.c
    query = select(c.plan_uid, c.at, c.event, c.from_state, c.to_state, c.details).where(c.plan_uid.in_(uids))
    for uid, at, event, before, after, text in tx.execute(query.order_by(c.id)):
        details = load(text)
        waiting = details.get("waiting_on")
        line = Line(
            at=at,
            event=event,
            from_state=State(before) if before else None,
            to_state=State(after) if after else None,
            waiting_on=WaitingOn(waiting) if waiting else None,
            holding_back=details.get("holding_back", 0),
        )
        yield uid, line
