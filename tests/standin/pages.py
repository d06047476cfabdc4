"""Issue threads and pull requests as self-contained HTML pages, so that a person can see what the bot wrote."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import jinja2
from flask import Blueprint, Response
from markupsafe import Markup

from tests.standin import gitstore, markdown
from tests.standin.render import CONTENTS, Render
from tests.standin.render_git import GitRender

if TYPE_CHECKING:
    from tests.standin.entities import Comment, Issue, Reaction
    from tests.standin.model import Hub

EMOJI = dict(zip(CONTENTS, ["👍", "👎", "😄", "😕", "❤️", "🎉", "🚀", "👀"], strict=True))
FOLDER = Path(__file__).parent / "templates"


def blueprint(hub: Hub) -> Blueprint:
    """The pages under their usual paths."""
    made = Blueprint("pages", __name__)

    @made.get("/<owner>/<name>/issues/<int:number>")
    @made.get("/<owner>/<name>/pull/<int:number>")
    def thread(owner: str, name: str, number: int) -> Response:
        with hub.lock:
            repo = hub.repo(owner, name)
            issue = repo.issues.get(number) if repo else None
            if issue is None or issue.deleted:
                return Response("There is no such page.\n", 404, mimetype="text/plain")
            return Response(render(hub, issue), mimetype="text/html")

    return made


def render(hub: Hub, issue: Issue) -> str:
    """The page of one thread."""
    loader = jinja2.FileSystemLoader(FOLDER)
    environment = jinja2.Environment(loader=loader, autoescape=True, undefined=jinja2.StrictUndefined)
    environment.filters["markdown"] = lambda text: Markup(markdown.render(text or "*No description provided.*"))
    environment.filters["diff"] = lambda text: Markup(markdown.diff(text))
    return environment.get_template("thread.html").render(**context(hub, issue))


def context(hub: Hub, issue: Issue) -> dict[str, Any]:
    """What the template shows."""
    posts = [_post(issue, "opened this"), *(_post(comment, "commented") for comment in issue.comments)]
    checks = [check for check in issue.repo.checks.values() if issue.pull and check.head_sha == issue.pull.head_sha]
    return {
        "issue": issue,
        "repo": issue.repo,
        "state": _state(issue),
        "opened": _when(issue.created_at),
        "posts": posts,
        "checks": checks,
        "pull": _pull(hub, issue),
    }


def _when(moment: float) -> str:
    return datetime.fromtimestamp(moment, UTC).strftime("%d %b %Y, %H:%M UTC")


def _state(issue: Issue) -> str:
    if issue.pull is None:
        return issue.state
    if issue.pull.merged_at is not None:
        return "merged"
    return "draft" if issue.pull.draft and issue.state == "open" else issue.state


def _post(post: Issue | Comment, verb: str) -> dict[str, Any]:
    return {
        "anchor": f"issuecomment-{post.id}",
        "user": post.user,
        "verb": verb,
        "when": _when(post.created_at),
        "edited": post.edited_at is not None,
        "hidden": getattr(post, "minimized_reason", None),
        "body": post.body,
        "reactions": _reactions(post.reactions),
    }


def _reactions(reactions: list[Reaction]) -> list[tuple[str, int, str]]:
    rows = []
    for content, emoji in EMOJI.items():
        who = [reaction.user.login for reaction in reactions if reaction.content == content]
        if who:
            rows.append((emoji, len(who), ", ".join(who)))
    return rows


def _pull(hub: Hub, issue: Issue) -> dict[str, Any] | None:
    part = issue.pull
    if part is None:
        return None
    git = GitRender(Render(hub), issue.repo)
    fork = gitstore.merge_base(git.path, part.base_sha, part.head_sha) or part.base_sha
    shas = gitstore.commits_between(git.path, fork, part.head_sha)
    commits = [(sha[:7], git.raw_commit(sha)["message"].splitlines()[0]) for sha in shas]
    return {"head": part.head_ref, "base": part.base_ref, "commits": commits, "files": git.files(fork, part.head_sha)}
