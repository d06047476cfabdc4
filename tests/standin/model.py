"""The state of the stand-in GitHub: ``Hub``, one re-entrant lock around everything, ids from counters, time injected.

Records are in ``entities``; they are handed out as they are and changed only while ``Hub.lock`` is held.
"""

from __future__ import annotations

import itertools
import json
import random
import shutil
import threading
import uuid
from typing import TYPE_CHECKING, Any, TypeVar, cast

import jwt

from tests.standin import gitstore
from tests.standin.defaults import (
    AUTOMATIC_EVENTS,
    DEFAULT_EVENTS,
    DEFAULT_LABELS,
    DEFAULT_PERMISSIONS,
    EVENT_PERMISSION,
    FIRST_IDS,
    TOKEN_SECONDS,
)
from tests.standin.entities import (
    LEVEL_RANK,
    ROLE_RANK,
    App,
    CheckRun,
    Comment,
    Delivery,
    Installation,
    Issue,
    Label,
    Permissions,
    Pull,
    Push,
    Reaction,
    Repo,
    Role,
    Token,
    TokenKind,
    User,
    UserType,
    WorkflowRun,
    iso,
    node_id,
)
from tests.standin.keys import key_pair

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path

__all__ = [
    "LEVEL_RANK",
    "ROLE_RANK",
    "App",
    "CheckRun",
    "Comment",
    "Delivery",
    "Hub",
    "Installation",
    "Issue",
    "Label",
    "Permissions",
    "Pull",
    "Push",
    "Reaction",
    "Repo",
    "Role",
    "Token",
    "User",
    "WorkflowRun",
    "iso",
    "node_id",
]

Service = TypeVar("Service")


