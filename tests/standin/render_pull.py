"""Pull requests and check runs as GitHub's JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.standin import gitstore
from tests.standin.entities import iso
from tests.standin.errors import not_found
from tests.standin.render_git import GitRender

if TYPE_CHECKING:
    from tests.standin.entities import CheckRun, Issue, Pull, Repo
    from tests.standin.render import Render

Json = dict[str, Any]


def pull_of(issue: Issue) -> Pull:
    """The pull request part of a thread; 404 for a plain issue."""
    if issue.pull is None:
        raise not_found()
    return issue.pull


def branch_side(render: Render, repo: Repo, ref: str, sha: str) -> Json:
    """``head`` or ``base`` of a pull request."""
    user = render.user(repo.owner)
    label = f"{repo.owner.login}:{ref}"
    return {"label": label, "ref": ref, "sha": sha, "user": user, "repo": render.repository(repo)}


def pull(render: Render, issue: Issue) -> Json:
    """A pull request as lists show it."""
    part, repo = pull_of(issue), issue.repo
    thread = render.issue(issue)
    url = f"{render.repo_api(repo)}/pulls/{issue.number}"
    kept = [
        "number",
        "state",
        "locked",
        "title",
        "user",
        "body",
        "labels",
        "milestone",
        "assignee",
        "assignees",
        "active_lock_reason",
        "created_at",
        "updated_at",
        "closed_at",
        "author_association",
        "html_url",
        "comments_url",
    ]
    return {
        **{key: thread[key] for key in kept},
        "id": part.id,
        "node_id": part.node_id,
        "url": url,
        "diff_url": f"{thread['html_url']}.diff",
        "patch_url": f"{thread['html_url']}.patch",
        "issue_url": thread["url"],
        "commits_url": f"{url}/commits",
        "review_comments_url": f"{url}/comments",
        "review_comment_url": f"{render.repo_api(repo)}/pulls/comments{{/number}}",
        "statuses_url": f"{render.repo_api(repo)}/statuses/{part.head_sha}",
        "merged_at": iso(part.merged_at),
        "merge_commit_sha": part.merge_sha,
        "requested_reviewers": [],
        "requested_teams": [],
        "head": branch_side(render, repo, part.head_ref, part.head_sha),
        "base": branch_side(render, repo, part.base_ref, part.base_sha),
        "auto_merge": None,
        "draft": part.draft,
        "_links": _links(render, issue, url, part.head_sha),
    }


def _links(render: Render, issue: Issue, url: str, head: str) -> Json:
    base = render.repo_api(issue.repo)
    links = {
        "self": url,
        "html": render.web(render.thread_path(issue)),
        "issue": f"{base}/issues/{issue.number}",
        "comments": f"{base}/issues/{issue.number}/comments",
        "review_comments": f"{url}/comments",
        "review_comment": f"{base}/pulls/comments{{/number}}",
        "commits": f"{url}/commits",
        "statuses": f"{base}/statuses/{head}",
    }
    return {name: {"href": href} for name, href in links.items()}


def full_pull(render: Render, issue: Issue) -> Json:
    """A pull request as it is shown alone, with mergeability and sizes."""
    part = pull_of(issue)
    git = GitRender(render, issue.repo)
    fork = gitstore.merge_base(git.path, part.base_sha, part.head_sha) or part.base_sha
    files = git.files(fork, part.head_sha)
    words = {None: "unknown", True: "draft" if part.draft else "clean", False: "dirty"}
    return {
        **pull(render, issue),
        "merged": part.merged_at is not None,
        "mergeable": part.mergeable,
        "rebaseable": part.mergeable,
        "mergeable_state": words[part.mergeable],
        "merged_by": render.user(part.merged_by) if part.merged_by else None,
        "comments": len(issue.comments),
        "review_comments": 0,
        "maintainer_can_modify": False,
        "commits": len(gitstore.commits_between(git.path, part.base_sha, part.head_sha)),
        "additions": sum(f["additions"] for f in files),
        "deletions": sum(f["deletions"] for f in files),
        "changed_files": len(files),
    }


def check_run(render: Render, check: CheckRun) -> Json:
    """A check run."""
    url = f"{render.repo_api(check.repo)}/check-runs/{check.id}"
    page = render.web(f"/{check.repo.full_name}/runs/{check.id}")
    fields = check.fields
    output = {"title": None, "summary": None, "text": None, **fields.get("output", {})}
    output.pop("annotations", None)
    output |= {"annotations_count": len(fields.get("annotations", [])), "annotations_url": f"{url}/annotations"}
    return {
        "id": check.id,
        "node_id": check.node_id,
        "head_sha": check.head_sha,
        "name": check.name,
        "url": url,
        "html_url": page,
        "details_url": fields.get("details_url") or page,
        "external_id": fields.get("external_id", ""),
        "status": fields["status"],
        "conclusion": fields.get("conclusion"),
        "started_at": fields.get("started_at"),
        "completed_at": fields.get("completed_at"),
        "check_suite": {"id": check.id + 10_000_000_000},
        "output": output,
        "app": render.app(check.app),
        "pull_requests": [],
    }
