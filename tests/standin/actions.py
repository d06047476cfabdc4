"""The REST API of Actions, under ``/api/v3``, and its control under ``/_control/actions``.

A dispatch answers as the asked API version does: 200 with the run in 2026-03-10, 204 in 2022-11-28 unless
``return_run_details`` is set, and 204 always where ``settings.old_server`` is. To lose the answer of a dispatch whose
run was made, set the general fault ``error_after`` on its path.
"""

from collections.abc import Callable
from dataclasses import fields
from pathlib import Path
from typing import Any

from flask import Blueprint, Response, jsonify, request

from tests.standin import gitstore
from tests.standin.entities import WorkflowRun, iso
from tests.standin.errors import ApiError, not_found, unprocessable
from tests.standin.http import Api, Call
from tests.standin.model import Hub
from tests.standin.render import Render
from tests.standin.render_actions import ActionsRender
from tests.standin.runs_service import Actions
from tests.standin.versions import NEW_VERSION
from tests.standin.workflow_file import Workflow, WorkflowError
from tests.standin.workflow_runs import Attempt

FOLDER = ".github/workflows"
REPO = "/repos/<owner>/<name>"
Json = dict[str, Any]
FILTERS: dict[str, Callable[[WorkflowRun, str], bool]] = {
    "event": lambda run, value: run.event == value,
    "actor": lambda run, value: run.actor.login.lower() == value.lower(),
    "branch": lambda run, value: run.head_branch == value,
    "head_sha": lambda run, value: run.head_sha == value,
    "status": lambda run, value: value in {run.status, run.conclusion},
    "created": lambda run, value: in_range(str(iso(run.created_at)), value),
}


def in_range(moment: str, wanted: str) -> bool:
    """Whether a time fits ``>=T``, ``<=T``, ``>T``, ``<T``, ``A..B`` or a day's prefix, all ISO 8601 in UTC."""
    if ".." in wanted:
        first, last = wanted.split("..", 1)
        return first in {"*", ""} or (first <= moment and (last in {"*", ""} or moment <= last))
    for sign, fits in ((">=", moment >= wanted[2:]), ("<=", moment <= wanted[2:]), (">", moment > wanted[1:])):
        if wanted.startswith(sign):
            return fits
    return moment < wanted[1:] if wanted.startswith("<") else moment.startswith(wanted)


class Routes:
    """The handlers; ``call`` is the request, as in ``http.Api``."""

    def __init__(self, hub: Hub) -> None:
        self.hub = hub
        self.actions = hub.service(Actions)
        self.render = ActionsRender(Render(hub))

    # Workflows

    def list_workflows(self, call: Call) -> Json:
        """GET /actions/workflows: the valid files on the default branch."""
        call.need("actions")
        found = [self._shown_workflow(call, path) for path in self._paths(call)]
        return {"total_count": len(found), "workflows": call.page(found)}

    def get_workflow(self, call: Call, workflow: str) -> Json:
        """GET /actions/workflows/{id or file}."""
        call.need("actions")
        return self._shown_workflow(call, self._path(call, workflow))

    def dispatch(self, call: Call, workflow: str) -> Any:
        """POST /actions/workflows/{id or file}/dispatches."""
        call.need("actions", "write")
        path, body = self._path(call, workflow), call.json()
        ref, inputs = body.get("ref"), body.get("inputs") or {}
        if not isinstance(ref, str) or not isinstance(inputs, dict):
            raise unprocessable("ref", "is not a string." if not isinstance(ref, str) else "inputs is not an object.")
        try:
            attempt = self.actions.dispatch(call.repo, path, ref, inputs, call.actor)
        except WorkflowError as error:
            raise ApiError(422, str(error)) from error
        details = call.version == NEW_VERSION or body.get("return_run_details") is True
        if self.actions.settings.old_server or not details:
            return None
        shown = self.render.run(attempt)
        return {"workflow_run_id": shown["id"], "run_url": shown["url"], "html_url": shown["html_url"]}

    def _paths(self, call: Call) -> list[str]:
        repository = self.hub.git_dir(call.repo)
        listed = gitstore.text(repository, "ls-tree", "--name-only", call.repo.default_branch, f"{FOLDER}/")
        return [path for path in listed.splitlines() if path.endswith((".yml", ".yaml"))]

    def _path(self, call: Call, workflow: str) -> str:
        for path in self._paths(call):
            if workflow in {path.rsplit("/", 1)[-1], str(self.actions.workflow_id(call.repo, path))}:
                return path
        raise not_found()

    def _shown_workflow(self, call: Call, path: str) -> Json:
        parsed = self._parsed(call, path)
        number = self.actions.workflow_id(call.repo, path)
        return self.render.workflow(call.repo, number, path, parsed.name if parsed else path)

    def _parsed(self, call: Call, path: str) -> Workflow | None:
        sha = gitstore.resolve(self.hub.git_dir(call.repo), call.repo.default_branch)
        try:
            return self.actions.workflow(call.repo, sha or "", path)
        except WorkflowError:
            return None

    # Runs

    def list_runs(self, call: Call, workflow: str | None = None) -> Json:
        """GET /actions/runs, or those of one workflow; newest first."""
        call.need("actions")
        path = self._path(call, workflow) if workflow is not None else None
        runs = [run for run in reversed(call.repo.runs.values()) if path in {None, run.path}]
        for name, fits in FILTERS.items():
            wanted = call.arg(name)
            runs = [run for run in runs if not wanted or fits(run, wanted)]
        shown = [self.render.run(self._attempt(run)) for run in call.page(runs)]
        return {"total_count": len(runs), "workflow_runs": shown}

    def get_run(self, call: Call, run: int, attempt: int | None = None) -> Json:
        """GET /actions/runs/{id}, also of an earlier attempt."""
        call.need("actions")
        return self.render.run(self._attempt(self._run(call, run), attempt))

    def list_jobs(self, call: Call, run: int, attempt: int | None = None) -> Json:
        """GET /actions/runs/{id}/jobs."""
        call.need("actions")
        found = self._attempt(self._run(call, run), attempt)
        jobs = [self.render.job(found, job) for job in found.jobs]
        return {"total_count": len(jobs), "jobs": call.page(jobs)}

    def cancel(self, call: Call, run: int) -> Any:
        """POST /actions/runs/{id}/cancel."""
        return self._cancel(call, run, force=False)

    def force_cancel(self, call: Call, run: int) -> Any:
        """POST /actions/runs/{id}/force-cancel: nothing runs any more, ``always()`` or not."""
        return self._cancel(call, run, force=True)

    def _cancel(self, call: Call, run: int, *, force: bool) -> Any:
        call.need("actions", "write")
        attempt = self._attempt(self._run(call, run))
        if attempt.phase == "completed":
            raise ApiError(409, "Cannot cancel a workflow run that is completed.")
        self.actions.cancel(attempt, "killed" if force else "cancelled")
        return {}, 202

    def rerun(self, call: Call, run: int) -> Any:
        """POST /actions/runs/{id}/rerun."""
        call.need("actions", "write")
        attempt = self._attempt(self._run(call, run))
        if attempt.phase != "completed":
            raise ApiError(403, "This workflow is already running")
        self.actions.rerun(attempt.run, call.actor)
        return {}, 201

    def _run(self, call: Call, run: int) -> WorkflowRun:
        found = call.repo.runs.get(run)
        if found is None:
            raise not_found()
        return found

    def _attempt(self, run: WorkflowRun, number: int | None = None) -> Attempt:
        found = self.actions.attempt(run, number)
        if found is None:
            raise not_found()
        return found

    # Control

    def any_attempt(self, run: int) -> Attempt:
        """The newest attempt of a run of any repository; a KeyError is a mistake of the test."""
        return self._attempt(next(r.runs[run] for r in self.hub.repos.values() if run in r.runs))


