"""REST: repositories, their collaborators, branches, refs, commits, comparisons and files."""

from __future__ import annotations

import fnmatch
from typing import TYPE_CHECKING

from flask import request

from tests.standin import gitstore, pushes
from tests.standin.errors import ApiError, invalid, not_found, unprocessable
from tests.standin.gitstore import ZERO, GitError
from tests.standin.http import Api, Call, Result
from tests.standin.render import Render
from tests.standin.render_git import GitRender

if TYPE_CHECKING:
    from flask import Blueprint

    from tests.standin.model import Hub

BASIC = {"maintain": "write", "triage": "read"}
"""What ``permission`` says for the roles it has no name for."""
REPO = "/repos/<owner>/<name>"


def blueprint(hub: Hub) -> Blueprint:
    """The routes of this module."""
    api, render = Api("repos", hub), Render(hub)
    _repository_routes(api, render)
    _branch_routes(api, render)
    _ref_routes(api, render)
    _ref_writes(api, render)
    _commit_routes(api, render)
    return api.blueprint


def _repository_routes(api: Api, render: Render) -> None:
    @api.route("GET", REPO, "repos/get")
    def show(call: Call) -> Result:
        call.need("metadata")
        return render.repository(call.repo, call.token.actor if call.token else None)

    @api.route("GET", f"{REPO}/collaborators/<login>/permission", "repos/get-collaborator-permission-level")
    def permission(call: Call, login: str) -> Result:
        call.need("metadata", role="write")
        user = call.hub.find_user(login)
        if user is None:
            raise ApiError(404, f"{login} is not a user")
        role = call.hub.role(call.repo, user)
        rights = render.repository(call.repo, user)["permissions"]
        shown = {**render.user(user), "permissions": rights, "role_name": role}
        return {"permission": BASIC.get(role, role), "role_name": role, "user": shown}

    @api.route("GET", f"{REPO}/contents", "repos/get-content")
    @api.route("GET", f"{REPO}/contents/<path:path>", "repos/get-content")
    def contents(call: Call, path: str = "") -> Result:
        call.need("contents")
        return _contents(call, GitRender(render, call.repo), path.strip("/"))


def _contents(call: Call, git: GitRender, path: str) -> Result:
    ref = call.arg("ref") or call.repo.default_branch
    commit = gitstore.resolve(git.path, ref)
    if commit is None:
        raise ApiError(404, f"No commit found for the ref {ref}")
    entries = git.entries(commit, path) if path else git.entries(commit, "")
    if not entries:
        raise not_found()
    if not path or entries[0][1] == "tree":
        inside = git.entries(commit, f"{path}/") if path else entries
        return [git.content(entry, ref, whole=False) for entry in inside]
    if "raw" in request.headers.get("Accept", ""):
        return gitstore.run(git.path, "cat-file", "blob", entries[0][2]).decode(errors="replace")
    return git.content(entries[0], ref, whole=True)


def _branch_routes(api: Api, render: Render) -> None:
    @api.route("GET", f"{REPO}/branches", "repos/list-branches")
    def branches(call: Call) -> Result:
        call.need("contents")
        git = GitRender(render, call.repo)
        rows = gitstore.refs(git.path, "refs/heads/")
        return [git.short_branch(ref.removeprefix("refs/heads/"), sha) for ref, sha, _ in call.page(rows)]

    @api.route("GET", f"{REPO}/branches/<path:branch>", "repos/get-branch")
    def branch(call: Call, branch: str) -> Result:
        call.need("contents")
        git = GitRender(render, call.repo)
        sha = gitstore.ref(git.path, f"refs/heads/{branch}")
        if sha is None:
            raise ApiError(404, "Branch not found")
        return git.branch(branch, sha)

    @api.route("GET", f"{REPO}/rules/branches/<path:branch>", "repos/get-branch-rules")
    def rules(call: Call, branch: str) -> Result:
        call.need("metadata")
        return [
            {"type": rule, "ruleset_source_type": "Repository", "ruleset_source": call.repo.full_name, "ruleset_id": 1}
            for pattern, rule in call.repo.rules
            if fnmatch.fnmatch(branch, pattern)
        ]


def _ref_routes(api: Api, render: Render) -> None:
    @api.route("GET", f"{REPO}/git/ref/<path:ref>", "git/get-ref")
    def get(call: Call, ref: str) -> Result:
        call.need("contents")
        git = GitRender(render, call.repo)
        found = next((row for row in gitstore.refs(git.path, f"refs/{ref}") if row[0] == f"refs/{ref}"), None)
        if found is None:
            raise not_found()
        return git.ref(*found)

    @api.route("GET", f"{REPO}/git/matching-refs/<path:ref>", "git/list-matching-refs")
    def matching(call: Call, ref: str) -> Result:
        call.need("contents")
        git = GitRender(render, call.repo)
        return [git.ref(*row) for row in call.page(gitstore.refs(git.path, f"refs/{ref}"))]


