"""REST: comments on commits, comments beside lines of pull requests, and reviews."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.standin import gitstore
from tests.standin.entities import InlineComment, Review
from tests.standin.errors import ApiError, check_text, invalid, not_found, unprocessable
from tests.standin.http import Api, Call, Result
from tests.standin.render import Render
from tests.standin.render_pull import pull, pull_of
from tests.standin.render_review import commit_comment, review, review_comment

if TYPE_CHECKING:
    from flask import Blueprint

    from tests.standin.entities import Issue
    from tests.standin.model import Hub

REPO = "/repos/<owner>/<name>"
COMMIT = f"{REPO}/commits/<sha>/comments"
PULL = f"{REPO}/pulls/<int:number>"
STATES: dict[str, Any] = {"APPROVE": "APPROVED", "REQUEST_CHANGES": "CHANGES_REQUESTED", "COMMENT": "COMMENTED"}


def blueprint(hub: Hub) -> Blueprint:
    """The routes of this module."""
    api, render = Api("reviews", hub), Render(hub)
    _commit_routes(api, render)
    _comment_routes(api, render)
    _review_routes(api, render)
    return api.blueprint


def _commit_routes(api: Api, render: Render) -> None:
    @api.route("GET", COMMIT, "repos/list-comments-for-commit")
    def listing(call: Call, sha: str) -> Result:
        call.need("contents")
        rows = [c for c in call.repo.inline.values() if c.pull is None and c.commit == sha]
        return [commit_comment(render, comment) for comment in call.page(rows)]

    @api.route("POST", COMMIT, "repos/create-commit-comment")
    def create(call: Call, sha: str) -> Result:
        call.need("contents", "write", role="read")
        if gitstore.resolve(call.hub.git_dir(call.repo), sha) != sha:
            raise ApiError(422, f"No commit found for SHA: {sha}")
        made = _comment(call, sha, call.json())
        shown = commit_comment(render, made)
        call.hub.emit("commit_comment", {"action": "created", "comment": shown}, call.repo, sender=call.actor)
        return shown, 201


def _comment(call: Call, sha: str, body: dict[str, Any], **more: Any) -> InlineComment:
    text, line = check_text("CommitComment", body.get("body")), body.get("line") or body.get("position")
    if line is not None and not body.get("path"):
        raise unprocessable("path", "wasn't supplied.")
    number, now = call.hub.next_id("inline"), call.hub.clock()
    made = InlineComment(number, call.repo, sha, body.get("path"), line, text, call.actor, now, **more)
    call.repo.inline[made.id] = made
    return made


def _comment_routes(api: Api, render: Render) -> None:
    @api.route("GET", f"{PULL}/comments", "pulls/list-review-comments")
    def listing(call: Call, number: int) -> Result:
        call.need("pull_requests")
        pull_of(call.issue(number))
        rows = [c for c in call.repo.inline.values() if c.pull == number]
        return [review_comment(render, comment) for comment in call.page(rows)]

    @api.route("POST", f"{PULL}/comments", "pulls/create-review-comment")
    def create(call: Call, number: int) -> Result:
        call.need("pull_requests", "write", role="read")
        issue, body = call.issue(number), call.json()
        made = _hand_in(call, issue, "COMMENTED", "", [{**body, "commit_id": body.get("commit_id")}])[0]
        return review_comment(render, made), 201

    @api.route("POST", f"{PULL}/comments/<int:comment>/replies", "pulls/create-reply-for-review-comment")
    def reply(call: Call, number: int, comment: int) -> Result:
        call.need("pull_requests", "write", role="read")
        issue, first = call.issue(number), call.repo.inline.get(comment)
        if first is None or first.pull != number:
            raise not_found()
        said = {"body": call.json().get("body"), "path": first.path, "line": first.line}
        made = _hand_in(call, issue, "COMMENTED", "", [{**said, "commit_id": first.commit, "in_reply_to": first.id}])[0]
        return review_comment(render, made), 201


def _review_routes(api: Api, render: Render) -> None:
    @api.route("GET", f"{PULL}/reviews", "pulls/list-reviews")
    def listing(call: Call, number: int) -> Result:
        call.need("pull_requests")
        pull_of(call.issue(number))
        rows = [made for made in call.repo.reviews.values() if made.pull == number]
        return [review(render, call.repo, made) for made in call.page(rows)]

    @api.route("POST", f"{PULL}/reviews", "pulls/create-review")
    def create(call: Call, number: int) -> Result:
        call.need("pull_requests", "write", role="read")
        issue, body = call.issue(number), call.json()
        if body.get("event") not in STATES:
            raise unprocessable("event", f"{body.get('event')!r} is not a member of {sorted(STATES)}.")
        if body["event"] != "COMMENT" and issue.user is call.actor:
            raise ApiError(422, "Unprocessable Entity", ["Can not approve or request changes on your own pull request"])
        if body["event"] == "REQUEST_CHANGES" and not body.get("body"):
            raise invalid("PullRequestReview", "body", "missing_field")
        _hand_in(call, issue, STATES[body["event"]], body.get("body") or "", body.get("comments") or [])
        return review(render, call.repo, list(call.repo.reviews.values())[-1])


def _hand_in(call: Call, issue: Issue, state: Any, text: str, comments: list[dict[str, Any]]) -> list[InlineComment]:
    """Hand a review in with its comments, and say so."""
    part, hub, render = pull_of(issue), call.hub, Render(call.hub)
    made = Review(hub.next_id("review"), issue.number, state, text, part.head_sha, call.actor, hub.clock())
    call.repo.reviews[made.id] = made
    shown = pull(render, issue)
    rows = []
    for said in comments:
        more = {"pull": issue.number, "review": made.id, "reply_to": said.get("in_reply_to")}
        rows.append(
            _comment(call, said.get("commit_id") or part.head_sha, said, side=said.get("side", "RIGHT"), **more)
        )
        body = {"action": "created", "comment": review_comment(render, rows[-1]), "pull_request": shown}
        hub.emit("pull_request_review_comment", body, call.repo, sender=call.actor)
    body = {"action": "submitted", "review": review(render, call.repo, made, hook=True), "pull_request": shown}
    hub.emit("pull_request_review", body, call.repo, sender=call.actor)
    return rows
