"""REST: issues."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.standin import pushes
from tests.standin.entities import User, iso
from tests.standin.errors import TITLE_LIMIT, check_text, invalid
from tests.standin.http import Api, Call, Result
from tests.standin.render import Render
from tests.standin.rest_labels import named, set_labels
from tests.standin.threads import announce, new_thread

if TYPE_CHECKING:
    from flask import Blueprint

    from tests.standin.entities import Issue, Label
    from tests.standin.model import Hub

ISSUES = "/repos/<owner>/<name>/issues"
REASONS = {"completed", "not_planned", "duplicate", "reopened", None}


def blueprint(hub: Hub) -> Blueprint:
    """The routes of this module."""
    api, render = Api("issues", hub), Render(hub)

    @api.route("GET", ISSUES, "issues/list-for-repo")
    def listing(call: Call) -> Result:
        call.need("issues|pull_requests")
        return [render.issue(issue) for issue in call.page(_selected(call))]

    @api.route("POST", ISSUES, "issues/create")
    def create(call: Call) -> Result:
        call.need("issues", "write", role="read")
        return render.issue(open_issue(call, call.json())), 201

    @api.route("GET", f"{ISSUES}/<int:number>", "issues/get")
    def show(call: Call, number: int) -> Result:
        call.need("issues|pull_requests")
        return render.issue(call.issue(number))

    @api.route("PATCH", f"{ISSUES}/<int:number>", "issues/update")
    def update(call: Call, number: int) -> Result:
        issue = call.issue(number)
        call.need("issues|pull_requests" if issue.pull else "issues", "write", role="read")
        if issue.user is not call.token_actor:
            call.need("issues|pull_requests" if issue.pull else "issues", "write", role="triage")
        _update(call, issue, call.json())
        return render.issue(issue)

    return api.blueprint


def open_issue(call: Call, body: dict[str, Any]) -> Issue:
    """Create an issue; labels and assignees of people without push right are dropped, as GitHub does."""
    title = check_text("Issue", body.get("title"), "title", TITLE_LIMIT)
    text = body.get("body")
    if text:
        check_text("Issue", text)
    issue = new_thread(call, title, text)
    trusted = call.may("issues", "write", role="triage")
    labels: list[Label] = named(call, body.get("labels") or []) if trusted else []
    issue.labels = list(labels)
    issue.assignees = _assignees(call, body) if trusted else []
    announce(call, issue, "opened")
    for label in labels:
        announce(call, issue, "labeled", label=Render(call.hub).label(call.repo, label))
    return issue


def _assignees(call: Call, body: dict[str, Any]) -> list[User]:
    found = (call.hub.find_user(str(login)) for login in body.get("assignees") or [])
    return [user for user in found if user is not None]


def _selected(call: Call) -> list[Issue]:
    state = call.arg("state", "open")
    labels = {name.lower() for name in call.arg("labels").split(",") if name}
    since, creator = call.arg("since"), call.arg("creator")
    rows = [
        issue
        for issue in call.hub.threads(call.repo)
        if state in {"all", issue.state}
        and labels <= {label.name.lower() for label in issue.labels}
        and (not since or (iso(issue.updated_at) or "") >= since)
        and (not creator or issue.user.login == creator)
    ]
    key = call.arg("sort", "created")
    rows.sort(key=lambda i: i.updated_at if key == "updated" else i.number, reverse=call.arg("direction") != "asc")
    return rows


def _update(call: Call, issue: Issue, body: dict[str, Any]) -> None:
    trusted = call.may("issues|pull_requests", "write", role="triage")
    _edit(call, issue, body)
    if trusted and body.get("labels") is not None:
        set_labels(call, issue, named(call, body["labels"]))
    if trusted and body.get("assignees") is not None:
        issue.assignees = _assignees(call, body)
    if body.get("state") is not None or body.get("state_reason") is not None:
        _change_state(call, issue, body)


def _edit(call: Call, issue: Issue, body: dict[str, Any]) -> None:
    changes: dict[str, Any] = {}
    if body.get("title") is not None and str(body["title"]) != issue.title:
        changes["title"] = {"from": issue.title}
        issue.title = check_text("Issue", str(body["title"]), "title", TITLE_LIMIT)
    if "body" in body and (body["body"] or "") != (issue.body or ""):
        changes["body"] = {"from": issue.body or ""}
        issue.body = check_text("Issue", body["body"]) if body["body"] else None
    if changes:
        issue.updated_at = issue.edited_at = call.hub.clock()
        announce(call, issue, "edited", changes=changes)


def _change_state(call: Call, issue: Issue, body: dict[str, Any]) -> None:
    state, reason = body.get("state") or issue.state, body.get("state_reason")
    if state not in {"open", "closed"} or reason not in REASONS:
        raise invalid("Issue", "state")
    if state == issue.state:
        return
    if state == "closed" and issue.pull is not None:
        pushes.close(call.hub, issue, call.actor)
        return
    now, closing = call.hub.clock(), state == "closed"
    issue.state, issue.updated_at = state, now
    issue.closed_at, issue.closed_by = (now, call.actor) if closing else (None, None)
    issue.state_reason = None if issue.pull else reason or ("completed" if closing else "reopened")
    announce(call, issue, "closed" if closing else "reopened")
