"""Merging pull requests with real git: merge commit, squash or rebase, without a work tree."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from tests.standin import gitstore, pushes
from tests.standin.errors import ApiError, unprocessable
from tests.standin.render import Render
from tests.standin.render_pull import pull_of

if TYPE_CHECKING:
    from pathlib import Path

    from tests.standin.entities import Issue, Pull, User
    from tests.standin.model import Hub

METHODS = ("merge", "squash", "rebase")


def compute(hub: Hub, issue: Issue) -> bool:
    """Find out (and remember) whether a pull request can be merged."""
    part = pull_of(issue)
    part.mergeable = gitstore.merged_tree(hub.git_dir(issue.repo), part.base_sha, part.head_sha) is not None
    return part.mergeable


def merge(hub: Hub, issue: Issue, actor: User, body: dict[str, Any]) -> str:
    """Merge and announce it; the new commit of the base; ApiError 405 or 409 when that cannot be."""
    part, method = pull_of(issue), body.get("merge_method", "merge")
    if method not in METHODS:
        raise unprocessable("merge_method", f"{method!r} is not a member of {list(METHODS)}.")
    if issue.state != "open" or part.draft or not compute(hub, issue):
        raise ApiError(405, "Pull Request is still a draft" if part.draft else "Pull Request is not mergeable")
    if body.get("sha") not in {None, part.head_sha}:
        raise ApiError(409, "Head branch was modified. Review and try the merge again.")
    path = hub.git_dir(issue.repo)
    return land(hub, issue, actor, _commit(path, issue, part, actor, {**body, "merge_method": method}), part.base_sha)


def land(hub: Hub, issue: Issue, actor: User, sha: str, before: str) -> str:
    """Bring the base branch of a pull request to the merged commit, and tell of all that follows."""
    part = pull_of(issue)
    base = f"refs/heads/{part.base_ref}"
    gitstore.set_ref(hub.git_dir(issue.repo), base, sha, before)
    part.merged_at, part.merged_by, part.merge_sha = hub.clock(), actor, sha
    for linked in _closed_by(issue):
        linked.state, linked.closed_at, linked.closed_by = "closed", hub.clock(), actor
        linked.updated_at, linked.state_reason = hub.clock(), "completed"
        body = {"action": "closed", "issue": Render(hub).issue(linked)}
        hub.emit("issues", body, issue.repo, sender=actor)
    pushes.close(hub, issue, actor)
    pushes.announce(hub, issue.repo, base, before, sha, actor)
    return sha


CLOSES = re.compile(r"\b(?:close[sd]?|fix(?:e[sd])?|resolve[sd]?):? #(\d+)", re.IGNORECASE)


def _closed_by(pull: Issue) -> list[Issue]:
    """The open issues that the pull request's text closes when it is merged into the default branch."""
    if pull.pull is None or pull.pull.base_ref != pull.repo.default_branch:
        return []
    named = [pull.repo.issues.get(int(number)) for number in CLOSES.findall(pull.body or "")]
    return [issue for issue in named if issue and issue.pull is None and issue.state == "open"]


def _commit(path: Path, issue: Issue, part: Pull, actor: User, body: dict[str, Any]) -> str:
    env = {f"GIT_{role}_NAME": actor.login for role in ("AUTHOR", "COMMITTER")}
    if body["merge_method"] == "rebase":
        return _rebase(path, part)
    tree = gitstore.merged_tree(path, part.base_sha, part.head_sha)
    if tree is None:
        raise ApiError(405, "Pull Request is not mergeable")
    squash = body["merge_method"] == "squash"
    title = f"{issue.title} (#{issue.number})" if squash else f"Merge pull request #{issue.number} from {part.head_ref}"
    message = f"{body.get('commit_title') or title}\n\n{body.get('commit_message') or issue.title}\n"
    parents = [part.base_sha] if squash else [part.base_sha, part.head_sha]
    return gitstore.commit_tree(path, tree, parents, message, env)


def _rebase(path: Path, part: Pull) -> str:
    tip = part.base_sha
    for sha in gitstore.commits_between(path, part.base_sha, part.head_sha):
        tree = gitstore.picked_tree(path, tip, sha)
        if tree is None:
            raise ApiError(405, "This branch can't be rebased")
        tip = gitstore.commit_tree(path, tree, [tip], gitstore.text(path, "log", "-1", "--format=%B", sha) + "\n")
    return tip
