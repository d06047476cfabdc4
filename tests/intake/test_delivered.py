"""What the stand-in GitHub really sends ends up in the right lanes."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import httpx
import pytest

from bot.github.client import connect
from bot.github.clients import App
from bot.github.gateway import CheckAction, CheckRun, Shown, StateLabel
from bot.intake.payloads import CheckId, parse
from bot.lifecycle.plan import Person, Repo
from bot.store import deliveries, sessions
from bot.store.sessions import Kept
from bot.worker.translate import translate
from tests.intake.conftest import SECRET, Intake
from tests.standin import gitstore
from tests.standin.server import StandIn

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from bot.github.client import GitHubGateway
    from bot.store.deliveries import Delivery
    from bot.store.engine import Tx

EVENTS = ["check_run", "issue_comment", "issues", "pull_request", "push", "repository", "workflow_run"]


class World:
    """A stand-in that sends to the intake, with a repository, a person and the App."""

    def __init__(self, standin: StandIn, intake: Intake) -> None:
        self.standin, self.intake, self.control = standin, intake, standin.control
        self.control.create_organization("acme")
        self.id = int(self.control.create_repository("acme/shop")["id"])
        self.token = self.control.create_user("mia")["token"]
        self.control.set_role("acme/shop", "mia", "admin")
        app = self.control.create_app(
            "twogate", "acme", events=EVENTS, webhook_url=f"{intake.url}/webhook", webhook_secret=SECRET
        )
        self.installation = int(app["installation_id"])
        self.repo = Repo(id=self.id, owner="acme", name="shop", installation_id=self.installation)
        self.gateway: GitHubGateway = connect(
            App(id=app["app_id"], private_key=app["private_key"], api_url=standin.api_url), time.time
        )

    def ask(self, method: str, path: str, body: Any = None) -> Any:
        headers = {"Authorization": f"token {self.token}", "X-GitHub-Api-Version": "2026-03-10"}
        url = f"{self.standin.api_url}/repos/acme/shop{path}"
        answer = httpx.request(method, url, headers=headers, json=body, timeout=20)
        assert answer.status_code < 300, answer.text
        return answer.json() if answer.content else None

    def arrived(self) -> list[tuple[str, str | None, str]]:
        """Event, action and lane of what was stored since the last look."""
        assert self.control.drain()["drained"]
        rows, self.seen = self.intake.rows(), getattr(self, "seen", 0)
        fresh, self.seen = rows[self.seen :], len(rows)
        return [(row["event"], parse(row["event"], row["body"]).action, row["lane"]) for row in fresh]


@pytest.fixture
def world(tmp_path: Path, intake: Intake) -> Iterator[World]:
    with StandIn(tmp_path / "github") as standin:
        made = World(standin, intake)
        yield made
        made.gateway.close()


def test_from_label_to_merge(world: World) -> None:
    assert world.arrived() == [("installation", "created", f"installation:{world.installation}")]
    lane, repo_lane = f"{world.id}:1", f"{world.id}:0"
    number = world.ask("POST", "/issues", {"title": "Fix", "labels": ["agent"]})["number"]
    assert world.arrived() == [("issues", "labeled", lane)]

    label = StateLabel("plan: draft", "d4c5f9", "Where the plan stands")
    shown = Shown(key="ab:status", body="x", comment_id=None, label=label.name, labels=(label,), seen=True)
    world.gateway.show(world.repo, number, shown, first=True)
    plan = world.gateway.ensure_comment(world.repo, number, "ab-1", "The plan", first=True)
    assert world.arrived() == [], "what the bot itself does says nothing new"

    world.ask("POST", f"/issues/{number}/comments", {"body": "/approve"})
    world.ask("PATCH", f"/issues/comments/{plan.id}", {"body": "Another plan"})
    world.ask("PATCH", f"/issues/{number}", {"title": "Fix it"})
    assert world.arrived() == [
        ("issue_comment", "created", lane),
        ("issue_comment", "edited", lane),
        ("issues", "edited", lane),
    ]

    head = world.gateway.branch_head(world.repo, "main")
    world.ask("POST", "/git/refs", {"ref": "refs/heads/plan/1", "sha": head})
    world.ask("POST", "/git/refs", {"ref": "refs/heads/feature", "sha": head})
    assert world.arrived() == [("push", None, lane)]

    about = CheckId(repository_id=world.id, issue_number=1, uid="ab", head=str(head))
    buttons = (CheckAction("Approve", "Open the pull request", "approve"),)
    check = CheckRun("Twogate", "Decide", "x", "action_required", str(about), buttons)
    made = world.gateway.ensure_check_run(world.repo, str(head), check, first=True)
    world.control.press("acme/shop", made, "mia", "approve")
    world.control.press("acme/shop", made, "mia")
    assert world.arrived() == [("check_run", "requested_action", lane)]

    path = world.standin.hub.git_dir(world.control.repo("acme/shop"))
    tree = gitstore.run(path, "rev-parse", f"{head}^{{tree}}").decode().strip()
    gitstore.set_ref(path, "refs/heads/plan/1", gitstore.commit_tree(path, tree, [str(head)], "Work\n"))
    pull = world.gateway.ensure_pull(world.repo, branch="plan/1", base="main", title="Fix", body="x", first=True)
    world.ask("POST", f"/issues/{pull.number}/comments", {"body": "/fix"})
    assert world.arrived() == [("issue_comment", "created", f"{world.id}:{pull.number}")]
    world.ask("PUT", f"/pulls/{pull.number}/merge", {})
    merged = world.arrived()
    assert ("pull_request", "closed", lane) in merged
    assert ("push", None, repo_lane) in merged

    world.control.rename_repository("acme/shop", "store", "mia")
    world.control.suspend(world.installation)
    assert world.arrived() == [
        ("repository", "renamed", repo_lane),
        ("installation", "suspend", f"installation:{world.installation}"),
    ]


def test_what_was_lost_is_asked_for_again_and_kept_once(world: World) -> None:
    world.arrived()
    world.control.add_fault("drop", event="issues")
    world.control.add_fault("duplicate", event="issue_comment")
    started = time.time() - 60
    number = world.ask("POST", "/issues", {"title": "Fix", "labels": ["agent"]})["number"]
    world.ask("POST", f"/issues/{number}/comments", {"body": "/status"})
    before = world.arrived()
    assert before.count(("issue_comment", "created", f"{world.id}:1")) == 1
    asked = world.gateway.redeliver_failed(started)
    after = world.arrived()
    assert asked >= 1
    assert (before + after).count(("issues", "labeled", f"{world.id}:1")) == 1
    assert world.gateway.redeliver_failed(started) == 0


def test_who_takes_back_what_they_allowed_the_app_is_signed_out(world: World) -> None:
    person = Person(id=world.standin.hub.user("mia").id, login="mia")
    with world.intake.store.write() as tx:
        sessions.begin(tx, "before", person, Kept(b"token", None, None))
    world.control.revoke_authorization(next(iter(world.standin.hub.apps)), "mia")
    assert world.arrived()[-1] == ("github_app_authorization", "revoked", f"person:{person.id}")
    with world.intake.store.write() as tx:
        revoked = list(iter(lambda: taken(tx), None))[-1]
        sessions.begin(tx, "after", person, Kept(b"token", None, None))
        assert translate(tx, revoked, 0) == "1 sessions ended"
        assert (sessions.get(tx, "before"), sessions.get(tx, "after") is None) == (None, False)


def taken(tx: Tx) -> Delivery | None:
    delivery = deliveries.next_open(tx)
    if delivery is not None:
        deliveries.finish(tx, delivery, "read by the test")
    return delivery
