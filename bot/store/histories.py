"""What figures are made of: the journals and the spending of all plans that had any part in a period."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from sqlalchemy import Select, or_, select

from bot.lifecycle.figures import History, Line, Spending
from bot.lifecycle.states import ENDED, State, WaitingOn
from bot.store import usage
from bot.store.documents import load
from bot.store.schema import journal, plans
from bot.store.schema import usage as usage_table

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bot.store.engine import Tx


def in_period(tx: Tx, since: float) -> dict[int, list[History]]:
    """Return, by repository, every plan that changed or spent since then (epoch seconds), each with its whole journal.

    Three queries, however many plans there are.
    """
    concerned = _concerned(since)
    lines: dict[str, list[Line]] = defaultdict(list)
    for uid, line in _lines(tx, concerned):
        lines[uid].append(line)
    spending: dict[str, list[Spending]] = defaultdict(list)
    for spent in usage.of_plans(tx, concerned):
        spending[spent.plan_uid].append(Spending(at=spent.at, usage=spent.usage))
    found: dict[int, list[History]] = defaultdict(list)
    for uid, repository_id in tx.execute(select(plans.c.uid, plans.c.repository_id).where(plans.c.uid.in_(concerned))):
        found[repository_id].append(History(lines=tuple(lines[uid]), spending=tuple(spending[uid])))
    return dict(found)


def _concerned(since: float) -> Select[tuple[str]]:
    """Return the query for plans that are open, changed since then, or spent since then."""
    c = plans.c
    spent = select(usage_table.c.plan_uid).where(usage_table.c.at >= since)
    return select(c.uid).where(or_(c.updated_at >= since, c.state.not_in(ENDED), c.uid.in_(spent)))


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
