"""Journal, timers, jobs and usage."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING

import pytest

from bot.store import deliveries, jobs, journal, plans, timers, usage
from bot.store.deliveries import NewDelivery
from bot.store.journal import Entry
from runner.contract import JobKind, Outcome, Phase, Progress, Report, Usage, UsdSource
from runner.results import Unit
from tests.store.databases import Clock, some_plan

if TYPE_CHECKING:
    from bot.store.engine import Store, Tx
    from bot.store.jobs import Job

JOB = "cafe0001-1"


def entry(ref: str, at: float = 10.0, plan: str | None = "cafe0001") -> Entry:
    details = {"binds_to": "f" * 64, "nested": {"ü": [1, None]}}
    return Entry(ref, "7:12", at, "approved", "github:g", plan, 3, 1, "ann", "draft", "approved", "note", details)


def test_the_journal_keeps_each_ref_once_and_whole(store: Store) -> None:
    with store.write() as tx:
        assert journal.append(tx, entry("a"))
        assert not journal.append(tx, entry("a", at=11.0))
        assert journal.append(tx, entry("b", at=12.0, plan=None))
    with store.read() as tx:
        assert journal.of_plan(tx, "cafe0001") == [entry("a")]
        assert journal.of_lane(tx, "7:12") == [entry("a"), entry("b", at=12.0, plan=None)]


def test_a_timer_enters_the_inbox_when_it_is_due_and_once(store: Store, clock: Clock) -> None:
    with store.write() as tx:
        timers.set_timer(tx, "k", due_at=clock() + 9, lane="7:12", event="job_deadline", body='{"x":1}')
        timers.set_timer(tx, "k", due_at=clock() + 5, lane="7:12", event="job_deadline", body='{"x":2}')
        assert not timers.due(tx)
    clock.forward(5)
    with store.write() as tx:
        assert timers.due(tx)
        assert [timers.fire(tx), timers.fire(tx)] == [1, 0]
        fired = deliveries.next_open(tx)
    assert fired is not None
    assert (fired.source, fired.event, fired.lane, fired.body) == ("timer", "job_deadline", "7:12", '{"x":2}')


def test_a_key_can_be_set_again_after_it_fired(store: Store, clock: Clock) -> None:
    for _ in range(2):
        with store.write() as tx:
            timers.set_timer(tx, "k", due_at=clock(), lane="7:12", event="tick")
            assert timers.fire(tx) == 1
        clock.forward(1)
    with store.write() as tx:
        assert deliveries.add_all(tx, [NewDelivery(f"timer:k:{clock.at - 2!r}", "timer", "tick", "7:12", "{}")]) == 0


@pytest.fixture
def job(store: Store, clock: Clock) -> Job:
    with store.write() as tx:
        plans.save(tx, some_plan(), None)
        assert _open(tx, clock)
        assert not _open(tx, clock)
        found = jobs.get(tx, JOB)
    assert found is not None
    return found


def _open(tx: Tx, clock: Clock) -> bool:
    return jobs.open_job(
        tx,
        job=JOB,
        plan_uid="cafe0001",
        repository_id=7,
        lane="7:12",
        installation_id=3,
        kind=JobKind.PLAN,
        unit=Unit.CREATE_PLAN,
        deadline_at=clock() + 60,
    )


def claim(tx: Tx, clock: Clock, key: str = "hash") -> bool:
    return jobs.claim(tx, JOB, key_hash=key, run_attempt=1, deadline_at=clock() + 90)


def test_a_job_is_claimed_once(store: Store, clock: Clock, job: Job) -> None:
    assert (job.kind, job.unit, job.run_id, job.is_open) == ("plan", "CreatePlan", None, True)
    with store.write() as tx:
        jobs.dispatched(tx, JOB, 555)
        assert claim(tx, clock)
        assert not claim(tx, clock, "other")
        found = jobs.by_run(tx, 7, 555)
        assert jobs.by_run(tx, 8, 555) is None
    assert found is not None
    assert (found.key_hash, found.run_attempt, found.claimed_at) == ("hash", 1, clock.at)


def test_a_stopped_or_closed_job_is_not_claimed(store: Store, clock: Clock, job: Job) -> None:
    with store.write() as tx:
        assert jobs.stop(tx, JOB, "cancelled")
        assert not jobs.stop(tx, JOB, "again")
        assert not claim(tx, clock)
        assert not jobs.grant_push(tx, JOB, "a" * 40)
        assert jobs.close(tx, JOB)
        assert not jobs.close(tx, JOB)


def test_a_token_is_used_once_for_each_job(store: Store, job: Job) -> None:
    with store.write() as tx:
        uses = [jobs.use_jti(tx, JOB, jti) for jti in ("a", "b", "a")]
        assert uses == [True, True, False]
        assert not jobs.use_jti(tx, "beef0001-1", "a")


def test_one_push_is_granted(store: Store, job: Job) -> None:
    with store.write() as tx:
        assert jobs.grant_push(tx, JOB, "a" * 40)
        assert not jobs.grant_push(tx, JOB, "b" * 40)
        assert jobs.grant_push(tx, JOB, "a" * 40)
        assert jobs.keep_push_token(tx, JOB, b"\0first")
        assert not jobs.keep_push_token(tx, JOB, b"\0late")
        assert jobs.keep_push_token(tx, JOB, b"\0cipher", instead_of=b"\0first")
        found = jobs.get(tx, JOB)
        assert found is not None
        assert (found.push_sha, found.push_token) == ("a" * 40, b"\0cipher")
        jobs.drop_push_token(tx, JOB)
        found = jobs.get(tx, JOB)
        assert found is not None
        assert (found.push_sha, found.push_token) == ("a" * 40, None)


def test_a_silent_job_is_overdue(store: Store, clock: Clock, job: Job) -> None:
    with store.write() as tx:
        claim(tx, clock)
        jobs.heartbeat(tx, JOB, Progress(phase=Phase.AGENT, attempt=2), deadline_at=clock() + 30)
        assert jobs.last_progress(tx, JOB) == Progress(phase=Phase.AGENT, attempt=2)
    clock.forward(30)
    with store.write() as tx:
        (late,) = jobs.overdue(tx)
        assert (late.id, late.phase) == (JOB, "agent")
        jobs.look_again(tx, JOB, clock() + 1)
        assert jobs.overdue(tx) == []


def test_the_first_report_wins_even_when_it_is_late(store: Store, job: Job) -> None:
    report = Report(
        job=JOB,
        outcome=Outcome.STOPPED,
        sentence="Stopped.",
        runner="r",
        started_at=1.0,
        ended_at=2.0,
        usage=(run("9"),),
    )
    with store.write() as tx:
        assert jobs.report_of(tx, JOB) is None
        jobs.close(tx, JOB)
        assert jobs.report(tx, JOB, report)
        assert not jobs.report(tx, JOB, report.model_copy(update={"sentence": "Other."}))
        assert jobs.report_of(tx, JOB) == report


def run(usd: str | None, *, complete: bool = True) -> Usage:
    return Usage(
        unit=Unit.CREATE_PLAN,
        agent="claude",
        model=None,
        attempt=1,
        input_tokens=5_000_000_000,
        usd=None if usd is None else Decimal(usd),
        usd_source=UsdSource.UNKNOWN if usd is None else UsdSource.REPORTED,
        seconds=1.5,
        complete=complete,
    )


def dollars(tx: Tx) -> list[Decimal | None]:
    return [one.usage.usd for one in usage.of_plan(tx, "cafe0001")]


def test_what_was_used_is_kept_exactly_and_unknown_is_not_zero(store: Store, job: Job, clock: Clock) -> None:
    runs = [run("0.1"), run("0.2"), run(None)]
    with store.write() as tx:
        assert usage.add(tx, job, runs, final=True) == 3
        assert usage.add(tx, job, runs, final=True) == 0
    with store.read() as tx:
        spent = usage.of_plan(tx, "cafe0001")
        assert [one.usage for one in spent] == runs
        assert {(one.job, one.repository_id, one.at) for one in spent} == {(JOB, 7, clock())}
        assert usage.of_plan(tx, "cafe0002") == []


def test_what_an_agent_calls_its_model_can_be_stored_whatever_it_is(store: Store, job: Job) -> None:
    odd = Usage(unit=Unit.EXECUTE_PLAN, agent="a", model="m\0", attempt=1, seconds=1, input_tokens=2**63 - 1)
    with store.write() as tx:
        usage.add(tx, job, [odd], final=True)
    with store.read() as tx:
        (spent,) = usage.of_plan(tx, job.plan_uid)
    assert (spent.usage.model, spent.usage.input_tokens) == ("m\N{REPLACEMENT CHARACTER}", 2**63 - 1)


def test_a_late_report_counts_instead_of_the_last_heartbeat(store: Store, job: Job) -> None:
    with store.write() as tx:
        usage.add(tx, job, [run("0.1", complete=False)], final=False)
        assert dollars(tx) == [Decimal("0.1")]
        usage.add(tx, job, [run("0.4"), run("0.5")], final=True)
        assert dollars(tx) == [Decimal("0.4"), Decimal("0.5")]