class Hub:
    """All of the stand-in GitHub's state and the verbs that set it up."""

    def __init__(self, home: Path, clock: Callable[[], float], seed: int = 0) -> None:
        self.home = home
        self.clock = clock
        self.random = random.Random(seed)
        self.lock = threading.RLock()
        self.base_url = "http://127.0.0.1"
        self.users: dict[int, User] = {}
        self.repos: dict[int, Repo] = {}
        self.apps: dict[int, App] = {}
        self.installations: dict[int, Installation] = {}
        self.tokens: dict[str, Token] = {}
        self.comments: dict[int, Comment] = {}
        self.moved: dict[str, int] = {}
        self.refused: set[str] = set()  # fields of GraphQL that a test wants to be refused
        self.absent_labels: str | None = None  # type of the error for removing one that is not there
        self.has_sub_issues = True  # Enterprise Server up to 3.19 has none
        self.job_logs: dict[tuple[int, int], str] = {}
        self.pushes: list[Push] = []
        self.deliveries: list[Delivery] = []
        self.sender: Callable[[Delivery], None] = lambda _delivery: None
        self.listeners: list[Callable[[str, dict[str, Any], Repo | None], None]] = []
        self.render_context: Callable[[Repo], dict[str, Any]] = lambda _repo: {}
        self.render_user: Callable[[User], dict[str, Any]] = lambda _user: {}
        self._services: dict[type, object] = {}
        self._counters = {kind: itertools.count(first) for kind, first in FIRST_IDS.items()}
        self.actions_bot = self.create_user("github-actions[bot]", "Bot")

    def service(self, kind: type[Service]) -> Service:
        """The one instance of a part with state of its own (git, OIDC, Actions), made on first use as ``kind(hub)``."""
        with self.lock:
            if kind not in self._services:
                self._services[kind] = cast("Callable[[Hub], Service]", kind)(self)
            return cast("Service", self._services[kind])

    # Identity

    def next_id(self, kind: str) -> int:
        """The next id of a kind (see FIRST_IDS)."""
        return next(self._counters[kind])

    def create_user(self, login: str, kind: UserType = "User") -> User:
        """A new account; raises ValueError if the login is taken."""
        with self.lock:
            if self.find_user(login):
                raise ValueError(f"the login {login!r} is taken")
            user = User(self.next_id("user"), login, kind, self.clock())
            self.users[user.id] = user
            return user

    def find_user(self, login: str) -> User | None:
        """The account with this login, without regard to case."""
        return next((u for u in self.users.values() if u.login.lower() == login.lower()), None)

    def user(self, login: str) -> User:
        """The account with this login; KeyError if there is none."""
        found = self.find_user(login)
        if found is None:
            raise KeyError(login)
        return found

    # Repositories

    def create_repo(
        self, owner: User, name: str, source: Path | None = None, *, private: bool = True, branch: str | None = None
    ) -> Repo:
        """A repository, its git copied from ``source`` (directory or bundle) or made with one commit."""
        with self.lock:
            if self.repo(owner.login, name):
                raise ValueError(f"{owner.login}/{name} exists")
            repo = Repo(self.next_id("repo"), owner, name, self.clock(), private=private)
            gitstore.create(self.git_dir(repo), source, branch or self._source_branch(source))
            repo.default_branch = gitstore.head_branch(self.git_dir(repo))
            if owner.type == "User":
                repo.roles[owner.id] = "admin"
            repo.labels = [Label(self.next_id("label"), n, c, default=True) for n, c in DEFAULT_LABELS.items()]
            self.repos[repo.id] = repo
            self.moved.pop(repo.full_name.lower(), None)
            return repo

    @staticmethod
    def _source_branch(source: Path | None) -> str:
        return gitstore.head_branch(source) if source is not None and source.is_dir() else "main"

    def git_dir(self, repo: Repo) -> Path:
        """The bare git repository; named by id, so renames do not move it."""
        return self.home / "git" / f"{repo.id}.git"

    def repo(self, owner: str, name: str) -> Repo | None:
        """The repository of that name now; former names are in ``moved``."""
        wanted = f"{owner}/{name}".lower()
        return next((r for r in self.repos.values() if r.full_name.lower() == wanted), None)

    def repo_by_id(self, repo_id: int) -> Repo | None:
        """The repository with this id."""
        return self.repos.get(repo_id)

    def delete_repo(self, repo: Repo) -> None:
        """Remove a repository with its git and what was said in it."""
        with self.lock:
            del self.repos[repo.id]
            self.comments = {k: c for k, c in self.comments.items() if c.repo is not repo}
            shutil.rmtree(self.git_dir(repo))

    def set_role(self, repo: Repo, user: User, role: Role) -> None:
        """Give a user a role on a repository; "none" takes it away."""
        with self.lock:
            repo.roles[user.id] = role

    def role(self, repo: Repo, user: User) -> Role:
        """A user's role; anyone reads a public repository."""
        role = repo.roles.get(user.id, "none")
        return "read" if role == "none" and not repo.private else role

    def threads(self, repo: Repo) -> Iterator[Issue]:
        """Issues and pull requests that were not deleted, oldest first."""
        return (issue for issue in repo.issues.values() if not issue.deleted)

    # Apps, installations, tokens

    def create_app(
        self,
        slug: str,
        owner: User,
        permissions: Permissions | None = None,
        events: list[str] | None = None,
        webhook_url: str | None = None,
        webhook_secret: str | None = None,
    ) -> App:
        """Register an App with a fresh key pair and secret."""
        with self.lock:
            private, public = key_pair()
            number = self.next_id("app")
            app = App(
                number,
                f"Iv23li{number:014d}",
                slug,
                owner,
                self.create_user(f"{slug}[bot]", "Bot"),
                private,
                public,
                webhook_secret or f"{self.random.getrandbits(160):040x}",
                self.clock(),
                dict(permissions or DEFAULT_PERMISSIONS),
                list(events or DEFAULT_EVENTS),
                webhook_url,
            )
            self.apps[app.id] = app
            return app

    def install(self, app: App, account: User, repositories: Iterable[Repo] | None = None) -> Installation:
        """Install an App on an account, for all of its repositories or for the given ones. Sends no webhook."""
        with self.lock:
            chosen = None if repositories is None else {repo.id for repo in repositories}
            made = Installation(self.next_id("installation"), app, account, dict(app.permissions), self.clock(), chosen)
            self.installations[made.id] = made
            return made

    def installation_for(self, app: App, repo: Repo) -> Installation | None:
        """The App's installation that reaches a repository."""
        return next((i for i in self.installations.values() if i.app is app and i.covers(repo)), None)

    def installed_repos(self, installation: Installation) -> list[Repo]:
        """The repositories an installation reaches."""
        return [repo for repo in self.repos.values() if installation.covers(repo)]

    def create_user_token(self, user: User) -> str:
        """A personal token, ``ghp_<login>_<random>``, that does what the user's roles allow."""
        raw = f"ghp_{user.login}_{self.random.getrandbits(96):024x}"
        return self.add_token(Token(raw, "user", user)).raw

    def create_installation_token(
        self,
        installation: Installation,
        permissions: Permissions | None = None,
        repository_ids: frozenset[int] | None = None,
        seconds: float = TOKEN_SECONDS,
    ) -> Token:
        """A token of an installation, one hour valid, in the long stateless style (about 500 characters, with dots)."""
        expires = float(int(self.clock() + seconds))
        claims = {"iid": installation.id, "exp": int(expires), "pad": f"{self.random.getrandbits(1100):x}"}
        body = jwt.encode(claims, f"{installation.app.webhook_secret:0<40}", algorithm="HS256")
        raw = f"ghs_{installation.app.id}_{body}"
        granted = dict(permissions or installation.permissions)
        who = installation.app
        return self.add_token(Token(raw, "installation", who.bot, granted, repository_ids, expires, who, installation))

    def create_workflow_token(
        self, repo: Repo, permissions: Permissions, seconds: float = TOKEN_SECONDS, kind: TokenKind = "workflow"
    ) -> Token:
        """A ``GITHUB_TOKEN`` of a workflow run: one repository, acting as github-actions[bot]."""
        raw = f"ghs_{self.random.getrandbits(144):036x}"
        expires = float(int(self.clock() + seconds))
        return self.add_token(Token(raw, kind, self.actions_bot, permissions, frozenset({repo.id}), expires))

    def add_token(self, token: Token) -> Token:
        """Remember a token."""
        with self.lock:
            self.tokens[token.raw] = token
            return token

    def resolve_token(self, raw: str | None) -> Token | None:
        """The token if it is known, not expired, not revoked and its installation is active; App JWTs are in ``auth``."""
        with self.lock:
            token = self.tokens.get(raw or "")
            if token is None or (token.expires_at is not None and self.clock() >= token.expires_at):
                return None
            home = token.installation
            gone = home is not None and (home.id not in self.installations or home.suspended_at is not None)
            return None if gone else token

    def token_covers(self, token: Token, repo: Repo) -> bool:
        """Whether a token reaches a repository at all (its permissions or the user's role are another question)."""
        if token.kind == "client":
            return False
        if token.kind == "user":
            within = token.app is None or self._granted(token.app, repo) is not None
            return within and token.actor is not None and self.role(repo, token.actor) != "none"
        narrowed = token.repository_ids is None or repo.id in token.repository_ids
        return narrowed and (token.installation is None or token.installation.covers(repo))

    def token_allows(self, token: Token, repo: Repo, permission: str, level: str, role: str | None = None) -> bool:
        """Whether a token may do something: by its permissions, or as a user by ``role`` (default: read or write)."""
        if not self.token_covers(token, repo):
            return not repo.private and level == "read"
        if token.kind == "user" and token.actor is not None:
            granted = {permission: level} if token.app is None else self._granted(token.app, repo) or {}
            if permission != "metadata" and LEVEL_RANK[granted.get(permission, "none")] < LEVEL_RANK[level]:
                return False
            return ROLE_RANK[self.role(repo, token.actor)] >= ROLE_RANK[role or level]
        if permission == "metadata":
            return level == "read"
        return LEVEL_RANK[token.permissions.get(permission, "none")] >= LEVEL_RANK[level]

    def _granted(self, app: App, repo: Repo) -> Permissions | None:
        """What an App may do in a repository; None where it is not installed."""
        found = self.installation_for(app, repo)
        return None if found is None or found.suspended_at is not None else found.permissions

    # Events

    def tell(self, app: App, event: str, body: dict[str, Any]) -> None:
        """Queue a signed webhook for one App, whatever it is installed on and listens to."""
        with self.lock:
            raw = json.dumps(body, separators=(",", ":")).encode()
            made = Delivery(self.next_id("delivery"), self.new_guid(), app, event, body, raw)
            self.deliveries.append(made)
            self.sender(made)

    def emit(
        self,
        event: str,
        payload: dict[str, Any],
        repo: Repo | None = None,
        *,
        sender: User | None = None,
        installation: Installation | None = None,
    ) -> None:
        """Queue a signed webhook for every App that is installed and listens; fills in repository, sender, installation.

        ``payload`` holds what is particular to the event (``action``, ``issue``...); what it already names is kept.
        """
        with self.lock:
            body = dict(payload)
            for key, value in (self.render_context(repo) if repo else {}).items():
                body.setdefault(key, value)
            if sender is not None:
                body.setdefault("sender", self.render_user(sender))
            for listener in self.listeners:
                listener(event, body, repo)
            for target in self._audience(event, repo, installation):
                self._queue(target, event, body)

    def _audience(self, event: str, repo: Repo | None, only: Installation | None) -> list[Installation]:
        if only is not None:
            return [only] if self._listens(only, event) else []
        if repo is None:
            return []
        return [i for i in self.installations.values() if i.covers(repo) and self._listens(i, event)]

    @staticmethod
    def _listens(target: Installation, event: str) -> bool:
        if event in AUTOMATIC_EVENTS:
            return True
        needed = EVENT_PERMISSION.get(event)
        allowed = needed is None or needed in target.permissions
        return event in target.app.events and allowed and target.suspended_at is None

    def _queue(self, target: Installation, event: str, body: dict[str, Any]) -> None:
        mark = {"id": target.id, "node_id": node_id("IN", target.id)}
        self.tell(target.app, event, {"installation": mark, **body})

    def new_guid(self) -> str:
        """A random UUID from the seeded generator."""
        return str(uuid.UUID(int=self.random.getrandbits(128), version=4))
