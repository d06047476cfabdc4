"""Branches, refs, comparisons, files and pull requests, answered by real git."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING, Any

import pytest
from githubkit.exception import RequestFailed

if TYPE_CHECKING:
    from tests.standin.conftest import World


def test_contents(world: World) -> None:
    world.commit("main", {"src/a.py": "print(1)\n", "src/b c.py": ""})
    with world.client("rob") as rob:
        found = rob.get("/contents/src/a.py").json()
        assert base64.b64decode(found["content"]) == b"print(1)\n"
        assert found["encoding"] == "base64"
        assert [row["path"] for row in rob.get("/contents/src").json()] == ["src/a.py", "src/b c.py"]
        assert {row["type"] for row in rob.get("/contents/").json()} == {"file", "dir"}
        assert rob.get("/contents/none").status_code == 404
        assert rob.get("/contents/src/a.py", params={"ref": "none"}).status_code == 404


def test_refs_and_compare(world: World) -> None:
    base = world.commit("main", {"a.txt": "1\n2\n3\n", "gone.txt": "x\n", "old.txt": "same\nlines\nhere\n"})
    head = world.commit("plan/1", {"a.txt": "1\ntwo\n3\n", "new/é.txt": "n\n"})
    world.commit("main", {"other.txt": "o\n"})
    app = world.installation()
    assert app.rest.git.get_ref("acme", "shop", "heads/plan/1").parsed_data.object_.sha == head
    matching = app.rest.git.list_matching_refs("acme", "shop", "heads/plan/").parsed_data
    assert [ref.ref for ref in matching] == ["refs/heads/plan/1"]
    assert app.rest.repos.get_branch("acme", "shop", "plan/1").parsed_data.commit.sha == head
    found = app.rest.repos.compare_commits("acme", "shop", "main...plan/1").parsed_data
    assert (found.status, found.ahead_by, found.behind_by) == ("diverged", 1, 1)
    assert found.merge_base_commit.sha == base
    files = {file.filename: file for file in found.files or []}
    assert {name: file.status for name, file in files.items()} == {"a.txt": "modified", "new/é.txt": "added"}
    assert (files["a.txt"].additions, files["a.txt"].deletions) == (1, 1)
    assert "+two" in str(files["a.txt"].patch)
    app.rest.git.delete_ref("acme", "shop", "heads/plan/1")
    with pytest.raises(RequestFailed) as gone:
        app.rest.git.get_ref("acme", "shop", "heads/plan/1")
    assert gone.value.response.status_code == 404


def test_pull_request_life(world: World) -> None:
    app = world.installation()
    world.commit("plan/1", {"a.txt": "1\n"})
    pulls = app.rest.pulls
    made = pulls.create("acme", "shop", title="Add a", head="plan/1", base="main", body="Closes #1").parsed_data
    assert made.mergeable is None
    assert pulls.get("acme", "shop", made.number).parsed_data.mergeable is None
    assert pulls.get("acme", "shop", made.number).parsed_data.mergeable is True
    with pytest.raises(RequestFailed) as twice:
        pulls.create("acme", "shop", title="Add a", head="plan/1", base="main")
    assert "already exists for acme:plan/1" in twice.value.response.text
    listed = pulls.list("acme", "shop", head="acme:plan/1", state="open").parsed_data
    assert [pull.number for pull in listed] == [made.number]
    assert pulls.list("acme", "shop", head="acme:plan/2").parsed_data == []
    with world.client("wes") as wes:
        wes.patch(f"/pulls/{made.number}", json={"title": "Add the a"})
        merged = wes.put(f"/pulls/{made.number}/merge", json={"merge_method": "squash"})
        assert merged.json()["merged"] is True
        assert wes.get("/branches/main").json()["commit"]["sha"] == merged.json()["sha"]
        assert wes.get("/contents/a.txt").status_code == 200
        after = wes.get(f"/pulls/{made.number}").json()
        assert (after["state"], after["merged"], after["merged_by"]["login"]) == ("closed", True, "wes")
        assert wes.put(f"/pulls/{made.number}/merge", json={}).status_code == 405


@pytest.mark.parametrize("method", ["merge", "rebase"])
def test_other_ways_to_merge(world: World, method: str) -> None:
    world.commit("plan/1", {"a.txt": "1\n"})
    world.commit("plan/1", {"b.txt": "2\n"})
    moved = world.commit("main", {"c.txt": "3\n"})
    with world.client("wes") as wes:
        wes.post("/pulls", json={"title": "t", "head": "plan/1", "base": "main"})
        sha = wes.put("/pulls/1/merge", json={"merge_method": method}).json()["sha"]
        commit = wes.get(f"/commits/{sha}").json()
        assert len(commit["parents"]) == (2 if method == "merge" else 1)
        names = {row["name"] for row in wes.get("/contents/").json()}
        assert {"a.txt", "b.txt", "c.txt"} <= names
        assert wes.get(f"/compare/{moved}...main").json()["behind_by"] == 0


def test_conflict_empty_and_stale(world: World) -> None:
    world.commit("main", {"a.txt": "1\n"})
    world.commit("plan/1", {"a.txt": "2\n"})
    world.commit("plan/2", {"b.txt": "2\n"})
    world.commit("main", {"a.txt": "3\n"})
    world.commit("same", {"x": ""}, parent="main")
    with world.client("wes") as wes:
        wes.post("/pulls", json={"title": "t", "head": "plan/1", "base": "main"})
        assert wes.put("/pulls/1/merge", json={}).status_code == 405
        assert wes.get("/pulls/1").json()["mergeable"] is False
        wes.post("/pulls", json={"title": "t", "head": "plan/2", "base": "main"})
        assert wes.put("/pulls/2/merge", json={"sha": "0" * 40}).status_code == 409
        none = wes.post("/pulls", json={"title": "t", "head": "main", "base": "same"})
        assert none.json()["errors"][0]["message"] == "No commits between same and main"
        absent = wes.post("/pulls", json={"title": "t", "head": "absent", "base": "main"})
        assert absent.json()["errors"][0] == {"resource": "PullRequest", "field": "head", "code": "invalid"}


def test_check_run_with_buttons(world: World) -> None:
    head = world.commit("plan/1", {"a.txt": "1\n"})
    app = world.installation()
    actions: Any = [{"label": "Approve", "description": "Approve this diff", "identifier": "approve"}]
    data: Any = {"name": "diff", "head_sha": head, "status": "in_progress", "actions": actions}
    made = app.rest.checks.create("acme", "shop", data=data).parsed_data
    done: Any = {"conclusion": "success", "output": {"title": "Good", "summary": "All passed"}}
    assert app.rest.checks.update("acme", "shop", made.id, data=done).parsed_data.status == "completed"
    listed = app.rest.checks.list_for_ref("acme", "shop", "plan/1").parsed_data
    assert [(check.name, check.conclusion) for check in listed.check_runs] == [("diff", "success")]
    world.standin.control.press("acme/shop", made.id, "mia", "approve")
    pressed = world.standin.control.deliveries()[-1]["payload"]
    assert pressed["requested_action"] == {"identifier": "approve"}
    assert pressed["sender"]["login"] == "mia"
    with pytest.raises(KeyError):
        world.standin.control.press("acme/shop", made.id, "mia", "other")
