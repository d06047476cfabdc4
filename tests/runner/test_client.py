"""The runner's HTTP, against a real server on loopback."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from runner.client import Client, NotYetError, RefusedError, UnreachableError
from runner.contract import Issue, JobKind, JobSpec, Phase, Progress, PushTokenRequest, Repository
from runner.results import Unit
from runner.settings import Identity, Settings
from runner.terms import Budget
from tests.runner.bot_on_loopback import JOB_KEY, PUSH_TOKEN, REQUEST_TOKEN, Bot, BotServer

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

JOB = "abcdefgh-1"


def spec_of(job: str = JOB) -> JobSpec:
    return JobSpec(
        job=job,
        kind=JobKind.PLAN,
        unit=Unit.CREATE_PLAN,
        repository=Repository(id=1, owner="o", name="r", default_branch="trunk", clone_url="file:///nowhere"),
        plan_uid="abcdefgh",
        revision=1,
        base="0" * 40,
        branch="plan/7",
        issue=Issue(number=7, title="t", body="b", author="a"),
        agents={},
        budget=Budget(),
    )


@pytest.fixture
def bot() -> Iterator[Bot]:
    bot = Bot(specs={JOB: spec_of()})
    server = BotServer(bot)
    yield bot
    server.stop()


@pytest.fixture
def settings(bot: Bot, tmp_path: Path) -> Settings:
    identity = Identity(f"{bot.url}/oidc?api-version=2.0", REQUEST_TOKEN)
    return Settings(url=bot.url, home=tmp_path, runner="here", environment={}, identity=identity)


@pytest.fixture
def client(settings: Settings) -> Iterator[Client]:
    with Client(settings) as client:
        yield client


def test_a_claim_waits_until_the_bot_knows_the_run_with_a_new_identity_each_time(bot: Bot, client: Client) -> None:
    bot.not_yet = 2
    claim = client.claim(JOB)
    assert claim.spec == spec_of()
    assert claim.job_key == JOB_KEY
    assert next(bot.counter) == 4  # three identities were handed out
    assert bot.identities == set()


def test_a_claim_gives_up_at_its_deadline(bot: Bot, client: Client) -> None:
    bot.not_yet = 10_000
    with pytest.raises(NotYetError, match="Not yet"):
        client.claim(JOB, deadline=0.2)


def test_a_second_claim_ends_with_the_bots_sentence_at_once(client: Client) -> None:
    client.claim(JOB)
    with pytest.raises(RefusedError, match="has been claimed already") as refused:
        client.claim(JOB)
    assert refused.value.status == 409


def test_an_unknown_job_is_refused(client: Client) -> None:
    with pytest.raises(RefusedError, match="There is no job"):
        client.claim("unknownx-9")


def test_without_permission_for_oidc_the_sentence_names_it(settings: Settings) -> None:
    with Client(replace(settings, identity=None)) as client, pytest.raises(RefusedError, match="id-token: write"):
        client.claim(JOB)


def test_a_refused_oidc_request_does_not_show_its_token(settings: Settings, bot: Bot) -> None:
    identity = Identity(f"{bot.url}/oidc?api-version=2.0", "wrong")
    with Client(replace(settings, identity=identity)) as client, pytest.raises(UnreachableError) as fault:
        client.claim(JOB, deadline=0.1)
    assert "no OIDC token" in str(fault.value)
    assert "wrong" not in str(fault.value)


def test_progress_brings_the_reason_to_stop(bot: Bot, client: Client) -> None:
    bot.stop = "cancelled by ada"
    answer = client.progress(JOB, JOB_KEY, Progress(phase=Phase.AGENT, attempt=2))
    assert answer.stop == "cancelled by ada"
    assert bot.progress[0]["attempt"] == 2


def test_progress_of_another_jobs_key_is_refused(client: Client) -> None:
    with pytest.raises(RefusedError):
        client.progress(JOB, "other", Progress(phase=Phase.AGENT))


def test_a_push_token_comes_for_a_new_identity(bot: Bot, client: Client) -> None:
    token = client.push_token(JOB, PushTokenRequest(sha="1" * 40, gates=()))
    assert token.token == PUSH_TOKEN
    assert bot.pushes[0]["sha"] == "1" * 40
    assert bot.identities == set()


def test_a_refused_push_says_why(bot: Bot, client: Client) -> None:
    bot.refuse_push = True
    with pytest.raises(RefusedError, match="withdrawn"):
        client.push_token(JOB, PushTokenRequest(sha="1" * 40, gates=()))


def test_a_bot_that_is_away_is_told_apart_from_a_refusal(bot: Bot, client: Client) -> None:
    bot.away = True
    with pytest.raises(UnreachableError, match="The bot answered 503: The bot is away"):
        client.report(JOB, JOB_KEY, b"{}", deadline=0.2)
    assert not client.is_ready()


def test_nobody_listening_is_unreachable(settings: Settings) -> None:
    with (
        Client(replace(settings, url="http://127.0.0.1:9")) as client,
        pytest.raises(UnreachableError, match="can't be reached"),
    ):
        client.ended_plans(JOB_KEY)


def test_ended_plans(bot: Bot, client: Client) -> None:
    bot.ended = ("abcdefgh",)
    assert client.ended_plans(JOB_KEY).plan_uids == ("abcdefgh",)
