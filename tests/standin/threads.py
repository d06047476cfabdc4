"""Threads (issues and pull requests): making them and telling Apps about them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.standin.entities import Issue
from tests.standin.render import Render
from tests.standin.render_pull import full_pull

if TYPE_CHECKING:
    from tests.standin.http import Call


def announce(call: Call, issue: Issue, action: str, **extra: Any) -> None:
    """Send ``issues`` (for a pull request ``pull_request``) with an action."""
    render = Render(call.hub)
    if issue.pull is None:
        body = {"action": action, "issue": render.issue(issue), **extra}
        call.hub.emit("issues", body, issue.repo, sender=call.actor)
        return
    body = {"action": action, "number": issue.number, "pull_request": full_pull(render, issue), **extra}
    call.hub.emit("pull_request", body, issue.repo, sender=call.actor)


def new_thread(call: Call, title: str, body: str | None) -> Issue:
    """A numbered thread in the repository, said to nobody yet."""
    hub, repo, now = call.hub, call.repo, call.hub.clock()
    app = call.token.app if call.token else None
    number = max(repo.issues, default=0) + 1
    issue = Issue(hub.next_id("issue"), repo, number, title, body, call.actor, now, now, app)
    repo.issues[number] = issue
    return issue
