"""Issue threads, pull requests and check runs as self-contained HTML pages, so that a person can see what the bot wrote.

They resemble GitHub's, so that what reads badly there reads badly here: the same widths, the same Markdown, tables and
code that scroll within their comment, minimised comments folded, light and dark as the browser prefers.
"""

from __future__ import annotations

import re
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
    from tests.standin.entities import CheckRun, Comment, InlineComment, Issue, Reaction, Review
    from tests.standin.model import Hub

EMOJI = dict(zip(CONTENTS, ["👍", "👎", "😄", "😕", "❤️", "🎉", "🚀", "👀"], strict=True))
FOLDER = Path(__file__).parent / "templates"
SPANS = (("day", 86_400), ("hour", 3_600), ("minute", 60))
STATES = {"APPROVED": "approved these changes", "CHANGES_REQUESTED": "requested changes"}
"""What a review says of itself; any other one has just been written."""


def blueprint(hub: Hub) -> Blueprint:
    """The pages under their usual paths."""
    made = Blueprint("pages", __name__)

    @made.get("/<owner>/<name>/issues/<int:number>")
    @made.get("/<owner>/<name>/pull/<int:number>")
    def thread(owner: str, name: str, number: int) -> Response:
        with hub.lock:
            repo = hub.repo(owner, name)
            issue = repo.issues.get(number) if repo else None
            return _answer(None if issue is None or issue.deleted else render(hub, issue))

    @made.get("/<owner>/<name>/runs/<int:number>")
    def check_run(owner: str, name: str, number: int) -> Response:
        with hub.lock:
            repo = hub.repo(owner, name)
            check = repo.checks.get(number) if repo else None
            return _answer(_fill("check.html", repo=check.repo, check=_check(check)) if check else None)

    @made.get("/<owner>/<name>/compare/<base>...<head>")
    def comparison(owner: str, name: str, base: str, head: str) -> Response:
        with hub.lock:
            repo = hub.repo(owner, name)
            them = _changes(GitRender(Render(hub), repo), base, head) if repo else None
            page = _fill("compare.html", repo=repo, base=base, head=head, them=them) if them else None
            return _answer(page)

    @made.get("/<owner>/<name>/actions/runs/<int:number>")
    def workflow_run(owner: str, name: str, number: int) -> Response:
        with hub.lock:
            repo = hub.repo(owner, name)
            run = repo.runs.get(number) if repo else None
            return _answer(_fill("run.html", repo=run.repo, run=run) if run else None)

    return made


def _answer(page: str | None) -> Response:
    if page is None:
        return Response("There is no such page.\n", 404, mimetype="text/plain")
    return Response(page, mimetype="text/html")


def render(hub: Hub, issue: Issue) -> str:
    """The page of one thread."""
    return _fill("thread.html", **context(hub, issue))