def blueprint(hub: Hub) -> Blueprint:
    """The routes of a hub's Actions and of their control."""
    api, routes = Api("actions", hub), Routes(hub)
    table: list[tuple[str, str, str, Callable[..., Any]]] = [
        ("GET", "/workflows", "actions/list-repo-workflows", routes.list_workflows),
        ("GET", "/workflows/<workflow>", "actions/get-workflow", routes.get_workflow),
        ("POST", "/workflows/<workflow>/dispatches", "actions/create-workflow-dispatch", routes.dispatch),
        ("GET", "/workflows/<workflow>/runs", "actions/list-workflow-runs", routes.list_runs),
        ("GET", "/runs", "actions/list-workflow-runs-for-repo", routes.list_runs),
        ("GET", "/runs/<int:run>", "actions/get-workflow-run", routes.get_run),
        ("GET", "/runs/<int:run>/jobs", "actions/list-jobs-for-workflow-run", routes.list_jobs),
        ("GET", "/runs/<int:run>/attempts/<int:attempt>", "actions/get-workflow-run-attempt", routes.get_run),
        (
            "GET",
            "/runs/<int:run>/attempts/<int:attempt>/jobs",
            "actions/list-jobs-for-workflow-run-attempt",
            routes.list_jobs,
        ),
        ("POST", "/runs/<int:run>/cancel", "actions/cancel-workflow-run", routes.cancel),
        ("POST", "/runs/<int:run>/force-cancel", "actions/force-cancel-workflow-run", routes.force_cancel),
        ("POST", "/runs/<int:run>/rerun", "actions/re-run-workflow", routes.rerun),
    ]
    for method, rule, operation, handler in table:
        api.route(method, f"{REPO}/actions{rule}", operation)(handler)
    both = Blueprint("actions_and_control", __name__)
    both.register_blueprint(api.blueprint)
    both.register_blueprint(control(hub))
    return both


def control(hub: Hub) -> Blueprint:
    """What tests ask of Actions over HTTP: settings, variables, logs, and machines that vanish."""
    pages, routes = Blueprint("actions_control", __name__, url_prefix="/_control/actions"), Routes(hub)
    actions = routes.actions

    @pages.patch("/settings")
    def settings() -> tuple[str, int]:
        given = request.get_json()
        unknown = sorted(set(given) - {part.name for part in fields(actions.settings)})
        if unknown:
            return f"Actions has no setting {', '.join(unknown)}.", 422
        with hub.lock:
            for name, value in given.items():
                setattr(actions.settings, name, Path(value) if name == "action_folder" else value)
        return "", 204

    @pages.put("/variables/<owner>/<name>")
    def variables(owner: str, name: str) -> Response:
        repo = hub.repo(owner, name)
        assert repo is not None
        with hub.lock:
            repo.variables.update(request.get_json())
            return jsonify(repo.variables)

    @pages.get("/runs/<int:run>/log")
    def log(run: int) -> Response:
        found = routes.any_attempt(run).log
        return Response(found.read_text() if found.exists() else "", mimetype="text/plain")

    @pages.post("/runs/<int:run>/vanish")
    def vanish(run: int) -> Response:
        with hub.lock:
            actions.vanish(routes.any_attempt(run))
        return Response(status=202)

    @pages.post("/runs/<int:run>/give-up")
    def give_up(run: int) -> Response:
        with hub.lock:
            actions.give_up(routes.any_attempt(run))
        return Response(status=202)

    return pages
