"""The control API in Python: what people and GitHub's own pages do that the REST API of an App cannot.

Every public method is also ``POST /_control/<method>`` with the arguments as a JSON object (``control_http``); those
in READS also ``GET`` with the arguments in the query. Repositories are named ``owner/name``, users by login.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from tests.standin import pages, rest_checks
from tests.standin.control_deeds import ControlDeeds
from tests.standin.entities import ROLE_RANK, Role
from tests.standin.oauth import Authorisations

if TYPE_CHECKING:
    from tests.standin.entities import CheckRun, Installation, Permissions, Repo, User
    from tests.standin.server import StandIn

Json = dict[str, Any]
READS = {"log", "counters", "threads", "deliveries", "faults", "problems", "state"}


class Control(ControlDeeds):
    """Sets up and looks into one stand-in. KeyError: no such thing; ValueError: it cannot be."""

    def __init__(self, standin: StandIn) -> None:
        super().__init__(standin.hub)
        self._standin = standin

    # People and repositories

    def create_user(self, login: str) -> Json:
        """A person with a token: {id, login, token}."""
        user = self._hub.create_user(login)
        return {"id": user.id, "login": login, "token": self._hub.create_user_token(user)}

    def create_organization(self, login: str) -> Json:
        """An organisation: {id, login}."""
        user = self._hub.create_user(login, "Organization")
        return {"id": user.id, "login": login}

    def create_repository(
        self, repo: str, source: str | None = None, branch: str | None = None, *, private: bool = True
    ) -> Json:
        """A repository, from a git directory or bundle if given: {id, full_name, default_branch, git_dir}."""
        owner, name = repo.split("/")
        path = Path(source) if source else None
        made = self._hub.create_repo(self._hub.user(owner), name, path, private=private, branch=branch)
        where = str(self._hub.git_dir(made))
        return {"id": made.id, "full_name": repo, "default_branch": made.default_branch, "git_dir": where}

    def set_role(self, repo: str, login: str, role: str) -> None:
        """Give a role: none, read, triage, write, maintain or admin."""
        if role not in ROLE_RANK:
            raise ValueError(f"no role {role!r}")
        self._hub.set_role(self.repo(repo), self._hub.user(login), cast("Role", role))

    def set_rules(self, repo: str, rules: list[list[str]]) -> None:
        """The active branch rules, as [branch pattern, rule type] pairs."""
        with self._hub.lock:
            self.repo(repo).rules = [(pattern, kind) for pattern, kind in rules]

    def rename_repository(self, repo: str, name: str, sender: str) -> None:
        """Rename; the old name answers 301 from now on."""
        with self._hub.lock:
            found = self.repo(repo)
            self._hub.moved[found.full_name.lower()] = found.id
            old, found.name = found.name, name
            changes = {"repository": {"name": {"from": old}}}
            self._repository_event(found, "renamed", sender, changes=changes)

    def archive_repository(self, repo: str, sender: str, *, archived: bool = True) -> None:
        """Make a repository read-only, or undo it."""
        with self._hub.lock:
            found = self.repo(repo)
            found.archived = archived
            self._repository_event(found, "archived" if archived else "unarchived", sender)

    def publicize_repository(self, repo: str, sender: str) -> None:
        """Make a repository public."""
        with self._hub.lock:
            found = self.repo(repo)
            found.private = False
            self._repository_event(found, "publicized", sender)

    def delete_repository(self, repo: str, sender: str) -> None:
        """Remove a repository and tell the Apps."""
        with self._hub.lock:
            found = self.repo(repo)
            self._repository_event(found, "deleted", sender)
            self._hub.delete_repo(found)

    def press(self, repo: str, check_run: int, login: str, identifier: str | None = None) -> None:
        """Press a check run's button, or "Re-run" without an identifier."""
        with self._hub.lock:
            rest_checks.press(self._hub, self._check(repo, check_run), self._hub.user(login), identifier)

    # Apps

    def create_app(
        self,
        slug: str,
        owner: str,
        permissions: Permissions | None = None,
        events: list[str] | None = None,
        webhook_url: str | None = None,
        webhook_secret: str | None = None,
        repositories: list[str] | None = None,
    ) -> Json:
        """Register an App and install it on its owner's account (all repositories, or the named).

        Answers {app_id, client_id, client_secret, slug, bot_id, private_key, webhook_secret, installation_id}.
        """
        account = self._hub.user(owner)
        app = self._hub.create_app(slug, account, permissions, events, webhook_url, webhook_secret)
        made = self.install(slug, owner, repositories)
        keys = {"private_key": app.private_key, "webhook_secret": app.webhook_secret}
        keys["client_secret"] = app.client_secret
        ids = {"app_id": app.id, "client_id": app.client_id, "slug": slug, "bot_id": app.bot.id}
        return {**ids, **keys, "installation_id": made["installation_id"]}

    def install(self, slug: str, account: str, repositories: list[str] | None = None) -> Json:
        """Install an App on an account and send ``installation.created``: {installation_id}."""
        with self._hub.lock:
            app = next(app for app in self._hub.apps.values() if app.slug == slug)
            chosen = None if repositories is None else [self.repo(name) for name in repositories]
            made = self._hub.install(app, self._hub.user(account), chosen)
            rows = [self._short(repo) for repo in self._hub.installed_repos(made)]
            self._installation_event(made, "created", repositories=rows)
            return {"installation_id": made.id}

    def set_webhook_url(self, app_id: int, url: str) -> None:
        """Where an App's webhooks go."""
        with self._hub.lock:
            self._hub.apps[app_id].webhook_url = url

    def set_callback_urls(self, app_id: int, urls: list[str]) -> None:
        """Where people may be sent back to after they authorised an App."""
        with self._hub.lock:
            self._hub.apps[app_id].callback_urls = list(urls)

    def revoke_authorization(self, app_id: int, login: str) -> None:
        """Somebody takes back, in their settings, what they allowed an App: it is told."""
        with self._hub.lock:
            self._hub.service(Authorisations).revoke(self._hub.apps[app_id], self._hub.user(login))

    def suspend(self, installation_id: int, *, suspended: bool = True) -> None:
        """Suspend an installation, or undo it; its tokens stop working at once."""
        with self._hub.lock:
            made = self._hub.installations[installation_id]
            made.suspended_at = self._hub.clock() if suspended else None
            self._installation_event(made, "suspend" if suspended else "unsuspend")

    def uninstall(self, installation_id: int) -> None:
        """Remove an installation."""
        with self._hub.lock:
            made = self._hub.installations[installation_id]
            rows = [self._short(repo) for repo in self._hub.installed_repos(made)]
            self._installation_event(made, "deleted", repositories=rows)
            del self._hub.installations[installation_id]

    def choose_repositories(self, installation_id: int, repositories: list[str]) -> None:
        """Change which repositories an installation reaches, with ``installation_repositories`` events."""
        with self._hub.lock:
            made = self._hub.installations[installation_id]
            before = {repo.id: repo for repo in self._hub.installed_repos(made)}
            after = {repo.id: repo for repo in map(self.repo, repositories)}
            made.repository_ids = set(after)
            added = [self._short(repo) for key, repo in after.items() if key not in before]
            removed = [self._short(repo) for key, repo in before.items() if key not in after]
            self._chosen_event(made, "added", added, [])
            self._chosen_event(made, "removed", [], removed)

    def set_permissions(self, installation_id: int, permissions: Permissions) -> None:
        """Change what an installation may, with ``new_permissions_accepted``; tokens given out keep what they have."""
        with self._hub.lock:
            made = self._hub.installations[installation_id]
            made.permissions = dict(permissions)
            self._installation_event(made, "new_permissions_accepted")

    def expire_tokens(self) -> None:
        """End all installation tokens now."""
        with self._hub.lock:
            for raw in [raw for raw, token in self._hub.tokens.items() if token.kind == "installation"]:
                del self._hub.tokens[raw]

    # Faults and webhooks

    def add_fault(self, kind: str, **options: Any) -> None:
        """Set a fault (``faults.Fault``)."""
        self._standin.faults.add(kind, **options)

    def clear_faults(self) -> None:
        """Remove all faults."""
        self._standin.faults.clear()

    def faults(self) -> list[Json]:
        """The faults with their hits."""
        return self._standin.faults.listed()

    def drain(self, seconds: float = 30.0) -> Json:
        """Wait until every queued webhook has been sent: {drained}."""
        return {"drained": self._standin.sender.drain(seconds)}

    def deliveries(self) -> list[Json]:
        """Every webhook with its payload, oldest first."""
        with self._hub.lock:
            return [{**self._render.delivery(d), "payload": d.payload} for d in self._hub.deliveries]

    def redeliver(self, delivery_id: int, *, new_guid: bool = False) -> None:
        """Send a webhook again."""
        found = next(d for d in self._hub.deliveries if d.id == delivery_id)
        self._standin.sender.redeliver(found, new_guid=new_guid)

    # Looking

    def log(self, since: int | str = 0) -> list[Json]:
        """API requests from an index on (``front.Entry``)."""
        return self._standin.journal.listed(int(since))

    def counters(self) -> Json:
        """Reads and writes by actor."""
        return self._standin.journal.counters()

    def problems(self) -> list[str]:
        """What conformance found."""
        return list(self._standin.problems)

    def threads(self, repo: str) -> list[Json]:
        """Issues and pull requests with their comments, labels and reactions."""
        with self._hub.lock:
            return [self._thread(issue) for issue in self._hub.threads(self.repo(repo))]

    def page(self, repo: str, number: int, path: str) -> None:
        """Write a thread as a self-contained HTML page to a file."""
        with self._hub.lock:
            text = pages.render(self._hub, self.repo(repo).issues[number])
        Path(path).write_text(text, encoding="utf-8")

    # Helpers

    def _check(self, repo: str, number: int) -> CheckRun:
        return self.repo(repo).checks[number]

    def _thread(self, issue: Any) -> Json:
        reactions = [self._render.reaction(r) for r in issue.reactions]
        comments = [
            {**self._render.comment(c), "reactors": [self._render.reaction(r) for r in c.reactions]}
            for c in issue.comments
        ]
        return {**self._render.issue(issue), "reactors": reactions, "conversation": comments}

    def _short(self, repo: Repo) -> Json:
        keys = ("id", "node_id", "name", "full_name", "private")
        shown = self._render.repository(repo)
        return {key: shown[key] for key in keys}

    def _repository_event(self, repo: Repo, action: str, sender: str, **extra: Any) -> None:
        self._hub.emit("repository", {"action": action, **extra}, repo, sender=self._hub.user(sender))

    def _installation_event(self, made: Installation, action: str, **extra: Any) -> None:
        body = {"action": action, "installation": self._render.installation(made), **extra}
        self._hub.emit("installation", body, sender=self._owner(made), installation=made)

    def _chosen_event(self, made: Installation, action: str, added: list[Json], removed: list[Json]) -> None:
        if not added and not removed:
            return
        body = {
            "action": action,
            "installation": self._render.installation(made),
            "repository_selection": "selected",
            "repositories_added": added,
            "repositories_removed": removed,
            "requester": None,
        }
        self._hub.emit("installation_repositories", body, sender=self._owner(made), installation=made)

    def _owner(self, made: Installation) -> User:
        people = (user for user in self._hub.users.values() if user.type == "User")
        return next(people, made.account)