def _fill(template: str, **values: Any) -> str:
    loader = jinja2.FileSystemLoader(FOLDER)
    environment = jinja2.Environment(
        loader=loader, autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters["markdown"] = lambda text: Markup(markdown.render(text))
    environment.filters["diff"] = lambda text: Markup(markdown.diff(text))
    environment.filters["hue"] = lambda login: sum(map(ord, login)) * 47 % 360
    return environment.get_template(template).render(**values)


def context(hub: Hub, issue: Issue) -> dict[str, Any]:
    """What the template shows."""
    now = hub.clock()
    posts = [_post(comment, issue, now, "commented") for comment in issue.comments]
    if issue.pull is not None:
        posts += [_review(review, issue, now) for review in issue.repo.reviews.values() if review.pull == issue.number]
        lone = [c for c in issue.repo.inline.values() if c.pull == issue.number and c.review is None]
        posts += [_beside(comment, issue, now) for comment in lone]
    closes = re.compile(rf"\bcloses #{issue.number}\b", re.IGNORECASE)
    pulls = [other for other in hub.threads(issue.repo) if other.pull and closes.search(other.body or "")]
    return {
        "issue": issue,
        "repo": issue.repo,
        "state": _state(issue),
        "opened": _when(issue.created_at, now),
        "posts": [_post(issue, issue, now, "opened"), *sorted(posts, key=lambda post: post["at"])],
        "pull": _pull(hub, issue),
        "pulls": [(other, _state(other)) for other in pulls],
        "children": [(child, _state(child)) for child in issue.children],
    }


def _when(moment: float, now: float) -> dict[str, str]:
    """A time as machines and as people read it."""
    at = datetime.fromtimestamp(moment, UTC)
    for name, length in SPANS:
        count = int((now - moment) // length)
        if count > 0:
            return {"exact": at.isoformat(), "shown": f"{count} {name}{'' if count == 1 else 's'} ago"}
    return {"exact": at.isoformat(), "shown": "now"}


def _state(issue: Issue) -> str:
    if issue.pull is None:
        return issue.state
    if issue.pull.merged_at is not None:
        return "merged"
    return "draft" if issue.pull.draft and issue.state == "open" else issue.state


def _post(post: Issue | Comment, issue: Issue, now: float, verb: str) -> dict[str, Any]:
    hidden = getattr(post, "minimized_reason", None)
    return {
        "anchor": f"issuecomment-{post.id}",
        "at": post.created_at,
        "user": post.user,
        "author": post.user is issue.user and post.user.type != "Bot",
        "verb": verb,
        "when": _when(post.created_at, now),
        "edited": post.edited_at is not None,
        "hidden": hidden.lower() if hidden else None,
        "body": post.body or "*No description provided.*",
        "reactions": _reactions(post.reactions),
        "lines": [],
    }


def _review(review: Review, issue: Issue, now: float) -> dict[str, Any]:
    """A review with its comments beside lines."""
    beside = [c for c in issue.repo.inline.values() if c.review == review.id]
    return {
        **_said(review.user, issue, review.submitted_at, now, STATES.get(review.state, "reviewed")),
        "anchor": f"pullrequestreview-{review.id}",
        "body": review.body,
        "lines": [(f"{c.path}, line {c.line}" if c.line else c.path, c.body) for c in beside],
    }


def _beside(comment: InlineComment, issue: Issue, now: float) -> dict[str, Any]:
    """A single comment beside a line."""
    place = f"{comment.path}, line {comment.line}" if comment.line else comment.path
    return {
        **_said(comment.user, issue, comment.created_at, now, "commented on a line"),
        "anchor": f"discussion_r{comment.id}",
        "body": "",
        "lines": [(place, comment.body)],
    }


def _said(user: Any, issue: Issue, at: float, now: float, verb: str) -> dict[str, Any]:
    head = {"user": user, "author": user is issue.user, "at": at, "when": _when(at, now), "verb": verb}
    return {**head, "edited": False, "hidden": None, "reactions": []}


def _reactions(reactions: list[Reaction]) -> list[tuple[str, int, str]]:
    rows = []
    for content, emoji in EMOJI.items():
        who = [reaction.user.login for reaction in reactions if reaction.content == content]
        if who:
            rows.append((emoji, len(who), ", ".join(who)))
    return rows


def _check(check: CheckRun) -> dict[str, Any]:
    fields = check.fields
    output = fields.get("output") or {}
    return {
        "id": check.id,
        "name": check.name,
        "app": check.app.slug,
        "sha": check.head_sha,
        "state": fields.get("conclusion") or fields["status"],
        "title": output.get("title"),
        "summary": output.get("summary") or "",
        "buttons": fields.get("actions") or [],
    }


def _pull(hub: Hub, issue: Issue) -> dict[str, Any] | None:
    part, repo = issue.pull, issue.repo
    if part is None:
        return None
    newest = {status.context: status for status in repo.statuses if status.sha == part.head_sha}
    return {
        "head": part.head_ref,
        "base": part.base_ref,
        **(_changes(GitRender(Render(hub), repo), part.base_sha, part.head_sha) or {}),
        "checks": [_check(check) for check in repo.checks.values() if check.head_sha == part.head_sha],
        "statuses": list(newest.values()),
    }


def _changes(git: GitRender, base: str, head: str) -> dict[str, Any] | None:
    """What a head has that its base has not; None where there is no such commit."""
    ends = [gitstore.resolve(git.path, name) for name in (base, head)]
    if ends[0] is None or ends[1] is None:
        return None
    fork = gitstore.merge_base(git.path, ends[0], ends[1]) or ends[0]
    files = git.files(fork, ends[1])
    return {
        "commits": [
            (sha[:7], git.raw_commit(sha)["message"].splitlines()[0])
            for sha in gitstore.commits_between(git.path, fork, ends[1])
        ],
        "files": files,
        "added": sum(file["additions"] for file in files),
        "removed": sum(file["deletions"] for file in files),
    }
