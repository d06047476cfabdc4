"""Records as GitHub's JSON: users, repositories, issues, comments, labels, reactions, Apps, installations."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from tests.standin.entities import ROLE_RANK, iso

if TYPE_CHECKING:
    from tests.standin.entities import App, Comment, Delivery, Installation, Issue, Label, Reaction, Repo, User
    from tests.standin.model import Hub

Json = dict[str, Any]
CONTENTS = ("+1", "-1", "laugh", "confused", "heart", "hooray", "rocket", "eyes")
USER_LINKS = {
    "followers_url": "/followers",
    "following_url": "/following{/other_user}",
    "gists_url": "/gists{/gist_id}",
    "starred_url": "/starred{/owner}{/repo}",
    "subscriptions_url": "/subscriptions",
    "organizations_url": "/orgs",
    "repos_url": "/repos",
    "events_url": "/events{/privacy}",
    "received_events_url": "/received_events",
}
REPO_LINKS = {
    "archive_url": "/{archive_format}{/ref}",
    "assignees_url": "/assignees{/user}",
    "blobs_url": "/git/blobs{/sha}",
    "branches_url": "/branches{/branch}",
    "collaborators_url": "/collaborators{/collaborator}",
    "comments_url": "/comments{/number}",
    "commits_url": "/commits{/sha}",
    "compare_url": "/compare/{base}...{head}",
    "contents_url": "/contents/{+path}",
    "contributors_url": "/contributors",
    "deployments_url": "/deployments",
    "downloads_url": "/downloads",
    "events_url": "/events",
    "forks_url": "/forks",
    "git_commits_url": "/git/commits{/sha}",
    "git_refs_url": "/git/refs{/sha}",
    "git_tags_url": "/git/tags{/sha}",
    "hooks_url": "/hooks",
    "issue_comment_url": "/issues/comments{/number}",
    "issue_events_url": "/issues/events{/number}",
    "issues_url": "/issues{/number}",
    "keys_url": "/keys{/key_id}",
    "labels_url": "/labels{/name}",
    "languages_url": "/languages",
    "merges_url": "/merges",
    "milestones_url": "/milestones{/number}",
    "notifications_url": "/notifications{?since,all,participating}",
    "pulls_url": "/pulls{/number}",
    "releases_url": "/releases{/id}",
    "stargazers_url": "/stargazers",
    "statuses_url": "/statuses/{sha}",
    "subscribers_url": "/subscribers",
    "subscription_url": "/subscription",
    "tags_url": "/tags",
    "teams_url": "/teams",
    "trees_url": "/git/trees{/sha}",
}


class Render:
    """Renders records of one hub; URLs start with its base URL."""

    def __init__(self, hub: Hub) -> None:
        self.hub = hub

    def api(self, path: str) -> str:
        """An API URL."""
        return f"{self.hub.base_url}/api/v3{path}"

    def web(self, path: str) -> str:
        """A URL for people."""
        return f"{self.hub.base_url}{path}"

    def repo_api(self, repo: Repo) -> str:
        """The API URL of a repository."""
        return self.api(f"/repos/{repo.full_name}")

    def thread_path(self, issue: Issue) -> str:
        """The web path of an issue or pull request."""
        return f"/{issue.repo.full_name}/{'pull' if issue.pull else 'issues'}/{issue.number}"

    def user(self, user: User) -> Json:
        """A simple user."""
        quoted = user.login.replace("[", "%5B").replace("]", "%5D")
        url = self.api(f"/users/{quoted}")
        page = f"/apps/{user.login.removesuffix('[bot]')}" if user.type == "Bot" else f"/{quoted}"
        return {
            "login": user.login,
            "id": user.id,
            "node_id": user.node_id,
            "avatar_url": self.web(f"/avatars/u/{user.id}"),
            "gravatar_id": "",
            "url": url,
            "html_url": self.web(page),
            **{key: url + suffix for key, suffix in USER_LINKS.items()},
            "type": user.type,
            "user_view_type": "public",
            "site_admin": False,
        }

    def full_user(self, user: User) -> Json:
        """A user with the public profile."""
        empty = dict.fromkeys(("name", "company", "location", "email", "hireable", "bio", "twitter_username"))
        counts = dict.fromkeys(("public_repos", "public_gists", "followers", "following"), 0)
        dates = {"created_at": iso(user.created_at), "updated_at": iso(user.created_at)}
        return {**self.user(user), **empty, "email": user.email, "blog": "", **counts, **dates}

    def repository(self, repo: Repo, viewer: User | None = None) -> Json:
        """A repository, in the fullest shape; ``permissions`` are those of the viewer."""
        url = self.repo_api(repo)
        rank = ROLE_RANK[self.hub.role(repo, viewer)] if viewer else 0
        rights = {"admin": 5, "maintain": 4, "push": 3, "triage": 2, "pull": 1}
        return {
            "id": repo.id,
            "node_id": repo.node_id,
            "name": repo.name,
            "full_name": repo.full_name,
            "private": repo.private,
            "owner": self.user(repo.owner),
            "html_url": self.web(f"/{repo.full_name}"),
            "description": None,
            "fork": False,
            "url": url,
            **{key: url + suffix for key, suffix in REPO_LINKS.items()},
            **self._repository_state(repo),
            "permissions": {name: rank >= least for name, least in rights.items()},
        }

    def context(self, repo: Repo) -> Json:
        """What every webhook about a repository carries of it."""
        shown = {"repository": self.repository(repo)}
        if repo.owner.type != "Organization":
            return shown
        url = self.api(f"/orgs/{repo.owner.login}")
        links = {f"{name}_url": f"{url}/{name}" for name in ("repos", "events", "hooks", "issues")}
        members = {name: f"{url}/{name.split('_')[0]}{{/member}}" for name in ("members_url", "public_members_url")}
        user = self.user(repo.owner)
        kept = {key: user[key] for key in ("login", "id", "node_id", "avatar_url")}
        return {**shown, "organization": {**kept, "url": url, **links, **members, "description": None}}

    def _repository_state(self, repo: Repo) -> Json:
        host = self.hub.base_url.split("//", 1)[1]
        count = sum(1 for issue in self.hub.threads(repo) if issue.state == "open")
        zero = ("forks", "forks_count", "stargazers_count", "watchers", "watchers_count", "size")
        flags = ("has_issues", "has_projects", "has_wiki", "has_downloads", "allow_forking")
        return {
            **dict.fromkeys(zero, 0),
            **dict.fromkeys(flags, True),
            **dict.fromkeys(("homepage", "language", "mirror_url", "license")),
            **dict.fromkeys(("has_pages", "has_discussions", "disabled", "is_template"), False),
            "archived": repo.archived,
            "clone_url": self.web(f"/{repo.full_name}.git"),
            "created_at": iso(repo.created_at),
            "default_branch": repo.default_branch,
            "git_url": f"git://{host}/{repo.full_name}.git",
            "open_issues": count,
            "open_issues_count": count,
            "pushed_at": iso(repo.created_at),
            "ssh_url": f"git@{host}:{repo.full_name}.git",
            "svn_url": self.web(f"/{repo.full_name}"),
            "topics": [],
            "updated_at": iso(repo.created_at),
            "visibility": "private" if repo.private else "public",
            "web_commit_signoff_required": False,
            "network_count": 0,
            "subscribers_count": 0,
        }

    def label(self, repo: Repo, label: Label) -> Json:
        """A label."""
        return {
            "id": label.id,
            "node_id": label.node_id,
            "url": f"{self.repo_api(repo)}/labels/{label.name.replace(' ', '%20')}",
            "name": label.name,
            "description": label.description,
            "color": label.color,
            "default": label.default,
            "archived_at": None,
            "archived_by": None,
        }

    def association(self, repo: Repo, user: User) -> str:
        """``author_association``; as loose as GitHub's, so nobody should decide by it."""
        if user is repo.owner:
            return "OWNER"
        if user.id in repo.owner.members:
            return "MEMBER"
        return "COLLABORATOR" if ROLE_RANK[self.hub.role(repo, user)] > 1 else "NONE"

    def rollup(self, reactions: list[Reaction], url: str) -> Json:
        """The counts of reactions by content."""
        counts = Counter(reaction.content for reaction in reactions)
        return {"url": f"{url}/reactions", "total_count": len(reactions), **{c: counts[c] for c in CONTENTS}}

    def reaction(self, reaction: Reaction) -> Json:
        """One reaction."""
        return {
            "id": reaction.id,
            "node_id": reaction.node_id,
            "user": self.user(reaction.user),
            "content": reaction.content,
            "created_at": iso(reaction.created_at),
        }

    def issue(self, issue: Issue) -> Json:
        """An issue, also a pull request seen as one."""
        repo, url = issue.repo, f"{self.repo_api(issue.repo)}/issues/{issue.number}"
        page = self.web(self.thread_path(issue))
        links = {"labels_url": "/labels{/name}", "comments_url": "/comments", "events_url": "/events"}
        shown = {
            "id": issue.id,
            "node_id": issue.node_id,
            "url": url,
            "repository_url": self.repo_api(repo),
            "html_url": page,
            **{key: url + suffix for key, suffix in links.items()},
            "timeline_url": f"{url}/timeline",
            "number": issue.number,
            **self._issue_state(issue),
            "reactions": self.rollup(issue.reactions, url),
        }
        if issue.pull is None:
            return shown
        api = f"{self.repo_api(repo)}/pulls/{issue.number}"
        extra = {"url": api, "html_url": page, "diff_url": f"{page}.diff", "patch_url": f"{page}.patch"}
        return {**shown, "draft": issue.pull.draft, "pull_request": extra | {"merged_at": iso(issue.pull.merged_at)}}

    def _issue_state(self, issue: Issue) -> Json:
        return {
            "state": issue.state,
            "state_reason": issue.state_reason,
            "title": issue.title,
            "body": issue.body,
            "user": self.user(issue.user),
            "labels": [self.label(issue.repo, label) for label in issue.labels],
            "assignee": self.user(issue.assignees[0]) if issue.assignees else None,
            "assignees": [self.user(user) for user in issue.assignees],
            "milestone": None,
            "locked": issue.locked,
            "active_lock_reason": None,
            "comments": len(issue.comments),
            "created_at": iso(issue.created_at),
            "updated_at": iso(issue.updated_at),
            "closed_at": iso(issue.closed_at),
            "closed_by": self.user(issue.closed_by) if issue.closed_by else None,
            "author_association": self.association(issue.repo, issue.user),
            "performed_via_github_app": self.app(issue.via_app) if issue.via_app else None,
        }

    def comment(self, comment: Comment) -> Json:
        """A comment of an issue or pull request."""
        base = self.repo_api(comment.repo)
        url, issue = f"{base}/issues/comments/{comment.id}", comment.repo.issues[comment.number]
        hidden = comment.minimized_reason
        return {
            "id": comment.id,
            "node_id": comment.node_id,
            "url": url,
            "html_url": f"{self.web(self.thread_path(issue))}#issuecomment-{comment.id}",
            "issue_url": f"{base}/issues/{comment.number}",
            "body": comment.body,
            "user": self.user(comment.user),
            "created_at": iso(comment.created_at),
            "updated_at": iso(comment.updated_at),
            "author_association": self.association(comment.repo, comment.user),
            "performed_via_github_app": self.app(comment.via_app) if comment.via_app else None,
            "reactions": self.rollup(comment.reactions, url),
            "minimized": {"reason": hidden.lower()} if hidden else None,
        }

    def app(self, app: App) -> Json:
        """An App as the public sees it; GitHub's description of events does not know that of merge queues."""
        return {
            "id": app.id,
            "client_id": app.client_id,
            "slug": app.slug,
            "node_id": app.node_id,
            "owner": self.user(app.owner),
            "name": app.slug,
            "description": None,
            "external_url": self.web(f"/apps/{app.slug}"),
            "html_url": self.web(f"/apps/{app.slug}"),
            "created_at": iso(app.created_at),
            "updated_at": iso(app.created_at),
            "permissions": app.permissions,
            "events": [event for event in app.events if event != "merge_group"],
        }

    def installation(self, made: Installation) -> Json:
        """An installation of an App."""
        return {
            "id": made.id,
            "account": self.user(made.account),
            "app_id": made.app.id,
            "app_slug": made.app.slug,
            "client_id": made.app.client_id,
            "target_id": made.account.id,
            "target_type": made.account.type,
            "repository_selection": "all" if made.repository_ids is None else "selected",
            "access_tokens_url": self.api(f"/app/installations/{made.id}/access_tokens"),
            "repositories_url": self.api("/installation/repositories"),
            "html_url": self.web(f"/organizations/{made.account.login}/settings/installations/{made.id}"),
            "permissions": made.permissions,
            "events": made.app.events,
            "created_at": iso(made.created_at),
            "updated_at": iso(made.created_at),
            "single_file_name": None,
            "has_multiple_single_files": False,
            "single_file_paths": [],
            "suspended_by": None,
            "suspended_at": iso(made.suspended_at),
        }

    def delivery(self, delivery: Delivery) -> Json:
        """An entry of the App's delivery log."""
        return {
            "id": delivery.id,
            "guid": delivery.guid,
            "delivered_at": iso(delivery.delivered_at),
            "redelivery": delivery.redelivery,
            "duration": round(delivery.duration, 2),
            "status": delivery.status,
            "status_code": delivery.status_code,
            "event": delivery.event,
            "action": delivery.payload.get("action"),
            "installation_id": delivery.payload["installation"]["id"],
            "repository_id": delivery.payload.get("repository", {}).get("id"),
            "throttled_at": None,
        }
