"""What people look at: only what they may see, page by page, and at the same price whatever there is."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import update

from bot.lifecycle.plan import Recommended, Repo
from bot.lifecycle.states import State, WaitingOn
from bot.store import browse, browse_jobs, browse_journal, jobs, journal, keyset, plans
from bot.store.browse import PlanFilters
from bot.store.browse_jobs import JobFilters
from bot.store.browse_journal import JournalFilters
from bot.store.documents import dump
from bot.store.endings import LONGEST_ENDING, short
from bot.store.journal import Entry
from bot.store.schema import jobs as jobs_table
from bot.store.schema import plans as plans_table
from runner.contract import GateResult, GateStatus, JobKind, Outcome, Report
from runner.results import Recommendation, Unit
from tests.store.databases import some_plan

if TYPE_CHECKING:
    import pytest

    from bot.store.engine import Store, Tx
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


def job(name: str, tx: Tx) -> None:
    where = {"repository_id": 7, "lane": "7:12", "installation_id": 3}
    jobs.open_job(tx, job=name, plan_uid="cafe0001", kind=JobKind.PLAN, unit=Unit.CREATE_PLAN, deadline_at=1.0, **where)


def test_a_list_holds_no_more_of_a_job_than_fits_and_the_job_itself_all(store: Store) -> None:
    gates = [
        GateResult(name=f"{n}", blocking=True, status=status, seconds=1, summary="s" * 300, tail="\x1b" * 4_000)
        for n in range(50)
        for status in (GateStatus.PASSED, GateStatus.FAILED)
    ]
    told = Report(
        job="cafe0001-1",
        outcome=Outcome.GATES_FAILED,
        sentence="s" * 65_536,
        runner="here",
        started_at=1.0,
        ended_at=2.0,
        gates=tuple(gates),
    )
    with store.write() as tx:
        plans.save(tx, some_plan(), None)
        job("cafe0001-1", tx)
        assert jobs.report(tx, "cafe0001-1", told)
        (listed,) = browse_jobs.jobs_page(tx, {7}, JobFilters(), None, 5)
        assert (listed.end["outcome"], len(listed.end["gates"])) == ("gates_failed", 100)
        assert len(dump(listed.end)) <= LONGEST_ENDING < len(told.model_dump_json())
        whole = browse_jobs.job_of(tx, {7}, "cafe0001-1")
        assert whole is not None
        assert GateResult.model_validate(whole[0].end["gates"][99]) == gates[99]
        tx.execute(update(jobs_table).values(ending=None))
        assert browse_jobs.jobs_page(tx, {7}, JobFilters(), None, 5) == [listed], (
            "of what an older release wrote as well"
        )
    few = told.model_copy(update={"gates": (*gates[:1], *gates[3:4]), "sentence": "It failed."}).model_dump(mode="json")
    assert [len(gate["tail"]) for gate in short(few)["gates"]] == [4_000, 4_000]
    some = told.model_copy(update={"gates": tuple(gates[:4])}).model_dump(mode="json")
    assert [len(gate["tail"]) for gate in short(some)["gates"]] == [0, 4_000, 0, 4_000]


def test_of_many_jobs_and_runners_the_last_are_shown(
    store: Store, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(browse_jobs, "MOST_JOBS", 2)
    with store.write() as tx:
        plans.save(tx, some_plan(), None)
    for number in range(1, browse_jobs.MOST_RUNNERS + 2):
        clock.forward(1)
        with store.write() as tx:
            job(f"cafe0001-{number}", tx)
            tx.execute(
                update(jobs_table).where(jobs_table.c.runner.is_(None)).values(runner=f"r{number}", reported_at=tx.now)
            )
    with store.read() as tx:
        assert [each.id for each in browse_jobs.jobs_of(tx, "cafe0001")] == ["cafe0001-100", "cafe0001-101"]
        found = [each.name for each in browse_jobs.runners(tx, {7})]
    assert (len(found), found[0], "r1" in found) == (browse_jobs.MOST_RUNNERS, "r101", False)
