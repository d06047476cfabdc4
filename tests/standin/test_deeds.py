"""What people and other Apps do beside an App's own work: reviews, statuses, queues, sub-issues, members, moves."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import httpx
import pytest

from tests.town.people import Person

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.standin.conftest import World

ALL = [
    "issues",
    "pull_request",
    "pull_request_review",
    "pull_request_review_comment",
    "commit_comment",
    "check_run",
    "status",
    "merge_group",
    "sub_issues",
]


@pytest.fixture
def mia(world: World) -> Iterator[Person]:
    """An admin, in a world whose App hears everything."""
    for app in world.standin.hub.apps.values():
        app.events = ALL
    made = Person("mia", world.people["mia"]["token"], world.standin.api_url, world.repo)
    yield made
    made.close()


def heard(world: World) -> list[str]:
    rows: list[dict[str, Any]] = world.standin.control.deliveries()
    return [f"{row['event']}.{row['action'] or ''}".rstrip(".") for row in rows][1:]


def last(world: World, event: str) -> dict[str, Any]:
    return [d["payload"] for d in world.standin.control.deliveries() if d["event"] == event][-1]


def test_comments_beside_lines_and_reviews(world: World, mia: Person) -> None:
    head = world.commit("plan/1", {"a.txt": "one\ntwo\n"})
    mia.comment_commit(head, "as a whole")
    mia.comment_commit(head, "this line", "a.txt", 2)
    listed = mia.pages(f"/commits/{head}/comments")
    assert [(c["path"], c["line"]) for c in listed] == [(None, None), ("a.txt", 2)]
    assert mia.call("GET", f"/compare/main...{head}")["commits"][0]["commit"]["comment_count"] == 2

    app = world.installation()
    pull = app.rest.pulls.create("acme", "shop", title="New", head="plan/1", base="main").parsed_data.number
    mia.review(pull, "REQUEST_CHANGES", "Not yet", [{"path": "a.txt", "line": 1, "body": "why?"}])
    first = mia.comment_line(pull, "a.txt", 2, "and here")
    mia.reply(pull, first, "never mind")
    mia.review(pull, "APPROVE")
    assert [r["state"] for r in mia.pages(f"/pulls/{pull}/reviews")] == [
        "CHANGES_REQUESTED",
        "COMMENTED",
        "COMMENTED",
        "APPROVED",
    ]
    comments = mia.pages(f"/pulls/{pull}/comments")
    assert [(c["line"], c.get("in_reply_to_id")) for c in comments] == [(1, None), (2, None), (2, first)]
    world.commit("plan/1", {"a.txt": "three\n"})
    world.standin.control.repo(world.repo).issues[pull].pull.head_sha = "f" * 40  # type: ignore[union-attr]
    assert mia.pages(f"/pulls/{pull}/comments")[0].get("line") is None, "outdated"
    assert heard(world).count("commit_comment.created") == 2
    assert heard(world).count("pull_request_review_comment.created") == 3
    assert last(world, "pull_request_review")["review"]["state"] == "approved"


def test_what_other_apps_report(world: World, mia: Person) -> None:
    control, head = world.standin.control, world.commit("plan/1", {"a.txt": "one\n"})
    control.report_check(world.repo, head, "build")
    control.report_check(world.repo, head, "build", "failure")
    job = control.report_check(world.repo, head, "test", "failure", log="it broke\n")["job"]
    control.report_status(world.repo, head, "ci/lint", "success")
    mia.call("POST", f"/statuses/{head}", context="ci/lint", state="failure", description="worse")
    checks = mia.call("GET", f"/commits/{head}/check-runs")["check_runs"]
    assert [(c["name"], c["conclusion"], c["app"]["slug"]) for c in checks] == [
        ("test", "failure", "github-actions"),
        ("build", "failure", "ci"),
    ]
    whole = mia.call("GET", f"/commits/{head}/status")
    assert (whole["state"], [s["context"] for s in whole["statuses"]]) == ("failure", ["ci/lint"])
    assert [name["name"] for name in last(world, "status")["branches"]] == ["plan/1"]
    assert last(world, "check_run")["check_run"]["check_suite"]["head_branch"] == "plan/1"
    with world.client("mia") as client:
        answer = client.get(f"/actions/jobs/{job}/logs")
        assert answer.status_code == 302
        assert httpx.get(answer.headers["Location"]).text == "it broke\n"
        assert client.get("/actions/jobs/1/logs").status_code == 404


def test_a_merge_queue(world: World, mia: Person) -> None:
    world.commit("plan/1", {"a.txt": "one\n"})
    app = world.installation()
    pull = app.rest.pulls.create("acme", "shop", title="New", head="plan/1", base="main").parsed_data.number
    mia.enqueue(pull)
    mia.dequeue(pull, "CI_FAILURE")
    head = mia.enqueue(pull)
    assert last(world, "merge_group")["merge_group"]["head_sha"] == head
    mia.merge_queued(pull)
    assert mia.pull(pull)["merged"] is True
    assert mia.call("GET", "/git/ref/heads/main")["object"]["sha"] == head
    queue = ["pull_request.enqueued", "merge_group.checks_requested"]
    assert [name for name in heard(world) if name != "pull_request.opened"] == [
        *queue,
        "merge_group.destroyed",
        "pull_request.dequeued",
        *queue,
        "pull_request.closed",
        "merge_group.destroyed",
    ]
    assert last(world, "merge_group")["reason"] == "merged"


def test_what_becomes_of_issues(world: World, mia: Person) -> None:
    world.standin.control.create_repository("acme/other")
    world.standin.control.set_role("acme/other", "mia", "admin")
    parent, child = mia.open_issue("Whole"), mia.open_issue("Part")
    number = mia.call("GET", f"/issues/{child}")["id"]
    mia.call("POST", f"/issues/{parent}/sub_issues", sub_issue_id=number, replace_parent=False)
    assert [row["number"] for row in mia.call("GET", f"/issues/{parent}/sub_issues")] == [child]
    mia.edit_issue(child, title="A part")
    mia.close_issue(child, "not_planned")
    mia.reopen(child)
    mia.lock(child)
    mia.unlock(child)
    assert mia.transfer(child, "acme/other") == 1
    mia.convert(parent)
    assert heard(world)[2:] == [
        "sub_issues.sub_issue_added",
        "issues.edited",
        "issues.closed",
        "issues.reopened",
        "issues.locked",
        "issues.unlocked",
        "issues.transferred",
        "issues.opened",
        "issues.closed",
        "issues.locked",
    ]


def test_members(world: World, mia: Person) -> None:
    control = world.standin.control
    control.add_member("acme", "rob", ["core"])
    url = f"{world.standin.api_url}/orgs/acme/teams/core/memberships/"
    token = world.standin.hub.create_installation_token(world.standin.hub.installations[world.app["installation_id"]])
    headers = {"Authorization": f"Bearer {token.raw}"}
    assert [httpx.get(url + name, headers=headers).status_code for name in ("rob", "wes", "gone")] == [200, 404, 404]
    token.permissions.pop("members")
    assert httpx.get(url + "rob", headers=headers).status_code == 403
    issue = mia.open_issue("Who")
    said = Person("rob", world.people["rob"]["token"], world.standin.api_url, world.repo)
    said.comment(issue, "I")
    said.close()
    assert mia.comments(issue)[0]["author_association"] == "MEMBER"
