"""Issues, comments, labels and reactions over REST, as the App and as people."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from githubkit.exception import RequestFailed

if TYPE_CHECKING:
    from tests.standin.conftest import Clock, Hooks, World


def test_comment_lifecycle_as_app(world: World, clock: Clock) -> None:
    with world.client("rob") as rob:
        number = rob.post("/issues", json={"title": "Broken", "body": "It is."}).json()["number"]
    app = world.installation()
    made = app.rest.issues.create_comment("acme", "shop", number, body="A plan").parsed_data
    assert made.performed_via_github_app
    assert made.performed_via_github_app.slug == "twogate"
    assert made.user
    assert (made.user.login, made.user.type) == ("twogate[bot]", "Bot")
    clock.now += 5
    edited = app.rest.issues.update_comment("acme", "shop", made.id, body="A better plan").parsed_data
    assert edited.updated_at > made.updated_at
    app.rest.issues.delete_comment("acme", "shop", made.id)
    with pytest.raises(RequestFailed) as gone:
        app.rest.issues.get_comment("acme", "shop", made.id)
    assert gone.value.response.status_code == 404


def test_body_limit(world: World) -> None:
    with world.client("rob") as rob:
        rob.post("/issues", json={"title": "Long"})
        assert rob.post("/issues/1/comments", json={"body": "x" * 65_536}).status_code == 201
        refused = rob.post("/issues/1/comments", json={"body": "x" * 65_537})
    assert refused.status_code == 422
    assert "too long (maximum is 65536" in refused.json()["errors"][0]["message"]


def test_labels_of_people_without_triage_are_dropped(world: World) -> None:
    with world.client("rob") as rob, world.client("wes") as wes:
        assert rob.post("/issues", json={"title": "a", "labels": ["bug"]}).json()["labels"] == []
        assert rob.post("/issues/1/labels", json={"labels": ["bug"]}).status_code == 403
        assert [row["name"] for row in wes.post("/issues/1/labels", json={"labels": ["bug", "new"]}).json()] == [
            "bug",
            "new",
        ]
        assert wes.request("DELETE", "/issues/1/labels/bug").json()[0]["name"] == "new"
        assert wes.request("DELETE", "/issues/1/labels/bug").status_code == 404
        assert [row["name"] for row in wes.put("/issues/1/labels", json={"labels": ["bug"]}).json()] == ["bug"]


def test_reaction_is_created_once(world: World) -> None:
    with world.client("rob") as rob:
        rob.post("/issues", json={"title": "a"})
        comment = rob.post("/issues/1/comments", json={"body": "b"}).json()["id"]
        where = f"/issues/comments/{comment}/reactions"
        first, again = (rob.post(where, json={"content": "+1"}) for _ in range(2))
        assert (first.status_code, again.status_code) == (201, 200)
        assert first.json()["id"] == again.json()["id"]
        assert rob.get(f"/issues/comments/{comment}").json()["reactions"]["+1"] == 1
        assert rob.delete(f"{where}/{first.json()['id']}").status_code == 204
        assert rob.get(where).json() == []


@pytest.mark.parametrize("thing", ["comments", "labels", "reactions"])
def test_pages_of_101(world: World, thing: str) -> None:
    control, hub = world.standin.control, world.standin.hub
    with world.client("mia") as mia:
        mia.post("/issues", json={"title": "a"})
        if thing == "comments":
            for n in range(101):
                mia.post("/issues/1/comments", json={"body": str(n)})
            url = "/issues/1/comments"
        elif thing == "labels":
            for n in range(98):
                mia.post("/labels", json={"name": f"l{n}"})
            url = "/labels"
        else:
            for n in range(101):
                token = control.create_user(f"u{n}")["token"]
                hub.set_role(control.repo("acme/shop"), hub.user(f"u{n}"), "read")
                mia.post("/issues/1/reactions", json={"content": "+1"}, headers={"Authorization": f"token {token}"})
            url = "/issues/1/reactions"
        assert len(mia.get(url).json()) == 30
        first = mia.get(url, params={"per_page": 500})
        second = mia.get(first.links["next"]["url"])
    assert (len(first.json()), len(second.json())) == (100, 1)
    assert "next" not in second.links
    assert len({row["id"] for row in first.json() + second.json()}) == 101


def test_deleted_issue_is_410_and_renamed_repository_301(world: World) -> None:
    control = world.standin.control
    with world.client("mia") as mia:
        mia.post("/issues", json={"title": "a"})
        control.delete_issue("acme/shop", 1, "mia")
        assert mia.get("/issues/1").status_code == 410
        control.rename_repository("acme/shop", "store", "mia")
        moved = mia.get("/labels")
        assert moved.status_code == 301
        assert mia.get(moved.headers["location"]).json()[0]["name"] == "bug"
        assert mia.get(f"{world.standin.api_url}/repos/acme/store").json()["full_name"] == "acme/store"


def test_roles_and_permission_endpoint(world: World) -> None:
    world.standin.control.set_role("acme/shop", "wes", "maintain")
    app = world.installation()
    found = {}
    for login in ("mia", "wes", "rob", "eve"):
        answer = app.rest.repos.get_collaborator_permission_level("acme", "shop", login).parsed_data
        found[login] = answer.permission, answer.role_name
    assert found == {
        "mia": ("admin", "admin"),
        "wes": ("write", "maintain"),
        "rob": ("read", "read"),
        "eve": ("none", "none"),
    }
    with world.client("eve") as eve:
        assert eve.get("/issues").status_code == 404


def events(hooks: Hooks, world: World) -> list[str]:
    world.standin.control.drain()
    rows: list[dict[str, Any]] = world.standin.control.deliveries()
    return [f"{row['event']}.{row['action']}" if row["action"] else row["event"] for row in rows]


def test_opening_with_labels_sends_an_event_each(world: World, hooks: Hooks) -> None:
    with world.client("wes") as wes:
        wes.post("/issues", json={"title": "a", "labels": ["bug", "fresh"]})
        wes.patch("/issues/1", json={"title": "b"})
        wes.patch("/issues/1", json={"state": "closed", "state_reason": "not_planned"})
    assert events(hooks, world) == [
        "installation.created",
        "label.created",
        "issues.opened",
        "issues.labeled",
        "issues.labeled",
        "issues.edited",
        "issues.closed",
    ]
