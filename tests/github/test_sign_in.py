"""Sign-in by hand: what GitHub's answers and faults amount to. The flow itself is in tests/web/test_login.py."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from bot.errors import Permanent, RetryAt, Transient
from bot.github.gateway import Unproved
from bot.github.sign_in import AppSignIn
from tests.github.canned import Answer, canned

if TYPE_CHECKING:
    from tests.github.conftest import Clock, World

TOKEN = "POST /login/oauth/access_token"


def signing_in(url: str, clock: Clock, client_id: str = "Iv1", secret: str = "s" * 40) -> AppSignIn:
    return AppSignIn(client_id, secret, github_url=url, api_url=url, now=clock)


@pytest.mark.parametrize(
    ("answer", "failure", "words"),
    [
        (Answer(200, {"error": "bad_verification_code"}), Unproved, "does not know this sign-in"),
        (Answer(200, {"error": "redirect_uri_mismatch", "error_description": "MUST match"}), Permanent, "callback URL"),
        (Answer(200, {"error": "incorrect_client_credentials"}), Permanent, "TWOGATE_CLIENT_ID"),
        (Answer(200, {"token_type": "bearer"}), Transient, "no token"),
        (Answer(200, ["no", "object"]), Permanent, "TWOGATE_GITHUB_URL"),
        (Answer(429, {}), RetryAt, "fewer"),
        (Answer(502, {}), Transient, "502"),
    ],
)
def test_what_refusals_amount_to(clock: Clock, answer: Answer, failure: type[Exception], words: str) -> None:
    with canned() as server:
        server.on(TOKEN, answer)
        with pytest.raises(failure, match=words) as found:
            signing_in(server.url, clock).exchange("code", "verifier", "http://127.0.0.1/login/callback")
        assert found.type is failure


def test_github_out_of_reach_is_passing(clock: Clock) -> None:
    with pytest.raises(Transient, match="can't be reached"):
        signing_in("http://127.0.0.1:1", clock).renew("ghr_1")


def test_a_token_is_ended_once_and_by_its_own_app_alone(world: World) -> None:
    hub, url = world.standin.hub, world.standin.url
    app = hub.apps[world.app["app_id"]]
    world.person("mia", "write")
    sign_in = AppSignIn(
        app.client_id, app.client_secret, github_url=url, api_url=world.standin.api_url, now=world.clock
    )
    sign_in.end("ghu_unknown")
    sign_in.end(world.tokens["mia"])
    assert hub.resolve_token(world.tokens["mia"]) is not None
    wrong = AppSignIn(app.client_id, "x" * 40, github_url=url, api_url=world.standin.api_url, now=world.clock)
    with pytest.raises(Permanent, match="401"):
        wrong.end("ghu_unknown")
