"""REST: check runs, and the press of one of their buttons (through the control API)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.standin import gitstore
from tests.standin.entities import CheckRun, iso
from tests.standin.errors import ApiError, invalid, not_found, unprocessable
from tests.standin.http import Api, Call, Result
from tests.standin.render import Render
from tests.standin.render_pull import check_run

if TYPE_CHECKING:
    from flask import Blueprint

    from tests.standin.entities import App, Repo, User
    from tests.standin.model import Hub

REPO = "/repos/<owner>/<name>"
TEXT_LIMIT = 65_535
"""Characters of ``output.summary`` and ``output.text``."""
ANNOTATIONS_LIMIT = 50
ACTIONS_LIMIT = 3
ACTION_LIMITS = {"label": 20, "description": 40, "identifier": 20}
STATUSES = {"queued", "in_progress", "completed"}
CONCLUSIONS = {"action_required", "cancelled", "failure", "neutral", "success", "skipped", "timed_out"}
FIELDS = ("name", "details_url", "external_id", "status", "conclusion", "started_at", "completed_at", "actions")


def blueprint(hub: Hub) -> Blueprint:
    """The routes of this module."""
    api, render = Api("checks", hub), Render(hub)

    @api.route("POST", f"{REPO}/check-runs", "checks/create")
    def create(call: Call) -> Result:
        return check_run(render, make(call, _apps_only(call), call.json())), 201

    @api.route("PATCH", f"{REPO}/check-runs/<int:number>", "checks/update")
    def update(call: Call, number: int) -> Result:
        app, check = _apps_only(call), _find(call, number)
        if check.app is not app:
            raise ApiError(403, f"Invalid app_id `{app.id}` - check run can only be modified by its App.")
        was = check.fields["status"]
        _apply(call, check, call.json())
        if check.fields["status"] == "completed" != was:
            say(hub, check, "completed", app.bot)
        return check_run(render, check)

    _reads(api, render)
    return api.blueprint


def make(call: Call, app: App, body: dict[str, Any]) -> CheckRun:
    """Make a check run of an App and say so."""
    hub = call.hub
    if not isinstance(body.get("name"), str) or not isinstance(body.get("head_sha"), str):
        raise unprocessable("name, head_sha", "weren't supplied.")
    if gitstore.resolve(hub.git_dir(call.repo), body["head_sha"]) != body["head_sha"]:
        raise ApiError(422, f"No commit found for SHA: {body['head_sha']}")
    check = CheckRun(hub.next_id("check"), call.repo, app, body["name"], body["head_sha"])
    check.fields |= {"status": "queued", "started_at": iso(hub.clock())}
    _apply(call, check, body)
    call.repo.checks[check.id] = check
    say(hub, check, "created", app.bot)
    if check.fields["status"] == "completed":
        say(hub, check, "completed", app.bot)
    return check


def _reads(api: Api, render: Render) -> None:
    @api.route("GET", f"{REPO}/check-runs/<int:number>", "checks/get")
    def show(call: Call, number: int) -> Result:
        call.need("checks")
        return check_run(render, _find(call, number))

    @api.route("GET", f"{REPO}/commits/<path:ref>/check-runs", "checks/list-for-ref")
    def listing(call: Call, ref: str) -> Result:
        call.need("checks")
        sha = gitstore.resolve(call.hub.git_dir(call.repo), ref)
        if sha is None:
            raise ApiError(422, f"No commit found for SHA: {ref}")
        rows = [check for check in call.repo.checks.values() if check.head_sha == sha and _wanted(call, check)]
        if call.arg("filter", "latest") == "latest":
            rows = list({(check.app.id, check.name): check for check in rows}.values())
        shown = [check_run(render, check) for check in call.page(rows[::-1])]
        return {"total_count": len(rows), "check_runs": shown}


def _wanted(call: Call, check: CheckRun) -> bool:
    asked = {"check_name": check.name, "status": check.fields["status"], "app_id": str(check.app.id)}
    return all(call.arg(key) in {"", value} for key, value in asked.items())


def _apps_only(call: Call) -> App:
    if call.token is None or call.token.app is None:
        raise ApiError(403, "You must authenticate via a GitHub App.")
    call.need("checks", "write")
    return call.token.app


def _find(call: Call, number: int) -> CheckRun:
    found = call.repo.checks.get(number)
    if found is None:
        raise not_found()
    return found


def _apply(call: Call, check: CheckRun, body: dict[str, Any]) -> None:
    _validate(body)
    check.fields |= {key: body[key] for key in FIELDS if key in body}
    check.name = check.fields.get("name", check.name)
    output = dict(body.get("output") or {})
    if output:
        check.fields.setdefault("annotations", []).extend(output.pop("annotations", []))
        check.fields["output"] = {**check.fields.get("output", {}), **output}
    if body.get("conclusion"):
        check.fields["status"] = "completed"
    if check.fields["status"] == "completed":
        check.fields.setdefault("completed_at", iso(call.hub.clock()))


def _validate(body: dict[str, Any]) -> None:
    if body.get("status", "queued") not in STATUSES:
        raise invalid("CheckRun", "status")
    if body.get("conclusion") not in CONCLUSIONS | {None}:
        raise invalid("CheckRun", "conclusion")
    if body.get("status") == "completed" and not body.get("conclusion"):
        raise invalid("CheckRun", "conclusion", "missing_field")
    output = body.get("output") or {}
    for key in ("summary", "text"):
        if len(output.get(key) or "") > TEXT_LIMIT:
            raise ApiError(422, f"Only {TEXT_LIMIT} characters are allowed in output.{key}.")
    if len(output.get("annotations") or []) > ANNOTATIONS_LIMIT:
        raise ApiError(422, "annotations exceeds a maximum quantity of 50")
    _validate_actions(body.get("actions") or [])


def _validate_actions(actions: list[dict[str, Any]]) -> None:
    if len(actions) > ACTIONS_LIMIT:
        raise ApiError(422, "actions exceeds a maximum quantity of 3")
    for action in actions:
        for key, limit in ACTION_LIMITS.items():
            if not 0 < len(str(action.get(key) or "")) <= limit:
                raise unprocessable(f"actions.{key}", f"must have 1 to {limit} characters.")


def press(hub: Hub, check: CheckRun, user: User, identifier: str | None) -> None:
    """A person presses a button of a check run (``identifier``), or "Re-run" (None); raises KeyError for no such button."""
    if identifier is None:
        say(hub, check, "rerequested", user)
        return
    if identifier not in {action["identifier"] for action in check.fields.get("actions", [])}:
        raise KeyError(identifier)
    say(hub, check, "requested_action", user, requested_action={"identifier": identifier})


def say(hub: Hub, check: CheckRun, action: str, sender: User, **extra: Any) -> None:
    """Send ``check_run`` with an action."""
    shown = check_run(Render(hub), check)
    suite = {
        **shown["check_suite"],
        "head_sha": check.head_sha,
        "head_branch": _branch_of(hub, check),
        "app": shown["app"],
        "pull_requests": [],
    }
    body = {"action": action, "check_run": {**shown, "check_suite": suite}, **extra}
    hub.emit("check_run", body, check.repo, sender=sender)


def _branch_of(hub: Hub, check: CheckRun) -> str | None:
    """The branch that was pushed with the commit, as far as its refs still tell; the default branch comes last."""
    refs = gitstore.refs(hub.git_dir(check.repo), "refs/heads/")
    names = [ref.removeprefix("refs/heads/") for ref, sha, _ in refs if sha == check.head_sha]
    return min(names, key=lambda name: (name == check.repo.default_branch, name), default=None)


def report(hub: Hub, repo: Repo, app: App, said: dict[str, Any]) -> CheckRun:
    """A check run as another App makes it, without its conclusion: pending."""
    check = CheckRun(hub.next_id("check"), repo, app, said["name"], said["head_sha"])
    check.fields |= {"started_at": iso(hub.clock()), **said}
    check.fields["status"] = "completed" if said.get("conclusion") else "in_progress"
    if said.get("conclusion"):
        check.fields["completed_at"] = iso(hub.clock())
    repo.checks[check.id] = check
    for action in ("created", "completed") if said.get("conclusion") else ("created",):
        say(hub, check, action, app.bot)
    return check
