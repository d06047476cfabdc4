"""Plans: the row is the plan, whole, as a document; the columns beside it are what is searched by.

:func:`save` is a compare-and-set on the version. In a write transaction :func:`latest` and :func:`get` lock the row, so
that the effects of one plan enter the outbox in the order in which its changes commit.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sqlalchemy import Select, exists, literal, select, update
from sqlalchemy.exc import IntegrityError

from bot.errors import Transient
from bot.lifecycle.brief import Brief
from bot.lifecycle.plan import Plan, Repo
from bot.lifecycle.states import ENDED, State, WaitingOn
from bot.store.documents import dump, load
from bot.store.schema import plans, timers
from bot.store.schema import repositories as repositories_table

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from bot.store.engine import Tx

POLLED = frozenset({WaitingOn.PLAN_DECISION, WaitingOn.DIFF_DECISION})
"""A plan that waits for one of these is polled for reactions, of which GitHub tells nothing."""

MOST_TRIES = 20
"""Tries of one issue, the newest, that are looked through for lessons to keep."""

_REPOSITORIES = select(*(repositories_table.c[name] for name in Repo.model_fields))
_REPOSITORY_IDS = select(repositories_table.c.id)

BRANCH_TIMER = "branch:"
"""Before a plan's uid: the key of the timer by which its branch goes."""


class Conflict(Transient):
    """Somebody else changed the plan first; think again from what it is now."""


def latest(tx: Tx, lane: str) -> Plan | None:
    """Return the newest try of the issue that the lane is about."""
    return _one(tx, select(plans.c.document).where(plans.c.lane == lane).order_by(plans.c.try_number.desc()).limit(1))


def glimpse(tx: Tx, lane: str) -> Plan | None:
    """Return the same without locking it: for a look at plans that are not to be changed."""
    found = select(plans.c.document).where(plans.c.lane == lane).order_by(plans.c.try_number.desc()).limit(1)
    row = tx.execute(found).first()
    return None if row is None else _plan(row[0])


def with_lessons(tx: Tx, lane: str) -> Plan | None:
    """Return the newest try of the issue that was rejected or merged and leaves lessons for a person to keep."""
    c = plans.c
    query = select(c.document).where(c.lane == lane, c.state.in_([State.REJECTED, State.MERGED]))
    found = _all(tx, query.order_by(c.try_number.desc()).limit(MOST_TRIES))
    uid = next((plan.uid for plan in found if plan.leaves_lessons), None)
    return None if uid is None else _one(tx, select(c.document).where(c.uid == uid))


def newest_states(tx: Tx, repository_id: int, issues: Iterable[int]) -> dict[int, State]:
    """Return the states of these issues' newest plans; an issue without a plan is left out."""
    c = plans.c
    wanted = (c.repository_id == repository_id, c.issue_number.in_(list(issues)))
    rows = tx.execute(select(c.issue_number, c.state).where(*wanted).order_by(c.try_number))
    return {issue: State(state) for issue, state in rows}


def in_states(tx: Tx, states: Iterable[State]) -> list[Plan]:
    """Return the plans of all repositories in these states, the oldest first."""
    return _all(tx, select(plans.c.document).where(plans.c.state.in_(list(states))))


def with_kept_branch(tx: Tx) -> list[Plan]:
    """Return the plans whose pull requests were closed unmerged and whose branches are kept for a time."""
    c, timer = plans.c, literal(BRANCH_TIMER).concat(plans.c.uid)
    kept = exists().where(timers.c.key == timer)
    return _all(tx, select(c.document).where(c.state == State.REJECTED, kept))


def repositories_in(tx: Tx, state: State) -> list[int]:
    """Return the repositories that have a plan in this state."""
    return list(tx.execute(select(plans.c.repository_id).where(plans.c.state == state).distinct()).scalars())


def get(tx: Tx, uid: str) -> Plan | None:
    """Return a plan by its random name."""
    return _one(tx, select(plans.c.document).where(plans.c.uid == uid))


def by_pull_request(tx: Tx, repository_id: int, number: int) -> Plan | None:
    """Return the plan whose pull request it is."""
    c = plans.c
    return _one(tx, select(c.document).where(c.repository_id == repository_id, c.pull_request == number))


def with_pull_request(tx: Tx, repository_id: int) -> list[Plan]:
    """Return the repository's plans that have not ended and have a pull request, the oldest first."""
    c = plans.c
    return _all(
        tx,
        select(c.document).where(c.repository_id == repository_id, c.pull_request.is_not(None), c.state.not_in(ENDED)),
    )


def only(uid: str) -> Select[tuple[str]]:
    """Return the query for one plan's name, where plans are asked for by a query."""
    return select(plans.c.uid).where(plans.c.uid == uid)


def these(uids: Collection[str]) -> Select[tuple[str]]:
    """Return the same for several plans."""
    return select(plans.c.uid).where(plans.c.uid.in_(uids))