def _ref_writes(api: Api, render: Render) -> None:
    @api.route("POST", f"{REPO}/git/refs", "git/create-ref")
    def create(call: Call) -> Result:
        call.need("contents", "write")
        git, body = GitRender(render, call.repo), call.json()
        full, sha = str(body.get("ref", "")), str(body.get("sha", ""))
        if not full.startswith("refs/") or full.count("/") < 2:
            raise unprocessable("ref", "must start with refs/ and have at least two slashes.")
        if gitstore.ref(git.path, full):
            raise ApiError(422, "Reference already exists")
        _set(call, git, full, sha, ZERO)
        return git.ref(full, sha, "commit"), 201

    @api.route("PATCH", f"{REPO}/git/refs/<path:ref>", "git/update-ref")
    def update(call: Call, ref: str) -> Result:
        call.need("contents", "write")
        git, body, full = GitRender(render, call.repo), call.json(), f"refs/{ref}"
        old, sha = gitstore.ref(git.path, full), str(body.get("sha", ""))
        if old is None:
            raise ApiError(422, "Reference does not exist")
        if not body.get("force") and not gitstore.is_ancestor(git.path, old, sha):
            raise ApiError(422, "Update is not a fast forward")
        _set(call, git, full, sha, old)
        return git.ref(full, sha, "commit")

    @api.route("DELETE", f"{REPO}/git/refs/<path:ref>", "git/delete-ref")
    def delete(call: Call, ref: str) -> Result:
        call.need("contents", "write")
        git, full = GitRender(render, call.repo), f"refs/{ref}"
        old = gitstore.ref(git.path, full)
        if old is None:
            raise ApiError(422, "Reference does not exist")
        if full == f"refs/heads/{call.repo.default_branch}":
            raise ApiError(422, "Cannot delete the default branch")
        gitstore.delete_ref(git.path, full)
        pushes.announce(call.hub, call.repo, full, old, ZERO, call.actor)


def move(call: Call, full: str, sha: str) -> None:
    """Bring a ref to a commit, or remove it (zeros), and say so."""
    path = call.hub.git_dir(call.repo)
    old = gitstore.ref(path, full) or ZERO
    if sha != ZERO:
        _set(call, GitRender(Render(call.hub), call.repo), full, sha, old)
    elif old != ZERO:
        gitstore.delete_ref(path, full)
        pushes.announce(call.hub, call.repo, full, old, ZERO, call.actor)


def _set(call: Call, git: GitRender, full: str, sha: str, old: str) -> None:
    try:
        gitstore.set_ref(git.path, full, sha, old)
    except GitError as error:
        raise ApiError(422, "Object does not exist") from error
    pushes.announce(call.hub, call.repo, full, old, sha, call.actor)


def _commit_routes(api: Api, render: Render) -> None:
    @api.route("GET", f"{REPO}/commits", "repos/list-commits")
    def commits(call: Call) -> Result:
        call.need("contents")
        git = GitRender(render, call.repo)
        start = gitstore.resolve(git.path, call.arg("sha") or call.repo.default_branch)
        if start is None:
            raise not_found()
        return [git.commit(sha) for sha in call.page(gitstore.text(git.path, "rev-list", start).split())]

    @api.route("GET", f"{REPO}/commits/<path:ref>", "repos/get-commit")
    def commit(call: Call, ref: str) -> Result:
        call.need("contents")
        git = GitRender(render, call.repo)
        sha = gitstore.resolve(git.path, ref)
        if sha is None:
            raise ApiError(422, f"No commit found for SHA: {ref}")
        return git.full_commit(sha)

    @api.route("GET", f"{REPO}/compare/<path:basehead>", "repos/compare-commits-with-basehead")
    def compare(call: Call, basehead: str) -> Result:
        call.need("contents")
        git = GitRender(render, call.repo)
        base, dots, head = basehead.partition("...")
        old, new = gitstore.resolve(git.path, base), gitstore.resolve(git.path, head)
        if not dots or old is None or new is None:
            raise not_found()
        if "diff" in request.headers.get("Accept", ""):
            return git.diff(old, new)
        try:
            return git.compare(basehead, old, new)
        except GitError as error:
            raise ApiError(404, f"No common ancestor between {base} and {head}.") from error


def branch_or_invalid(git: GitRender, resource: str, field: str, name: str) -> str:
    """The commit of a branch named in a body, or 422 about that field."""
    sha = gitstore.ref(git.path, f"refs/heads/{name}")
    if sha is None:
        raise invalid(resource, field)
    return sha
