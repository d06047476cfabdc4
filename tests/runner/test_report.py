"""Reports outlive the process and the bot's absence."""

from __future__ import annotations

import stat
from typing import TYPE_CHECKING

import pytest

from runner.client import Client
from runner.contract import Claim, Issue, JobKind, JobSpec, Outcome, Report, Repository
from runner.report import KEY_FILE, REPORT_FILE, SPEC_FILE, Spool, write_atomically
from runner.settings import Settings
from runner.steps.redact import Redactor
from tests.runner.bot_on_loopback import JOB_KEY, Bot, BotServer

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


def report_of(job: str) -> Report:
    return Report(job=job, outcome=Outcome.STOPPED, sentence="Stopped.", runner="here", started_at=1, ended_at=2)


def claim_of(job: str) -> Claim:
    spec = JobSpec(
        job=job,
        kind=JobKind.CHECK_BASE,
        unit=None,
        repository=Repository(id=1, owner="o", name="calc", default_branch="trunk", clone_url="https://example.org/o"),
        plan_uid="abcdefgh",
        revision=1,
        base="1" * 40,
        branch="plan/7",
        issue=Issue(number=7, title="Wrong", body="", author="ada"),
        agents={},
    )
    return Claim(spec=spec, job_key=JOB_KEY)


@pytest.fixture
def bot() -> Iterator[Bot]:
    bot = Bot()
    server = BotServer(bot)
    yield bot
    server.stop()


@pytest.fixture
def spool(tmp_path: Path) -> Spool:
    return Spool(tmp_path / "jobs")


@pytest.fixture
def client(bot: Bot, tmp_path: Path) -> Iterator[Client]:
    with Client(Settings(url=bot.url, home=tmp_path, runner="here", environment={})) as client:
        yield client


def test_files_are_for_the_runner_alone(spool: Spool) -> None:
    spool.keep(claim_of("abcdefgh-1"), Redactor())
    spool.write(report_of("abcdefgh-1"))
    folder = spool.folder("abcdefgh-1")
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert stat.S_IMODE((folder / KEY_FILE).stat().st_mode) == 0o600
    assert stat.S_IMODE((folder / REPORT_FILE).stat().st_mode) == 0o600
    assert sorted(path.name for path in folder.iterdir()) == [KEY_FILE, REPORT_FILE, SPEC_FILE]


def test_an_accepted_report_forgets_the_key(spool: Spool, bot: Bot, client: Client) -> None:
    spool.keep(claim_of("abcdefgh-1"), Redactor())
    spool.write(report_of("abcdefgh-1"))
    assert spool.send("abcdefgh-1", client, print, deadline=5)
    assert bot.reports["abcdefgh-1"] == report_of("abcdefgh-1")
    assert spool.unsent() == []


def test_reports_wait_for_the_bot_and_are_resent_oldest_first(spool: Spool, bot: Bot, client: Client) -> None:
    for job in ("abcdefgh-1", "abcdefgh-2"):
        spool.keep(claim_of(job), Redactor())
        spool.write(report_of(job))
    bot.away = True
    said: list[str] = []
    assert not spool.send("abcdefgh-2", client, said.append, deadline=0.1)
    assert "kept for the next start" in said[0]
    assert spool.unsent() == ["abcdefgh-1", "abcdefgh-2"]
    bot.away = False
    spool.resend(client, said.append)
    assert list(bot.reports) == ["abcdefgh-1", "abcdefgh-2"]
    assert spool.unsent() == []


@pytest.mark.parametrize("status", [404, 409, 410])
def test_a_report_that_the_bot_does_not_want_is_dropped_with_a_line(
    spool: Spool, bot: Bot, client: Client, status: int
) -> None:
    spool.keep(claim_of("abcdefgh-1"), Redactor())
    spool.write(report_of("abcdefgh-1"))
    bot.refuse_report = status
    said: list[str] = []
    spool.resend(client, said.append)
    assert said == ["report of job abcdefgh-1 dropped, the bot does not want it: This job is over."]
    assert spool.unsent() == []


def test_a_key_without_a_report_is_not_sent(spool: Spool, client: Client) -> None:
    spool.keep(claim_of("abcdefgh-1"), Redactor())
    spool.resend(client, pytest.fail)
    assert spool.unsent() == []


def test_a_write_that_fails_leaves_the_old_file_and_no_litter(tmp_path: Path) -> None:
    (tmp_path / "report.json").mkdir()
    with pytest.raises(OSError):
        write_atomically(tmp_path / "report.json", b"new")
    assert [path.name for path in tmp_path.iterdir()] == ["report.json"]
