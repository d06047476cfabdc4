"""What GitHub answers -> what the worker is told to do."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

import pytest

from bot.errors import Permanent, RetryAt, Transient
from bot.github.client import connect
from bot.github.clients import App, Clients
from bot.github.connection import Connection
from bot.github.faults import LIMIT_PAUSE_SECONDS, LONGEST_PAUSE_SECONDS
from bot.github.gateway import Missing
from bot.github.reads import Reads
from tests.github.canned import TOKENS, Answer, Canned

if TYPE_CHECKING:
    from bot.github.client import GitHubGateway
    from bot.lifecycle.plan import Repo
    from tests.github.conftest import Clock, World

ISSUE = "GET /repos/acme/shop/issues/1"
SECONDARY = {"message": "You have exceeded a secondary rate limit. Please wait a few minutes."}


@pytest.mark.parametrize(
    ("answer", "seconds"),
    [
        (Answer(403, {"message": "Slow down"}, {"Retry-After": "17"}), 17),
        (Answer(429, {"message": "Slow down"}, {"Retry-After": "17"}), 17),
        (Answer(429, {"message": "Too many"}), LIMIT_PAUSE_SECONDS),
        (Answer(403, SECONDARY), LIMIT_PAUSE_SECONDS),
        (Answer(403, SECONDARY, {"x-ratelimit-remaining": "4998", "x-ratelimit-reset": "1"}), LIMIT_PAUSE_SECONDS),
        (Answer(403, {"message": "You have triggered an abuse detection mechanism"}), LIMIT_PAUSE_SECONDS),
        (Answer(403, {"message": "spent"}, {"x-ratelimit-remaining": "0", "x-ratelimit-reset": "+90"}), 90),
        (Answer(403, {"message": "spent"}, {"x-ratelimit-remaining": "0", "x-ratelimit-reset": "+99999"}), 3900),
        (Answer(403, {"message": "spent"}, {"x-ratelimit-remaining": "0", "x-ratelimit-reset": "-50"}), 1),
        (Answer(403, {"message": "x"}, {"Retry-After": "17", "x-ratelimit-remaining": "0"}), 17),
        (Answer(403, {"message": "x"}, {"Retry-After": "99999999"}), LONGEST_PAUSE_SECONDS),
    ],
)
def test_a_limit_closes_the_installation_until_the_right_time(
    server: Canned, gateway: GitHubGateway, repo: Repo, clock: Clock, answer: Answer, seconds: float
) -> None:
    reset = answer.headers.get("x-ratelimit-reset", "")
    if reset[:1] in {"+", "-"}:
        answer.headers["x-ratelimit-reset"] = str(int(clock.now) + int(reset))
    server.on(ISSUE, answer)
    with pytest.raises(RetryAt) as caught:
        gateway.issue(repo, 1)
    assert caught.value.at - clock.now == pytest.approx(seconds, abs=1)
    assert caught.value.gate == "installation:9"
    assert server.asked(ISSUE) == 1, "nothing is asked again by itself"


@pytest.mark.parametrize(
    ("answer", "failure"),
    [
        (Answer(404, {"message": "Not Found"}), Missing),
        (Answer(410, {"message": "This issue was deleted"}), Missing),
        (Answer(403, {"message": "Resource not accessible by integration"}), Permanent),
        (Answer(403, {"message": "Forbidden"}), Transient),
        (Answer(422, {"message": "Validation Failed", "errors": [{"field": "body", "code": "invalid"}]}), Permanent),
        (Answer(400, {"message": "Problems parsing JSON"}), Permanent),
        (Answer(451, {"message": "Repository access blocked"}), Permanent),
        (Answer(500, {"message": "Server Error"}), Transient),
        (Answer(502, b"<html>Unicorn!</html>"), Transient),
        (Answer(503, None), Transient),
        (Answer(408, None), Transient),
        (Answer(200, b"<html>a captive portal</html>"), Transient),
    ],
)
def test_a_refusal_is_sorted(
    server: Canned, gateway: GitHubGateway, repo: Repo, answer: Answer, failure: type[Exception]
) -> None:
    server.on(ISSUE, answer)
    with pytest.raises(failure):
        gateway.issue(repo, 1)
    assert server.asked(ISSUE) == 1


def test_a_refusal_carries_githubs_words(server: Canned, gateway: GitHubGateway, repo: Repo) -> None:
    errors: list[Any] = [{"message": "No commits between main and plan/1"}, {"field": "head", "code": "invalid"}, "odd"]
    server.on(ISSUE, Answer(422, {"message": "Validation Failed", "errors": errors}))
    with pytest.raises(Permanent, match=r"422 .*No commits between main and plan/1; head: invalid; odd"):
        gateway.issue(repo, 1)


def test_an_app_that_is_not_accepted_waits_for_its_operator(
    server: Canned, gateway: GitHubGateway, repo: Repo, clock: Clock
) -> None:
    server.on(TOKENS, Answer(401, {"message": "A JSON web token could not be decoded"}))
    with pytest.raises(RetryAt, match="TWOGATE_APP_ID") as caught:
        gateway.issue(repo, 1)
    assert caught.value.at > clock.now


def test_a_suspended_installation_is_told(server: Canned, gateway: GitHubGateway, repo: Repo) -> None:
    server.on(TOKENS, Answer(403, {"message": "This installation has been suspended"}))
    with pytest.raises(RetryAt, match="suspended"):
        gateway.issue(repo, 1)


def test_a_server_that_is_away_is_transient(clock: Clock, private_key: str, repo: Repo, server: Canned) -> None:
    unused = server.url.rsplit(":", 1)[0] + ":9"
    gateway = connect(App(id=1, private_key=private_key, api_url=unused), clock)
    with pytest.raises(Transient, match="can't be reached"):
        gateway.issue(repo, 1)
    gateway.close()


def test_a_server_that_is_silent_is_not_waited_for(server: Canned, clock: Clock, private_key: str, repo: Repo) -> None:
    release = threading.Event()
    server.on("GET /repositories/7", Answer(200, {}, wait=release))
    clients = Clients(App(id=1, private_key=private_key, api_url=server.url), clock, timeout=0.2)
    try:
        with pytest.raises(Transient, match="Timeout"):
            Reads(Connection(clients, clock)).issue(repo, 1)
    finally:
        release.set()
        clients.close()


@pytest.mark.parametrize(
    ("error", "failure"),
    [
        ({"type": "RATE_LIMITED", "message": "API rate limit exceeded"}, RetryAt),
        ({"message": "You have exceeded a secondary rate limit"}, RetryAt),
        ({"message": "Something went wrong while executing your query"}, Transient),
    ],
)
def test_graphql_reports_failures_with_200(
    server: Canned, gateway: GitHubGateway, repo: Repo, error: dict[str, str], failure: type[Exception]
) -> None:
    server.on("POST /graphql", Answer(200, {"data": None, "errors": [error]}))
    with pytest.raises(failure):
        gateway.reactions(repo, ["IC_1"])


def test_limits_of_the_stand_in_become_times(world: World) -> None:
    number = world.issue()
    world.gateway.identity()
    world.fault("primary", path=r".*/issues/\d+$", seconds=120)
    with pytest.raises(RetryAt) as caught:
        world.gateway.issue(world.repo, number)
    assert caught.value.at - world.clock.now == pytest.approx(120, abs=5)
    world.fault("secondary", path=r".*/comments$", seconds=45, status=429)
    with pytest.raises(RetryAt) as caught:
        world.gateway.ensure_comment(world.repo, number, "k", "text", first=True)
    assert caught.value.at - world.clock.now == pytest.approx(45, abs=5)
    world.fault("primary", path=".*/graphql", seconds=120)
    with pytest.raises(RetryAt):
        world.gateway.reactions(world.repo, ["IC_1"])
