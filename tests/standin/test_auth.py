"""App JWTs, installation tokens and what they may do."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import httpx
import jwt
import pytest
from githubkit import TokenAuthStrategy
from githubkit.exception import RequestFailed

if TYPE_CHECKING:
    from tests.standin.conftest import Clock, World


def app_get(world: World, path: str, **claims: Any) -> httpx.Response:
    now = int(world.standin.hub.clock())
    body = {"iat": now - 60, "exp": now + 540, "iss": str(world.app["app_id"]), **claims}
    token = jwt.encode(body, world.app["private_key"], algorithm="RS256")
    return httpx.get(world.standin.api_url + path, headers={"Authorization": f"Bearer {token}"})


def test_app_jwt(world: World) -> None:
    now = int(world.standin.hub.clock())
    assert app_get(world, "/app").json()["slug"] == "twogate"
    assert app_get(world, "/app", iss=world.app["client_id"]).status_code == 200
    assert app_get(world, "/app", exp=now - 1).status_code == 401
    assert app_get(world, "/app", exp=now + 700).status_code == 401
    assert app_get(world, "/app", iat=now + 300).status_code == 401
    assert app_get(world, "/app", iss="1").status_code == 404
    assert app_get(world, "/app/installations").json()[0]["id"] == world.app["installation_id"]
    assert app_get(world, "/repos/acme/shop/installation").json()["app_slug"] == "twogate"


def test_jwt_of_another_key_is_refused(world: World) -> None:
    other = world.standin.control.create_app("other", "acme")
    now = int(world.standin.hub.clock())
    body = {"iat": now, "exp": now + 60, "iss": str(world.app["app_id"])}
    forged = jwt.encode(body, other["private_key"], algorithm="RS256")
    answer = httpx.get(f"{world.standin.api_url}/app", headers={"Authorization": f"Bearer {forged}"})
    assert answer.status_code == 401


def test_installation_token_is_long_and_expires(world: World, clock: Clock) -> None:
    made = world.github().rest.apps.create_installation_access_token(world.app["installation_id"]).parsed_data
    assert made.token.startswith(f"ghs_{world.app['app_id']}_")
    assert len(made.token) > 450
    assert made.expires_at.endswith("Z")
    assert "." not in made.expires_at
    url = f"{world.standin.api_url}/installation/repositories"
    headers = {"Authorization": f"Bearer {made.token}"}
    assert httpx.get(url, headers=headers).json()["total_count"] == 1
    clock.now += 3601
    assert httpx.get(url, headers=headers).json()["message"] == "Bad credentials"


def test_revoked_and_suspended(world: World) -> None:
    hub, control = world.standin.hub, world.standin.control
    installation = hub.installations[world.app["installation_id"]]
    url = f"{world.standin.api_url}/installation/token"
    raw = hub.create_installation_token(installation).raw
    headers = {"Authorization": f"Bearer {raw}"}
    assert httpx.delete(url, headers=headers).status_code == 204
    assert httpx.delete(url, headers=headers).status_code == 401
    control.suspend(installation.id)
    with pytest.raises(RequestFailed) as refused:
        world.github().rest.apps.create_installation_access_token(installation.id)
    assert refused.value.response.status_code == 403


def test_narrowed_token_does_only_what_it_says(world: World) -> None:
    control = world.standin.control
    other = control.create_repository("acme/other")
    shop = control.repo("acme/shop").id
    scope = {"repository_ids": [shop], "permissions": {"issues": "write"}}
    app = world.installation(**scope)
    assert app.rest.issues.create("acme", "shop", title="a").parsed_data.number == 1
    for forbidden, status in (
        (lambda: app.rest.repos.get_branch("acme", "shop", "main"), 403),
        (lambda: app.rest.checks.create("acme", "shop", data={"name": "x", "head_sha": "0" * 40}), 403),
        (lambda: app.rest.issues.create("acme", "other", title="a"), 404),
    ):
        with pytest.raises(RequestFailed) as refused:
            forbidden()
        assert refused.value.response.status_code == status
    with pytest.raises(RequestFailed) as more:
        world.github().rest.apps.create_installation_access_token(
            world.app["installation_id"], data={"permissions": {"workflows": "write"}}
        )
    assert more.value.response.status_code == 422
    control.choose_repositories(world.app["installation_id"], ["acme/other"])
    with pytest.raises(RequestFailed) as gone:
        app.rest.issues.get("acme", "shop", 1)
    assert gone.value.response.status_code == 404
    assert other["id"] != shop


def test_people_without_a_role_see_nothing_and_archived_is_read_only(world: World) -> None:
    with world.client("eve") as eve, world.client("mia") as mia:
        assert eve.get(str(eve.base_url).rstrip("/")).status_code == 404
        world.standin.control.archive_repository("acme/shop", "mia")
        assert mia.get(str(mia.base_url).rstrip("/")).json()["archived"] is True
        assert mia.post("/issues", json={"title": "a"}).status_code == 403
    anonymous = httpx.get(f"{world.standin.api_url}/repos/acme/shop")
    assert anonymous.status_code == 404
    bad = httpx.get(f"{world.standin.api_url}/user", headers={"Authorization": "token ghp_nobody"})
    assert bad.status_code == 401


def test_rate_limit_headers(world: World) -> None:
    with world.client("rob") as rob:
        first, second = rob.get("/labels"), rob.get("/labels")
    assert int(second.headers["x-ratelimit-used"]) == int(first.headers["x-ratelimit-used"]) + 1
    assert first.headers["x-github-request-id"] != second.headers["x-github-request-id"]
    assert int(first.headers["x-ratelimit-reset"]) > time.time() - 1


def test_spent_rate_limit_is_refused(world: World, clock: Clock) -> None:
    world.standin.limits.hourly = 3
    with world.client("rob") as rob, world.client("wes") as wes:
        assert [rob.get("/labels").status_code for _ in range(4)] == [200, 200, 200, 403]
        assert wes.get("/labels").status_code == 200
        clock.now += 3601
        assert rob.get("/labels").status_code == 200


def test_githubkit_user_token(world: World) -> None:
    github = world.github().with_auth(TokenAuthStrategy(world.people["rob"]["token"]))
    assert github.rest.users.get_by_username("twogate[bot]").parsed_data.type == "Bot"
    with pytest.raises(RequestFailed) as refused:
        github.rest.checks.create("acme", "shop", data={"name": "x", "head_sha": "0" * 40})
    assert refused.value.response.status_code == 403
