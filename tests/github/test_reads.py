"""The reading verbs, against the stand-in."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from bot.errors import Permanent, Transient
from bot.github.gateway import Missing
from bot.lifecycle.plan import Person
from bot.lifecycle.policy import Permission
from tests.github.canned import Answer, Canned
from tests.standin.entities import Reaction

if TYPE_CHECKING:
    from bot.github.client import GitHubGateway
    from bot.lifecycle.plan import Repo
    from tests.github.conftest import World

ODD_NAMES = [
    "fix#1",
    "50%",
    "50%25",
    "über/größe",
    "plus+and&co",
    "semi;colon",
    "q'uote",
    "a.b",
    "日本",
]


@pytest.mark.parametrize("role", ["none", "read", "triage", "write", "maintain", "admin"])
def test_a_permission_is_the_role(world: World, role: str) -> None:
    assert world.gateway.permission(world.repo, world.person("ann", role)) is Permission[role.upper()]


def test_a_login_that_became_another_persons_gives_nothing(world: World) -> None:
    admin = world.person("ann", "admin")
    assert world.gateway.permission(world.repo, Person(id=admin.id + 10_000, login=admin.login)) is Permission.NONE


def test_a_renamed_person_keeps_their_permission(server: Canned, gateway: GitHubGateway, repo: Repo) -> None:
    place = "GET /repos/acme/shop/collaborators"
    taken = {"role_name": "admin", "permission": "admin", "user": {"id": 666, "login": "ann", "type": "User"}}
    found = {"role_name": "write", "permission": "write", "user": {"id": 5, "login": "ann-b", "type": "User"}}
    server.on(f"{place}/ann/permission", Answer(200, taken))
    server.on("GET /user/5", Answer(200, {"id": 5, "login": "ann-b"}))
    server.on(f"{place}/ann-b/permission", Answer(200, found))
    assert gateway.permission(repo, Person(id=5, login="ann")) is Permission.WRITE


@pytest.mark.parametrize(
    ("answer", "permission"),
    [
        ({"role_name": "security-lead", "permission": "write", "user": {"id": 5}}, Permission.WRITE),
        ({"role_name": "admin", "permission": "admin", "user": {"id": 5, "type": "Bot"}}, Permission.NONE),
        ({"permission": "read", "user": {"id": 5}}, Permission.READ),
        ({"role_name": "new-thing", "permission": "new-thing", "user": {"id": 5}}, Permission.NONE),
        ({"role_name": "admin", "permission": "admin", "user": None}, Permission.NONE),
    ],
)
def test_unusual_roles(
    server: Canned, gateway: GitHubGateway, repo: Repo, answer: dict[str, object], permission: Permission
) -> None:
    server.on("GET /repos/acme/shop/collaborators/ann/permission", Answer(200, answer))
    assert gateway.permission(repo, Person(id=5, login="ann")) is permission


def test_an_issue_as_it_reads(world: World) -> None:
    number = world.issue("Größe", "a\r\nb")
    world.ask("mia", "POST", f"/issues/{number}/labels", {"labels": ["agent"]})
    found = world.gateway.issue(world.repo, number)
    assert (found.snapshot.title, found.snapshot.body, found.snapshot.author) == (
        "Größe",
        "a\r\nb",
        world.people["mia"],
    )
    assert (found.state, found.locked, found.labels) == ("open", False, ("agent",))


def test_deleted_things_are_missing(world: World) -> None:
    number = world.issue()
    world.standin.control.delete_issue(world.name, number, world.people["mia"].login)
    with pytest.raises(Missing):
        world.gateway.issue(world.repo, number)
    with pytest.raises(Missing):
        world.gateway.comment(world.repo, 12345)
    with pytest.raises(Missing):
        world.gateway.pull(world.repo, 999)
    with pytest.raises(Missing):
        world.gateway.run(world.repo, 999)


def test_an_issue_that_was_transferred_away_is_missing(server: Canned, gateway: GitHubGateway, repo: Repo) -> None:
    elsewhere = {"Location": f"{server.url}/repositories/8/issues/2"}
    server.on("GET /repos/acme/shop/issues/1", Answer(301, {"message": "Moved Permanently"}, elsewhere))
    with pytest.raises(Missing):
        gateway.issue(repo, 1)
    assert server.asked("GET /repositories/8/issues/2") == 0


def test_comments_are_read_past_the_first_hundred(world: World) -> None:
    number = world.issue()
    world.say(number, 101)
    comments = world.gateway.comments(world.repo, number)
    assert [c.body for c in comments] == [f"comment {count}" for count in range(101)]
    assert not any(c.by_app for c in comments)
    assert world.asked("issues/list-comments") == 2


def test_the_apps_own_comment_is_known_as_such(world: World) -> None:
    made = world.gateway.ensure_comment(world.repo, world.issue(), "k", "text", first=True)
    found = world.gateway.comment(world.repo, made.id)
    assert found == made
    assert found.by_app
    assert found.author is not None
    assert found.author.id == world.app["bot_id"]


@pytest.mark.parametrize("branch", ODD_NAMES)
def test_a_branch_of_any_name_is_found(world: World, branch: str) -> None:
    head = world.commit(branch, {"a.txt": "a"})
    assert world.gateway.branch_head(world.repo, branch) == head
    assert world.gateway.compare(world.repo, "main", branch).paths == ("a.txt",)


@pytest.mark.parametrize("path", ["docs/a#b.md", "a?b", "50%25.txt", "größe/über.txt", "with space/x", "日本/語"])
def test_a_file_of_any_name_is_read(world: World, path: str) -> None:
    head = world.commit("topic", {path: "é\n"})
    assert world.gateway.file(world.repo, path, head) == "é\n"
    assert world.gateway.file(world.repo, path, "main") is None


@pytest.mark.parametrize("climbing", ["../../../user", "heads/../../x", ".", "..", "a//b", "", "/a"])
def test_no_name_climbs_out_of_the_repository(world: World, climbing: str) -> None:
    with pytest.raises(Permanent):
        world.gateway.branch_head(world.repo, climbing)
    with pytest.raises(Permanent):
        world.gateway.file(world.repo, climbing, "main")
    assert world.standin.control.log(world.log_start)[0:] == [] or world.asked("users/get-authenticated") == 0


def test_absent_branches_and_files(world: World) -> None:
    assert world.gateway.branch_head(world.repo, "no/such") is None
    assert world.gateway.file(world.repo, "no/such", "main") is None
    world.commit("topic", {"folder/a.txt": "a"})
    with pytest.raises(Permanent, match="no file"):
        world.gateway.file(world.repo, "folder", "topic")


@pytest.mark.parametrize(
    "answer",
    [
        {"type": "file", "encoding": "base64", "content": "/w=="},
        {"type": "file", "encoding": "none", "content": ""},
        {"type": "submodule", "sha": "f" * 40},
        [{"type": "file"}],
    ],
)
def test_what_is_no_small_text_file_is_refused(
    server: Canned, gateway: GitHubGateway, repo: Repo, answer: object
) -> None:
    server.on("GET /repos/acme/shop/contents/.github/twogate.yml", Answer(200, answer))
    with pytest.raises(Permanent, match=r"twogate\.yml is no"):
        gateway.file(repo, ".github/twogate.yml", "main")


def test_a_repository_out_of_reach_is_not_one_without_branches_and_files(world: World) -> None:
    """Else a repository taken from the installation would read as a policy removed and a branch deleted."""
    world.gateway.branch_head(world.repo, "main")
    world.standin.control.choose_repositories(world.app["installation_id"], [])
    with pytest.raises(Missing):
        world.gateway.branch_head(world.repo, "main")
    with pytest.raises(Missing):
        world.gateway.file(world.repo, "README.md", "main")
    with pytest.raises(Missing):
        world.gateway.permission(world.repo, Person(id=1, login="mia"))


def test_a_list_is_not_put_together_from_before_and_after_a_rename(
    server: Canned, gateway: GitHubGateway, repo: Repo
) -> None:
    more = {"Link": '<http://127.0.0.1/?page=2>; rel="next"'}
    server.on(
        "GET /repos/acme/shop/pulls/1/reviews",
        Answer(200, [{"state": "PENDING"}], more),
        Answer(301, {"message": "Moved"}, {"Location": f"{server.url}/repositories/7/pulls/1/reviews"}),
    )
    with pytest.raises(Transient):
        gateway.reviews(repo, 1)


def test_a_comparison_names_both_sides_of_a_rename(server: Canned, gateway: GitHubGateway, repo: Repo) -> None:
    files = [{"filename": "b.py", "previous_filename": "a.py"}, {"filename": "c.py"}]
    answer = {"ahead_by": 2, "behind_by": 1, "merge_base_commit": {"sha": "f" * 40}, "files": files}
    server.on("GET /repos/acme/shop/compare/main...plan/1", Answer(200, answer))
    found = gateway.compare(repo, "main", "plan/1")
    assert (found.paths, found.complete, found.ahead_by) == (("a.py", "b.py", "c.py"), True, 2)
    server.on(
        "GET /repos/acme/shop/compare/main...plan/1",
        Answer(200, {**answer, "files": [{"filename": f"{n}"} for n in range(300)]}),
    )
    assert not gateway.compare(repo, "main", "plan/1").complete


def test_a_renamed_repository_is_found_again_for_reads_and_writes(world: World) -> None:
    number = world.issue()
    world.gateway.issue(world.repo, number)
    world.standin.control.rename_repository(world.name, "store", world.people["mia"].login)
    made = world.gateway.ensure_comment(world.repo, number, "k", "text", first=True)
    assert world.gateway.comment(world.repo, made.id).body.endswith("text")
    assert world.gateway.repository(world.repo).name == "store"
    assert [c.id for c in world.gateway.comments(world.repo, number)] == [made.id]


@pytest.mark.parametrize("status", [301, 302, 307, 308])
def test_a_redirected_write_is_not_followed(server: Canned, gateway: GitHubGateway, repo: Repo, status: int) -> None:
    elsewhere = f"{server.url}/repositories/7/issues/1/comments"
    moved = Answer(status, {"message": "Moved"}, {"Location": elsewhere})
    server.on("POST /repos/acme/shop/issues/1/comments", moved)
    server.on("GET /repositories/7/issues/1/comments", Answer(200, []))
    with pytest.raises(Missing):
        gateway.ensure_comment(repo, 1, "k", "text", first=True)
    asked = [line for line, _headers, _body in server.seen]
    assert not any(line.endswith(" /repositories/7/issues/1/comments") for line in asked)
    assert asked.count("GET /repositories/7") == 2, "the names were looked up anew"


def test_a_namesake_of_a_renamed_repository_is_not_taken_for_it(
    server: Canned, gateway: GitHubGateway, repo: Repo
) -> None:
    """Repository 7 is called ``store`` now, and another one lies where it was."""
    server.on("GET /repositories/7", Answer(200, {"id": 7, "name": "store", "owner": {"login": "acme"}}))
    server.on("GET /repos/acme/shop/actions/runs/3", Answer(200, {"id": 3, "status": "wrong"}))
    server.on("GET /repos/acme/store/actions/runs/3", Answer(200, {"id": 3, "status": "right"}))
    assert gateway.run(repo, 3).status == "right"


def test_reactions_of_many_comments_with_a_deleted_one_among_them(world: World) -> None:
    number = world.issue()
    world.person("wes", "write")
    made = [world.ask("mia", "POST", f"/issues/{number}/comments", {"body": str(n)}) for n in range(3)]
    for content in ("+1", "-1", "heart"):
        world.ask("wes", "POST", f"/issues/comments/{made[2]['id']}/reactions", {"content": content})
    world.ask("mia", "DELETE", f"/issues/comments/{made[1]['id']}")
    found = world.gateway.reactions(world.repo, [c["node_id"] for c in made])
    assert found[0] is not None
    assert found[0].reactions == ()
    assert found[1] is None
    assert found[2] is not None
    assert [(r.content, r.user) for r in found[2].reactions] == [
        ("+1", world.people["wes"]),
        ("-1", world.people["wes"]),
    ]
    assert abs(found[2].reactions[0].created_at - world.clock.now) < 60


def test_reactions_of_more_than_a_hundred_comments(world: World) -> None:
    number = world.issue()
    made = world.say(number, 101)
    world.ask("mia", "POST", f"/issues/comments/{made[100].id}/reactions", {"content": "+1"})
    found = world.gateway.reactions(world.repo, [c.node_id for c in made])
    assert [len(c.reactions) for c in found if c is not None] == [0] * 100 + [1]
    assert world.gateway.reactions(world.repo, []) == []


def test_reactions_past_the_first_hundred(world: World) -> None:
    number = world.issue()
    (made,), hub = world.say(number, 1), world.standin.hub
    for content in ("+1", "-1"):
        for count in range(101):
            voter = hub.users[world.person(f"p{count}", "read").id]
            made.reactions.append(Reaction(hub.next_id("reaction"), content, voter, world.clock()))
    found = world.gateway.reactions(world.repo, [made.node_id])
    assert found[0] is not None
    assert {(r.id, r.content) for r in found[0].reactions} == {(r.id, r.content) for r in made.reactions}


def test_a_reaction_of_a_bot_or_ghost_has_no_user(server: Canned, gateway: GitHubGateway, repo: Repo) -> None:
    up = {
        "nodes": [{"databaseId": 1, "createdAt": "2026-01-01T00:00:00Z", "user": None}],
        "pageInfo": {"hasNextPage": False, "endCursor": None},
    }
    none = {"nodes": [], "pageInfo": {"hasNextPage": False, "endCursor": None}}
    answer = Answer(200, {"data": {"nodes": [{"THUMBS_UP": up, "THUMBS_DOWN": none}]}})
    server.on("POST /graphql", answer)
    found = gateway.reactions(repo, ["IC_1"])
    assert found[0] is not None
    assert found[0].reactions[0].user is None


def test_a_batch_cut_short_is_no_answer(server: Canned, gateway: GitHubGateway, repo: Repo) -> None:
    """A null for another reason than absence must not read as a deleted comment."""
    timed_out = [{"message": "Something went wrong", "path": ["nodes", 0]}]
    server.on("POST /graphql", Answer(200, {"data": {"nodes": [None]}, "errors": timed_out}))
    with pytest.raises(Transient):
        gateway.reactions(repo, ["IC_1"])


def test_the_next_page_is_asked_of_the_same_host(server: Canned, gateway: GitHubGateway, repo: Repo) -> None:
    path = "GET /repos/acme/shop/issues/1/comments"
    link = '<https://evil.example/steal?per_page=100&page=2>; rel="next"'
    server.on(path, Answer(200, [], {"Link": link}), Answer(200, []))
    assert gateway.comments(repo, 1) == []
    assert server.asked(path) == 2


def test_a_list_without_end_is_given_up(server: Canned, gateway: GitHubGateway, repo: Repo) -> None:
    path = "GET /repos/acme/shop/issues/1/comments"
    server.on(path, Answer(200, [], {"Link": '<http://127.0.0.1/?page=2>; rel="next"'}))
    with pytest.raises(Permanent, match="more than"):
        gateway.comments(repo, 1)
    assert server.asked(path) == 100
