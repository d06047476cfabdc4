"""What others say about commits and pull requests, who is in a team, and the owner's own repository."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from bot.errors import Permanent, Transient
from bot.github.gateway import Missing
from bot.github.logs import TAIL_BYTES
from bot.lifecycle.ci import CiCheck, CiState
from bot.lifecycle.plan import Person
from tests.github.canned import Answer, Canned
from tests.github.test_writes import CHECK

if TYPE_CHECKING:
    from bot.github.client import GitHubGateway
    from bot.lifecycle.plan import Repo
    from tests.github.conftest import World

SHA, OLD = "a" * 40, "b" * 40
MIA = {"id": 2, "login": "mia", "type": "User"}
JOB = "/repos/acme/shop/actions/jobs/5/logs"


def inline(**changed: Any) -> dict[str, Any]:
    made = {
        "id": 1,
        "user": MIA,
        "body": "why?",
        "commit_id": SHA,
        "path": "a.txt",
        "line": 2,
        "created_at": "2026-11-29T12:00:00Z",
        "updated_at": "2026-11-29T12:00:00Z",
        "html_url": "https://x",
    }
    return {**made, **changed}


def test_checks_of_others_on_a_commit(world: World) -> None:
    head, control = world.commit("plan/1", {"a.txt": "a"}), world.standin.control
    world.gateway.ensure_check_run(world.repo, head, CHECK, first=True)
    control.report_check(world.name, head, "slow", app="ci")
    control.report_check(world.name, head, "build", "failure", app="ci")
    control.report_check(world.name, head, "build", "success", app="ci")
    control.report_check(world.name, head, "skip", "skipped", app="ci")
    job = control.report_check(world.name, head, "test", "timed_out", log="it hung\n")["job"]
    control.report_status(world.name, head, "lint", "pending", target_url="https://lint")
    control.report_status(world.name, head, "cover", "error")
    found = {check.name: check for check in world.gateway.checks(world.repo, head)}
    assert {name: (check.state, check.conclusion, check.app) for name, check in found.items()} == {
        "slow": (CiState.PENDING, "", "ci"),
        "build": (CiState.PASSED, "success", "ci"),
        "skip": (CiState.NEUTRAL, "skipped", "ci"),
        "test": (CiState.FAILED, "timed_out", "github-actions"),
        "lint": (CiState.PENDING, "pending", ""),
        "cover": (CiState.FAILED, "error", ""),
    }
    assert {name: check.job_id for name, check in found.items() if check.job_id} == {"test": job}
    assert found["lint"].url == "https://lint"
    assert world.gateway.job_log(world.repo, job) == "it hung\n"
    assert world.gateway.job_log(world.repo, 1) is None


def test_statuses_that_the_app_may_not_read_are_left_out(world: World) -> None:
    head, control = world.commit("plan/1", {"a.txt": "a"}), world.standin.control
    control.report_check(world.name, head, "build", "success")
    control.report_status(world.name, head, "lint", "failure")
    control.set_permissions(world.app["installation_id"], {"checks": "read", "metadata": "read"})
    assert [check.name for check in world.gateway.checks(world.repo, head)] == ["build"]


def test_another_apps_address_names_no_job_of_actions(server: Canned, gateway: GitHubGateway, repo: Repo) -> None:
    def run(slug: str, url: str) -> dict[str, Any]:
        return {
            "name": "x",
            "status": "completed",
            "conclusion": "odd",
            "app": {"id": 9, "slug": slug},
            "details_url": url,
        }

    url = "https://github.com/acme/shop/actions/runs/3/job/5"
    found = [run("ci", url), run("github-actions", f"{url}?pr=1"), run("github-actions", "https://x/job/5")]
    found += [run("ci", "javascript:alert(1)") | {"html_url": "https://ci.example/1"}, run("ci", "data:text/html,x")]
    server.on(f"GET /repos/acme/shop/commits/{SHA}/check-runs", Answer(200, {"check_runs": found}))
    server.on(f"GET /repos/acme/shop/commits/{SHA}/status", Answer(200, {"statuses": []}))
    checks = gateway.checks(repo, SHA)
    assert [check.job_id for check in checks] == [None, 5, None, None, None]
    assert [check.url for check in checks[3:]] == ["https://ci.example/1", ""], "pages of the web alone are linked"
    assert {check.state for check in checks} == {CiState.FAILED}, "a conclusion of tomorrow is no success"
    assert checks[0] == CiCheck(name="x", state=CiState.FAILED, conclusion="odd", url=url, app="ci")


def test_only_the_end_of_a_long_log_is_kept(server: Canned, gateway: GitHubGateway, repo: Repo) -> None:
    server.on(f"GET {JOB}", Answer(302, None, {"Location": f"{server.url}/blob"}))
    server.on("GET /blob", Answer(200, b"first\n" + b"x" * TAIL_BYTES + b"\nthe \xff end\n"))
    assert gateway.job_log(repo, 5) == "the \ufffd end\n"
    (headers,) = [headers for line, headers, _ in server.seen if line == "GET /blob"]
    assert "Authorization" not in headers
    server.on("GET /blob", Answer(200, "\ufeffall of it".encode()))
    assert gateway.job_log(repo, 5) == "all of it"
    server.on("GET /blob", Answer(404))
    assert gateway.job_log(repo, 5) is None
    server.on("GET /blob", Answer(503))
    with pytest.raises(Transient):
        gateway.job_log(repo, 5)
    server.on(f"GET {JOB}", Answer(410, {"message": "Gone"}))
    assert gateway.job_log(repo, 5) is None


def test_comments_on_the_commits_of_a_branch(world: World) -> None:
    mia = world.person("mia", "admin")
    first = world.commit("plan/1", {"a.txt": "a"})
    head = world.commit("plan/1", {"b.txt": "b\nb"})
    base = world.gateway.branch_head(world.repo, "main")
    assert base is not None
    world.ask("mia", "POST", f"/commits/{base}/comments", {"body": "elsewhere"})
    world.ask("mia", "POST", f"/commits/{head}/comments", {"body": "later", "path": "b.txt", "line": 2})
    world.ask("mia", "POST", f"/commits/{first}/comments", {"body": "whole"})
    found = world.gateway.commit_comments(world.repo, base, head)
    assert [(c.body, c.commit, c.path, c.line, c.author) for c in found] == [
        ("whole", first, "", None, mia),
        ("later", head, "b.txt", 2, mia),
    ]
    assert world.asked("repos/list-comments-for-commit") == 2
    with pytest.raises(Missing):
        world.gateway.commit_comments(world.repo, base, "f" * 40)


def test_commits_without_comments_are_not_asked_about(world: World) -> None:
    head = world.commit("plan/1", {"a.txt": "a"})
    assert world.gateway.commit_comments(world.repo, "main", head) == []
    assert world.asked("repos/list-comments-for-commit") == 0


def test_reviews_and_their_comments(world: World) -> None:
    mia = world.person("mia", "admin")
    head = world.commit("plan/1", {"a.txt": "a\nb"})
    pull = world.gateway.ensure_pull(world.repo, branch="plan/1", base="main", title="T", body="", first=True)
    assert (pull.head, pull.head_branch, pull.base, pull.mergeable) == (head, "plan/1", "main", None)
    said = [{"path": "a.txt", "line": 2, "body": "why?"}]
    world.ask(
        "mia", "POST", f"/pulls/{pull.number}/reviews", {"event": "REQUEST_CHANGES", "body": "No", "comments": said}
    )
    (review,) = world.gateway.reviews(world.repo, pull.number)
    assert (review.state, review.body, review.commit, review.author, review.by_bot) == (
        "changes_requested",
        "No",
        head,
        mia,
        False,
    )
    (comment,) = world.gateway.review_comments(world.repo, pull.number)
    assert (comment.path, comment.line, comment.body, comment.commit, comment.reply_to) == (
        "a.txt",
        2,
        "why?",
        head,
        None,
    )
    assert comment.hunk.startswith("@@")
    with pytest.raises(Missing):
        world.gateway.reviews(world.repo, 99)


def test_lines_that_are_gone_and_people_that_are(server: Canned, gateway: GitHubGateway, repo: Repo) -> None:
    outdated = {"line": None, "original_line": 7, "original_commit_id": OLD}
    rows = [
        inline(**outdated),
        inline(side="LEFT", original_line=2, original_commit_id=OLD),
        inline(user=None, body=None, path=None, line=None),
        inline(user={"id": 3, "login": "ci[bot]", "type": "Bot"}, in_reply_to_id=1),
    ]
    server.on("GET /repos/acme/shop/pulls/1/comments", Answer(200, rows))
    found = gateway.review_comments(repo, 1)
    assert [(c.commit, c.path, c.line) for c in found] == [
        (OLD, "a.txt", 7),
        (SHA, "a.txt", None),
        (SHA, "", None),
        (SHA, "a.txt", 2),
    ]
    assert [(c.author, c.body) for c in found[2:3]] == [(None, "")]
    assert [(c.by_bot, c.reply_to) for c in found[3:]] == [(True, 1)]


def test_reviews_that_are_not_handed_in_are_nobodys(server: Canned, gateway: GitHubGateway, repo: Repo) -> None:
    def row(state: str, **more: Any) -> dict[str, Any]:
        return {"id": 1, "user": None, "state": state, "submitted_at": "2026-11-29T12:00:00Z", "html_url": "x", **more}

    rows = [row("PENDING", submitted_at=None), row("SOMETHING_NEW"), row("APPROVED", commit_id=None), row("DISMISSED")]
    server.on("GET /repos/acme/shop/pulls/1/reviews", Answer(200, rows))
    assert [(r.state, r.commit, r.author) for r in gateway.reviews(repo, 1)] == [
        ("approved", "", None),
        ("dismissed", "", None),
    ]


def test_who_is_in_a_team_is_asked_by_number(world: World) -> None:
    rob, eve = world.person("rob"), world.person("eve")
    control, org = world.standin.control, world.repo.owner
    control.add_member(org, rob.login, ["core"])
    assert world.gateway.team_member(world.repo, org, "core", rob)
    assert not world.gateway.team_member(world.repo, org, "core", eve)
    assert not world.gateway.team_member(world.repo, org, "no-such", rob)
    assert not world.gateway.team_member(world.repo, "elsewhere", "core", rob)
    assert not world.gateway.team_member(world.repo, org, "core", Person(id=1, login=rob.login)), "a namesake"
    control.rename_user(rob.login, f"{rob.login}-new")
    control.rename_user(eve.login, rob.login)
    assert world.gateway.team_member(world.repo, org, "core", rob)
    assert not world.gateway.team_member(world.repo, org, "core", Person(id=eve.id, login=rob.login))
    control.remove_member(org, f"{rob.login}-new")
    assert not world.gateway.team_member(world.repo, org, "core", rob)


def test_an_app_without_members_can_not_judge_teams(world: World) -> None:
    rob = world.person("rob")
    world.standin.control.set_permissions(world.app["installation_id"], {"metadata": "read"})
    with pytest.raises(Permanent, match="Resource not accessible"):
        world.gateway.team_member(world.repo, world.repo.owner, "core", rob)


def test_no_name_of_a_team_climbs(world: World) -> None:
    rob, org = world.person("rob"), world.repo.owner
    world.standin.control.add_member(org, rob.login, ["core"])
    for odd in ("a/b", "core?x=1", "core#", "../core"):
        assert not world.gateway.team_member(world.repo, org, odd, rob)
    for odd in ("..", ""):
        with pytest.raises(Permanent, match="can't be the name"):
            world.gateway.team_member(world.repo, org, odd, rob)


def test_a_file_of_the_owners_own_repository(world: World) -> None:
    path = "twogate.yml"
    assert world.gateway.organisation_file(world.repo, path) is None
    made = world.standin.control.create_repository(f"{world.repo.owner}/.github")
    assert world.gateway.organisation_file(world.repo, path) is None
    own, world.repo = world.repo, world.repo.model_copy(update={"id": made["id"], "name": ".github"})
    world.commit("main", {path: "agent: {cli: codex}\n"})
    assert world.gateway.organisation_file(own, path) == "agent: {cli: codex}\n"
