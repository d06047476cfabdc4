"""What is looked at, in a constant number of statements, and nothing of what may not be seen."""

from __future__ import annotations

import itertools
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pytest
from sqlalchemy import event, select

from bot.lifecycle.plan import Repo
from bot.lifecycle.states import State
from bot.store import histories, jobs, journal, plans, usage
from bot.store.browse import PlanFilters
from bot.store.browse_jobs import JobFilters
from bot.store.browse_journal import JournalFilters
from bot.store.engine import Store, open_store
from bot.store.journal import Entry
from bot.store.schema import jobs as jobs_table
from bot.store.schema import journal as journal_table
from bot.store.schema import plans as plans_table
from bot.store.schema import usage as usage_table
from bot.web import cursor
from bot.web.catalogue import Catalogue
from bot.web.refusal import Refused
from bot.web.views import Views
from runner.contract import JobKind, Usage
from runner.results import Unit
from tests.store.databases import Clock, some_plan

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from bot.lifecycle.histories import History

SEEN = {7}
RUN = Usage(unit=Unit.CREATE_PLAN, agent="claude", model=None, attempt=1, seconds=2, usd="0.10")


@pytest.fixture
def store(sqlite_url: str) -> Iterator[Store]:
    opened = open_store(sqlite_url, now=Clock())
    yield opened
    opened.dispose()


def fill(store: Store, count: int) -> None:
    """Store plans of the visible repository, and as many of another, each with a job, its cost and its journal."""
    with store.write() as tx:
        for n, repo in itertools.product(range(count), (REPO, OTHER)):
            uid = name(repo.id, n)
            plan = some_plan(uid, n + 1, repo=repo, state=State.DRAFT if n % 2 else State.MERGED)
            plans.save(tx, plan, None)
            where = {"repository_id": repo.id, "lane": plan.lane, "installation_id": 3}
            jobs.open_job(
                tx, job=f"{uid}-1", plan_uid=uid, kind=JobKind.PLAN, unit=Unit.CREATE_PLAN, deadline_at=1.0, **where
            )
            job = jobs.get(tx, f"{uid}-1")
            assert job is not None
            usage.add(tx, job, [RUN], final=True)
            journal.append(tx, Entry(uid, plan.lane, tx.now, "plan_requested", "s", uid, 0, 1, "ann"))


def multiply(store: Store, count: int, times: int) -> None:
    """Store what is there again under other names, so that there are ``times`` as many."""
    with store.write() as tx:
        for table in (plans_table, jobs_table, usage_table, journal_table):
            rows = [dict(row) for row in tx.execute(select(table)).mappings()]
            copies = [another(row, again * count) for again in range(1, times) for row in rows]
            tx.connection.execute(table.insert(), copies)


def another(row: dict[str, Any], further: int) -> dict[str, Any]:
    """The row of a plan that is so much further on."""
    uid = row.get("plan_uid") or row["uid"]
    new = name(int(uid[:4], 16), int(uid[4:], 16) + further)
    copy = {key: value.replace(uid, new) if isinstance(value, str) else value for key, value in row.items()}
    if "issue_number" in copy:
        copy["issue_number"] += further
    if isinstance(copy.get("id"), int):
        del copy["id"]
    return copy


def name(repository_id: int, number: int) -> str:
    """The name of a plan."""
    return f"{repository_id:04x}{number:06x}"


REPO = Repo(id=7, owner="octo", name="demo", installation_id=3)
OTHER = Repo(id=8, owner="octo", name="hidden", installation_id=3)


@contextmanager
def counted(store: Store) -> Iterator[list[str]]:
    """Lend the statements that are read with meanwhile."""
    seen: list[str] = []

    def note(_connection: object, _cursor: object, statement: str, *_rest: object) -> None:
        seen.append(statement)

    event.listen(store.backend.reader, "before_cursor_execute", note)
    yield seen
    event.remove(store.backend.reader, "before_cursor_execute", note)


def period(catalogue: Catalogue) -> list[tuple[int, History]]:
    with catalogue.store.read() as tx:
        return list(histories.in_period(tx, 0, tx.now + 1, SEEN))


LOOKS: dict[str, Callable[[Catalogue], Any]] = {
    "plans": lambda catalogue: catalogue.plans(SEEN, PlanFilters(states=(State.DRAFT,))),
    "overview": lambda catalogue: catalogue.overview(SEEN),
    "plan": lambda catalogue: catalogue.plan(SEEN, "0007000001"),
    "jobs": lambda catalogue: catalogue.jobs(SEEN, JobFilters(open=True)),
    "runners": lambda catalogue: catalogue.runners(SEEN),
    "journal": lambda catalogue: catalogue.journal(SEEN, JournalFilters(actor="ann")),
    "figures": period,
}


def test_whatever_there_is_the_number_of_statements_is_the_same(store: Store) -> None:
    catalogue = Catalogue(store, Views("https://github.example"))
    numbers = []
    for times in (1, 100):
        fill(store, 10) if times == 1 else multiply(store, 10, times)
        found = {}
        for what, look in LOOKS.items():
            with counted(store) as statements:
                shown = look(catalogue)
            assert "hidden" not in repr(shown)
            found[what] = sum("BEGIN" not in each for each in statements)
        numbers.append(found)
    assert sum(each.plans for each in catalogue.overview(SEEN).states) == len(period(catalogue)) == 1_000
    assert numbers[0] == numbers[1]
    assert max(numbers[0].values()) <= 8


def test_what_is_hidden_and_what_is_nowhere_are_refused_alike(store: Store) -> None:
    catalogue = Catalogue(store, Views("https://github.example"))
    fill(store, 2)
    refusals = set()
    for uid in ("0008000001", "ffffffffff"):
        for look in (catalogue.plan, catalogue.diff, catalogue.costs, catalogue.journal_of):
            with pytest.raises(Refused) as refused:
                look(SEEN, uid)
            refusals.add((refused.value.status, refused.value.sentence))
        with pytest.raises(Refused) as refused:
            catalogue.job(SEEN, f"{uid}-1")
        refusals.add((refused.value.status, refused.value.sentence))
    assert len(refusals) == 1


@pytest.mark.parametrize("text", ["", "x", "\0", "é", "W10", "a" * 500, cursor.written((1.0, "a", "b")), "WzFlOTk5XQ"])
def test_a_mark_that_was_tampered_with_is_refused_with_a_sentence(text: str) -> None:
    for read in (cursor.pair, cursor.number):
        with pytest.raises(Refused, match="none of ours"):
            read(text)


@pytest.mark.parametrize("at", [float("nan"), float("inf")])
def test_a_mark_at_no_time_is_refused(at: float) -> None:
    with pytest.raises(Refused, match="none of ours"):
        cursor.pair(cursor.written((at, "a")))


def test_a_forged_mark_shows_nothing_hidden(store: Store) -> None:
    fill(store, 3)
    catalogue = Catalogue(store, Views("https://github.example"))
    page = catalogue.plans(SEEN, PlanFilters(), cursor.written((9e12, "0008000001")))
    assert [plan.uid for plan in page.items] == ["0007000002", "0007000001", "0007000000"]
    first = catalogue.plans(SEEN, PlanFilters(), limit=2)
    assert [plan.uid for plan in catalogue.plans(SEEN, PlanFilters(), first.next, 2).items] == ["0007000000"]
    assert (first.items[0].cost.usd, first.items[0].reason) == ("0.10", "Nothing more is to be done.")