def save(tx: Tx, plan: Plan, expected_version: int | None) -> None:
    """Write a plan over the version it was made from; None for a plan that is new.

    Raises :class:`Conflict` where the stored version is another one, or where the try exists already.
    """
    values = _columns(tx, plan)
    if expected_version is None:
        _insert(tx, values | {"uid": plan.uid, "created_at": tx.now})
        meet(tx, plan.repo)
        return
    done = tx.execute(
        update(plans).where(plans.c.uid == plan.uid, plans.c.version == expected_version).values(**values)
    )
    if done.rowcount != 1:
        raise Conflict(f"Plan {plan.uid} is no longer at version {expected_version}.")


def in_repository(tx: Tx, repository_id: int, states: Iterable[State]) -> list[Plan]:
    """Return the repository's plans in these states, the oldest first."""
    c = plans.c
    return _all(tx, select(c.document).where(c.repository_id == repository_id, c.state.in_(list(states))))


def newest(tx: Tx, repository_id: int, states: Iterable[State], limit: int) -> list[Plan]:
    """Return the repository's plans in these states that were asked for last, the newest first."""
    c = plans.c
    query = select(c.document).where(c.repository_id == repository_id, c.state.in_(list(states)))
    return [_plan(text) for text in tx.execute(query.order_by(c.created_at.desc(), c.uid).limit(limit)).scalars()]


def in_installation(tx: Tx, installation_id: int) -> list[Plan]:
    """Return the installation's plans that have not ended, the oldest first."""
    c = plans.c
    return _all(tx, select(c.document).where(c.installation_id == installation_id, c.state.not_in(ENDED)))


def open_plans(tx: Tx) -> list[Plan]:
    """Return every plan that has not ended, the oldest first."""
    return _all(tx, select(plans.c.document).where(plans.c.state.not_in(ENDED)))


def recent(tx: Tx, limit: int = 100) -> list[Plan]:
    """Return the plans that changed last, the latest first."""
    rows = tx.execute(select(plans.c.document).order_by(plans.c.updated_at.desc(), plans.c.uid).limit(limit))
    return [_plan(text) for text in rows.scalars()]


def meet(tx: Tx, repo: Repo) -> None:
    """Know a repository from now on, under these names."""
    names = repo.model_dump()
    insert = tx.insert(repositories_table).values(**names)
    tx.execute(insert.on_conflict_do_update(index_elements=["id"], set_=names))


def repositories(tx: Tx) -> dict[int, Repo]:
    """Return every repository that GitHub has told of, by number, as it was named last."""
    return {row["id"]: Repo.model_validate(dict(row)) for row in tx.execute(_REPOSITORIES).mappings()}


def repository_ids(tx: Tx) -> frozenset[int]:
    """Return the numbers of the same, which is cheap to ask."""
    return frozenset(tx.execute(_REPOSITORY_IDS).scalars())


def ended_uids(tx: Tx, repository_id: int, since: float) -> list[str]:
    """Return the names of the repository's plans that ended since then: their worktrees may go."""
    c = plans.c
    query = select(c.uid).where(c.repository_id == repository_id, c.state.in_(ENDED), c.updated_at >= since)
    return list(tx.execute(query.order_by(c.updated_at)).scalars())


def poll_due(tx: Tx, limit: int) -> list[Plan]:
    """Return plans whose reactions are to be looked at now, the longest overdue first."""
    c = plans.c
    rows = tx.execute(select(c.document).where(c.poll_at <= tx.now).order_by(c.poll_at).limit(limit))
    return [_plan(text) for text in rows.scalars()]


def poll_again(tx: Tx, plan: Plan, at: float) -> None:
    """Look at the plan's reactions again at ``at``, unless it changed meanwhile."""
    tx.execute(update(plans).where(plans.c.uid == plan.uid, plans.c.version == plan.version).values(poll_at=at))


def _columns(tx: Tx, plan: Plan) -> dict[str, Any]:
    brief = Brief.of(plan)
    return {
        "repository_id": plan.repo.id,
        "issue_number": plan.issue_number,
        "try_number": plan.try_number,
        "installation_id": plan.repo.installation_id,
        "lane": plan.lane,
        "state": plan.state,
        "waiting_on": plan.waiting_on,
        "held": plan.hold is not None,
        "version": plan.version,
        "approved_at": plan.plan_approval.at if plan.plan_approval else None,
        "branch": plan.branch,
        "pull_request": plan.pull_request,
        "poll_at": tx.now if plan.waiting_on in POLLED and not plan.frozen else None,
        "document": dump(plan.model_dump(mode="json")),
        "updated_at": tx.now,
        "requester_id": plan.requester.id,
        "brief": dump(brief.model_dump(mode="json")),
        "ideas": len(brief.ideas),
    }


def _insert(tx: Tx, values: dict[str, Any]) -> None:
    try:
        with tx.connection.begin_nested():
            tx.execute(tx.insert(plans).values(**values))
    except IntegrityError as error:
        raise Conflict(f"Try {values['try_number']} of issue {values['lane']} exists already.") from error


def _one(tx: Tx, query: Select[tuple[str]]) -> Plan | None:
    row = tx.execute(query.with_for_update() if tx.writes else query).first()
    return None if row is None else _plan(row[0])


def _all(tx: Tx, query: Select[tuple[str]]) -> list[Plan]:
    return [_plan(text) for text in tx.execute(query.order_by(plans.c.created_at, plans.c.uid)).scalars()]


def _plan(text: str) -> Plan:
    return Plan.model_validate(load(text))
