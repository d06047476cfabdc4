"""REST: labels of repositories and of issues."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from flask import request

from tests.standin.entities import Label
from tests.standin.errors import ApiError, invalid, not_found, unprocessable
from tests.standin.http import Api, Call, Result
from tests.standin.render import Render
from tests.standin.threads import announce

if TYPE_CHECKING:
    from flask import Blueprint

    from tests.standin.entities import Issue, Repo
    from tests.standin.model import Hub

REPO = "/repos/<owner>/<name>"
ISSUE = f"{REPO}/issues/<int:number>/labels"
NAME_LIMIT = 50
DESCRIPTION_LIMIT = 100
LABELS_LIMIT = 100
"""Labels of one issue."""
BOTH = "issues|pull_requests"


def blueprint(hub: Hub) -> Blueprint:
    """The routes of this module."""
    api, render = Api("labels", hub), Render(hub)
    _repository_routes(api, render)
    _issue_routes(api, render)
    return api.blueprint


def find(repo: Repo, name: str) -> Label | None:
    """A repository's label of this name, without regard to case."""
    return next((label for label in repo.labels if label.name.lower() == name.lower()), None)


def named(call: Call, names: list[Any]) -> list[Label]:
    """The labels of these names (or objects with a name), made where they do not exist."""
    wanted = [str(name["name"]) if isinstance(name, dict) else str(name) for name in names]
    return [find(call.repo, name) or make_label(call, name, {}) for name in dict.fromkeys(wanted)]


def make_label(call: Call, name: str, body: dict[str, Any]) -> Label:
    """Make a label of the repository and say so."""
    color = str(body.get("color") or "ededed").lower()
    if not name.strip() or len(name) > NAME_LIMIT:
        raise invalid("Label", "name")
    if not re.fullmatch("[0-9a-f]{6}", color):
        raise invalid("Label", "color")
    if len(body.get("description") or "") > DESCRIPTION_LIMIT:
        raise invalid("Label", "description", "custom", "description is too long (maximum is 100 characters)")
    label = Label(call.hub.next_id("label"), name, color, body.get("description"))
    call.repo.labels.append(label)
    shown = {"action": "created", "label": Render(call.hub).label(call.repo, label)}
    call.hub.emit("label", shown, call.repo, sender=call.actor)
    return label


def _repository_routes(api: Api, render: Render) -> None:
    @api.route("GET", f"{REPO}/labels", "issues/list-labels-for-repo")
    def listing(call: Call) -> Result:
        call.need(BOTH)
        return [render.label(call.repo, label) for label in call.page(call.repo.labels)]

    @api.route("POST", f"{REPO}/labels", "issues/create-label")
    def create(call: Call) -> Result:
        call.need(BOTH, "write")
        body = call.json()
        name = str(body.get("name", ""))
        if find(call.repo, name):
            raise invalid("Label", "name", "already_exists")
        return render.label(call.repo, make_label(call, name, body)), 201

    @api.route("GET", f"{REPO}/labels/<label>", "issues/get-label")
    def show(call: Call, label: str) -> Result:
        call.need(BOTH)
        return render.label(call.repo, _known(call, label))

    @api.route("DELETE", f"{REPO}/labels/<label>", "issues/delete-label")
    def delete(call: Call, label: str) -> Result:
        call.need(BOTH, "write")
        found = _known(call, label)
        call.repo.labels.remove(found)
        for issue in call.repo.issues.values():
            issue.labels = [kept for kept in issue.labels if kept is not found]
        body = {"action": "deleted", "label": render.label(call.repo, found)}
        call.hub.emit("label", body, call.repo, sender=call.actor)


def _known(call: Call, name: str) -> Label:
    found = find(call.repo, name)
    if found is None:
        raise not_found()
    return found


def _issue_routes(api: Api, render: Render) -> None:
    def shown(issue: Issue) -> list[dict[str, Any]]:
        return [render.label(issue.repo, label) for label in issue.labels]

    @api.route("GET", ISSUE, "issues/list-labels-on-issue")
    def listing(call: Call, number: int) -> Result:
        call.need(BOTH)
        return [render.label(call.repo, label) for label in call.page(call.issue(number).labels)]

    @api.route("POST", ISSUE, "issues/add-labels")
    def add(call: Call, number: int) -> Result:
        call.need(BOTH, "write", role="triage")
        issue = call.issue(number)
        add_labels(call, issue, named(call, _names()))
        return shown(issue)

    @api.route("PUT", ISSUE, "issues/set-labels")
    def replace(call: Call, number: int) -> Result:
        call.need(BOTH, "write", role="triage")
        issue = call.issue(number)
        set_labels(call, issue, named(call, _names()))
        return shown(issue)

    @api.route("DELETE", f"{ISSUE}/<label>", "issues/remove-label")
    def remove(call: Call, number: int, label: str) -> Result:
        call.need(BOTH, "write", role="triage")
        issue = call.issue(number)
        found = next((kept for kept in issue.labels if kept.name.lower() == label.lower()), None)
        if found is None:
            raise ApiError(404, "Label does not exist")
        remove_label(call, issue, found)
        return shown(issue)


def _names() -> list[Any]:
    body = request.get_json(silent=True, force=True)
    names = body.get("labels") if isinstance(body, dict) else body
    if not isinstance(names, list):
        raise unprocessable("labels", "wasn't supplied.")
    return names


def add_labels(call: Call, issue: Issue, labels: list[Label]) -> None:
    """Add labels; one ``labeled`` event each."""
    fresh = [label for label in labels if label not in issue.labels]
    if len(issue.labels) + len(fresh) > LABELS_LIMIT:
        raise ApiError(422, "Issues cannot have more than 100 labels")
    for label in fresh:
        issue.labels.append(label)
        _say(call, issue, "labeled", label)


def remove_label(call: Call, issue: Issue, label: Label) -> None:
    """Take a label off; one ``unlabeled`` event."""
    issue.labels.remove(label)
    _say(call, issue, "unlabeled", label)


def set_labels(call: Call, issue: Issue, labels: list[Label]) -> None:
    """Make these the labels, with an event for each difference."""
    for label in [kept for kept in issue.labels if kept not in labels]:
        remove_label(call, issue, label)
    add_labels(call, issue, labels)


def _say(call: Call, issue: Issue, action: str, label: Label) -> None:
    issue.updated_at = call.hub.clock()
    announce(call, issue, action, label=Render(call.hub).label(issue.repo, label))
