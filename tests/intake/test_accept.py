"""The table: what is kept in which lane, and that the App's registration fits it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, cast

import pytest
import yaml

from bot.intake.accept import AUTOMATIC, TABLE, Accepted, Dropped, issue_of_branch, judge
from bot.intake.payloads import MODELS, CheckId, MergeGroupPayload, parse
from bot.lifecycle.plan import branch_name, lane
from bot.lifecycle.states import State

PROJECT = Path(__file__).parents[2]
MIA = {"id": 2, "login": "mia", "type": "User"}
BOT = {"id": 77, "login": "twogate[bot]", "type": "Bot"}
OTHER_BOT = {"id": 78, "login": "ci[bot]", "type": "Bot"}
SHA = "a" * 40
COMMON: dict[str, Any] = {
    "repository": {"id": 5, "name": "shop", "owner": {"id": 1, "login": "acme"}, "default_branch": "trunk"},
    "installation": {"id": 9},
    "sender": MIA,
}
ISSUE: dict[str, Any] = {"number": 7, "title": "Fix", "body": "It", "user": MIA, "state": "open", "locked": False}
COMMENT: dict[str, Any] = {
    "id": 1,
    "node_id": "IC_1",
    "body": "/approve",
    "user": MIA,
    "created_at": "2026-01-01T00:00:00Z",
    "updated_at": "2026-01-01T00:00:00Z",
}
RUN: dict[str, Any] = {"id": 3, "run_attempt": 1, "event": "workflow_dispatch", "display_title": "twogate ab-1"}


def verdict(event: str, action: str | None = None, **more: Any) -> Accepted | Dropped:
    body = {**COMMON, **more}
    if action is not None:
        body["action"] = action
    return judge(event, json.dumps(body).encode())


def head(ref: str, repository: int | None = 5) -> dict[str, Any]:
    repo = {"id": repository} if repository else None
    return {"number": 8, "state": "closed", "merged": False, "head": {"ref": ref, "sha": SHA, "repo": repo}}


def pull(ref: str, base: str = "trunk", repository: int | None = 5) -> dict[str, Any]:
    return {**head(ref, repository), "state": "open", "base": {"ref": base, "sha": SHA, "repo": {"id": 5}}}


def check(external_id: str | None, branch: str | None = None) -> dict[str, Any]:
    return {"id": 4, "head_sha": SHA, "external_id": external_id, "check_suite": {"head_branch": branch}}


def status(*branches: str, state: str = "failure") -> dict[str, Any]:
    return {"sha": SHA, "state": state, "context": "ci/build", "branches": [{"name": name} for name in branches]}


def group(number: int = 8) -> dict[str, Any]:
    ref = f"refs/heads/gh-readonly-queue/trunk/pr-{number}-{SHA}"
    return {"head_sha": SHA, "head_ref": ref, "base_sha": SHA, "base_ref": "refs/heads/trunk"}


PULL_COMMENT = {**ISSUE, "number": 8, "pull_request": {"url": "https://x"}}
OURS = str(CheckId(repository_id=5, issue_number=7, uid="ab12", head=SHA))

KEPT: list[tuple[str, str | None, dict[str, Any], str]] = [
    *[
        ("issues", action, {"issue": ISSUE}, "5:7")
        for action in ("edited", "closed", "reopened", "deleted", "transferred", "locked", "unlocked", "labeled")
    ],
    ("issues", "labeled", {"issue": ISSUE, "label": {"name": "agent"}}, "5:7"),
    ("issues", "unlabeled", {"issue": ISSUE, "label": {"name": "Agent: Codex"}}, "5:7"),
    ("issues", "labeled", {"issue": {**ISSUE, "user": None, "body": None}, "sender": None}, "5:7"),
    ("issue_comment", "created", {"issue": ISSUE, "comment": COMMENT}, "5:7"),
    (
        "issue_comment",
        "created",
        {"issue": ISSUE, "comment": {**COMMENT, "user": OTHER_BOT}, "sender": OTHER_BOT},
        "5:7",
    ),
    ("issue_comment", "edited", {"issue": ISSUE, "comment": {**COMMENT, "user": BOT}}, "5:7"),
    ("issue_comment", "deleted", {"issue": ISSUE, "comment": {**COMMENT, "user": BOT}}, "5:7"),
    ("issue_comment", "edited", {"issue": ISSUE, "comment": {**COMMENT, "user": BOT}, "sender": OTHER_BOT}, "5:7"),
    ("issue_comment", "edited", {"issue": ISSUE, "comment": {**COMMENT, "user": None}, "sender": OTHER_BOT}, "5:7"),
    ("issue_comment", "created", {"issue": {**PULL_COMMENT, "user": BOT}, "comment": COMMENT}, "5:8"),
    ("pull_request", "closed", {"pull_request": head("plan/7")}, "5:7"),
    ("pull_request", "reopened", {"pull_request": head("plan/7-2")}, "5:7"),
    ("pull_request", "synchronize", {"pull_request": head("plan/7-next")}, "5:7"),
    ("pull_request", "reopened", {"pull_request": pull("feature")}, "pull:5:8"),
    ("pull_request", "synchronize", {"pull_request": pull("plan/7", repository=6)}, "pull:5:8"),
    ("pull_request", "opened", {"pull_request": pull("feature", repository=None)}, "pull:5:8"),
    ("pull_request", "enqueued", {"pull_request": pull("plan/7")}, "5:7"),
    ("pull_request", "dequeued", {"pull_request": pull("plan/7"), "reason": "CI_FAILURE"}, "5:7"),
    ("push", None, {"ref": "refs/heads/plan/7", "before": SHA, "after": SHA}, "5:7"),
    ("push", None, {"ref": "refs/heads/plan/7-2", "before": SHA, "after": "0" * 40, "deleted": True}, "5:7"),
    ("push", None, {"ref": "refs/heads/trunk", "before": SHA, "after": SHA}, "5:0"),
    ("check_run", "requested_action", {"check_run": check(OURS), "requested_action": {"identifier": "ok"}}, "5:7"),
    ("check_run", "completed", {"check_run": check(None, "plan/7")}, "5:7"),
    ("check_run", "completed", {"check_run": check("", "plan/7-next")}, "5:7"),
    ("status", None, status("main", "plan/7", "plan/8"), "5:7"),
    ("merge_group", "checks_requested", {"merge_group": group()}, "5:0"),
    ("merge_group", "destroyed", {"merge_group": group(), "reason": "merged"}, "5:0"),
    ("workflow_run", "completed", {"workflow_run": RUN}, "5:0"),
    (
        "installation_repositories",
        "removed",
        {"repositories_removed": [{"id": 5, "full_name": "acme/shop"}]},
        "installation:9",
    ),
    *[
        ("repository", action, {}, "5:0")
        for action in ("renamed", "transferred", "archived", "unarchived", "publicized", "privatized", "deleted")
    ],
    *[
        ("installation", action, {"repository": None}, "installation:9")
        for action in ("created", "deleted", "suspend", "unsuspend", "new_permissions_accepted")
    ],
    ("github_app_authorization", "revoked", {"repository": None, "sender": {"id": 3, "login": "mia"}}, "person:3"),
    ("installation_repositories", "added", {"repositories_added": [{"id": 5, "full_name": "a/b"}]}, "installation:9"),
]

DROPPED: list[tuple[str, str | None, dict[str, Any]]] = [
    ("issues", "opened", {"issue": ISSUE}),
    ("issues", "pinned", {"issue": ISSUE}),
    ("issues", None, {"issue": ISSUE}),
    ("issues", "closed", {"issue": PULL_COMMENT}),
    ("issues", "edited", {"issue": ISSUE, "repository": None}),
    ("issue_comment", "created", {"issue": ISSUE, "comment": {**COMMENT, "body": "Hi", "user": BOT}, "sender": BOT}),
    ("issue_comment", "created", {"issue": ISSUE, "comment": {**COMMENT, "body": None, "user": BOT}, "sender": BOT}),
    ("issue_comment", "edited", {"issue": ISSUE, "comment": {**COMMENT, "user": BOT}, "sender": BOT}),
    ("issue_comment", "created", {"issue": PULL_COMMENT, "comment": COMMENT}),
    ("issue_comment", "created", {"issue": {**PULL_COMMENT, "user": None}, "comment": COMMENT}),
    ("issue_comment", "pinned", {"issue": ISSUE, "comment": COMMENT}),
    ("pull_request", "opened", {"pull_request": pull("plan/7")}),
    ("pull_request", "opened", {"pull_request": pull("feature", base="release")}),
    ("pull_request", "opened", {"pull_request": head("feature")}),
    ("pull_request", "opened", {"pull_request": pull("feature"), "repository": None}),
    ("pull_request", "enqueued", {"pull_request": pull("feature")}),
    ("pull_request", "labeled", {"pull_request": pull("plan/7")}),
    ("pull_request", "closed", {"pull_request": head("feature")}),
    ("pull_request", "closed", {"pull_request": head("plan/7", 6)}),
    ("pull_request", "closed", {"pull_request": head("plan/7", None)}),
    ("push", None, {"ref": "refs/tags/trunk", "before": SHA, "after": SHA}),
    ("push", None, {"ref": "refs/tags/plan/7", "before": SHA, "after": SHA}),
    ("push", None, {"ref": "refs/heads/feature", "before": SHA, "after": SHA}),
    ("check_run", "created", {"check_run": check(OURS)}),
    ("check_run", "rerequested", {"check_run": check(OURS)}),
    ("check_run", "requested_action", {"check_run": check(None)}),
    ("check_run", "requested_action", {"check_run": check(OURS.replace(":5:", ":6:"))}),
    ("check_run", "requested_action", {"check_run": check("twogate:5:7")}),
    ("check_run", "completed", {"check_run": check(OURS, "plan/7")}),
    ("check_run", "completed", {"check_run": check(None, "feature")}),
    ("check_run", "completed", {"check_run": check(None, None)}),
    ("check_run", "completed", {"check_run": {**check(None), "check_suite": None}}),
    ("status", None, status("main", "feature")),
    ("status", None, status()),
    ("status", None, status("plan/7", state="pending")),
    ("merge_group", "checks_requested", {"merge_group": group(), "repository": None}),
    ("workflow_run", "completed", {"workflow_run": {**RUN, "event": "push"}}),
    ("workflow_run", "completed", {"workflow_run": {**RUN, "display_title": "Deploy"}}),
    ("workflow_run", "requested", {"workflow_run": RUN}),
    ("repository", "edited", {}),
    ("installation", "created", {"installation": None}),
    ("ping", None, {"zen": "Keep it simple"}),
    ("check_suite", "requested", {}),
    ("workflow_job", "completed", {}),
    ("label", "edited", {}),
    ("an_event_of_tomorrow", "happened", {}),
]


@pytest.mark.parametrize(("event", "action", "more", "expected"), KEPT)
def test_kept(event: str, action: str | None, more: dict[str, Any], expected: str) -> None:
    assert verdict(event, action, **more) == Accepted(expected)


@pytest.mark.parametrize(("event", "action", "more"), DROPPED)
def test_dropped_for_a_reason(event: str, action: str | None, more: dict[str, Any]) -> None:
    found = verdict(event, action, **more)
    assert isinstance(found, Dropped)
    assert found.reason


def test_every_line_of_the_table_has_an_example() -> None:
    lines = {(event, action) for event, actions in TABLE.items() for action in actions}
    assert lines == {(event, action) for event, action, _more, _lane in KEPT}


@pytest.mark.parametrize("state", State)
def test_the_bots_own_state_labels_decide_nothing(state: State) -> None:
    for action in ("labeled", "unlabeled"):
        assert isinstance(verdict("issues", action, issue=ISSUE, label={"name": f"plan: {state}"}), Dropped)


@pytest.mark.parametrize(
    "branch",
    [
        "plan/",
        "plan/0",
        "plan/07",
        "plan/x",
        "plan/7/x",
        "plan/7_2",
        "xplan/7",
        "plan/7\n",
        "Plan/7",
        "plan/" + "9" * 11,
    ],
)
def test_other_branches_belong_to_no_issue(branch: str) -> None:
    assert issue_of_branch(branch) is None


def test_a_plans_branch_leads_back_to_its_issue() -> None:
    assert [issue_of_branch(branch_name(7, attempt)) for attempt in (1, 2, 13)] == [7, 7, 7]
    assert verdict("push", ref=f"refs/heads/{branch_name(7, 2)}", before=SHA, after=SHA) == Accepted(lane(5, 7))


def test_a_check_run_says_what_it_is_about() -> None:
    about = CheckId(repository_id=5, issue_number=7, uid="ab12", head=SHA)
    assert CheckId.parse(str(about)) == about
    for other in (None, "", "twogate:5:7:ab12", f"twogate:x:7:ab12:{SHA}", f"twogate:5:7:AB:{SHA}", f"{about}\n"):
        assert CheckId.parse(other) is None


def test_the_registration_asks_for_exactly_the_events_that_are_read() -> None:
    registration = yaml.safe_load((PROJECT / "app.yml").read_text())
    assert sorted(registration["default_events"]) == sorted(set(TABLE) - AUTOMATIC)
    assert set(MODELS) == set(TABLE)


def test_the_registration_asks_for_no_more_than_is_needed() -> None:
    registration = yaml.safe_load((PROJECT / "app.yml").read_text())
    assert registration["default_permissions"] == {
        "actions": "write",
        "checks": "write",
        "contents": "write",
        "issues": "write",
        "members": "read",
        "merge_queues": "read",
        "metadata": "read",
        "pull_requests": "write",
        "statuses": "read",
    }
    assert registration["public"] is False


def test_a_payload_knows_its_repository_only_with_an_installation() -> None:
    whole = parse("repository", json.dumps({**COMMON, "action": "renamed"}))
    assert whole.repo is not None
    assert (whole.repo.id, whole.repo.owner, whole.repo.name, whole.repo.installation_id) == (5, "acme", "shop", 9)
    assert parse("repository", json.dumps({**COMMON, "installation": None})).repo is None


def test_a_merge_group_names_its_last_pull_request() -> None:
    def last(ref: str) -> int | None:
        body = {**COMMON, "action": "destroyed", "merge_group": {**group(), "head_ref": ref}}
        return cast("MergeGroupPayload", parse("merge_group", json.dumps(body))).merge_group.pull_request

    assert last(group(12)["head_ref"]) == 12
    assert last(f"refs/heads/gh-readonly-queue/release/pr-1-{SHA}/pr-3-{SHA}") == 3
    assert [last(f"refs/heads/{name}") for name in ("trunk", f"pr-0-{SHA}", "a/pr-4-abc")] == [None, None, None]
