"""One look for a decision: it answers as the single questions would, for one thread, until it ends."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import pytest

from bot.errors import Permanent
from bot.github.gateway import Glance, Missing
from tests.standin import gitstore

if TYPE_CHECKING:
    from tests.github.conftest import World


def asked(world: World, start: int) -> list[str]:
    """What the App asked since then."""
    log = world.standin.control.log(start)
    return [e["operation"] for e in log if e["actor"].endswith("[bot]")]


def test_a_look_answers_as_the_single_questions_do(world: World) -> None:
    number = world.issue("Fix it", "Please")
    world.ask("mia", "POST", f"/issues/{number}/labels", {"labels": ["agent"]})
    own = world.gateway.ensure_comment(world.repo, number, "k", "The plan", first=True)
    said = world.ask("mia", "POST", f"/issues/{number}/comments", {"body": "/approve"})
    for content in ("+1", "-1", "heart"):
        world.ask("mia", "POST", f"/issues/comments/{own.id}/reactions", {"content": content})
    head = world.commit("plan/1", {"a.txt": "a"})

    def answers() -> list[object]:
        gateway, repo = world.gateway, world.repo
        return [
            gateway.issue(repo, number),
            gateway.comment(repo, own.id),
            gateway.comment(repo, said["id"]),
            gateway.reactions(repo, [own.node_id]),
            gateway.branch_head(repo, "plan/1"),
            gateway.branch_head(repo, "no-such"),
        ]

    one_by_one, start = answers(), len(world.standin.control.log())
    wanted = Glance(issue=number, comments=(own.node_id, said["node_id"]), branches=("plan/1", "no-such"))
    with world.gateway.glance(world.repo, wanted):
        assert answers() == one_by_one
        assert asked(world, start) == ["graphql/Glance"]
        assert world.gateway.branch_head(world.repo, "main") != head, "what was not looked at is asked for"
        elsewhere = threading.Thread(target=answers)
        elsewhere.start()
        elsewhere.join(20)
    assert asked(world, start).count("issues/get") == 1, "another thread asks for itself"
    world.ask("mia", "PATCH", f"/issues/comments/{own.id}", {"body": "Another plan"})
    assert world.gateway.comment(world.repo, own.id).body == "Another plan", "nothing is kept"


def test_what_is_gone_is_found_out_as_ever(world: World) -> None:
    number = world.issue()
    own = world.gateway.ensure_comment(world.repo, number, "k", "The plan", first=True)
    world.ask("mia", "DELETE", f"/issues/comments/{own.id}")
    world.standin.control.delete_issue(world.name, number, world.people["mia"].login)
    with world.gateway.glance(world.repo, Glance(issue=number, comments=(own.node_id,), branches=("main",))):
        assert world.gateway.branch_head(world.repo, "main")
        assert world.gateway.reactions(world.repo, [own.node_id]) == [None]
        with pytest.raises(Missing):
            world.gateway.comment(world.repo, own.id)
        with pytest.raises(Missing):
            world.gateway.issue(world.repo, number)


def test_a_repository_out_of_reach_shows_nothing(world: World) -> None:
    world.gateway.repository(world.repo)
    world.standin.control.choose_repositories(world.app["installation_id"], [])
    with world.gateway.glance(world.repo, Glance(branches=("main", "plan/1"))):
        for branch in ("main", "plan/1"):
            with pytest.raises(Missing):
                world.gateway.branch_head(world.repo, branch)


def test_files_of_commits_are_read_once(world: World) -> None:
    head = world.commit("main", {"a.yml": "one"})
    assert [world.gateway.file(world.repo, "a.yml", head) for _ in range(3)] == ["one"] * 3
    assert [world.gateway.file(world.repo, "b.yml", head) for _ in range(2)] == [None] * 2
    assert world.asked("repos/get-content") == 2
    world.commit("main", {"a.yml": "two"})
    assert world.gateway.file(world.repo, "a.yml", "main") == "two", "a branch moves"
    assert world.gateway.file(world.repo, "a.yml", head) == "one"


def test_a_file_is_seen_where_it_is_a_plain_text(world: World) -> None:
    head = world.commit("main", {"a.yml": "é: 1\n", "dir/b.yml": "x", "empty.yml": ""})
    for path, expected, reads in (("a.yml", "é: 1\n", 0), ("empty.yml", "", 0), ("none.yml", None, 0)):
        start = len(world.standin.control.log())
        with world.gateway.glance(world.repo, Glance(branches=("main",), file=path)):
            assert world.gateway.branch_head(world.repo, "main") == head
            assert world.gateway.file(world.repo, path, head) == expected
        assert asked(world, start).count("repos/get-content") == reads
    with (
        world.gateway.glance(world.repo, Glance(branches=("main",), file="dir")),
        pytest.raises(Permanent, match="no file"),
    ):
        world.gateway.file(world.repo, "dir", head)
    git = world.standin.hub.git_dir(world.standin.control.repo(world.name))
    link = gitstore.run(git, "hash-object", "-w", "--stdin", data=b"a.yml").decode().strip()
    tree = gitstore.run(git, "mktree", data=f"120000 blob {link}\tlink.yml\n".encode()).decode().strip()
    gitstore.set_ref(git, "refs/heads/odd", made := gitstore.commit_tree(git, tree, [head], "Link\n"))
    start = len(world.standin.control.log())
    with world.gateway.glance(world.repo, Glance(branches=("odd",), file="link.yml")):
        world.gateway.file(world.repo, "link.yml", made)
    assert asked(world, start).count("repos/get-content") == 1, "a link is asked for by itself"
