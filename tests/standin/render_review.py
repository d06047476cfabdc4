"""Comments beside lines, reviews and commit statuses as GitHub's JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.standin.entities import iso

if TYPE_CHECKING:
    from tests.standin.entities import InlineComment, Repo, Review, Status
    from tests.standin.render import Render

Json = dict[str, Any]


def commit_comment(render: Render, comment: InlineComment) -> Json:
    """A comment on a commit."""
    repo = comment.repo
    url = f"{render.repo_api(repo)}/comments/{comment.id}"
    page = render.web(f"/{repo.full_name}/commit/{comment.commit}#commitcomment-{comment.id}")
    return {
        **_common(render, comment, url),
        "html_url": page,
        "position": comment.line,
        "line": comment.line,
    }


def _common(render: Render, comment: InlineComment, url: str) -> Json:
    return {
        "url": url,
        "id": comment.id,
        "node_id": comment.node_id,
        "path": comment.path,
        "commit_id": comment.commit,
        "body": comment.body,
        "user": render.user(comment.user),
        "created_at": iso(comment.created_at),
        "updated_at": iso(comment.created_at),
        "author_association": render.association(comment.repo, comment.user),
        "reactions": render.rollup([], url),
    }


def review_comment(render: Render, comment: InlineComment) -> Json:
    """A comment beside a line of a pull request. Its line is gone once another commit is the head."""
    repo = comment.repo
    pull = repo.issues[comment.pull or 0]
    head = pull.pull.head_sha if pull.pull else comment.commit
    url, api = f"{render.repo_api(repo)}/pulls/comments/{comment.id}", f"{render.repo_api(repo)}/pulls/{pull.number}"
    page = f"{render.web(render.thread_path(pull))}#discussion_r{comment.id}"
    shown = {
        **_common(render, comment, url),
        "html_url": page,
        "commit_id": head,
        "original_commit_id": comment.commit,
        "pull_request_review_id": comment.review,
        "pull_request_url": api,
        "diff_hunk": f"@@ -1,1 +{comment.line or 1},1 @@",
        "original_position": comment.line or 1,
        "original_line": comment.line,
        "start_line": None,
        "original_start_line": None,
        "start_side": None,
        "side": comment.side,
        "subject_type": "line" if comment.line else "file",
        "_links": {name: {"href": href} for name, href in (("self", url), ("html", page), ("pull_request", api))},
    }
    current = {"position": comment.line, "line": comment.line} if head == comment.commit else {}
    return shown | current | ({"in_reply_to_id": comment.reply_to} if comment.reply_to else {})


def review(render: Render, repo: Repo, made: Review, *, hook: bool = False) -> Json:
    """A review of a pull request; webhooks write its state in small letters."""
    pull = repo.issues[made.pull]
    page = f"{render.web(render.thread_path(pull))}#pullrequestreview-{made.id}"
    api = f"{render.repo_api(repo)}/pulls/{made.pull}"
    return {
        "id": made.id,
        "node_id": made.node_id,
        "user": render.user(made.user),
        "body": made.body,
        "state": made.state.lower() if hook else made.state,
        "html_url": page,
        "pull_request_url": api,
        "_links": {"html": {"href": page}, "pull_request": {"href": api}},
        "submitted_at": iso(made.submitted_at),
        "commit_id": made.commit,
        "author_association": render.association(repo, made.user),
    }


def status(render: Render, repo: Repo, made: Status) -> Json:
    """A commit status."""
    return {
        "url": f"{render.repo_api(repo)}/statuses/{made.sha}",
        "avatar_url": render.user(made.creator)["avatar_url"],
        "id": made.id,
        "node_id": made.node_id,
        "state": made.state,
        "description": made.description,
        "target_url": made.target_url,
        "context": made.context,
        "created_at": iso(made.created_at),
        "updated_at": iso(made.created_at),
    }
