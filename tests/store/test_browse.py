"""What people look at: only what they may see, page by page, and at the same price whatever there is."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import update

from bot.lifecycle.plan import Recommended, Repo
from bot.lifecycle.states import State, WaitingOn
from bot.store import browse, browse_journal, journal, keyset, plans
from bot.store.browse import PlanFilters
from bot.store.browse_journal import JournalFilters
from bot.store.journal import Entry
from bot.store.schema import plans as plans_table
from runner.results import Recommendation
from tests.store.databases import some_plan

if TYPE_CHECKING:
    from bot.store.engine import Store
    from tests.store.databases import Clock

STATES = (State.DRAFT, State.IN_REVIEW, State.MERGED)


def fill(store: Store, clock: Clock, count: int) -> None:
    """Store plans of two repositories in turn, in three states, one each second; each with a line of the journal."""
    with store.write() as tx:
        for n in range(count):
            repo = Repo(id=7 + n % 2, owner="octo", name=("demo", "other")[n % 2], installation_id=3)
            plan = some_plan(f"{n:08x}", n + 1, repo=repo, state=STATES[n % 3], requested_at=clock.at + n)
            plans.save(tx, plan, None)
            tx.execute(update(plans_table).where(plans_table.c.uid == plan.uid).values(created_at=clock.at + n // 2))
            journal.append(tx, Entry(plan.uid, plan.lane, clock.at + n, "plan_requested", "s", plan.uid, 0, 1, "Ann"))


def walk(store: Store, seen: set[int], wanted: PlanFilters, limit: int) -> list[str]:
    """The names of all plans, page by page."""
    found: list[str] = []
    after = None
    while True:
        with store.read() as tx:
            page = browse.plans_page(tx, seen, wanted, after, limit)
        if not page:
            return found
        found += [each.brief.uid for each in page]
        after = page[-1].mark


def test_pages_hold_each_plan_once_and_no_other_repositorys(store: Store, clock: Clock) -> None:
    fill(store, clock, 23)
    everything = [f"{n:08x}" for n in reversed(range(23))]
    assert walk(store, {7, 8, 99}, PlanFilters(), 5) == everything
    assert walk(store, {7}, PlanFilters(), 4) == everything[::2]
    assert walk(store, set(), PlanFilters(), 4) == []
    wanted = PlanFilters(states=(State.DRAFT, State.MERGED), waiting_on=WaitingOn.RUNNER, held=False, requester=1)
    assert walk(store, {7, 8}, wanted, 4) == [f"{n:08x}" for n in reversed(range(23)) if n % 3 != 1]
    many = set(range(7, 7 + keyset.MOST_ARMS + 1))
    assert walk(store, many, PlanFilters(states=(State.DRAFT,)), 4) == [
        f"{n:08x}" for n in (21, 18, 15, 12, 9, 6, 3, 0)
    ]
    assert walk(store, {7, 8}, PlanFilters(issue=4), 4) == ["00000003"]
    assert walk(store, {7}, PlanFilters(issue=4), 4) == []
    assert walk(store, {7, 8}, PlanFilters(issue=4, states=(State.MERGED,)), 4) == []
    assert walk(store, {7, 8}, PlanFilters(requester=2), 4) == []


def test_what_may_not_be_seen_is_not_there(store: Store, clock: Clock) -> None:
    fill(store, clock, 4)
    with store.read() as tx:
        assert browse.plan_of(tx, {8}, "00000000") is None
        assert browse.plan_of(tx, {7}, "00000000") is not None
        assert browse.counts_by_state(tx, {8}) == {State.DRAFT: 1, State.IN_REVIEW: 1}
        lines = browse_journal.journal_page(tx, {8}, JournalFilters(actor="aNN"), None, 10)
        assert [each.entry.plan_uid for each in lines] == ["00000003", "00000001"]
        assert browse_journal.journal_page(tx, {8}, JournalFilters(plan="00000000"), None, 10) == []
        assert (
            browse_journal.journal_page(tx, {8}, JournalFilters(since=clock.at + 2, until=clock.at + 3), None, 10) == []
        )


def test_recommendations_are_found_until_they_are_accepted(store: Store) -> None:
    idea = Recommended(what=Recommendation(title="Tidy up", reason="It is untidy."))
    plan = some_plan(recommended=(idea, idea.model_copy(update={"issue": 9})))
    with store.write() as tx:
        plans.save(tx, plan, None)
        (listed,) = browse.plans_page(tx, {7}, PlanFilters(ideas=True), None, 5)
        assert [(each.number, each.title) for each in listed.brief.ideas] == [(1, "Tidy up")]
        later = plan.model_copy(update={"version": 1, "recommended": plan.recommended[1:]})
        plans.save(tx, later, 0)
        assert browse.plans_page(tx, {7}, PlanFilters(ideas=True), None, 5) == []


def test_a_plan_that_an_older_release_wrote_is_listed_from_its_document(store: Store) -> None:
    with store.write() as tx:
        plans.save(tx, some_plan(), None)
        (before,) = browse.plans_page(tx, {7}, PlanFilters(), None, 5)
        tx.execute(update(plans_table).values(brief=None))
        assert browse.plans_page(tx, {7}, PlanFilters(), None, 5) == [before]
