"""What figures are made of: the journals, the spending and the jobs of all plans that had any part in a period."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from sqlalchemy import Select, func, or_, select

from bot.lifecycle.histories import History, JobTime, Line, Spending
from bot.lifecycle.periods import month_start
from bot.lifecycle.states import ENDED, State, WaitingOn
from bot.store import plans as plans_of
from bot.store import usage
from bot.store.documents import load
from bot.store.schema import jobs, journal, plans
from bot.store.schema import usage as usage_table

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from bot.store.engine import Tx


def by_name(
    tx: Tx, since: float, until: float, repositories: Collection[int] | None = None
) -> dict[str, list[History]]:
    """Return the same as :func:`in_period` by ``owner/name``, as each repository's newest plan names it."""
    names = plans_of.repositories(tx)
    found = in_period(tx, since, until, repositories)
    return {f"{names[number].owner}/{names[number].name}": histories for number, histories in found.items()}


def in_period(
    tx: Tx, since: float, until: float, repositories: Collection[int] | None = None
) -> dict[int, list[History]]:
    """Return, by repository, every plan that was open, changed or spent in the period, each with its whole history.

    Times are epoch seconds; the month in which the period ends counts whole, for its forecast. None stands for all
    repositories. Four queries, however many plans there are.
    """
    concerned = _concerned(min(since, month_start(max(since, until - 1))), until, repositories)
    lines: dict[str, list[Line]] = defaultdict(list)
    for uid, line in _lines(tx, concerned):
        lines[uid].append(line)
    spending: dict[str, list[Spending]] = defaultdict(list)
    for spent in usage.of_plans(tx, concerned):
        spending[spent.plan_uid].append(Spending(at=spent.at, usage=spent.usage))
    times: dict[str, list[JobTime]] = defaultdict(list)
    for uid, job in _jobs(tx, concerned):
        times[uid].append(job)
    found: dict[int, list[History]] = defaultdict(list)
    for uid, repository_id in tx.execute(select(plans.c.uid, plans.c.repository_id).where(plans.c.uid.in_(concerned))):
        found[repository_id].append(History(lines[uid], spending[uid], times[uid]))
    return dict(found)


def _concerned(since: float, until: float, repositories: Collection[int] | None) -> Select[tuple[str]]:
    """Return the query for plans that were asked for before the end, and are open, or changed or spent since then."""
    c = plans.c
    spent = select(usage_table.c.plan_uid).where(usage_table.c.at >= since)
    query = select(c.uid).where(
        c.created_at < until, or_(c.updated_at >= since, c.state.not_in(ENDED), c.uid.in_(spent))
    )
    return query if repositories is None else query.where(c.repository_id.in_(list(repositories)))


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


def _jobs(tx: Tx, uids: Select[tuple[str]]) -> Iterator[tuple[str, JobTime]]:
    """Yield what the jobs took that a runner had and that are over."""
    c = jobs.c
    ended = func.coalesce(c.reported_at, c.closed_at)
    query = select(c.plan_uid, ended, c.claimed_at, c.heartbeat_at, c.reported_at)
    over = (c.plan_uid.in_(uids), c.claimed_at.is_not(None), ended.is_not(None))
    for uid, at, claimed, heard, reported in tx.execute(query.where(*over).order_by(ended, c.id)):
        yield uid, JobTime(at, (reported or heard) - claimed, complete=reported is not None)
