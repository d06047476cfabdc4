"""What lives in the stand-in GitHub: plain records, times in epoch seconds, no behaviour beyond names and ids."""

from __future__ import annotations

import base64
import hashlib
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Literal

UserType = Literal["User", "Bot", "Organization"]
Role = Literal["none", "read", "triage", "write", "maintain", "admin"]
TokenKind = Literal["app", "client", "installation", "user", "workflow"]
Permissions = dict[str, str]
"""Permission name to level ("read", "write" or "admin"), e.g. {"issues": "write"}."""

ROLE_RANK: dict[str, int] = {"none": 0, "read": 1, "triage": 2, "write": 3, "maintain": 4, "admin": 5}
LEVEL_RANK: dict[str, int] = {"none": 0, "read": 1, "write": 2, "admin": 3}


def node_id(prefix: str, number: int) -> str:
    """An opaque global id in the style of GitHub's, e.g. ``IC_kwDAAAAB``; no client may look inside."""
    return f"{prefix}_kwD" + base64.urlsafe_b64encode(number.to_bytes(8, "big")).decode().rstrip("=")


def iso(moment: float | None) -> str | None:
    """Epoch seconds as GitHub writes them: UTC, whole seconds, ``Z``."""
    return None if moment is None else datetime.fromtimestamp(int(moment), UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


@dataclass(eq=False)
class User:
    """A person, a bot or an organisation; ``id`` never changes, ``login`` may."""

    id: int
    login: str
    type: UserType = "User"
    created_at: float = 0.0
    email: str | None = None
    """The address shown on the profile."""
    members: set[int] = field(default_factory=set)
    """Of an organisation: the numbers of its members."""
    teams: dict[str, set[int]] = field(default_factory=dict)
    """Of an organisation: the members of its teams by slug."""

    @property
    def node_id(self) -> str:
        return node_id({"User": "U", "Bot": "BOT", "Organization": "O"}[self.type], self.id)


@dataclass(eq=False)
class Reaction:
    """One emoji of one user on an issue or a comment."""

    id: int
    content: str
    user: User
    created_at: float

    @property
    def node_id(self) -> str:
        return node_id("REA", self.id)


@dataclass(eq=False)
class Label:
    """A label of a repository; names compare without case."""

    id: int
    name: str
    color: str = "ededed"
    description: str | None = None
    default: bool = False

    @property
    def node_id(self) -> str:
        return node_id("LA", self.id)


@dataclass(eq=False)
class Pull:
    """What a pull request has beyond its issue."""

    id: int
    head_ref: str
    base_ref: str
    head_sha: str
    base_sha: str
    draft: bool = False
    mergeable: bool | None = None
    merged_at: float | None = None
    merged_by: User | None = None
    merge_sha: str | None = None

    @property
    def node_id(self) -> str:
        return node_id("PR", self.id)


@dataclass(eq=False)
class Comment:
    """A comment of an issue or pull request conversation."""

    id: int
    repo: Repo
    number: int
    body: str
    user: User
    created_at: float
    updated_at: float
    via_app: App | None = None
    edited_at: float | None = None
    minimized_reason: str | None = None
    reactions: list[Reaction] = field(default_factory=list)

    @property
    def node_id(self) -> str:
        return node_id("IC", self.id)


@dataclass(eq=False)
class Issue:
    """An issue, or with ``pull`` set the conversation of a pull request."""

    id: int
    repo: Repo
    number: int
    title: str
    body: str | None
    user: User
    created_at: float
    updated_at: float
    via_app: App | None = None
    state: Literal["open", "closed"] = "open"
    state_reason: str | None = None
    closed_at: float | None = None
    closed_by: User | None = None
    edited_at: float | None = None
    locked: bool = False
    deleted: bool = False
    labels: list[Label] = field(default_factory=list)
    assignees: list[User] = field(default_factory=list)
    reactions: list[Reaction] = field(default_factory=list)
    comments: list[Comment] = field(default_factory=list)
    pull: Pull | None = None
    parent: Issue | None = None
    children: list[Issue] = field(default_factory=list)

    @property
    def node_id(self) -> str:
        return self.pull.node_id if self.pull else node_id("I", self.id)


@dataclass(eq=False)
class CheckRun:
    """A check run as its App last described it; ``fields`` holds status, conclusion, output, actions and so on."""

    id: int
    repo: Repo
    app: App
    name: str
    head_sha: str
    fields: dict[str, Any] = field(default_factory=dict)

    @property
    def node_id(self) -> str:
        return node_id("CR", self.id)


@dataclass(eq=False)
class InlineComment:
    """A comment on a commit (``pull`` None) or beside a line of a pull request, part of a review."""

    id: int
    repo: Repo
    commit: str
    path: str | None
    line: int | None
    body: str
    user: User
    created_at: float
    pull: int | None = None
    review: int | None = None
    reply_to: int | None = None
    side: Literal["LEFT", "RIGHT"] = "RIGHT"

    @property
    def node_id(self) -> str:
        return node_id("CC" if self.pull is None else "PRRC", self.id)


@dataclass(eq=False)
class Review:
    """A review of a pull request that was handed in."""

    id: int
    pull: int
    state: Literal["APPROVED", "CHANGES_REQUESTED", "COMMENTED", "DISMISSED"]
    body: str
    commit: str
    user: User
    submitted_at: float

    @property
    def node_id(self) -> str:
        return node_id("PRR", self.id)


@dataclass(eq=False)
class Status:
    """A commit status; of each context the newest counts."""

    id: int
    sha: str
    context: str
    state: Literal["error", "failure", "pending", "success"]
    creator: User
    created_at: float
    description: str | None = None
    target_url: str | None = None

    @property
    def node_id(self) -> str:
        return node_id("SC", self.id)


@dataclass(eq=False)
class Queued:
    """A pull request in a merge queue, with the branch and commit that the queue made of it."""

    number: int
    ref: str
    head: str
    base: str


@dataclass(eq=False)
class WorkflowRun:
    """One run of a workflow; ``inputs`` and ``title`` are what the dispatch gave and what ``run-name`` made of it."""

    id: int
    repo: Repo
    number: int
    path: str
    name: str
    title: str
    event: str
    head_branch: str
    head_sha: str
    actor: User
    created_at: float
    updated_at: float
    status: str = "queued"
    conclusion: str | None = None
    attempt: int = 1
    inputs: dict[str, str] = field(default_factory=dict)

    @property
    def node_id(self) -> str:
        return node_id("WFR", self.id)


@dataclass(eq=False)
class Repo:
    """A repository; its commits and branches lie in the bare git repository ``Hub.git_dir(repo)``."""

    id: int
    owner: User
    name: str
    created_at: float
    default_branch: str = "main"
    private: bool = True
    archived: bool = False
    roles: dict[int, Role] = field(default_factory=dict)
    labels: list[Label] = field(default_factory=list)
    issues: dict[int, Issue] = field(default_factory=dict)
    checks: dict[int, CheckRun] = field(default_factory=dict)
    runs: dict[int, WorkflowRun] = field(default_factory=dict)
    inline: dict[int, InlineComment] = field(default_factory=dict)
    reviews: dict[int, Review] = field(default_factory=dict)
    statuses: list[Status] = field(default_factory=list)
    queue: list[Queued] = field(default_factory=list)
    variables: dict[str, str] = field(default_factory=dict)
    secrets: dict[str, str] = field(default_factory=dict)
    rules: list[tuple[str, str]] = field(default_factory=list)
    """Active branch rules as (branch pattern, rule type), e.g. ("main", "pull_request"); shown, and for git to enforce."""

    @property
    def full_name(self) -> str:
        """``owner/name``, as it is now."""
        return f"{self.owner.login}/{self.name}"

    @property
    def node_id(self) -> str:
        return node_id("R", self.id)


@dataclass(eq=False)
class App:
    """A GitHub App with its keys; ``bot`` is the user ``slug[bot]`` its writes are signed with."""

    id: int
    client_id: str
    slug: str
    owner: User
    bot: User
    private_key: str
    public_key: str
    webhook_secret: str
    created_at: float
    permissions: Permissions = field(default_factory=dict)
    events: list[str] = field(default_factory=list)
    webhook_url: str | None = None
    callback_urls: list[str] = field(default_factory=list)
    """Where people may be sent back to after they authorised it."""

    @property
    def client_secret(self) -> str:
        """What proves the App when it exchanges a code; 40 characters."""
        return hashlib.sha256(f"client {self.webhook_secret}".encode()).hexdigest()[:40]

    @property
    def node_id(self) -> str:
        return node_id("A", self.id)


@dataclass(eq=False)
class Installation:
    """An App on an account; ``repository_ids`` None means all repositories of the account."""

    id: int
    app: App
    account: User
    permissions: Permissions
    created_at: float
    repository_ids: set[int] | None = None
    suspended_at: float | None = None

    def covers(self, repo: Repo) -> bool:
        """Whether the installation reaches this repository."""
        chosen = self.repository_ids is None or repo.id in self.repository_ids
        return repo.owner is self.account and chosen


@dataclass(eq=False)
class Token:
    """A credential. ``repository_ids`` None means no narrowing; ``permissions`` only bind installation and workflow."""

    raw: str
    kind: TokenKind
    actor: User | None
    permissions: Permissions = field(default_factory=dict)
    repository_ids: frozenset[int] | None = None
    expires_at: float | None = None
    app: App | None = None
    installation: Installation | None = None


@dataclass(eq=False)
class Delivery:
    """One webhook as it was or will be sent; ``raw`` is the signed body."""

    id: int
    guid: str
    app: App
    event: str
    payload: dict[str, Any]
    raw: bytes
    redelivery: bool = False
    delivered_at: float | None = None
    duration: float = 0.0
    status: str = "pending"
    status_code: int = 0
    response: str = ""


@dataclass(frozen=True)
class Push:
    """One ref moved by a push over git: by whom (login), from which to which commit (zeros: made, removed)."""

    actor: str
    repo_id: int
    ref: str
    before: str
    after: str
