from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path

import pytest
from alembic import command
from alembic.util import CommandError
from sqlalchemy import update

from bot.errors import ConfigError
from bot.lifecycle.brief import Brief
from bot.lifecycle.histories import Line
from bot.lifecycle.plan import Plan, Recommended, Repo
from bot.lifecycle.states import WaitingOn
from bot.store import browse, browse_jobs, browse_journal, deliveries, histories, jobs, journal, plans
from bot.store.browse import PlanFilters
from bot.store.browse_journal import JournalFilters
from bot.store.deliveries import NewDelivery
from bot.store.documents import FORMAT, UnreadableError, dump, load
from bot.store.engine import StoreUnavailable, choose_backend, open_store
from bot.store.journal import Entry
from bot.store.migrate import _config, migrate
from bot.store.schema import plans as plans_table
from runner.contract import JobKind, Outcome, Report
from runner.results import Recommendation, Unit
from tests.store.databases import some_plan

RELEASED = Path(__file__).with_name("released")


@pytest.fixture(params=["sqlite", "postgresql"])
def empty_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'empty % db.sqlite'}"
    return str(request.getfixturevalue("server").create())


def check(url: str) -> None:
    """Raise CommandError where the database differs from the schema in the code."""
    backend = choose_backend(url)
    try:
        with backend.writer.begin() as connection:
            command.check(_config(connection))
    finally:
        backend.writer.dispose()


def test_the_migrations_lead_to_the_schema_in_the_code(empty_url: str) -> None:
    migrate(empty_url)
    check(empty_url)
    migrate(empty_url)


def test_what_an_older_release_stored_is_listed(empty_url: str) -> None:
    """The schema of 0003 has no brief, no names of repositories, and nothing of a journal's or a job's own."""
    idea = Recommended(what=Recommendation(title="Tidy up", reason="It is untidy."))
    renamed = Repo(id=7, owner="octo", name="demo-2", installation_id=3)
    old = [some_plan(recommended=(idea, idea.model_copy(update={"issue": 3}))), some_plan("cafe0002", 13, repo=renamed)]
    migrate(empty_url)
    store = open_store(empty_url)
    with store.write() as tx:
        for plan in old:
            plans.save(tx, plan, None)
        tx.execute(update(plans_table).where(plans_table.c.uid == "cafe0002").values(created_at=tx.now + 1))
        told = {"waiting_on": "diff_decision", "holding_back": 2, "via": "reaction"}
        journal.append(tx, Entry("a", "7:12", 1.0, "approved", "s", "cafe0001", 1, 1, "ann", details=told))
        journal.append(tx, Entry("b", "7:99", 1.0, "refused", "s", None, None, 1, "ann"))
        where = {"repository_id": 7, "lane": "7:12", "installation_id": 3, "plan_uid": "cafe0001"}
        jobs.open_job(tx, job="cafe0001-1", kind=JobKind.PLAN, unit=Unit.CREATE_PLAN, deadline_at=1.0, **where)
        jobs.report(tx, "cafe0001-1", REPORT)
    backend = choose_backend(empty_url)
    for way, to in ((command.downgrade, "0003"), (command.upgrade, "head")):
        with backend.writer.begin() as connection:
            way(_config(connection), to)
    backend.writer.dispose()
    with store.read() as tx:
        assert plans.repositories(tx) == {7: renamed}
        listed = browse.plans_page(tx, {7}, PlanFilters(ideas=True, requester=1), None, 5)
        assert [each.brief for each in listed] == [Brief.of(old[0])]
        (line,) = histories.lines_of(tx, "cafe0001")
        assert line == Line(1.0, "approved", None, None, WaitingOn.DIFF_DECISION, 2)
        lines = browse_journal.journal_page(tx, {7}, JournalFilters(), None, 5)
        assert [(line.entry.ref, line.repository_id) for line in lines] == [("b", 7), ("a", 7)]
        assert [row.name for row in browse_jobs.runners(tx, {7})] == ["here"]
    store.dispose()


REPORT = Report(
    job="cafe0001-1", outcome=Outcome.AGENT_FAILED, sentence="It ended.", runner="here", started_at=1.0, ended_at=2.0
)


def test_the_check_notices_a_difference(empty_url: str) -> None:
    migrate(empty_url)
    backend = choose_backend(empty_url)
    with backend.writer.begin() as connection:
        connection.exec_driver_sql("DROP INDEX ix_outbox_open_lane")
    backend.writer.dispose()
    with pytest.raises(CommandError):
        check(empty_url)


def test_processes_that_migrate_at_once_do_not_hinder_each_other(empty_url: str) -> None:
    code = "import sys; from bot.store.migrate import migrate; sys.stdin.readline(); migrate(sys.argv[1])"
    started = [
        subprocess.Popen(
            [sys.executable, "-W", "error", "-c", code, empty_url],
            stdin=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for _ in range(2)
    ]
    for process in started:
        assert process.stdin is not None
        process.stdin.write("go\n")
        process.stdin.flush()
    ends = [(process.communicate(timeout=60)[1], process.returncode) for process in started]
    assert [code for _, code in ends] == [0, 0], ends
    check(empty_url)


def test_a_database_that_is_away_is_worth_another_try(tmp_path: Path) -> None:
    store = open_store(f"sqlite:///{tmp_path / 'no' / 'folder.db'}")
    with pytest.raises(StoreUnavailable), store.read() as tx:
        deliveries.ready(tx)


@pytest.mark.parametrize("url", ["sqlite://", "sqlite:///:memory:", "mysql://h/d", "nonsense"])
def test_a_url_that_can_not_be_used_is_named(url: str) -> None:
    with pytest.raises(ConfigError, match=r"sqlite"):
        open_store(url)


def test_the_database_of_sqlite_is_for_its_owner_alone(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    migrate(f"sqlite:///{path}")
    assert path.stat().st_mode & 0o077 == 0


@pytest.mark.parametrize("path", sorted(RELEASED.glob("plan-*.json")), ids=lambda path: path.stem)
def test_a_plan_stored_by_any_release_can_be_read(path: Path) -> None:
    plan = Plan.model_validate(load(path.read_text()))
    assert plan.uid == "cafe0001"
    assert plan.issue.title == "Title"


def test_an_approval_given_under_an_earlier_release_covers_what_it_covered() -> None:
    plan = Plan.model_validate(load((RELEASED / "plan-1-approved.json").read_text()))
    assert plan.plan_approval is not None
    assert plan.revision is not None
    assert plan.plan_approval.content_sha256 == plan.revision.content_sha256
    assert set(plan.agents) == set(Unit), "who does what that release did not know"


def test_the_format_written_now_is_among_the_released_ones() -> None:
    stored = {json.loads(path.read_text())["format"] for path in RELEASED.glob("plan-*.json")}
    assert stored == set(range(1, FORMAT + 1))


def test_a_document_of_a_later_release_is_refused_with_a_sentence() -> None:
    text = json.dumps({"format": FORMAT + 1, "data": {}})
    with pytest.raises(UnreadableError, match="update this process"):
        load(text)


def test_a_field_that_a_later_release_added_is_passed_over() -> None:
    later = some_plan().model_dump(mode="json") | {"mood": "good"}
    assert Plan.model_validate(load(dump(later))) == some_plan()


def test_the_time_is_the_databases_where_none_is_given(url: str) -> None:
    store = open_store(url)
    with store.write() as tx:
        deliveries.add(tx, NewDelivery("g", "poll", "e", "l", "{}"))
        first = tx.now
        assert tx.now == first
        assert abs(first - time.time()) < 60
    store.dispose()
