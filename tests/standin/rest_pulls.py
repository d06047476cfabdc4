"""REST: pull requests; merging is done by real git in the bare repository (``merging``)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flask import request

from tests.standin import gitstore, merging, pushes
from tests.standin.entities import Pull
from tests.standin.errors import TITLE_LIMIT, ApiError, check_text, invalid
from tests.standin.http import Api, Call, Result
from tests.standin.render import Render
from tests.standin.render_git import GitRender
from tests.standin.render_pull import full_pull, pull, pull_of
from tests.standin.rest_repos import branch_or_invalid
from tests.standin.threads import announce, new_thread

if TYPE_CHECKING:
    from flask import Blueprint

    from tests.standin.entities import Issue
    from tests.standin.model import Hub

PULLS = "/repos/<owner>/<name>/pulls"
ONE = f"{PULLS}/<int:number>"


def blueprint(hub: Hub) -> Blueprint:
    """The routes of this module."""
    api, render = Api("pulls", hub), Render(hub)
    _collection(api, render)
    _single(api, render)
    _merging(api)
    return api.blueprint


def _collection(api: Api, render: Render) -> None:
    @api.route("GET", PULLS, "pulls/list")
    def listing(call: Call) -> Result:
        call.need("pull_requests")
        return [pull(render, issue) for issue in call.page(_selected(call))]

    @api.route("POST", PULLS, "pulls/create")
    def create(call: Call) -> Result:
        call.need("pull_requests", "write", role="read")
        issue = _open(call, GitRender(render, call.repo), call.json())
        return full_pull(render, issue), 201


def _selected(call: Call) -> list[Issue]:
    state, head, base = call.arg("state", "open"), call.arg("head"), call.arg("base")
    rows = []
    for issue in call.hub.threads(call.repo):
        part = issue.pull
        if part is None or state not in {"all", issue.state}:
            continue
        label = f"{call.repo.owner.login}:{part.head_ref}"
        if head in {"", label} and base in {"", part.base_ref}:
            rows.append(issue)
    return rows if call.arg("direction") == "asc" else rows[::-1]


def _open(call: Call, git: GitRender, body: dict[str, Any]) -> Issue:
    title = check_text("PullRequest", body.get("title"), "title", TITLE_LIMIT)
    if body.get("body"):
        check_text("PullRequest", body["body"])
    head_name = str(body.get("head", "")).removeprefix(f"{call.repo.owner.login}:")
    base_name = str(body.get("base", ""))
    head = branch_or_invalid(git, "PullRequest", "head", head_name)
    base = branch_or_invalid(git, "PullRequest", "base", base_name)
    _refuse(call, git, (head_name, head), (base_name, base))
    issue = new_thread(call, title, body.get("body"))
    issue.pull = Pull(call.hub.next_id("pull"), head_name, base_name, head, base, bool(body.get("draft")))
    announce(call, issue, "opened")
    return issue


def _refuse(call: Call, git: GitRender, head: tuple[str, str], base: tuple[str, str]) -> None:
    for issue in call.hub.threads(call.repo):
        part = issue.pull
        if part and issue.state == "open" and (part.head_ref, part.base_ref) == (head[0], base[0]):
            message = f"A pull request already exists for {call.repo.owner.login}:{head[0]}."
            raise ApiError(422, "Validation Failed", [_custom(message)])
    if not gitstore.commits_between(git.path, base[1], head[1]):
        raise ApiError(422, "Validation Failed", [_custom(f"No commits between {base[0]} and {head[0]}")])


def _custom(message: str) -> dict[str, Any]:
    return {"resource": "PullRequest", "code": "custom", "message": message}


def _single(api: Api, render: Render) -> None:
    @api.route("GET", ONE, "pulls/get")
    def show(call: Call, number: int) -> Result:
        call.need("pull_requests")
        issue = call.issue(number)
        part = pull_of(issue)
        git = GitRender(render, call.repo)
        if "diff" in request.headers.get("Accept", ""):
            return git.diff(part.base_sha, part.head_sha)
        shown = full_pull(render, issue)
        merging.compute(call.hub, issue)
        return shown

    @api.route("GET", f"{ONE}/files", "pulls/list-files")
    def files(call: Call, number: int) -> Result:
        call.need("pull_requests")
        part, git = pull_of(call.issue(number)), GitRender(render, call.repo)
        fork = gitstore.merge_base(git.path, part.base_sha, part.head_sha) or part.base_sha
        return call.page(git.files(fork, part.head_sha))

    @api.route("GET", f"{ONE}/commits", "pulls/list-commits")
    def commits(call: Call, number: int) -> Result:
        call.need("pull_requests")
        part, git = pull_of(call.issue(number)), GitRender(render, call.repo)
        return [git.commit(sha) for sha in call.page(gitstore.commits_between(git.path, part.base_sha, part.head_sha))]

    @api.route("PATCH", ONE, "pulls/update")
    def update(call: Call, number: int) -> Result:
        issue = call.issue(number)
        call.need("pull_requests", "write", role="read" if issue.user is call.token_actor else "write")
        _update(call, issue, call.json())
        return full_pull(render, issue)


def _update(call: Call, issue: Issue, body: dict[str, Any]) -> None:
    part, changes = pull_of(issue), {}
    if body.get("title") is not None and body["title"] != issue.title:
        changes["title"] = {"from": issue.title}
        issue.title = check_text("PullRequest", body["title"], "title", TITLE_LIMIT)
    if body.get("body") is not None and body["body"] != (issue.body or ""):
        changes["body"] = {"from": issue.body or ""}
        issue.body = check_text("PullRequest", body["body"]) if body["body"] else None
    if changes:
        issue.updated_at = issue.edited_at = call.hub.clock()
        announce(call, issue, "edited", changes=changes)
    _change_state(call, issue, part, body.get("state"))


def _change_state(call: Call, issue: Issue, part: Pull, state: str | None) -> None:
    if state not in {None, "open", "closed"}:
        raise invalid("PullRequest", "state")
    if state == "closed" and issue.state == "open":
        pushes.close(call.hub, issue, call.actor)
    elif state == "open" and issue.state == "closed":
        if part.merged_at is not None or not gitstore.ref(call.hub.git_dir(issue.repo), f"refs/heads/{part.head_ref}"):
            raise ApiError(422, "Validation Failed", [_custom("state cannot be changed.")])
        issue.state, issue.closed_at, issue.closed_by = "open", None, None
        announce(call, issue, "reopened")


def _merging(api: Api) -> None:
    @api.route("GET", f"{ONE}/merge", "pulls/check-if-merged")
    def merged(call: Call, number: int) -> Result:
        call.need("contents")
        return (None, 204) if pull_of(call.issue(number)).merged_at is not None else ({"message": "Not Found"}, 404)

    @api.route("PUT", f"{ONE}/merge", "pulls/merge")
    def merge(call: Call, number: int) -> Result:
        call.need("contents", "write")
        sha = merging.merge(call.hub, call.issue(number), call.actor, call.json())
        return {"sha": sha, "merged": True, "message": "Pull Request successfully merged"}
