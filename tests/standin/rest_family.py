"""REST: sub-issues, and locked conversations."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.standin.errors import ApiError, not_found, unprocessable
from tests.standin.http import Api, Call, Result
from tests.standin.render import Render
from tests.standin.threads import announce

if TYPE_CHECKING:
    from flask import Blueprint

    from tests.standin.entities import Issue
    from tests.standin.model import Hub

ISSUE = "/repos/<owner>/<name>/issues/<int:number>"
CHILDREN_LIMIT = 100
"""Sub-issues of one issue, closed ones included."""


def blueprint(hub: Hub) -> Blueprint:
    """The routes of this module."""
    api, render = Api("family", hub), Render(hub)

    @api.route("GET", f"{ISSUE}/sub_issues", "issues/list-sub-issues")
    def listing(call: Call, number: int) -> Result:
        call.need("issues")
        return [render.issue(child) for child in call.page(_parent(call, number).children)]

    @api.route("POST", f"{ISSUE}/sub_issues", "issues/add-sub-issue")
    def add(call: Call, number: int) -> Result:
        call.need("issues", "write", role="triage")
        parent, wanted = _parent(call, number), call.json().get("sub_issue_id")
        child = next((i for repo in hub.repos.values() for i in hub.threads(repo) if i.id == wanted), None)
        if not isinstance(wanted, int):
            raise unprocessable("sub_issue_id", "is not an integer.")
        if child is None or child.repo.owner is not parent.repo.owner:
            raise not_found()
        _hang(call, parent, child)
        return render.issue(child), 201

    @api.route("PUT", f"{ISSUE}/lock", "issues/lock")
    def lock(call: Call, number: int) -> Result:
        call.need("issues|pull_requests", "write", role="write")
        set_locked(call, call.issue(number), locked=True)

    @api.route("DELETE", f"{ISSUE}/lock", "issues/unlock")
    def unlock(call: Call, number: int) -> Result:
        call.need("issues|pull_requests", "write", role="write")
        set_locked(call, call.issue(number), locked=False)

    return api.blueprint


def _parent(call: Call, number: int) -> Issue:
    """The issue; 404 where the server has no sub-issues."""
    if not call.hub.has_sub_issues:
        raise not_found()
    return call.issue(number)


def _hang(call: Call, parent: Issue, child: Issue) -> None:
    if child.parent is parent:
        raise ApiError(
            422,
            "An error occurred while adding the sub-issue to the parent issue.",
            ["Issue may not contain duplicate sub-issues"],
        )
    if child.parent is not None:
        raise ApiError(
            422,
            "An error occurred while adding the sub-issue to the parent issue.",
            ["Sub issue may only have one parent"],
        )
    if len(parent.children) >= CHILDREN_LIMIT:
        raise ApiError(422, "Parent cannot have more than 100 sub-issues")
    child.parent = parent
    parent.children.append(child)
    render = Render(call.hub)
    body = {
        "action": "sub_issue_added",
        "sub_issue_id": child.id,
        "sub_issue": render.issue(child),
        "sub_issue_repo": render.repository(child.repo),
        "parent_issue_id": parent.id,
        "parent_issue": render.issue(parent),
    }
    call.hub.emit("sub_issues", body, parent.repo, sender=call.actor)


def set_locked(call: Call, issue: Issue, *, locked: bool) -> None:
    """Lock a conversation or open it again, and say so."""
    if issue.locked != locked:
        issue.locked = locked
        announce(call, issue, "locked" if locked else "unlocked")
