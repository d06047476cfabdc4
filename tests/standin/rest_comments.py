"""REST: comments of issues and pull requests."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.standin.entities import Comment, Issue, iso
from tests.standin.errors import ApiError, check_text, not_found
from tests.standin.http import Api, Call, Result
from tests.standin.render import Render

if TYPE_CHECKING:
    from flask import Blueprint

    from tests.standin.model import Hub

REPO = "/repos/<owner>/<name>"
ONE = f"{REPO}/issues/comments/<int:comment>"
BOTH = "issues|pull_requests"
COMMENTS_LIMIT = 2500
"""Comments of one issue; then commenting is disabled."""


def blueprint(hub: Hub) -> Blueprint:
    """The routes of this module."""
    api, render = Api("comments", hub), Render(hub)

    @api.route("GET", f"{REPO}/issues/<int:number>/comments", "issues/list-comments")
    def listing(call: Call, number: int) -> Result:
        call.need(BOTH)
        rows = _since(call, call.issue(number).comments)
        return [render.comment(comment) for comment in call.page(rows)]

    @api.route("GET", f"{REPO}/issues/comments", "issues/list-comments-for-repo")
    def all_comments(call: Call) -> Result:
        call.need(BOTH)
        rows = [c for issue in call.hub.threads(call.repo) for c in issue.comments]
        rows.sort(key=lambda c: c.id, reverse=call.arg("direction") == "desc")
        return [render.comment(comment) for comment in call.page(_since(call, rows))]

    @api.route("POST", f"{REPO}/issues/<int:number>/comments", "issues/create-comment")
    def create(call: Call, number: int) -> Result:
        call.need(BOTH, "write", role="read")
        return render.comment(add_comment(call, call.issue(number), call.json().get("body"))), 201

    @api.route("GET", ONE, "issues/get-comment")
    def show(call: Call, comment: int) -> Result:
        call.need(BOTH)
        return render.comment(the_comment(call, comment))

    @api.route("PATCH", ONE, "issues/update-comment")
    def update(call: Call, comment: int) -> Result:
        found = _writable(call, comment)
        edit_comment(call, found, check_text("IssueComment", call.json().get("body")))
        return render.comment(found)

    @api.route("DELETE", ONE, "issues/delete-comment")
    def delete(call: Call, comment: int) -> Result:
        found = _writable(call, comment)
        shown, issue = render.comment(found), call.repo.issues[found.number]
        issue.comments.remove(found)
        del call.hub.comments[found.id]
        _say(call, issue, "deleted", shown)

    return api.blueprint


def _since(call: Call, rows: list[Comment]) -> list[Comment]:
    since = call.arg("since")
    return [c for c in rows if not since or (iso(c.updated_at) or "") >= since]


def the_comment(call: Call, number: int) -> Comment:
    """A comment of this repository, or 404."""
    found = call.hub.comments.get(number)
    if found is None or found.repo is not call.repo or call.repo.issues[found.number].deleted:
        raise not_found()
    return found


def _writable(call: Call, number: int) -> Comment:
    found = the_comment(call, number)
    own = found.user is call.token_actor
    call.need(BOTH, "write", role="read" if own else "write")
    return found


def add_comment(call: Call, issue: Issue, body: Any) -> Comment:
    """Post a comment and say so."""
    text = check_text("IssueComment", body)
    if len(issue.comments) >= COMMENTS_LIMIT:
        raise ApiError(403, "Commenting is disabled on issues with more than 2500 comments")
    if issue.locked and not call.may(BOTH, "write", role="write"):
        raise ApiError(403, "Unable to create comment because issue is locked.")
    now, app = call.hub.clock(), call.token.app if call.token else None
    comment = Comment(call.hub.next_id("comment"), issue.repo, issue.number, text, call.actor, now, now, app)
    issue.comments.append(comment)
    issue.updated_at = now
    call.hub.comments[comment.id] = comment
    _say(call, issue, "created", Render(call.hub).comment(comment))
    return comment


def edit_comment(call: Call, comment: Comment, text: str) -> None:
    """Change a comment's text and say so; the same text is no change."""
    old, comment.body = comment.body, text
    comment.updated_at = call.hub.clock()
    if old == text:
        return
    comment.edited_at = comment.updated_at
    shown = Render(call.hub).comment(comment)
    _say(call, call.repo.issues[comment.number], "edited", shown, changes={"body": {"from": old}})


def _say(call: Call, issue: Issue, action: str, shown: dict[str, Any], **extra: Any) -> None:
    body = {"action": action, "issue": Render(call.hub).issue(issue), "comment": shown, **extra}
    call.hub.emit("issue_comment", body, issue.repo, sender=call.actor)
