"""What a new repository, App or token gets, and who hears of which event."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.standin.entities import Permissions

FIRST_IDS = {
    "user": 1001,
    "repo": 500_001,
    "label": 6_001,
    "issue": 3_000_000_001,
    "pull": 2_500_000_001,
    "comment": 4_000_000_001,
    "reaction": 200_000_001,
    "inline": 1_500_000_001,
    "review": 3_200_000_001,
    "status": 21_000_000_001,
    "check": 30_000_000_001,
    "suite": 40_000_000_001,
    "run": 9_000_000_001,
    "job": 70_000_000_001,
    "app": 4_001,
    "installation": 70_001,
    "delivery": 10_000_000_001,
}
"""Where each counter starts; far apart and partly above 2**31, as GitHub's are, so that mixed-up ids show."""

DEFAULT_PERMISSIONS: Permissions = {
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
DEFAULT_EVENTS = [
    "issues",
    "issue_comment",
    "label",
    "pull_request",
    "push",
    "check_run",
    "status",
    "merge_group",
    "workflow_run",
    "repository",
]
EVENT_PERMISSION = {
    "issues": "issues",
    "issue_comment": "issues",
    "sub_issues": "issues",
    "pull_request": "pull_requests",
    "pull_request_review": "pull_requests",
    "pull_request_review_comment": "pull_requests",
    "push": "contents",
    "commit_comment": "contents",
    "check_run": "checks",
    "status": "statuses",
    "merge_group": "merge_queues",
    "workflow_run": "actions",
    "workflow_job": "actions",
}
"""The permission without which an App is not told of an event; events not named need none."""
AUTOMATIC_EVENTS = {"installation", "installation_repositories", "installation_target"}
TOKEN_SECONDS = 3600.0
DEFAULT_LABELS = {"bug": "d73a4a", "documentation": "0075ca", "enhancement": "a2eeef"}
