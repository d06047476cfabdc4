"""What follows when a ref moved: push event, synchronized pull requests, mergeability computed anew."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.standin import gitstore, render_pull
from tests.standin.entities import iso
from tests.standin.gitstore import ZERO
from tests.standin.render import Render
from tests.standin.render_git import GitRender

if TYPE_CHECKING:
    from tests.standin.entities import Issue, Repo, User
    from tests.standin.model import Hub

Json = dict[str, Any]
MAX_COMMITS = 2048
"""Commits that a push event lists at most."""


def announce(hub: Hub, repo: Repo, ref: str, before: str, after: str, sender: User) -> None:
    """Call after a ref moved (``before`` or ``after`` all zeros: created or deleted), with the ref as it is now."""
    with hub.lock:
        hub.emit("push", payload(hub, repo, ref, before, after, sender), repo, sender=sender)
        branch = ref.removeprefix("refs/heads/")
        for issue in list(hub.threads(repo)):
            if issue.pull and issue.state == "open":
                _follow(hub, issue, branch, after, sender)


def _follow(hub: Hub, issue: Issue, branch: str, after: str, sender: User) -> None:
    part = issue.pull
    if part is None or branch not in {part.head_ref, part.base_ref}:
        return
    part.mergeable = None
    if branch == part.base_ref:
        part.base_sha = after if after != ZERO else part.base_sha
    elif after == ZERO:
        close(hub, issue, sender)
    else:
        old, part.head_sha = part.head_sha, after
        issue.updated_at = hub.clock()
        shown = render_pull.full_pull(Render(hub), issue)
        body = {"action": "synchronize", "number": issue.number, "before": old, "after": after, "pull_request": shown}
        hub.emit("pull_request", body, issue.repo, sender=sender)


def close(hub: Hub, issue: Issue, sender: User) -> None:
    """Close a pull request and say so."""
    issue.state, issue.closed_at, issue.closed_by = "closed", hub.clock(), sender
    issue.updated_at = hub.clock()
    body = {"action": "closed", "number": issue.number, "pull_request": render_pull.full_pull(Render(hub), issue)}
    hub.emit("pull_request", body, issue.repo, sender=sender)


def payload(hub: Hub, repo: Repo, ref: str, before: str, after: str, sender: User) -> Json:
    """The push event's own part."""
    render = Render(hub)
    git = GitRender(render, repo)
    commits = _new_commits(hub, repo, before, after)
    forced = ZERO not in {before, after} and not gitstore.is_ancestor(git.path, before, after)
    span = f"{before[:12]}...{after[:12]}" if ZERO not in {before, after} else ref.rsplit("/", 1)[-1]
    who = {"name": sender.login, "email": f"{sender.id}+{sender.login}@users.noreply.localhost"}
    return {
        "ref": ref,
        "before": before,
        "after": after,
        "base_ref": None,
        "created": before == ZERO,
        "deleted": after == ZERO,
        "forced": forced,
        "compare": render.web(f"/{repo.full_name}/compare/{span}"),
        "commits": [_commit(git, sha) for sha in commits[-MAX_COMMITS:]],
        "head_commit": None if after == ZERO else _commit(git, after),
        "pusher": who,
        "repository": _push_repository(render, repo),
    }


def _push_repository(render: Render, repo: Repo) -> Json:
    shown = render.repository(repo)
    count = {"created_at": int(repo.created_at), "pushed_at": int(render.hub.clock()), "stargazers": 0}
    owner = {**shown["owner"], "name": repo.owner.login, "email": None}
    return {**shown, **count, "owner": owner, "master_branch": repo.default_branch}


def _new_commits(hub: Hub, repo: Repo, before: str, after: str) -> list[str]:
    if after == ZERO:
        return []
    path = hub.git_dir(repo)
    base = before if before != ZERO else gitstore.resolve(path, repo.default_branch)
    return gitstore.commits_between(path, base, after) if base else [after]


def _commit(git: GitRender, sha: str) -> Json:
    raw = git.raw_commit(sha)
    parent = raw["parents"].split()[:1]
    changed = git.files(parent[0], sha) if parent else []
    names = {"added": "added", "removed": "removed"}
    touched: dict[str, list[str]] = {"added": [], "removed": [], "modified": []}
    for entry in changed:
        touched[names.get(entry["status"], "modified")].append(entry["filename"])
    return {
        "id": sha,
        "tree_id": raw["tree"],
        "distinct": True,
        "message": raw["message"].rstrip("\n"),
        "timestamp": stamp(raw),
        "url": f"{git.page}/commit/{sha}",
        "author": {"name": raw["an"], "email": raw["ae"]},
        "committer": {"name": raw["cn"], "email": raw["ce"]},
        **touched,
    }


def stamp(raw: dict[str, str]) -> str | None:
    """When a commit was made."""
    return iso(float(raw["ct"]))
