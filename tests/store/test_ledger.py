"""What figures are made of, as the database has it: jobs that report, late or never, and what they took."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING

from bot.lifecycle.amounts import Amount
from bot.lifecycle.costs import dollars
from bot.lifecycle.figures import figures
from bot.lifecycle.histories import JobTime
from bot.lifecycle.policy import parse_policy
from bot.store import days, histories, jobs, plan_costs, plans, policies, usage
from runner.contract import JobKind, Outcome, Phase, Progress, Report
from runner.results import Unit
from tests.store.databases import some_plan
from tests.store.test_history import run

if TYPE_CHECKING:
    from bot.store.engine import Store
    from runner.contract import Usage
    from tests.store.databases import Clock

RATE = Decimal("0.008")
PLAN = some_plan()


def begin(store: Store, clock: Clock, number: int) -> str:
    """Open a job that a runner takes, and that is heard of after 100 seconds."""
    name = f"{PLAN.uid}-{number}"
    with store.write() as tx:
        if number == 1:
            plans.save(tx, PLAN, None)
        jobs.open_job(
            tx,
            job=name,
            plan_uid=PLAN.uid,
            repository_id=PLAN.repo.id,
            lane=PLAN.lane,
            installation_id=3,
            kind=JobKind.EXECUTE,
            unit=Unit.EXECUTE_PLAN,
            deadline_at=clock() + 60,
        )
        jobs.claim(tx, name, key_hash="hash", run_attempt=1, deadline_at=clock() + 90, actions_rate=RATE)
    clock.forward(100)
    with store.write() as tx:
        jobs.heartbeat(tx, name, Progress(phase=Phase.AGENT), deadline_at=clock() + 90)
    return name


def report(store: Store, clock: Clock, name: str, *, seconds: float, usd: str) -> None:
    told = Report(
        job=name,
        outcome=Outcome.GATES_FAILED,
        sentence="Failed.",
        runner="r",
        started_at=5.0,
        ended_at=5.0 + seconds,
        check_seconds=30.0,
        usage=(run(usd),),
    )
    with store.write() as tx:
        job = jobs.get(tx, name)
        assert job is not None
        assert jobs.report(tx, name, told)
        usage.add(tx, job, told.usage, final=True)


def lose(store: Store, name: str, usd: str | None = None) -> None:
    with store.write() as tx:
        job = jobs.get(tx, name)
        assert job is not None
        jobs.close(tx, name)
        if usd:
            usage.add(tx, job, [run(usd, complete=False)], final=False)


def test_a_job_took_what_its_report_says_within_what_the_bot_saw(store: Store, clock: Clock):
    report(store, clock, begin(store, clock, 1), seconds=61, usd="1")
    report(store, clock, begin(store, clock, 2), seconds=10**9, usd="1")
    with store.read() as tx:
        ((_, history),) = histories.in_period(tx, 0, clock() + 1)
        cost = plan_costs.of_plan(tx, PLAN)
    assert history.jobs == [JobTime(clock() - 100, 61.0, 30.0, rate=RATE), JobTime(clock(), 100.0, 30.0, rate=RATE)]
    assert cost.times == tuple(history.jobs)
    assert cost.actions_usd.value == 4 * RATE
    assert dollars(cost.usd) == "$2.03"
    assert {row.outcome for row in cost.rows} == {Outcome.GATES_FAILED}


def test_a_lost_job_counts_once_by_its_last_heartbeat_until_its_report_comes(store: Store, clock: Clock):
    name = begin(store, clock, 1)
    lose(store, name, usd="0.50")
    silent = begin(store, clock, 2)
    lose(store, silent)

    def told() -> list[str]:
        with store.read() as tx:
            ((_, history),) = histories.in_period(tx, 0, clock() + 1)
            cost = plan_costs.of_plan(tx, PLAN)
        found = figures([history], 0, clock() + 1)
        assert (found.spend, found.actions_minutes) == (cost.usd, cost.actions_minutes)
        return [dollars(found.spend), dollars(found.agents.usd), str(found.agents.runs), dollars(found.actions_usd)]

    assert told() == ["at least $0.5320", "at least $0.5000", "2", "at least $0.0320"]
    report(store, clock, name, seconds=130, usd="0.75")
    assert told() == ["at least $0.7900", "at least $0.7500", "2", "at least $0.0400"]
    report(store, clock, silent, seconds=61, usd="0.25")
    assert told() == ["$1.04", "$1.00", "2", "$0.0400"]


def test_a_period_asks_for_its_own_plans_in_as_many_queries_as_ever(store: Store, clock: Clock):
    report(store, clock, begin(store, clock, 1), seconds=61, usd="1")
    with store.read() as tx:
        ((name, _),) = histories.by_name(tx, 0, clock() + 1)
        assert name == f"{PLAN.repo.owner}/{PLAN.repo.name}"
        assert not list(histories.in_period(tx, 0, clock() + 1, [PLAN.repo.id + 1]))
        assert not list(histories.in_period(tx, 0, clock() - 10**6)), "it was asked for later"


def test_a_day_has_left_what_its_jobs_have_not_used_since_midnight(store: Store, clock: Clock):
    def left() -> dict[str, tuple[str, bool]]:
        with store.read() as tx:
            found = days.limited(tx, [PLAN.repo.id, 99])
        return {name: (dollars(day.left), day.at_most) for name, day in found.items()}

    def heard(name: str, *runs: Usage) -> None:
        with store.write() as tx:
            jobs.heartbeat(tx, name, Progress(phase=Phase.AGENT, usage=runs), deadline_at=clock() + 90)

    report(store, clock, begin(store, clock, 1), seconds=61, usd="4")
    clock.forward(86_400)
    assert left() == {}, "the policy sets no limit"
    with store.write() as tx:
        policies.keep(tx, PLAN.repo.id, parse_policy("budget: {usd_per_day: 10}"))
    name = f"{PLAN.repo.owner}/{PLAN.repo.name}"
    assert left() == {name: ("$10.00", False)}, "yesterday is over"
    report(store, clock, begin(store, clock, 2), seconds=61, usd="1.25")
    under_way = begin(store, clock, 3)
    heard(under_way, run("0.50"))
    assert left() == {name: ("$8.25", False)}
    heard(under_way, run("0.75"), run(None))
    assert left() == {name: ("$8.00", True)}
    report(store, clock, under_way, seconds=61, usd="1.75")
    assert left() == {name: ("$7.00", False)}, "a job that has reported counts once, though it is not closed yet"
    with store.read() as tx:
        assert days.of(tx, PLAN.repo.id, Decimal(2)).left == Amount(value=Decimal(0))
