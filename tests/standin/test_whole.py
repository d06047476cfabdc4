"""All parts at once, under conformance: git over HTTP with an App's token, a pull request, a workflow run by act."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING, Any

import httpx

from tests.standin import gitstore

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.standin.conftest import World

WORKFLOW = """\
name: Try
run-name: try ${{ inputs.job }}
on: {workflow_dispatch: {inputs: {job: {required: true, type: string}}}}
jobs:
  run:
    runs-on: [self-hosted, twogate]
    steps:
      - run: test "$GITHUB_REPOSITORY" = acme/shop
"""
DEADLINE = 60.0


def wait_for(condition: Callable[[], Any]) -> Any:
    end = time.monotonic() + DEADLINE
    while not (found := condition()):
        assert time.monotonic() < end, "what the test waits for did not come"
        threading.Event().wait(0.05)
    return found


def seen(world: World) -> list[str]:
    rows: list[dict[str, Any]] = world.standin.control.deliveries()
    return [f"{row['event']}.{row['action'] or ''}".rstrip(".") for row in rows]


def test_push_and_pull_request(world: World, tmp_path: Path) -> None:
    hub = world.standin.hub
    token = hub.create_installation_token(hub.installations[world.app["installation_id"]]).raw
    remote = world.standin.url.replace("//", f"//x-access-token:{token}@") + "/acme/shop.git"
    clone = tmp_path / "clone"
    gitstore.run(tmp_path, "clone", "--quiet", remote, str(clone))
    (clone / "new.txt").write_text("new\n")
    gitstore.run(clone, "add", "new.txt")
    gitstore.run(clone, "commit", "--quiet", "-m", "Add new.txt")
    gitstore.run(clone, "push", "--quiet", "origin", "HEAD:refs/heads/plan/1")
    app = world.installation()
    head = app.rest.git.get_ref("acme", "shop", "heads/plan/1").parsed_data.object_.sha
    pull = app.rest.pulls.create("acme", "shop", title="New", head="plan/1", base="main", draft=True).parsed_data
    assert pull.head.sha == head
    gitstore.run(clone, "commit", "--quiet", "--allow-empty", "-m", "More")
    gitstore.run(clone, "push", "--quiet", "origin", "HEAD:refs/heads/plan/1")
    assert app.rest.pulls.get("acme", "shop", pull.number).parsed_data.head.sha != head
    app.graphql(
        "mutation($id: ID!) { markPullRequestReadyForReview(input: {pullRequestId: $id}) { pullRequest { isDraft } } }",
        {"id": pull.node_id},
    )
    gitstore.run(clone, "push", "--quiet", "origin", ":plan/1")
    assert app.rest.pulls.get("acme", "shop", pull.number).parsed_data.state == "closed"
    assert seen(world)[1:] == [
        "push",
        "pull_request.opened",
        "push",
        "pull_request.synchronize",
        "pull_request.ready_for_review",
        "push",
        "pull_request.closed",
    ]


def test_workflow_run(world: World) -> None:
    world.commit("main", {".github/workflows/try.yml": WORKFLOW})
    app = world.installation()
    actions = app.rest.actions
    data: Any = {"ref": "main", "inputs": {"job": "job_1"}}
    made = actions.create_workflow_dispatch("acme", "shop", "try.yml", data=data).parsed_data
    number = made.workflow_run_id

    def run() -> Any:
        return actions.get_workflow_run("acme", "shop", number).parsed_data

    wait_for(lambda: run().status == "completed")
    assert (run().conclusion, run().display_title, run().run_attempt) == ("success", "try job_1", 1)
    page = httpx.get(f"{world.standin.url}/acme/shop/actions/runs/{number}").text
    assert "success" in page
    assert "job: <code>job_1</code>" in page
    listed = actions.list_workflow_runs("acme", "shop", "try.yml", event="workflow_dispatch").parsed_data
    assert [row.id for row in listed.workflow_runs] == [number]
    wait_for(lambda: "workflow_run.completed" in seen(world))
    assert seen(world).index("workflow_run.requested") < seen(world).index("workflow_run.completed")


def test_uninstalled_and_deleted(world: World) -> None:
    control = world.standin.control
    control.create_repository("acme/other")
    control.choose_repositories(world.app["installation_id"], ["acme/other"])
    control.publicize_repository("acme/other", "mia")
    control.delete_repository("acme/other", "mia")
    control.uninstall(world.app["installation_id"])
    assert seen(world) == [
        "installation.created",
        "installation_repositories.removed",
        "repository.publicized",
        "repository.deleted",
        "installation.deleted",
    ]
