"""What is asked as people: whose token it is, what it shows, and issues in their name."""

from __future__ import annotations

import pytest

from bot.errors import RetryAt, Transient
from bot.github.client import connect
from bot.github.clients import App
from bot.github.gateway import Missing, Unproved
from bot.lifecycle.permission import Permission
from bot.lifecycle.plan import Repo
from tests.github.canned import Answer, canned
from tests.github.conftest import NUMBERS, Clock, World
from tests.standin.oauth import Authorisations


def another(world: World, *, private: bool = True) -> Repo:
    owner = world.name.split("/")[0]
    name = f"other{next(NUMBERS)}"
    made = world.standin.control.create_repository(f"{owner}/{name}", private=private)
    return world.repo.model_copy(update={"id": made["id"], "name": name})


def test_a_token_shows_what_its_person_sees_and_no_more(world: World) -> None:
    people = world.gateway.of_people()
    world.person("wes", "write")
    hidden, public = another(world), another(world, private=False)
    world.person("eve")
    gone = [Repo(id=10**9 + n, owner="nobody", name=f"gone{n}", installation_id=1) for n in range(100)]
    repos = [*gone, world.repo, hidden, public]
    assert people.visible(world.tokens["wes"], repos) == {
        world.repo.id: Permission.WRITE,
        public.id: Permission.READ,
    }
    assert people.visible(world.tokens["eve"], repos) == {public.id: Permission.READ}
    assert world.asked("graphql/Visible") == 4


@pytest.mark.parametrize("refused", ["viewerPermission", "installations"])
def test_what_github_may_not_tell_an_apps_token_takes_nobodys_rights(world: World, refused: str) -> None:
    people, hub = world.gateway.of_people(), world.standin.hub
    wes = world.person("wes", "write")
    token = hub.service(Authorisations).grant(hub.apps[world.app["app_id"]], hub.users[wes.id])["access_token"]
    hub.refused.add(refused)
    try:
        assert people.visible(token, [world.repo, another(world)]) == {world.repo.id: Permission.WRITE}
        assert people.holder(token).speaks == (refused != "installations")
    finally:
        hub.refused.clear()


def test_a_renamed_repository_is_followed_by_its_number(world: World) -> None:
    people, control = world.gateway.of_people(), world.standin.control
    world.person("mia", "admin")
    control.rename_repository(world.name, "sold", world.people["mia"].login)
    assert people.visible(world.tokens["mia"], [world.repo]) == {world.repo.id: Permission.ADMIN}
    control.create_repository(f"{world.repo.owner}/{world.repo.name}", private=False)
    assert people.visible(world.tokens["mia"], [world.repo]) == {world.repo.id: Permission.ADMIN}
    made = people.open_issue(world.tokens["mia"], world.repo, "Fix it", "Please", ["agent"])
    assert made.url.endswith("/sold/issues/1")
    world.person("eve")
    assert people.visible(world.tokens["eve"], [world.repo]) == {}


def test_an_issue_is_the_persons_and_its_labels_are_github_to_judge(world: World) -> None:
    people = world.gateway.of_people()
    for login, role, labels in (("tia", "triage", {"agent"}), ("rob", "read", set())):
        person = world.person(login, role)
        made = people.open_issue(world.tokens[login], world.repo, "Fix it", "Please", ["agent"])
        assert made.labels == labels
        assert world.gateway.issue(world.repo, made.number).snapshot.author == person
    world.person("eve")
    with pytest.raises(Missing):
        people.open_issue(world.tokens["eve"], world.repo, "Fix it", "Please", [])


def test_only_a_persons_good_token_proves_anybody(world: World) -> None:
    people = world.gateway.of_people()
    mia = world.person("mia", "admin")
    found = people.holder(world.tokens["mia"])
    assert (found.person, found.speaks) == (mia, True)
    installation = world.standin.hub.installations[world.repo.installation_id]
    for token in ("ghp_nobody", world.standin.hub.create_installation_token(installation).raw):
        with pytest.raises(Unproved):
            people.holder(token)
    del world.standin.hub.tokens[world.tokens["mia"]]
    for asked in (people.holder, lambda token: people.visible(token, [world.repo])):
        with pytest.raises(Unproved):
            asked(world.tokens["mia"])
    world.fault("error", status=502, count=1)
    with pytest.raises(Transient):
        people.holder("ghp_nobody")
    world.fault("primary", seconds=90, count=1)
    with pytest.raises(RetryAt):
        people.holder("ghp_nobody")


def test_a_token_of_another_app_does_not_speak(world: World) -> None:
    people, hub, control = world.gateway.of_people(), world.standin.hub, world.standin.control
    mia = world.person("mia", "admin")
    other = control.create_app(f"other-{next(NUMBERS)}", world.repo.owner)
    for app, speaks in ((world.app, True), (other, False)):
        answer = hub.service(Authorisations).grant(hub.apps[app["app_id"]], hub.users[mia.id])
        found = people.holder(answer["access_token"])
        assert (found.person, found.speaks) == (mia, speaks)
        assert people.visible(answer["access_token"], [world.repo]) == {world.repo.id: Permission.ADMIN}
    control.choose_repositories(world.app["installation_id"], [])
    ours = hub.service(Authorisations).grant(hub.apps[world.app["app_id"]], hub.users[mia.id])["access_token"]
    assert people.visible(ours, [world.repo]) == {}
    assert not people.holder(ours).speaks


@pytest.mark.parametrize(
    ("scopes", "speaks"),
    [
        (None, True),
        ("gist, read:org, repo", True),
        ("public_repo", True),
        ("", False),
        ("read:user, user:email", False),
    ],
)
def test_a_token_that_could_not_comment_does_not_speak(
    private_key: str,
    scopes: str | None,
    speaks: bool,
) -> None:
    headers = {} if scopes is None else {"X-OAuth-Scopes": scopes}
    with canned() as server:
        server.on("GET /user", Answer(200, {"id": 5, "login": "mia", "type": "User"}, headers))
        gateway = connect(App(id=1, private_key=private_key, api_url=server.url), Clock())
        assert gateway.of_people().holder("gho_1").speaks is speaks
        gateway.close()
