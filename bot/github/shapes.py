"""GitHub's JSON -> the gateway's values. Reads only the fields named here, so that new ones never matter."""

from __future__ import annotations

import base64
import binascii
from typing import Any, Literal

from bot.errors import Permanent
from bot.github.gateway import (
    AppIdentity,
    Comment,
    Comparison,
    Grant,
    InlineComment,
    Installed,
    IssueInfo,
    MadeIssue,
    Pull,
    PullReview,
    RepositoryInfo,
    Run,
)
from bot.github.tokens import seconds
from bot.lifecycle.plan import IssueSnapshot, Person, Repo
from bot.lifecycle.policy import Permission

COMPARED_FILES = 300
"""The comparison lists no more files than this, and does not say so."""


def person(json: Any) -> Person | None:
    """Return an account; None where it is gone."""
    return Person(id=json["id"], login=json["login"]) if json else None


def comment(json: Any, app: AppIdentity) -> Comment:
    """Return a comment of an issue or pull request."""
    author = person(json.get("user"))
    via = json.get("performed_via_github_app") or {}
    by_app = via.get("id") == app.app_id or (author is not None and author.id == app.bot_user_id)
    return Comment(
        id=json["id"],
        node_id=json["node_id"],
        body=json.get("body") or "",
        author=author,
        created_at=seconds(json["created_at"]),
        updated_at=seconds(json["updated_at"]),
        by_app=by_app,
        app=None if by_app else via.get("slug"),
    )


def issue(json: Any) -> IssueInfo:
    """Return an issue."""
    return IssueInfo(
        snapshot=IssueSnapshot(title=json["title"] or "", body=json.get("body") or "", author=person(json.get("user"))),
        state=json["state"],
        locked=bool(json.get("locked")),
        labels=tuple(label["name"] for label in json.get("labels") or ()),
    )


def repository(json: Any) -> RepositoryInfo:
    """Return a repository."""
    return RepositoryInfo(
        owner=json["owner"]["login"],
        name=json["name"],
        default_branch=json["default_branch"],
        archived=bool(json.get("archived")),
        clone_url=json["clone_url"],
    )


def run(json: Any) -> Run:
    """Return a workflow run."""
    actor = json.get("actor") or {}
    return Run(
        id=json["id"],
        attempt=json.get("run_attempt") or 1,
        status=json.get("status") or "unknown",
        conclusion=json.get("conclusion"),
        actor_id=actor.get("id"),
    )


def pull(json: Any) -> Pull:
    """Return a pull request; lists have ``merged_at`` where the single answer also has ``merged``."""
    head = json["head"]
    return Pull(
        number=json["number"],
        url=json["html_url"],
        state=json["state"],
        merged=json.get("merged_at") is not None,
        head_repository_id=(head.get("repo") or {}).get("id"),
        head=head["sha"],
        head_branch=head["ref"],
        base=json["base"]["ref"],
        mergeable=json.get("mergeable"),
    )


def inline_comment(json: Any) -> InlineComment:
    """Return a comment on a commit or beside a line of a pull request.

    Where the line is gone from the pull request since, it is told as it was when the comment was written.
    """
    line, commit = json.get("line"), json["commit_id"]
    if line is None and json.get("original_line") is not None:
        line, commit = json["original_line"], json["original_commit_id"]
    return InlineComment(
        id=json["id"],
        author=person(json.get("user")),
        by_bot=(json.get("user") or {}).get("type") == "Bot",
        body=json.get("body") or "",
        commit=commit,
        path=json.get("path") or "",
        line=None if json.get("side") == "LEFT" else line,
        hunk=json.get("diff_hunk") or "",
        reply_to=json.get("in_reply_to_id"),
        created_at=seconds(json["created_at"]),
        updated_at=seconds(json["updated_at"]),
        url=json["html_url"],
    )


REVIEW_STATES: dict[str, Literal["approved", "changes_requested", "commented", "dismissed"]] = {
    "APPROVED": "approved",
    "CHANGES_REQUESTED": "changes_requested",
    "COMMENTED": "commented",
    "DISMISSED": "dismissed",
}
"""States of a review that was handed in; ``PENDING`` is its author's alone."""


def review(json: Any) -> PullReview | None:
    """Return a review; None for one that is not handed in, or of a kind not known."""
    state = REVIEW_STATES.get(json.get("state") or "")
    if state is None or not json.get("submitted_at"):
        return None
    return PullReview(
        id=json["id"],
        author=person(json.get("user")),
        by_bot=(json.get("user") or {}).get("type") == "Bot",
        state=state,
        body=json.get("body") or "",
        commit=json.get("commit_id") or "",
        submitted_at=seconds(json["submitted_at"]),
        url=json["html_url"],
    )


def made_issue(json: Any) -> MadeIssue:
    """Return an issue by its numbers."""
    return MadeIssue(number=json["number"], id=json["id"], url=json["html_url"])


def comparison(json: Any) -> Comparison:
    """Return how two commits stand to each other; a renamed file counts under both names."""
    files = json.get("files") or []
    names = [name for file in files for name in (file.get("previous_filename"), file["filename"]) if name]
    return Comparison(
        ahead_by=json["ahead_by"],
        paths=tuple(dict.fromkeys(names)),
        complete=len(files) < COMPARED_FILES,
    )


def text_file(json: Any, path: str) -> str:
    """Return a file's text. Raises ``Permanent`` where it is no text file of at most a megabyte."""
    if not isinstance(json, dict) or json.get("encoding") != "base64":
        raise Permanent(f"{path} is no file of at most 1 MB: put a small text file there.")
    try:
        return base64.b64decode(json["content"]).decode()
    except (UnicodeDecodeError, binascii.Error) as error:
        raise Permanent(f"{path} is no UTF-8 text: save it as UTF-8.") from error


def permission(json: Any) -> Permission:
    """Return a role; a custom one counts as the built-in one that GitHub derives it from. Bots have none."""
    if (json.get("user") or {}).get("type") == "Bot":
        return Permission.NONE
    for name in (json.get("role_name"), json.get("permission")):
        if name and name.upper() in Permission.__members__:
            return Permission[name.upper()]
    return Permission.NONE


def grant(json: Any) -> Grant:
    """Return an installation."""
    return Grant(
        installation_id=json["id"],
        account=(json.get("account") or {}).get("login") or "a deleted account",
        permissions=dict(json.get("permissions") or {}),
        suspended=json.get("suspended_at") is not None,
    )


def installed(json: Any, installation_id: int) -> Installed:
    """Return a repository of an installation; one whose visibility is told in other words is not public."""
    names = {"id": json["id"], "owner": json["owner"]["login"], "name": json["name"]}
    return Installed(
        repo=Repo(**names, installation_id=installation_id),
        default_branch=json["default_branch"],
        public=json.get("visibility", "private" if json.get("private") else "public") == "public",
    )
