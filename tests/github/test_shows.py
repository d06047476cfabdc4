"""What an issue shows of a plan: in one request, whole after any failure, and nothing of people's undone."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

import pytest

from bot.errors import Permanent, RetryAt, Transient
from bot.github.ensure import marked
from bot.github.gateway import Comment, Missing, Shown, StateLabel
from tests.github.canned import Answer, Canned
from tests.github.test_writes import AFTER, CHECK

if TYPE_CHECKING:
    from bot.github.client import GitHubGateway
    from bot.lifecycle.plan import Repo
    from tests.github.conftest import World

LABELS = tuple(
    StateLabel(f"plan: {name}", "0e8a16", "Where the plan stands") for name in ("draft", "in review", "merged")
)
FIRST = Shown(key="ab:status", body="It begins.", comment_id=None, label="plan: draft", labels=LABELS, seen=True)
GRAPHQL = "POST /graphql"


def later(comment: Comment, body: str = "It goes on.", label: str = "plan: in review") -> Shown:
    return dataclasses.replace(FIRST, body=body, comment_id=comment.id, label=label, seen=False)


def thread(world: World, number: int) -> tuple[list[str], set[str], list[str]]:
    """The comments, labels and reactions of an issue."""
    (found,) = [t for t in world.standin.control.threads(world.name) if t["number"] == number]
    said = [comment["body"] for comment in found["conversation"]]
    return said, {label["name"] for label in found["labels"]}, [r["content"] for r in found["reactors"]]


def test_everything_of_one_moment_is_one_request(world: World) -> None:
    number = world.issue()
    world.ask("mia", "POST", f"/issues/{number}/labels", {"labels": ["agent"]})
    start = len(world.standin.control.log())
    comment = world.gateway.show(world.repo, number, FIRST, first=True)
    assert thread(world, number) == ([marked("ab:status", "It begins.")], {"agent", "plan: draft"}, ["eyes"])
    assert comment == world.gateway.comment(world.repo, comment.id)
    log = world.standin.control.log(start)
    assert [e["operation"] for e in log if e["write"]] == ["graphql/Change", "graphql/Change"], "labels are made before"
    start = len(world.standin.control.log())
    for body in ("It goes on.", "It is over."):
        assert world.gateway.show(world.repo, number, later(comment, body), first=True).id == comment.id
    assert thread(world, number)[0] == [marked("ab:status", "It is over.")]
    assert thread(world, number)[1] == {"agent", "plan: in review"}
    log = [e for e in world.standin.control.log(start) if e["actor"].endswith("[bot]")]
    assert [e["operation"] for e in log] == ["graphql/Change", "graphql/Change"], "nothing is read"


@pytest.mark.parametrize("fault", AFTER)
def test_what_was_shown_and_not_answered_is_not_said_twice(world: World, fault: str) -> None:
    number, other = world.issue(), world.issue()
    world.gateway.show(world.repo, other, dataclasses.replace(FIRST, key="cd:status"), first=True)
    world.gateway._issue(world.repo, number)
    world.fault(fault, method="POST", path=".*/graphql$")
    with pytest.raises(Transient):
        world.gateway.show(world.repo, number, FIRST, first=True)
    assert len(thread(world, number)[0]) == 1
    found = world.gateway.show(world.repo, number, dataclasses.replace(FIRST, body="Newer."), first=False)
    assert thread(world, number) == ([found.body], {"plan: draft"}, ["eyes"])
    assert found.body == marked("ab:status", "Newer.")


def test_a_comment_that_was_deleted_is_posted_anew(world: World) -> None:
    number = world.issue()
    first = world.gateway.show(world.repo, number, FIRST, first=True)
    world.ask("mia", "DELETE", f"/issues/comments/{first.id}")
    second = world.gateway.show(world.repo, number, later(first), first=True)
    assert second.id != first.id
    assert thread(world, number)[:2] == ([marked("ab:status", "It goes on.")], {"plan: in review"})
    world.ask("mia", "DELETE", f"/issues/comments/{second.id}")
    world.gateway._comments.clear()
    third = world.gateway.show(world.repo, number, later(second), first=True)
    assert len(thread(world, number)[0]) == 1
    assert third.id != second.id


def test_a_process_that_knows_nothing_finds_its_comment(world: World) -> None:
    number = world.issue()
    first = world.gateway.show(world.repo, number, FIRST, first=True)
    for kept in (world.gateway._issues, world.gateway._comments, world.gateway._labels):
        kept.clear()
    assert world.gateway.show(world.repo, number, later(first), first=True).id == first.id
    assert len(thread(world, number)[0]) == 1


def test_people_may_change_the_labels(world: World) -> None:
    number = world.issue()
    world.ask("mia", "POST", "/labels", {"name": "Plan: In Review", "color": "ffffff"})
    first = world.gateway.show(world.repo, number, FIRST, first=True)
    world.ask("mia", "DELETE", f"/issues/{number}/labels/plan: draft")
    world.gateway.show(world.repo, number, later(first), first=True)
    assert thread(world, number)[1] == {"Plan: In Review"}
    world.ask("mia", "DELETE", "/labels/plan: merged")
    with pytest.raises(Transient, match="made again"):
        world.gateway.show(world.repo, number, later(first, "Merged.", "plan: merged"), first=True)
    assert thread(world, number)[0] == [marked("ab:status", "Merged.")], "the rest was done"
    world.gateway.show(world.repo, number, later(first, "Merged.", "plan: merged"), first=False)
    assert thread(world, number)[1] == {"plan: merged"}


@pytest.mark.parametrize("kind", ["NOT_FOUND", "UNPROCESSABLE", "FORBIDDEN"])
def test_a_host_that_removes_no_absent_label_is_asked_which_are_there(world: World, kind: str) -> None:
    number, hub = world.issue(), world.standin.hub
    hub.absent_labels = kind
    try:
        first = world.gateway.show(world.repo, number, FIRST, first=True)
        assert thread(world, number)[1] == {"plan: draft"}
        for label in ("plan: in review", "plan: merged"):
            start = len(world.standin.control.log())
            world.gateway.show(world.repo, number, later(first, label, label), first=True)
            assert thread(world, number)[:2] == ([marked("ab:status", label)], {label})
            log = [e for e in world.standin.control.log(start) if e["actor"].endswith("[bot]")]
            assert [e["operation"] for e in log] == ["issues/get", "graphql/Change"]
    finally:
        hub.absent_labels = None


def test_an_issue_that_is_gone_is_missing(world: World) -> None:
    number, other = world.issue(), world.issue()
    first = world.gateway.show(world.repo, number, FIRST, first=True)
    world.standin.control.delete_issue(world.name, number, world.people["mia"].login)
    world.standin.control.delete_issue(world.name, other, world.people["mia"].login)
    with pytest.raises(Missing):
        world.gateway.show(world.repo, number, later(first), first=True)
    with pytest.raises(Missing):
        world.gateway.show(world.repo, other, FIRST, first=True)


def test_an_app_that_may_not_write_is_refused(world: World) -> None:
    number = world.issue()
    first = world.gateway.show(world.repo, number, FIRST, first=True)
    world.standin.control.set_permissions(world.app["installation_id"], {"metadata": "read", "issues": "read"})
    world.standin.control.expire_tokens()
    with pytest.raises(Permanent, match="Resource not accessible"):
        world.gateway.show(world.repo, number, later(first), first=True)


def named(server: Canned) -> None:
    """A repository whose ids are known: only what comes of the changes is told by the test."""
    server.on("GET /repositories/7", Answer(200, {"id": 7, "node_id": "R", "name": "shop", "owner": {"login": "acme"}}))


def test_refused_eyes_harm_nothing(server: Canned, gateway: GitHubGateway, repo: Repo) -> None:
    named(server)
    node = {
        "fullDatabaseId": "5",
        "id": "C",
        "body": "x",
        "createdAt": "2026-11-29T12:00:00Z",
        "updatedAt": "2026-11-29T12:00:00Z",
    }
    done = {"comment": {"commentEdge": {"node": node}}, "label": {}, "others": {"clientMutationId": None}, "seen": None}
    refusal = {"type": "FORBIDDEN", "path": ["seen"], "message": "Resource not accessible by integration"}
    ids = {"data": {"node": {f"n{n}": {"id": f"L{n}"} for n in range(3)}}}
    issue = {"data": {"node": {"issueOrPullRequest": {"id": "I"}}}}
    server.on(GRAPHQL, Answer(200, issue), Answer(200, ids), Answer(200, {"data": done, "errors": [refusal]}))
    assert gateway.show(repo, 1, FIRST, first=True).id == 5
    sent = [body["variables"] for line, _headers, body in server.seen if line == GRAPHQL][-1]
    assert (sent["label"]["labelIds"], sent["others"]["labelIds"]) == (["L0"], ["L1", "L2"])


@pytest.mark.parametrize(
    ("errors", "expected"),
    [
        ([{"type": "SERVICE_UNAVAILABLE", "path": ["others"], "message": "later"}], Transient),
        ([{"message": "Something went wrong", "path": None}], Transient),
        ([{"type": "UNPROCESSABLE", "path": ["comment"], "message": "Body is too long"}], Permanent),
        ([{"path": ["label"], "message": "was submitted too quickly: secondary rate limit"}], RetryAt),
        ([], Transient),
    ],
)
def test_what_fails_alone_is_seen(
    server: Canned, gateway: GitHubGateway, repo: Repo, errors: list[Any], expected: type[Exception]
) -> None:
    named(server)
    gateway._issues[(7, 1)], gateway._labels[7] = "I", {label.name: "L" for label in LABELS}
    gateway._comments[5] = "C"
    answer = {"data": {"comment": None, "label": None, "others": None}, **({"errors": errors} if errors else {})}
    server.on(GRAPHQL, Answer(200, answer))
    with pytest.raises(expected):
        gateway.show(repo, 1, dataclasses.replace(FIRST, comment_id=5, seen=False), first=False)
    assert server.asked(GRAPHQL) == 1


def test_a_diff_is_put_up_in_one_request(world: World) -> None:
    number, head = world.issue(), world.commit("plan/1", {"a.txt": "a"})
    world.gateway.identity()
    world.gateway._issue(world.repo, number)
    start = len(world.standin.control.log())
    up = world.gateway.put_up(world.repo, number, head, CHECK, "ab:review:1", "The diff", first=True)
    assert [e["operation"] for e in world.standin.control.log(start)] == ["graphql/Change"]
    assert up.comment == world.gateway.comment(world.repo, up.comment.id)
    (check,) = world.ask("mia", "GET", f"/commits/{head}/check-runs")["check_runs"]
    assert (check["id"], check["external_id"], check["conclusion"]) == (
        up.check_run_id,
        CHECK.external_id,
        CHECK.conclusion,
    )
    assert world.gateway.put_up(world.repo, number, head, CHECK, "ab:review:1", "The diff", first=False) == up


@pytest.mark.parametrize("refused", ["addComment", "createCheckRun"])
def test_the_half_that_was_not_put_up_is_made_by_itself(world: World, refused: str) -> None:
    number, head = world.issue(), world.commit("plan/1", {"a.txt": "a"})
    world.standin.hub.refused.add(refused)
    try:
        up = world.gateway.put_up(world.repo, number, head, CHECK, "ab:review:1", "The diff", first=True)
    finally:
        world.standin.hub.refused.clear()
    assert len(thread(world, number)[0]) == 1
    checks = world.ask("mia", "GET", f"/commits/{head}/check-runs")["check_runs"]
    assert [check["id"] for check in checks] == [up.check_run_id]


@pytest.mark.parametrize("fault", AFTER)
def test_a_diff_whose_answer_was_lost_is_not_put_up_again(world: World, fault: str) -> None:
    number, head = world.issue(), world.commit("plan/1", {"a.txt": "a"})
    world.gateway._issue(world.repo, number)
    world.fault(fault, method="POST", path=".*/graphql$")
    with pytest.raises(Transient):
        world.gateway.put_up(world.repo, number, head, CHECK, "ab:review:1", "The diff", first=True)
    world.gateway.put_up(world.repo, number, head, CHECK, "ab:review:1", "The diff", first=False)
    assert len(thread(world, number)[0]) == 1
    assert len(world.ask("mia", "GET", f"/commits/{head}/check-runs")["check_runs"]) == 1


def test_a_pull_request_is_a_place_too(world: World) -> None:
    head = world.commit("plan/1", {"a.txt": "a"})
    world.person("mia", "admin")
    pull = world.gateway.ensure_pull(world.repo, branch="plan/1", base="main", title="T", body="", first=True)
    world.gateway.put_up(world.repo, pull.number, head, CHECK, "ab:review:2", "The diff", first=True)
    assert thread(world, pull.number)[0] == [marked("ab:review:2", "The diff")]
