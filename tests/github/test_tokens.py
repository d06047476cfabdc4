"""Installation tokens: minted once, renewed, dropped when refused, never sent elsewhere."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import TYPE_CHECKING

import pytest

from bot.errors import Permanent, RetryAt
from bot.github.client import connect
from bot.github.clients import App
from bot.github.tokens import seconds
from tests.github.canned import LATER, TOKENS, Answer, Canned, canned

if TYPE_CHECKING:
    from bot.github.client import GitHubGateway
    from bot.lifecycle.plan import Repo
    from tests.github.conftest import Clock, World

RUN = "GET /repos/acme/shop/actions/runs/3"
RUNNING = Answer(200, {"id": 3, "status": "queued"})


def bearers(server: Canned, request: str) -> list[str]:
    return [headers["Authorization"] for line, headers, _ in server.seen if line == request]


def test_first_calls_of_many_threads_share_one_token(world: World) -> None:
    together = Barrier(8)

    def ask(_: int) -> str | None:
        together.wait(10)
        return world.gateway.branch_head(world.repo, "main")

    with ThreadPoolExecutor(8) as threads:
        heads = set(threads.map(ask, range(8)))
    assert len(heads) == 1
    assert None not in heads
    assert world.asked("apps/create-installation-access-token") == 1


def test_a_revoked_token_is_replaced_once(world: World) -> None:
    number = world.issue()
    world.gateway.issue(world.repo, number)
    world.standin.control.expire_tokens()
    world.gateway.ensure_comment(world.repo, number, "k", "text", first=True)
    assert world.asked("apps/create-installation-access-token") == 2
    assert world.written()[-1] == ("POST", "issues/create-comment", 201)


def test_a_token_that_stays_refused_is_not_tried_for_ever(server: Canned, gateway: GitHubGateway, repo: Repo) -> None:
    server.on(RUN, Answer(401, {"message": "Bad credentials"}))
    with pytest.raises(RetryAt):
        gateway.run(repo, 3)
    assert server.asked(RUN) == 2
    assert server.asked(TOKENS) == 2


def test_a_token_is_renewed_before_it_ends(server: Canned, gateway: GitHubGateway, repo: Repo, clock: Clock) -> None:
    hour = "2030-01-01T01:00:00.250Z"
    clock.now = seconds("2030-01-01T00:00:00Z")
    server.on(
        TOKENS, Answer(201, {"token": "one", "expires_at": hour}), Answer(201, {"token": "two", "expires_at": LATER})
    )
    server.on(RUN, RUNNING)
    gateway.run(repo, 3)
    clock.now += 3400
    gateway.run(repo, 3)
    clock.now += 100
    gateway.run(repo, 3)
    assert bearers(server, RUN) == ["Bearer one", "Bearer one", "Bearer two"]


def test_a_permission_accepted_meanwhile_is_used_at_once(world: World) -> None:
    number, control = world.issue(), world.standin.control
    control.set_permissions(world.app["installation_id"], {"metadata": "read", "issues": "read"})
    with pytest.raises(Permanent, match="Resource not accessible"):
        world.gateway.ensure_comment(world.repo, number, "k", "text", first=True)
    control.set_permissions(world.app["installation_id"], {"metadata": "read", "issues": "write"})
    world.clock.now += 120
    world.gateway.ensure_comment(world.repo, number, "k", "text", first=True)
    assert world.asked("apps/create-installation-access-token") == 2


@pytest.mark.parametrize("branch", ["installation", "docs/installation", "login/oauth/access_token"])
def test_no_name_of_a_branch_changes_who_asks(world: World, branch: str) -> None:
    head = world.commit(branch, {"a.txt": "a"})
    assert world.gateway.branch_head(world.repo, branch) == head


def test_two_hosts_never_share_a_token(clock: Clock, private_key: str, repo: Repo) -> None:
    with canned() as one, canned() as other:
        one.on(TOKENS, Answer(201, {"token": "of-one", "expires_at": LATER}))
        other.on(TOKENS, Answer(201, {"token": "of-other", "expires_at": LATER}))
        for server, token in ((one, "of-one"), (other, "of-other")):
            server.on(RUN, RUNNING)
            gateway = connect(App(id=1, private_key=private_key, api_url=server.url), clock)
            gateway.run(repo, 3)
            gateway.close()
            assert bearers(server, RUN) == [f"Bearer {token}"]
        jwts = {
            headers["Authorization"] for server in (one, other) for line, headers, _ in server.seen if line == TOKENS
        }
        assert len(jwts) <= 2
        assert all("of-one" not in headers.get("Authorization", "") for _, headers, _ in other.seen)


def test_secrets_are_not_in_the_repr(private_key: str) -> None:
    assert "PRIVATE" not in repr(App(id=1, private_key=private_key))
