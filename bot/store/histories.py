"""What figures are made of: the journals, the spending and the jobs of all plans that had any part in a period."""

from __future__ import annotations

from collections import defaultdict
from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING

from sqlalchemy import Select, or_, select

from bot.lifecycle.histories import History, JobTime, Line, Spending, Used
from bot.lifecycle.periods import month_start
from bot.lifecycle.states import ENDED, State, WaitingOn
from bot.store import jobs, usage
from bot.store import plans as plans_of
from bot.store.schema import journal, plans
from bot.store.schema import usage as usage_table
from runner.contract import UsdSource
from runner.results import Unit

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from bot.store.engine import Tx

_STATES: dict[str | None, State | None] = {None: None, **{state.value: state for state in State}}
_WAITING: dict[str | None, WaitingOn | None] = {None: None, **{each.value: each for each in WaitingOn}}


def by_name(
    tx: Tx, since: float, until: float, repositories: Collection[int] | None = None
) -> Iterator[tuple[str, History]]:
    """Yield the same as :func:`in_period` by ``owner/name``; two that bore a name one after the other are one."""
    names = {number: f"{repo.owner}/{repo.name}" for number, repo in plans_of.repositories(tx).items()}
    for number, history in in_period(tx, since, until, repositories):
        yield names[number], history


def in_period(
    tx: Tx, since: float, until: float, repositories: Collection[int] | None = None
) -> Iterator[tuple[int, History]]:
    """Yield, with its repository, every plan that was open, changed or spent in the period, with its whole history.

    Times are epoch seconds; the month in which the period ends counts whole, for its forecast. None stands for all
    repositories. Five statements, however many plans there are, and the journals of all are never held at once.
    """
    concerned = _concerned(min(since, month_start(max(since, until - 1))), until, repositories)
    spending: dict[str, list[Spending]] = defaultdict(list)
    for uid, spent in usage.of_plans(tx, concerned):
        spending[uid].append(spent)
    for uid, at, unit in jobs.silent(tx, concerned):
        spending[uid].append(Spending(at, _untold(unit)))
    times: dict[str, list[JobTime]] = defaultdict(list)
    for uid, job in jobs.times(tx, concerned):
        times[uid].append(job)
    query = select(plans.c.uid, plans.c.repository_id).where(plans.c.uid.in_(concerned))
    repository = {row.uid: row.repository_id for row in tx.execute(query)}
    for uid, lines in groupby(_lines(tx, concerned), itemgetter(0)):
        yield repository.pop(uid), History([line for _, line in lines], spending[uid], times[uid])
    for uid, number in repository.items():
        yield number, History((), spending[uid], times[uid])


def _concerned(since: float, until: float, repositories: Collection[int] | None) -> Select[tuple[str]]:
    """Return the query for plans that were asked for before the end, and are open, or changed or spent since then."""
    c = plans.c
    spent = select(usage_table.c.plan_uid).where(usage_table.c.at >= since)
    query = select(c.uid).where(
        c.created_at < until, or_(c.updated_at >= since, c.state.not_in(ENDED), c.uid.in_(spent))
    )
    return query if repositories is None else query.where(c.repository_id.in_(list(repositories)))


def _untold(unit: str) -> Used:
    """Return what is known of a run of which nothing came back."""
    return Used(Unit(unit), "unknown", None, None, UsdSource.UNKNOWN, None, seconds=0, complete=False)


def lines_of(tx: Tx, plan_uid: str) -> list[Line]:
    """Return a plan's journal as figures need it."""
    return [line for _, line in _lines(tx, plans_of.only(plan_uid))]


def _lines(tx: Tx, uids: Select[tuple[str]]) -> Iterator[tuple[str, Line]]:
    c = journal.c
    columns = (c.plan_uid, c.at, c.event, c.from_state, c.to_state, c.waiting_on, c.holding_back)
    query = select(*columns).where(c.plan_uid.in_(uids)).order_by(c.plan_uid, c.id)
    for uid, at, event, before, after, waiting, holding in tx.execute(query):
        yield uid, Line(at, event, _STATES[before], _STATES[after], _WAITING[waiting], holding or 0)
