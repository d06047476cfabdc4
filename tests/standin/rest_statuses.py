"""REST: commit statuses."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.standin import gitstore
from tests.standin.entities import Status, iso
from tests.standin.errors import ApiError, unprocessable
from tests.standin.http import Api, Call, Result
from tests.standin.render import Render
from tests.standin.render_git import GitRender
from tests.standin.render_review import status

if TYPE_CHECKING:
    from flask import Blueprint

    from tests.standin.entities import Repo, User
    from tests.standin.model import Hub

REPO = "/repos/<owner>/<name>"
STATES = {"error", "failure", "pending", "success"}


def blueprint(hub: Hub) -> Blueprint:
    """The routes of this module."""
    api, render = Api("statuses", hub), Render(hub)

    @api.route("POST", f"{REPO}/statuses/<sha>", "repos/create-commit-status")
    def create(call: Call, sha: str) -> Result:
        call.need("statuses", "write", role="write")
        body = call.json()
        if body.get("state") not in STATES:
            raise unprocessable("state", f"{body.get('state')!r} is not a member of {sorted(STATES)}.")
        made = set_status(hub, call.repo, sha, call.actor, body)
        return {**status(render, call.repo, made), "creator": render.user(made.creator)}, 201

    @api.route("GET", f"{REPO}/commits/<path:ref>/status", "repos/get-combined-status-for-ref")
    def combined(call: Call, ref: str) -> Result:
        call.need("statuses")
        sha = gitstore.resolve(hub.git_dir(call.repo), ref)
        if sha is None:
            raise ApiError(404, f"No commit found for SHA: {ref}")
        newest = {made.context.lower(): made for made in call.repo.statuses if made.sha == sha}
        rows, url = list(newest.values()), f"{render.repo_api(call.repo)}/commits/{sha}"
        return {
            "state": _whole({made.state for made in rows}),
            "statuses": [status(render, call.repo, made) for made in call.page(rows)],
            "sha": sha,
            "total_count": len(rows),
            "repository": render.repository(call.repo),
            "commit_url": url,
            "url": f"{url}/status",
        }

    return api.blueprint


def _whole(states: set[str]) -> str:
    if states & {"error", "failure"}:
        return "failure"
    return "pending" if "pending" in states or not states else "success"


def set_status(hub: Hub, repo: Repo, sha: str, creator: User, body: dict[str, Any]) -> Status:
    """Set a status and say so."""
    git, render = GitRender(Render(hub), repo), Render(hub)
    if gitstore.resolve(git.path, sha) != sha:
        raise ApiError(422, f"No commit found for SHA: {sha}")
    said = {key: body.get(key) for key in ("description", "target_url")}
    context = body.get("context") or "default"
    made = Status(hub.next_id("status"), sha, context, body["state"], creator, hub.clock(), **said)
    repo.statuses.append(made)
    shown = status(render, repo, made)
    names = [ref for ref, at, _ in gitstore.refs(git.path, "refs/heads/") if gitstore.is_ancestor(git.path, sha, at)]
    payload = {
        **{key: shown[key] for key in ("id", "avatar_url", "target_url", "context", "description", "state")},
        "sha": sha,
        "name": repo.full_name,
        "commit": git.commit(sha),
        "branches": [git.short_branch(name.removeprefix("refs/heads/"), sha) for name in names[:10]],
        "created_at": iso(made.created_at),
        "updated_at": iso(made.created_at),
    }
    hub.emit("status", payload, repo, sender=creator)
    return made
